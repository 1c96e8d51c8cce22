"""Compare a judge with people's labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from annotation import models as m
from annotation.core.agreement.judge_scores import MISSING, JudgeScores, judged
from annotation.core.vocabulary import RESOLVED, SETTLED, AssignmentState
from annotation.models.blindness import BLIND_VALUE
from annotation.policies import Actor, require

from ..agreement.report import measure_json
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
    its = _Chosen(judge, run)
    return JudgeAgreement(
        judge=judge,
        consensus=_parts(judge, _consensus_steps(its), _consensus_outcomes(its), subsets, intervals),
        blind=_parts(judge, _blind_steps(its), _blind_outcomes(its), subsets, intervals),
    )


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The compared suggestions: all of a judge, or those of one of its runs."""

    judge: m.Judge
    run: int | None

    def of(self, trajectory: str) -> dict[str, Any]:
        """The filter for rows that name their trajectory so."""
        there = {
            f"{trajectory}__suggestions__judge": self.judge,
            f"{trajectory}__suggestions__live": True,
            f"{trajectory}__live": True,
        }
        return there if self.run is None else {**there, f"{trajectory}__suggestions__run": self.run}


def _parts(
    judge: m.Judge,
    steps: QuerySet[Any, Any],
    outcomes: QuerySet[Any, Any],
    subsets: dict[int, str],
    intervals: bool,
) -> tuple[SubsetScores, ...]:
    of_steps, of_outcomes = integer_rows(steps, 7), integer_rows(outcomes, 6)

    def part(pk: int | None, name: str) -> SubsetScores:
        *people, suggested, recalibrated = _of_subset(of_steps, pk).T

        def beside(said: Integers, *, intervals: bool = False) -> JudgeScores:
            return judged(np.column_stack([*people, said]), intervals=intervals)

        return SubsetScores(
            name,
            beside(suggested, intervals=intervals),
            judged(_of_subset(of_outcomes, pk)),
            beside(np.ones_like(suggested)),
            beside(recalibrated, intervals=intervals) if judge.recalibrate else None,
        )

    return (part(None, ""), *(part(pk, name) for pk, name in subsets.items()))


def _of_subset(rows: Integers, pk: int | None) -> Integers:
    """The rows of one subset, which is their first column; of all for None."""
    subset, *_ = rows.T
    return rows if pk is None else rows[subset == pk]


def its_label(judge: m.Judge, step: str, column: str = "value") -> Coalesce:
    """A judge's label of a step (the name of its column), raw or `recalibrated`; MISSING without one."""
    label = m.SuggestedLabel.objects.filter(suggestion__judge=judge, step=OuterRef(step)).order_by()
    return Coalesce(Subquery(label.values(column)[:1]), Value(MISSING))


def _its_outcome(judge: m.Judge, trajectory: str) -> Coalesce:
    suggestion = m.Suggestion.objects.filter(judge=judge, trajectory=OuterRef(trajectory)).order_by()
    return Coalesce(Subquery(suggestion.values("outcome")[:1]), Value(MISSING))


def _consensus_steps(its: _Chosen) -> QuerySet[Any, Any]:
    return (
        m.Consensus.objects.filter(
            **its.of("trajectory"),
            trajectory__state__in=RESOLVED,
        )
        .annotate(
            suggested=its_label(its.judge, "step"), recalibrated=its_label(its.judge, "step", "recalibrated")
        )
        .order_by("trajectory", "step__ordinal")
        .values_list(
            "trajectory__subset",
            "trajectory__task",
            "trajectory",
            "step__ordinal",
            "value",
            "suggested",
            "recalibrated",
        )
    )


def _consensus_outcomes(its: _Chosen) -> QuerySet[Any, Any]:
    return (
        m.OutcomeConsensus.objects.filter(
            **its.of("trajectory"),
            trajectory__state__in=RESOLVED,
        )
        .annotate(suggested=_its_outcome(its.judge, "trajectory"), position=Value(0))
        .order_by("trajectory")
        .values_list("trajectory__subset", "trajectory__task", "trajectory", "position", "value", "suggested")
    )


def _blind_steps(its: _Chosen) -> QuerySet[Any, Any]:
    return (
        m.Label.objects.filter(
            **its.of("assignment__trajectory"),
            assignment__trajectory__state__in=SETTLED,
            assignment__state=AssignmentState.SUBMITTED,
        )
        .annotate(
            blind=BLIND_VALUE,
            suggested=its_label(its.judge, "step"),
            recalibrated=its_label(its.judge, "step", "recalibrated"),
        )
        .filter(blind__isnull=False)
        .order_by("assignment__trajectory", "assignment", "step__ordinal")
        .values_list(
            "assignment__trajectory__subset",
            "assignment__trajectory__task",
            "assignment",
            "step__ordinal",
            "blind",
            "suggested",
            "recalibrated",
        )
    )


def _blind_outcomes(its: _Chosen) -> QuerySet[Any, Any]:
    return (
        m.OutcomeLabel.objects.filter(
            **its.of("assignment__trajectory"),
            assignment__trajectory__state__in=SETTLED,
            assignment__state=AssignmentState.SUBMITTED,
        )
        .annotate(
            blind=BLIND_VALUE, suggested=_its_outcome(its.judge, "assignment__trajectory"), position=Value(0)
        )
        .filter(blind__isnull=False)
        .order_by("assignment")
        .values_list(
            "assignment__trajectory__subset",
            "assignment__trajectory__task",
            "assignment",
            "position",
            "blind",
            "suggested",
        )
    )


def as_json(report: JudgeAgreement) -> dict[str, Any]:
    """The report as JSON: unrounded numbers, null with a reason where undefined."""
    return {
        "judge": report.judge.name,
        "consensus": _scores_json(report.consensus),
        "blind": _scores_json(report.blind),
    }


def _scores_json(parts: tuple[SubsetScores, ...]) -> dict[str, Any]:
    rows = {
        part.subset: {
            "steps": scores_json(part.steps),
            "outcome": scores_json(part.outcome),
            "always_plus": scores_json(part.always_plus),
            "recalibrated": None if part.recalibrated is None else scores_json(part.recalibrated),
        }
        for part in parts
    }
    return {"overall": rows.pop(""), "subsets": rows}


def scores_json(figures: JudgeScores) -> dict[str, Any]:
    """Figures of one judge: measures as in the agreement report, counts beside them."""
    return {
        "steps": figures.steps,
        "answered": figures.answered,
        "missing": figures.missing,
        "trajectories": figures.trajectories,
        "tasks": figures.tasks,
        "step_accuracy": measure_json(figures.step_accuracy),
        "percent_agreement": measure_json(figures.agreement),
        "kappa": measure_json(figures.kappa),
        "quadratic_kappa": measure_json(figures.kappa_quadratic),
        "first_error_accuracy": measure_json(figures.first_error),
        "strict_first_error_accuracy": measure_json(figures.first_error_strict),
        "confusion": figures.confusion.tolist(),
    }
