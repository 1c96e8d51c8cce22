"""One model on a release: its figures, where it errs, and the trajectories on which it errs most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from annotation.core.figures.first_errors import FirstErrors
from annotation.core.figures.measure import IntArray
from annotation.core.kinds import Feature
from annotation.core.scoring import MISSING, Predictions, ReleasedLabels, Scores, scores
from annotation.core.scoring.details import (
    Costs,
    LengthScores,
    PlaceAccuracy,
    Worst,
    by_length,
    by_position,
    confusion,
    costs,
    offsets,
    worst,
)
from annotation.core.scoring.fitted import read
from annotation.core.scoring.labels import BoolArray
from annotation.core.scoring.pairs import shallow
from annotation.core.scoring.question_figures import VERDICTS, question_facts, verdicts_of
from annotation.core.scoring.scheme import BY_QUESTIONS, Scheme, as_pairs, has_pairs_beside, scheme_of
from annotation.core.scoring.scores import estimated, of_sums, sums_of
from annotation.core.scoring.without_reading import beside
from annotation.models import PredictionSet
from annotation.policies import Actor, require

from ..shared.release_labels import outline, predictions
from .leaderboard import CUTS, RecalibratedCell, cuts_of, recalibrated_cells

WORST: Final = 20
"""So many trajectories are listed."""


@dataclass(frozen=True, slots=True)
class ErringTrajectory:
    """A trajectory on which the model errs; `ordinal` is its place in the release."""

    ordinal: int
    record_id: str
    subset: str
    found: Worst


@dataclass(frozen=True, slots=True)
class ModelScores:
    """A model over the subsets that it predicts anything of. `confusion` (3, 4): the release in the rows, the
    model in the columns, in the order −1, 0, +1, none; None where it has given no labels. `recalibrated` is
    None until it is worked out. Where steps follow no sequence, `offsets` is None and there are no `places`;
    where models are not scored by them, no `lengths`. On decisions it is also scored by subset (`subsets`)
    and by CUTS, and `cues` are the scores of choices by what merely shows, or of what needs no reading of
    questions. `scheme`: the way in which it is scored; on questions `verdicts` counts them by name, and none
    is `worst`. `switches`: the release holds questions and pairs."""

    scores: Scores
    recalibrated: RecalibratedCell | None
    confusion: IntArray | None
    offsets: FirstErrors | None
    lengths: list[LengthScores]
    places: list[PlaceAccuracy]
    worst: list[ErringTrajectory]
    costs: Costs
    subsets: dict[str, Scores]
    cuts: dict[str, dict[str, Scores]]
    cues: dict[str, Scores]
    scheme: Scheme
    verdicts: dict[str, int]
    switches: bool


def model_scores(*, actor: Actor, row: PredictionSet, by_pairs: bool = False) -> ModelScores:
    """The scores of one prediction set, which comes with its release, where that holds questions and pairs on
    the questions, or `by_pairs`. One query and those of the permission."""
    require(actor, "release.view", row.release)
    index = outline(row.release)
    switches = has_pairs_beside(index.released)
    whole = as_pairs(index.released) if by_pairs and switches else index.released
    (everything,) = predictions(whole, [row])
    covered = np.isin(whole.subset, whole.subset[everything.there])
    released, predicted = whole.only(covered), everything.only(whole, covered)
    ordinals = np.flatnonzero(covered)
    in_order, by_steps = (released.kind.has(one) for one in (Feature.SEQUENCE, Feature.STEP_SCORES))
    scheme = scheme_of(released)
    of_questions = scheme is BY_QUESTIONS
    subsets, cuts = ({}, {}) if by_steps else _parts(released, predicted)
    made = read(row.recalibrated if index.fitted else None, whole)
    sums = sums_of(released, predicted)[None]
    every = estimated(released, sums)
    recalibrated = None
    if made is not None:
        after = made.only(whole, covered)
        (recalibrated,) = recalibrated_cells(released, [after], sums_of(released, after)[None], every)
    return ModelScores(
        scores=of_sums(released, [predicted], sums, every)[0],
        recalibrated=recalibrated,
        confusion=None
        if of_questions or not (by_steps or (predicted.steps != MISSING).any())
        else confusion(released, predicted),
        offsets=offsets(released, predicted) if in_order else None,
        lengths=by_length(released, predicted) if by_steps else [],
        places=by_position(released, predicted) if in_order else [],
        worst=[
            ErringTrajectory(
                int(ordinals[one.record]),
                released.record_id[one.record],
                released.subsets[released.subset[one.record]],
                one,
            )
            for one in ([] if of_questions else worst(released, predicted, WORST))
        ],
        costs=costs(released, predicted, None if row.cost is None else float(row.cost)),
        subsets=subsets,
        cuts=cuts,
        cues={} if by_steps else _scored(released, _cues(released)),
        scheme=scheme,
        verdicts=_verdicts(released, predicted) if of_questions else {},
        switches=switches,
    )


def _cues(released: ReleasedLabels) -> dict[str, Predictions]:
    by_questions = scheme_of(released) is BY_QUESTIONS
    return beside(released, question_facts(released)) if by_questions else shallow(released)


def _verdicts(released: ReleasedLabels, predicted: Predictions) -> dict[str, int]:
    """The number of questions of each verdict."""
    verdicts = verdicts_of(released, predicted)
    return {name: int((verdicts == place).sum()) for place, name in enumerate(VERDICTS)}


def _scored(released: ReleasedLabels, predicted: Mapping[str, Predictions]) -> dict[str, Scores]:
    return dict(zip(predicted, scores(released, list(predicted.values())), strict=True))


def _parts(
    released: ReleasedLabels, predicted: Predictions
) -> tuple[dict[str, Scores], dict[str, dict[str, Scores]]]:
    """The scores on the decisions of each subset, as far as there are several, and on those of each part by
    CUTS."""

    def scored(parts: Mapping[str, BoolArray]) -> dict[str, Scores]:
        return {
            name: scores(released.only(rows), [predicted.only(released, rows)])[0]
            for name, rows in parts.items()
            if rows.any()
        }

    subsets = scored({name: released.subset == place for place, name in enumerate(released.subsets)})
    return subsets if len(subsets) > 1 else {}, {
        cut: scored(named) for cut, named in cuts_of(released).items()
    }


def _costs_json(costs: Costs) -> dict[str, Any]:
    shown = {
        "usd_per_100_trajectories": costs.per_hundred,
        "usd_per_point_over_always_plus_one": costs.per_point,
    }
    return {name: {"value": one.value, "reason": one.reason} for name, one in shown.items()}


def _decisions_json(scored: ModelScores) -> dict[str, Any]:
    """The part about decisions; empty where there are none."""
    if scored.scores.pairs is None and scored.scores.questions is None:
        return {}
    cuts: dict[str, dict[str, Scores]] = {CUTS["category"]: {}}
    cuts |= {CUTS[cut]: named for cut, named in scored.cuts.items()}
    parts = {"subsets": scored.subsets, **cuts, "cues": scored.cues}
    json_parts = {key: {name: one.as_json() for name, one in part.items()} for key, part in parts.items()}
    return json_parts | ({"verdicts": scored.verdicts} if scored.verdicts else {})


def as_json(scored: ModelScores) -> dict[str, Any]:
    """The same as JSON: unrounded numbers, null with a reason where undefined."""
    return {
        "overall": scored.scores.as_json(),
        "recalibrated": None if scored.recalibrated is None else scored.recalibrated.as_json(),
        **_decisions_json(scored),
        "confusion": None if scored.confusion is None else scored.confusion.tolist(),
        "first_errors": None if scored.offsets is None else asdict(scored.offsets),
        "cost": _costs_json(scored.costs),
        "by_length": [
            {"from": part.low, "to": part.high, **part.scores.as_json()} for part in scored.lengths
        ],
        "by_position": [
            {"from": one.low, "to": one.high, "steps": one.steps, "right": one.right} for one in scored.places
        ],
        "worst": [
            {
                "ordinal": one.ordinal,
                "record_id": one.record_id,
                "subset": one.subset,
                "steps": one.found.steps,
                "wrong": one.found.wrong,
                "first_error_right": None if scored.offsets is None else one.found.first_error,
                "outcome_right": one.found.outcome,
            }
            for one in scored.worst
        ],
    }
