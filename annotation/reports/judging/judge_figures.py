"""Compare a judge with people's labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from django.db.models import OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from annotation import models as m
from annotation.core.scoring.judges import JudgedSteps, JudgeScores, judge_scores
from annotation.core.scoring.labels import MISSING
from annotation.core.vocabulary import RESOLVED, SETTLED, AssignmentState
from annotation.models.blindness import BLIND_VALUE
from annotation.policies import Actor, require

from ..shared.integer_rows import Integers, integer_rows


@dataclass(frozen=True, slots=True)
class SubsetScores:
    """One judge against one kind of people's labels, over all (`subset` empty) or one subset.

    `outcome` has one step a trajectory: the outcome. `always_plus` is what +1 for every step would earn,
    `recalibrated` the judge's labels after recalibration; None where that is switched off.
    """

    subset: str
    steps: JudgeScores
    outcome: JudgeScores
    always_plus: JudgeScores
    recalibrated: JudgeScores | None


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """`consensus`: resolved labels. `blind`: each person's own, as given before seeing a suggestion."""

    judge: m.Judge
    consensus: tuple[SubsetScores, ...]
    blind: tuple[SubsetScores, ...]


def judge_agreement(
    *, viewer: Actor, judge: m.Judge, run: int | None = None, intervals: bool = True
) -> JudgeAgreement:
    """The agreement of one judge with people, over trajectories it has suggestions for (of one `run`, by its
    pk, if that is given). Five queries.

    Only trajectories whose labels are all in count, so that nobody who may yet label one learns of them.
    Raises Denied to whoever may not see agreement.
    """
    require(viewer, "agreement.view", judge)
    subsets = dict(
        m.Subset.objects.filter(project=judge.project_id).order_by("name").values_list("pk", "name")
    )
    return JudgeAgreement(
        judge, *(_parts(judge, run, labels, subsets, intervals) for labels in (_consensus(), _blind()))
    )


class _Labels(NamedTuple):
    """One kind of people's labels: rows of steps and of outcomes, and what their columns are called: of the
    trajectory, of what counts as one (`unit`), and of the label."""

    steps: QuerySet[Any, Any]
    outcomes: QuerySet[Any, Any]
    trajectory: str
    unit: str
    value: str


def _consensus() -> _Labels:
    resolved = {"trajectory__state__in": RESOLVED}
    steps, outcomes = m.Consensus.objects.filter(**resolved), m.OutcomeConsensus.objects.filter(**resolved)
    return _Labels(steps, outcomes, "trajectory", "trajectory", "value")


def _blind() -> _Labels:
    settled = {
        "assignment__trajectory__state__in": SETTLED,
        "assignment__state": AssignmentState.SUBMITTED,
    }
    steps, outcomes = (
        labels.objects.filter(**settled).annotate(blind=BLIND_VALUE).filter(blind__isnull=False)
        for labels in (m.Label, m.OutcomeLabel)
    )
    return _Labels(steps, outcomes, "assignment__trajectory", "assignment", "blind")


def _parts(
    judge: m.Judge, run: int | None, labels: _Labels, subsets: dict[int, str], intervals: bool
) -> tuple[SubsetScores, ...]:
    kind = judge.project.of_kind
    both = {"suggested": its_label(judge, "step"), "recalibrated": its_label(judge, "step", "recalibrated")}
    steps = labels.steps.annotate(**both).order_by(labels.trajectory, labels.unit, "step__ordinal")
    outcomes = labels.outcomes.annotate(suggested=_its_outcome(judge, labels.trajectory))
    *columns, recalibrated = _columns(judge, run, labels, steps, "suggested", "recalibrated")
    of_steps = JudgedSteps(*columns)
    after = replace(of_steps, judge=recalibrated)
    of_outcomes = JudgedSteps(
        *_columns(judge, run, labels, outcomes.order_by(labels.trajectory, labels.unit), "suggested")
    )

    def part(pk: int | None, name: str) -> SubsetScores:
        own, outcome, then = (
            every if pk is None else every.where(every.subset == pk)
            for every in (of_steps, of_outcomes, after)
        )
        return SubsetScores(
            name,
            judge_scores(own, intervals=intervals, kind=kind),
            judge_scores(outcome, kind=kind),
            judge_scores(own.plus(), kind=kind),
            judge_scores(then, intervals=intervals, kind=kind) if judge.recalibrate else None,
        )

    return (part(None, ""), *(part(pk, name) for pk, name in subsets.items()))


def _columns(
    judge: m.Judge, run: int | None, labels: _Labels, rows: QuerySet[Any, Any], *columns: str
) -> list[Integers]:
    """Subset, task, unit, label and what the judge has `columns`, of trajectories that it has suggestions for
    (of one `run`, if that is given)."""
    path = labels.trajectory
    its = {
        f"{path}__suggestions__judge": judge,
        f"{path}__suggestions__live": True,
        f"{path}__live": True,
        **({} if run is None else {f"{path}__suggestions__run": run}),
    }
    names = (f"{path}__subset", f"{path}__task", labels.unit, labels.value, *columns)
    return list(integer_rows(rows.filter(**its).values_list(*names), len(names)).T)


def its_label(judge: m.Judge, step: str, column: str = "value") -> Coalesce:
    """A judge's label of a step (the name of its column), raw or `recalibrated`; MISSING without one."""
    label = m.SuggestedLabel.objects.filter(suggestion__judge=judge, step=OuterRef(step)).order_by()
    return Coalesce(Subquery(label.values(column)[:1]), Value(MISSING))


def _its_outcome(judge: m.Judge, trajectory: str) -> Coalesce:
    suggestion = m.Suggestion.objects.filter(judge=judge, trajectory=OuterRef(trajectory)).order_by()
    return Coalesce(Subquery(suggestion.values("outcome")[:1]), Value(MISSING))


def as_json(report: JudgeAgreement) -> dict[str, Any]:
    """The report as JSON: unrounded numbers, null with a reason where undefined."""
    return {
        "judge": report.judge.name,
        "consensus": _parts_json(report.consensus),
        "blind": _parts_json(report.blind),
    }


def _parts_json(parts: tuple[SubsetScores, ...]) -> dict[str, Any]:
    rows = {
        part.subset: {
            "steps": part.steps.as_json(),
            "outcome": part.outcome.as_json(),
            "always_plus": part.always_plus.as_json(),
            "recalibrated": None if part.recalibrated is None else part.recalibrated.as_json(),
        }
        for part in parts
    }
    return {"overall": rows.pop(""), "subsets": rows}
