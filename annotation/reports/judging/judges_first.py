"""Judges first: what of a project judges would settle, what they have, and how far people agree with it
(docs/judges.md, "Judges first")."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, Exists, OuterRef, QuerySet

from annotation import models as m
from annotation.core.decisions.judges_first import (
    LEAST_JUDGES,
    JudgedAudit,
    JudgesFirst,
    in_order,
    key_of,
    settle,
    writers_of,
)
from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.kinds import Feature
from annotation.core.vocabulary import RESOLVED, SuggestionItemState, TrajectoryState
from annotation.policies import Actor, require

CONSIDERED_AT_ONCE: Final = 500
OFF: Final = translatable("This project does not ask judges first; switch it on in its settings.")
TOO_FEW: Final = translatable("Choose at least {least} judges.", least=LEAST_JUDGES)


@dataclass(frozen=True, slots=True)
class Considered:
    """A trajectory that judges are asked about before people. `verdict` None: a judge has not been asked
    about it. `key`: of each option by message index; `lacking`: a judge has failed at it; `claimed`: people
    have begun."""

    pk: int
    verdict: JudgesFirst | None
    key: Mapping[int, int | None]
    lacking: bool = False
    claimed: bool = False


@dataclass(slots=True)
class Settlement:
    """Verdicts on trajectories, counted: `judged`, `dropped`, or for `people`, among these `claimed` by
    people before, and `lacking` the answer of a judge; `waiting` for a judge that has not been asked."""

    judged: int = 0
    dropped: int = 0
    people: int = 0
    claimed: int = 0
    lacking: int = 0
    waiting: int = 0

    def count(self, one: Considered) -> None:
        """Count a trajectory in."""
        if one.verdict is None:
            self.waiting += 1
            return
        name = one.verdict.value
        setattr(self, name, getattr(self, name) + 1)
        self.claimed += one.claimed
        self.lacking += one.lacking and not one.claimed


@dataclass(frozen=True, slots=True)
class JudgesFirstSummary:
    """A summary of what judges have settled of a project: trajectories that were `judged` or `dropped`, went
    to `people`, or are still `waiting`; and the audit of the judged ones."""

    judged: int
    dropped: int
    people: int
    waiting: int
    audit: JudgedAudit

    def as_json(self) -> dict[str, Any]:
        """JSON-ready, unrounded."""
        counts = {name: getattr(self, name) for name in ("judged", "dropped", "people", "waiting")}
        return {**counts, "audit": self.audit.as_json()}


def check_asked(project: m.Project) -> None:
    """Raises Conflict where a project does not ask judges first."""
    project.of_kind.require(Feature.JUDGES_FIRST)
    if not project.judges_first:
        raise Conflict(OFF, code="judges_first_off")


def check_judges(project: m.Project, judges: Sequence[m.Judge]) -> None:
    """Raises as `check_asked`, Conflict where a judge still works, and Invalid where they are too few."""
    check_asked(project)
    if len({judge.pk for judge in judges}) < LEAST_JUDGES:
        raise Invalid(TOO_FEW, fields={"judges": TOO_FEW})
    running = m.SuggestionRun.objects.filter(judge__in=judges, state__in=m.UNFINISHED_RUNS)
    if names := sorted(running.values_list("judge__name", flat=True)):
        raise Conflict(
            translatable(
                "These judges still have a run that has not ended: {names}.", names=", ".join(names)
            ),
            code="judge_at_work",
        )


def open_items(project: m.Project) -> QuerySet[m.Trajectory]:
    """The trajectories that have not been considered yet, in the order in which they are."""
    rows = m.Trajectory.objects.filter(
        project=project, live=True, state=TrajectoryState.LABELLING, judges_first__isnull=True
    )
    return rows.order_by("pk")


def preview(*, viewer: Actor, project: m.Project, judges: Sequence[m.Judge]) -> Settlement:
    """The verdicts on all that has not been considered yet; nothing is changed. Six queries for each 500
    trajectories. Raises as `check_judges`, Denied."""
    require(viewer, "judges_first.settle", project)
    check_judges(project, judges)
    settlement = Settlement()
    for part in considered(project, judges):
        for one in part:
            settlement.count(one)
    return settlement


def considered(project: m.Project, judges: Sequence[m.Judge]) -> Iterator[list[Considered]]:
    """All that has not been considered, some at a time. Six queries each."""
    last = 0
    while pks := list(
        open_items(project).filter(pk__gt=last).values_list("pk", flat=True)[:CONSIDERED_AT_ONCE]
    ):
        yield _consider(judges, pks)
        last = pks[-1]


def _consider(asked: Sequence[m.Judge], pks: Sequence[int]) -> list[Considered]:
    judges, models = [judge.pk for judge in asked], {judge.model for judge in asked}
    begun = m.Assignment.stored.filter(trajectory=OuterRef("pk"))
    claimed = set(m.Trajectory.objects.filter(Exists(begun), pk__in=pks).values_list("pk", flat=True))
    steps: dict[int, list[int]] = defaultdict(list)
    of_steps = m.Step.objects.filter(trajectory__in=pks).order_by("trajectory_id", "message_index")
    for pk, index in of_steps.values_list("trajectory_id", "message_index"):
        steps[pk].append(index)
    contents = m.TrajectoryContent.objects.filter(trajectory__in=pks).only("trajectory", "source_labels")
    sources = {row.trajectory_id: row.labels_of_source() for row in contents}
    keys = {pk: key_of(steps[pk], labels) for pk, labels in sources.items()}
    of_judges = {"trajectory__in": pks, "judge__in": judges}
    answers: dict[int, dict[int, dict[int, int | None]]] = {pk: {} for pk in pks}
    for pk, judge in (
        m.Suggestion.objects.filter(**of_judges).order_by().values_list("trajectory_id", "judge_id")
    ):
        answers[pk][judge] = {}
    labels = m.SuggestedLabel.objects.filter(suggestion__trajectory__in=pks, suggestion__judge__in=judges)
    for pk, judge, index, value in labels.order_by().values_list(
        "suggestion__trajectory_id", "suggestion__judge_id", "step__message_index", "value"
    ):
        answers[pk][judge][index] = value
    failures = m.SuggestionItem.objects.filter(
        trajectory__in=pks, run__judge__in=judges, run__options=None, state=SuggestionItemState.FAILED
    )
    failed = defaultdict(set)
    for pk, judge in failures.order_by().values_list("trajectory_id", "run__judge_id"):
        failed[pk].add(judge)

    def one(pk: int) -> Considered:
        if pk in claimed:
            return Considered(pk, JudgesFirst.PEOPLE, keys[pk], claimed=True)
        # who wrote a wrong option knows that it is one: that would confirm nothing
        if None in keys[pk].values() or not models.isdisjoint(writers_of(sources[pk])):
            return Considered(pk, JudgesFirst.PEOPLE, keys[pk])
        missing = set(judges) - answers[pk].keys()
        if missing - failed[pk]:
            return Considered(pk, None, keys[pk])
        if missing:
            return Considered(pk, JudgesFirst.PEOPLE, keys[pk], lacking=True)
        return Considered(pk, settle(keys[pk], list(answers[pk].values())), keys[pk])

    return [one(pk) for pk in pks]


def summary(project: m.Project) -> JudgesFirstSummary | None:
    """A summary of what judges have settled; None where a project asks no judges first and never did. At most
    six queries; for whoever has asked permission."""
    if not project.of_kind.has(Feature.JUDGES_FIRST):
        return None
    verdicts = m.JudgesFirstVerdict.objects.filter(project=project, trajectory__live=True).order_by()
    counts = dict(verdicts.values_list("verdict").annotate(n=Count("pk")))
    if not counts and not project.judges_first:
        return None
    return JudgesFirstSummary(
        **{verdict.value: counts.get(verdict.value, 0) for verdict in JudgesFirst},
        waiting=open_items(project).count(),
        audit=_audit(project),
    )


def _audit(project: m.Project) -> JudgedAudit:
    """Of the judged ones whose places are the first, those that are drawn: which ones a later settlement
    draws besides depends on chance alone, and so do these."""
    first = sample(project).values_list("trajectory_id", "drawn")
    drawn = [pk for pk, is_drawn in first if is_drawn]
    rows = m.TrajectoryContent.objects.filter(trajectory__in=drawn, trajectory__state__in=RESOLVED)
    sources = {row.trajectory_id: row.labels_of_source() for row in rows.only("trajectory", "source_labels")}
    labels: dict[int, dict[int, int | None]] = {pk: {} for pk in sources}
    consensus = m.Consensus.objects.filter(trajectory__in=sources).order_by()
    for pk, index, value in consensus.values_list("trajectory_id", "step__message_index", "value"):
        labels[pk][index] = value
    outcomes = m.OutcomeConsensus.objects.filter(trajectory__in=sources).order_by()
    outcome = dict(outcomes.values_list("trajectory_id", "value"))
    agreed = sum(
        in_order(key_of(labels[pk], source), labels[pk]) and outcome.get(pk) != -1
        for pk, source in sources.items()
    )
    return JudgedAudit(drawn=len(drawn), done=len(sources), agreed=agreed)


def sample(project: m.Project) -> QuerySet[m.JudgesFirstVerdict]:
    """The judged trajectories whose places of chance are the first, as many as the project has labelled by
    people as well."""
    judged = m.JudgesFirstVerdict.objects.filter(
        project=project, trajectory__live=True, verdict=JudgesFirst.JUDGED
    )
    return judged.order_by("place", "pk")[: project.judged_sample]
