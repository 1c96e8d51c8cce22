"""Select the trajectories of a run: those for which a label of its judge is missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.vocabulary import SuggestionItemState, TrajectoryState
from annotation.models import (
    Judge,
    Release,
    ReleaseRecord,
    Subset,
    SuggestedLabel,
    Suggestion,
    SuggestionItem,
    SuggestionRun,
    Trajectory,
)

from ..shared.frozen_trajectories import frozen_trajectories


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSelection:
    """A part of a project's trajectories, in the order of the queue; empty means all.

    `subset` is a name, `state` a TrajectoryState, `policy_model` as shown, `limit` the most there may be,
    `failed_of` the id of a run of the same judge whose failures are meant, `release` the version of a release
    of the project: the trajectories that it holds, as far as their content is that of its records. What the
    judge has answered completely is never part of it.
    """

    subset: str = ""
    state: str = ""
    policy_model: str = ""
    limit: int | None = None
    failed_of: int | None = None
    release: str = ""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> RunSelection:
        """From a run's `selection`, or from a request. Raises Invalid for an unknown subset, state or
        judge."""
        unknown = sorted(set(given) - {field.name for field in fields(cls)})
        if unknown:
            problem = translatable("Trajectories cannot be selected by this field.")
            raise Invalid(problem, fields=dict.fromkeys(unknown, problem))
        return cls(**given)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, without what was left open."""
        return {name: value for name, value in asdict(self).items() if value not in ("", None)}


ALL = RunSelection()
_ANSWERED: Final = SuggestionItem.objects.filter(
    run__judge=OuterRef("judge"),
    run__options=None,
    trajectory=OuterRef("trajectory"),
    state=SuggestionItemState.DONE,
)
INCOMPLETE: Final = Q(missing__gt=0) | (Q(outcome=None) & ~Exists(_ANSWERED))
"""Suggestions of which a run asks for the rest. Where only the outcome is missing, and an answer that was not
broken off left it out, nothing is: each run would pay for the whole trajectory once more, in vain."""


def pending_trajectories(judge: Judge, selection: RunSelection) -> QuerySet[Trajectory]:
    """The live trajectories of a selection without a suggestion of this judge, or with an `INCOMPLETE` one.
    Raises Invalid, by field."""
    rows = Trajectory.objects.filter(
        ~Exists(Suggestion.stored.filter(judge=judge, trajectory=OuterRef("pk")).exclude(INCOMPLETE)),
        project=judge.project_id,
        live=True,
    ).order_by("position", "pk")
    if judge.sample_id is not None:
        rows = rows.filter(samples=judge.sample_id)
    rows = in_subset(judge, selection, rows)
    if selection.state:
        if selection.state not in [state.value for state in TrajectoryState]:
            raise _unknown("state", translatable("Unknown state."))
        rows = rows.filter(state=selection.state)
    if selection.policy_model:
        rows = rows.filter(policy_model=selection.policy_model)
    if selection.release:
        rows = _of_release(judge, selection.release, rows)
    if selection.failed_of is not None:
        run = SuggestionRun.objects.filter(pk=selection.failed_of, judge=judge).first()
        if run is None:
            raise _unknown("failed_of", translatable("This judge has no such run."))
        failed = SuggestionItem.objects.filter(
            run=run, trajectory=OuterRef("pk"), state=SuggestionItemState.FAILED
        )
        rows = rows.filter(Exists(failed))
    if selection.limit is not None:
        if selection.limit < 1:
            raise _unknown("limit", translatable("At least 1."))
        rows = rows[: selection.limit]
    return rows


def in_subset(judge: Judge, selection: RunSelection, rows: QuerySet[Trajectory]) -> QuerySet[Trajectory]:
    """Those of some rows that are in the subset of the selection, if it names one. Raises Invalid."""
    if not selection.subset:
        return rows
    subset = Subset.objects.filter(project=judge.project_id, name=selection.subset).first()
    if subset is None:
        raise _unknown("subset", translatable("There is no subset “{name}”.", name=selection.subset))
    return rows.filter(subset=subset)


def incomplete(judge: Judge) -> frozenset[int]:
    """The trajectories for which the judge has an `INCOMPLETE` suggestion. One query."""
    rows = Suggestion.stored.filter(INCOMPLETE, judge=judge)
    return frozenset(rows.values_list("trajectory_id", flat=True))


def given_labels(judge: Judge, trajectories: Sequence[int]) -> dict[int, dict[int, int]]:
    """The labels that the judge has given to steps of trajectories: trajectory → message index → label. One
    query."""
    given: dict[int, dict[int, int]] = defaultdict(dict)
    labels = SuggestedLabel.stored.filter(
        suggestion__judge=judge, suggestion__trajectory__in=trajectories, value__isnull=False
    )
    for trajectory, index, value in labels.values_list(
        "suggestion__trajectory", "step__message_index", "value"
    ):
        if value is not None:
            given[trajectory][index] = value
    return given


def _of_release(judge: Judge, version: str, rows: QuerySet[Trajectory]) -> QuerySet[Trajectory]:
    release = Release.objects.filter(project=judge.project_id, version=version).first()
    if release is None:
        raise _unknown("release", translatable("There is no release “{name}”.", name=version))
    named = ReleaseRecord.objects.filter(
        release=release, subset=OuterRef("subset__name"), record_id=OuterRef("record_id")
    )
    # nearly always none: what has labels is never replaced
    other = frozen_trajectories(release).other
    return rows.filter(Exists(named)).exclude(pk__in=other) if other else rows.filter(Exists(named))


def _unknown(field: str, problem: str) -> Invalid:
    return Invalid(problem, fields={field: problem})
