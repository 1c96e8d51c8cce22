"""Relations of a release's figures over the models, its composition, and what a larger one would show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from annotation.core.figures.measure import Measure
from annotation.core.kinds import Feature, available
from annotation.core.scoring.benchmark import Composition, composition, pearson
from annotation.core.scoring.blind import BlindLabellings
from annotation.core.scoring.figures import FIGURES
from annotation.core.scoring.labels import ReleasedLabels
from annotation.core.scoring.planning import Plan, plan
from annotation.core.scoring.robustness import ReaderRanking, by_reader, own_suggestions_shift
from annotation.core.scoring.scores import scores
from annotation.core.vocabulary import PLAIN_SIGNS
from annotation.models import Release
from annotation.policies import Actor, require

from .leaderboard_entries import LeaderboardEntry, entries
from .seen_judges import seen_records

STEP: Final = "step_accuracy"
BESIDE: Final = ("first_error_accuracy", "binary_outcome_accuracy", "strict_binary_outcome_accuracy")
"""The figures that StepAcc is related to."""
DIFFERENCES: Final = (0.01, 0.02, 0.05)
"""The differences of StepAcc for which the number of tasks is said."""


@dataclass(frozen=True, slots=True)
class ModelPoint:
    """One model: its StepAcc, and the figure that this is held against."""

    model: str
    pk: int
    step_accuracy: float
    other: float


@dataclass(frozen=True, slots=True)
class FigureRelation:
    """StepAcc against another figure (by name) over models, with Pearson's r."""

    figure: str
    points: tuple[ModelPoint, ...]
    r: Measure


@dataclass(frozen=True, slots=True)
class OwnShift:
    """A model some of whose suggestions annotators had seen, for so many `records`, and the shift of its
    StepAcc (core.scoring.robustness)."""

    model: str
    records: int
    shift: Measure


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Relations over the models that predict something of every subset, the parts of the release, and the
    plan of a larger one, by the two models (`planned_for`) whose difference is about as sure as most.
    `readers`: the ranking of `models` by each one's blind labels; `shifts`: of the models whose suggestions
    were seen; `in_order`: steps follow one another, so that the parts have a first error."""

    relations: tuple[FigureRelation, ...]
    parts: tuple[Composition, ...]
    plan: Plan | None
    planned_for: tuple[str, ...]
    models: tuple[str, ...]
    readers: tuple[ReaderRanking, ...]
    shifts: tuple[OwnShift, ...]
    in_order: bool


def benchmark(*, actor: Actor, release: Release) -> Benchmark:
    """Read a benchmark. Two queries, those of the permission and of suggestions that were seen
    (`seen_records`), as soon as the release has predictions."""
    require(actor, "release.view", release)
    release.project.of_kind.require(Feature.STEP_SCORES)
    board = entries(release)
    whole = [model for model in board.models if len(model.covered) == len(board.released.subsets)]
    all_scores = scores(board.released, [one.predicted for one in whole])
    relations, figures = [], available(board.released.kind, FIGURES)
    for name in (name for name in BESIDE if name in figures):
        points = [
            ModelPoint(one.name, one.row.pk if one.row else 0, x.value, y.value)
            for one, each in zip(whole, all_scores, strict=True)
            if (x := each.figures[STEP]).value is not None and (y := each.figures[name]).value is not None
        ]
        r = pearson([point.step_accuracy for point in points], [point.other for point in points])
        relations.append(FigureRelation(name, tuple(points), r))
    blind = board.blind or BlindLabellings.none(board.released)
    found_plan = plan(board.released, [one.predicted for one in whole], blind.turns)
    names = () if found_plan is None else tuple(whole[at].name for at in found_plan.models)
    predicted = [one.predicted for one in whole]
    return Benchmark(
        tuple(relations),
        tuple(composition(board.released)),
        found_plan,
        names,
        tuple(one.name for one in whole),
        tuple(by_reader(board.released, predicted, blind.turns, blind.readers)),
        tuple(_shifts(release, board.released, whole)),
        board.released.kind.has(Feature.SEQUENCE),
    )


def _shifts(release: Release, released: ReleasedLabels, models: list[LeaderboardEntry]) -> Iterator[OwnShift]:
    """The shifts of those of the models whose suggestions annotators had seen."""
    overlaps = seen_records(release, [one.row for one in models if one.row is not None])
    predicted = [one.predicted for one in models]
    for place, one in enumerate(models):
        if one.row is not None and one.row.pk in overlaps:
            seen = np.isin(np.arange(released.n_records), list(overlaps[one.row.pk]))
            yield OwnShift(one.name, int(seen.sum()), own_suggestions_shift(released, predicted, place, seen))


def as_json(report: Benchmark) -> dict[str, Any]:
    """The same as JSON: unrounded numbers, null with a reason where undefined."""
    return {
        "relations": [
            {
                "figures": [STEP, relation.figure],
                "pearson": relation.r.value,
                "models": relation.r.n,
                "reason": relation.r.reason,
                "points": [
                    {"model": point.model, STEP: point.step_accuracy, relation.figure: point.other}
                    for point in relation.points
                ],
            }
            for relation in report.relations
        ],
        "parts": [
            {
                "subset": part.subset,
                "policy_model": part.policy_model,
                "trajectories": part.records,
                "steps": part.steps,
                "labels": dict(zip(PLAIN_SIGNS.values(), part.labels, strict=True)),
                "first_errors": dict(zip(("first", "second", "last"), part.thirds, strict=True))
                if report.in_order
                else None,
                "error_free": part.error_free,
                "median_first_error": part.median if report.in_order else None,
            }
            for part in report.parts
        ],
        "readers": [
            {
                "annotator": f"annotator-{one.reader}",
                "trajectories": one.records,
                "tasks": one.tasks,
                "kendall_tau": one.tau.as_json(),
                "turned": [[report.models[at] for at in pair] for pair in one.turned],
            }
            for one in report.readers
        ],
        "own_suggestions": [
            {"model": one.model, "trajectories": one.records, "shift": one.shift.as_json()}
            for one in report.shifts
        ],
        "plan": None if report.plan is None else _plan_json(report.plan, report.planned_for),
    }


def _plan_json(plan: Plan, models: tuple[str, ...]) -> dict[str, Any]:
    return {
        "models": list(models),
        "variance": asdict(plan.components),
        "detectable_differences": [
            {"more": more, **asdict(design), "difference": plan.components.detectable(design)}
            for more, design in plan.options().items()
        ],
        "tasks_needed": [
            {"difference": difference, "tasks": plan.components.tasks_for(difference, plan.design)}
            for difference in DIFFERENCES
        ],
    }
