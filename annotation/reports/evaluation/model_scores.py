"""One model on a release: its figures, where it errs, and the trajectories on which it errs most."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from annotation.core.figures.first_errors import FirstErrors
from annotation.core.figures.measure import IntArray
from annotation.core.kinds import Feature
from annotation.core.scoring import Scores
from annotation.core.scoring.counts import task_sums
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
from annotation.core.scoring.scores import estimated, of_sums
from annotation.models import PredictionSet
from annotation.policies import Actor, require

from ..shared.release_labels import outline, predictions
from .leaderboard import RecalibratedCell, recalibrated_cells

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
    model in the columns, in the order −1, 0, +1, none. `recalibrated` is None until it is worked out. Where
    steps follow no sequence, `offsets` is None and there are no `places`."""

    scores: Scores
    recalibrated: RecalibratedCell | None
    confusion: IntArray
    offsets: FirstErrors | None
    lengths: list[LengthScores]
    places: list[PlaceAccuracy]
    worst: list[ErringTrajectory]
    costs: Costs


def model_scores(*, actor: Actor, row: PredictionSet) -> ModelScores:
    """The scores of one prediction set, which comes with its release. One query and those of the
    permission."""
    require(actor, "release.view", row.release)
    known = outline(row.release)
    whole = known.released
    (everything,) = predictions(whole, [row])
    covered = np.isin(whole.subset, whole.subset[everything.there])
    released, said = whole.only(covered), everything.only(whole, covered)
    ordinals = np.flatnonzero(covered)
    in_order = released.kind.has(Feature.SEQUENCE)
    made = read(row.recalibrated if known.fitted else None, whole)
    sums = task_sums(released, said)[None]
    every = estimated(released, sums)
    recalibrated = None
    if made is not None:
        after = made.only(whole, covered)
        (recalibrated,) = recalibrated_cells(released, [after], task_sums(released, after)[None], every)
    return ModelScores(
        scores=of_sums(released, [said], sums, every)[0],
        recalibrated=recalibrated,
        confusion=confusion(released, said),
        offsets=offsets(released, said) if in_order else None,
        lengths=by_length(released, said),
        places=by_position(released, said) if in_order else [],
        worst=[
            ErringTrajectory(
                int(ordinals[one.record]),
                released.record_id[one.record],
                released.subsets[released.subset[one.record]],
                one,
            )
            for one in worst(released, said, WORST)
        ],
        costs=costs(released, said, None if row.cost is None else float(row.cost)),
    )


def _costs_json(found: Costs) -> dict[str, Any]:
    shown = {
        "usd_per_100_trajectories": found.per_hundred,
        "usd_per_point_over_always_plus_one": found.per_point,
    }
    return {name: {"value": one.value, "reason": one.reason} for name, one in shown.items()}


def as_json(found: ModelScores) -> dict[str, Any]:
    """The same as JSON: unrounded numbers, null with a reason where undefined."""
    return {
        "overall": found.scores.as_json(),
        "recalibrated": None if found.recalibrated is None else found.recalibrated.as_json(),
        "confusion": found.confusion.tolist(),
        "first_errors": None if found.offsets is None else asdict(found.offsets),
        "cost": _costs_json(found.costs),
        "by_length": [{"from": part.low, "to": part.high, **part.scores.as_json()} for part in found.lengths],
        "by_position": [
            {"from": one.low, "to": one.high, "steps": one.steps, "right": one.right} for one in found.places
        ],
        "worst": [
            {
                "ordinal": one.ordinal,
                "record_id": one.record_id,
                "subset": one.subset,
                "steps": one.found.steps,
                "wrong": one.found.wrong,
                "first_error_right": None if found.offsets is None else one.found.first_error,
                "outcome_right": one.found.outcome,
            }
            for one in found.worst
        ],
    }
