"""Prediction-powered figures of a release's models, beside the classical ones and in no ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.kinds import available
from annotation.core.scoring import Predictions, ReleasedLabels
from annotation.core.scoring.figures import FIGURES
from annotation.core.scoring.prediction_powered import (
    COLUMNS,
    FEWEST_OF_DIFFERENCES,
    FEWEST_TASKS,
    Components,
    Powered,
    SoftSums,
    components,
    powered,
    true_sums,
)
from annotation.models import PredictionSet, Release

NOT_READ: Final = translatable("they are being worked out")
NO_PART: Final = translatable("this release names no unlabelled part")
NOT_ALL: Final = translatable(
    "there are no predictions for all of the release and its unlabelled part, or no two other judges that "
    "tell more of people’s labels than where a step stands"
)


@dataclass(frozen=True, slots=True)
class PoweredRow:
    """The prediction-powered figures of a model; without any, the `reason`."""

    model: str
    figures: dict[str, Powered]
    reason: str

    def as_json(self) -> dict[str, Any]:
        """By figure."""
        figures = {name: one.as_json() for name, one in self.figures.items()}
        return {"model": self.model, "figures": figures, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class PoweredPair:
    """The difference of two models, by figure."""

    models: tuple[str, str]
    figures: dict[str, Powered]

    def as_json(self) -> dict[str, Any]:
        """By figure."""
        figures = {name: one.as_json() for name, one in self.figures.items()}
        return {"models": list(self.models), "figures": figures}


@dataclass(frozen=True, slots=True)
class PoweredBoard:
    """Models by their classical StepAcc, the best first, and every pair of them. `records`: how many
    trajectories the unlabelled part has; the `reason`, where there is none."""

    records: int
    reason: str
    rows: tuple[PoweredRow, ...]
    pairs: tuple[PoweredPair, ...]

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        return {
            "unlabelled_records": self.records,
            "reason": self.reason,
            "models": [row.as_json() for row in self.rows],
            "pairs": [pair.as_json() for pair in self.pairs],
        }


def powered_board(
    release: Release,
    released: ReleasedLabels,
    more: ReleasedLabels | None,
    models: Sequence[tuple[PredictionSet, Predictions]],
) -> PoweredBoard:
    """Of sets with their predictions for the release, in this order, and its unlabelled part, None as long as
    nobody has read it. No query."""
    if more is None or not more.n_records:
        stated = (release.parsed_manifest().get("unlabelled") or {}).get("reason")
        return PoweredBoard(0, NOT_READ if more is None else stated or NO_PART, (), ())
    by_model = {row.model: _components(released, more, row, predicted) for row, predicted in models}
    rows = [
        PoweredRow(
            row.model,
            {
                name: powered(one, share=True, fewest=FEWEST_TASKS)
                for name, one in by_model[row.model].items()
            },
            "" if by_model[row.model] else NOT_READ if row.powered is None else NOT_ALL,
        )
        for row, _said in models
    ]
    pairs = [
        PoweredPair(
            (first, second),
            {
                name: powered(
                    by_model[first][name].less(by_model[second][name]),
                    share=False,
                    fewest=FEWEST_OF_DIFFERENCES,
                )
                for name in COLUMNS
                if name in by_model[first] and name in by_model[second]
            },
        )
        for first, second in combinations((row.model for row in rows if row.figures), 2)
    ]
    return PoweredBoard(more.n_records, "", tuple(rows), tuple(pairs))


def _components(
    released: ReleasedLabels, more: ReleasedLabels, row: PredictionSet, predicted: Predictions
) -> dict[str, Components]:
    if not row.powered:
        return {}
    both, figures = released.joined(more), available(released.kind, FIGURES)
    soft = SoftSums.unpacked(bytes(row.powered), released, more)
    true = true_sums(released, predicted, both.n_tasks)
    made = {name: components(name, true, soft, both.subset_of_task()) for name in COLUMNS if name in figures}
    return {name: one for name, one in made.items() if one is not None}
