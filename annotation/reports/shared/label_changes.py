"""Labels before and after suggestions were revealed, and the suggestions that were shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation import models as m
from annotation.core.influence.label_changes import ChangeShares, changes, majority
from annotation.core.vocabulary import SETTLED, AssignmentState, ExposureKind


@dataclass(frozen=True, slots=True)
class ChangeRates:
    """The rates at which labels changed after a reveal. `unit`: "step" or "outcome"; `judge` empty: against
    the majority of the judges that were shown."""

    unit: str
    judge: str
    changes: ChangeShares


def counted(model: type[m.Label] | type[m.OutcomeLabel], project: m.Project) -> QuerySet[Any, Any]:
    """The submitted labels of trajectories whose labels are all in."""
    return model.objects.filter(
        assignment__project=project,
        assignment__state=AssignmentState.SUBMITTED,
        assignment__trajectory__live=True,
        assignment__trajectory__state__in=SETTLED,
        value__isnull=False,
    ).order_by()


@dataclass(frozen=True, slots=True)
class RevealedLabel:
    """A label that had a value when its suggestions were seen; `judge_values`: by the judge's pk."""

    annotator: int
    subset: int
    task: int
    blind: int
    final: int
    judge_values: dict[int, int | None]

    def beside(self, suggested: int) -> tuple[int, int, int, int, int]:
        """A row of `core.influence.label_changes.changes`, against what was suggested."""
        return self.subset, self.task, self.blind, self.final, suggested


def suggestions_seen(project: m.Project) -> bool:
    """Whether anybody has seen a suggestion in a project, which every reveal notes: without any, nothing was
    revealed. One query."""
    shown = m.Exposure.objects.filter(kind=ExposureKind.SUGGESTION)
    return shown.filter(
        Exists(m.Trajectory.objects.filter(pk=OuterRef("trajectory"), project=project))
    ).exists()


def revealed_labels(project: m.Project, model: type[m.Label] | type[m.OutcomeLabel]) -> list[RevealedLabel]:
    """Every label with a blind value whose suggestions were revealed, with what was shown then."""
    of_step = model is m.Label
    revealed = m.LabelEvent.objects.filter(
        kind="reveal",
        step__isnull=not of_step,
        assignment__project=project,
        assignment__state=AssignmentState.SUBMITTED,
        assignment__trajectory__live=True,
        assignment__trajectory__state__in=SETTLED,
    )
    values: dict[tuple[int, int | None], dict[int, int | None]] = {}
    for assignment, step, detail in revealed.order_by("-pk").values_list("assignment", "step", "detail"):
        # newest first: what is left at the end was shown at the first exposure
        values[assignment, step] = {one["judge"]: one["value"] for one in detail.get("judges", ())}
    columns = ["assignment", "assignment__annotator"]
    columns += ["assignment__trajectory__subset", "assignment__trajectory__task"]
    columns += ["blind_value", "value", *(["step"] if of_step else [])]
    rows = counted(model, project).filter(exposed_at__isnull=False, blind_value__isnull=False)
    return [
        RevealedLabel(who, subset, task, blind, final, values[assignment, step[0] if step else None])
        for assignment, who, subset, task, blind, final, *step in rows.values_list(*columns)
        if (assignment, step[0] if step else None) in values
    ]


def change_rates(unit: str, seen: list[RevealedLabel], judges: dict[int, str]) -> Iterator[ChangeRates]:
    """Against the majority of what was shown, then against each judge that was shown."""
    rows = [label.beside(majority(label.judge_values.values())) for label in seen]
    yield ChangeRates(unit, "", changes(rows))
    for judge, name in judges.items():
        own = [label.beside(value) for label in seen if (value := label.judge_values.get(judge)) is not None]
        if own:
            yield ChangeRates(unit, name, changes(own))
