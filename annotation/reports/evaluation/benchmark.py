"""Relations of a release's figures over the models, and the composition of the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from annotation.core.figures.measure import Measure
from annotation.core.scoring.benchmark import Composition, composition, pearson
from annotation.core.scoring.scores import scores
from annotation.core.vocabulary import PLAIN_SIGNS
from annotation.models import Release
from annotation.policies import Actor, require

from .leaderboard_entries import entries

STEP: Final = "step_accuracy"
BESIDE: Final = ("first_error_accuracy", "binary_outcome_accuracy", "strict_binary_outcome_accuracy")
"""The figures that StepAcc is related to."""


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
class Benchmark:
    """Relations over the models that predict something of every subset, and the parts of the release."""

    relations: tuple[FigureRelation, ...]
    parts: tuple[Composition, ...]


def benchmark(*, actor: Actor, release: Release) -> Benchmark:
    """Read a benchmark. Two queries and those of the permission, as soon as the release has predictions."""
    require(actor, "release.view", release)
    board = entries(release)
    whole = [model for model in board.models if len(model.covered) == len(board.released.subsets)]
    found = scores(board.released, [one.said for one in whole])
    relations = []
    for name in BESIDE:
        points = [
            ModelPoint(one.name, one.row.pk if one.row else 0, x.value, y.value)
            for one, each in zip(whole, found, strict=True)
            if (x := each.figures[STEP]).value is not None and (y := each.figures[name]).value is not None
        ]
        r = pearson([point.step_accuracy for point in points], [point.other for point in points])
        relations.append(FigureRelation(name, tuple(points), r))
    return Benchmark(tuple(relations), tuple(composition(board.released)))


def as_json(found: Benchmark) -> dict[str, Any]:
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
            for relation in found.relations
        ],
        "parts": [
            {
                "subset": part.subset,
                "policy_model": part.policy_model,
                "trajectories": part.records,
                "steps": part.steps,
                "labels": dict(zip(PLAIN_SIGNS.values(), part.labels, strict=True)),
                "first_errors": dict(zip(("first", "second", "last"), part.thirds, strict=True)),
                "error_free": part.error_free,
                "median_first_error": part.median,
            }
            for part in found.parts
        ],
    }
