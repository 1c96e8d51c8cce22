"""Reading a benchmark: how its figures go together over models, and what it is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from annotation.core.figures.first_errors import NONE, first_positions
from annotation.core.figures.measure import FloatArray, Measure
from annotation.core.i18n import translatable
from annotation.core.scoring.labels import ReleasedLabels

FEWEST: Final = 3
FEW_MODELS: Final = translatable("a correlation needs at least three models")
NO_VARIATION: Final = translatable("one of the two figures is the same for all models")


@dataclass(frozen=True, slots=True)
class Composition:
    """The trajectories of one policy model ("": not named) in one subset. `labels`: steps labelled −1, 0, +1;
    `thirds`: trajectories whose first −1 lies in the first, second, last third of their steps; `median`: the
    middle one of the places of first errors, from 1, None without any."""

    subset: str
    policy_model: str
    records: int
    steps: int
    labels: tuple[int, int, int]
    thirds: tuple[int, int, int]
    median: float | None

    @property
    def error_free(self) -> int:
        """Trajectories without a −1."""
        return self.records - sum(self.thirds)


def pearson(first: Sequence[float], second: Sequence[float]) -> Measure:
    """Pearson's r of two figures over models; undefined below three models, and without variation."""
    return _correlation(first, second, lambda x, y: scipy.stats.pearsonr(x, y).statistic)


def spearman(first: Sequence[float], second: Sequence[float]) -> Measure:
    """Spearman's ρ, Pearson's r of the ranks, ties averaged; undefined likewise."""
    return _correlation(first, second, lambda x, y: scipy.stats.spearmanr(x, y).statistic)


def _correlation(
    first: Sequence[float], second: Sequence[float], of: Callable[[FloatArray, FloatArray], float]
) -> Measure:
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if len(x) < FEWEST:
        return Measure(None, len(x), FEW_MODELS)
    if any(np.ptp(each) <= 1e-12 * np.abs(each).max() for each in (x, y)):
        return Measure(None, len(x), NO_VARIATION)
    # before they are squared: numbers from outside may be of any size
    x, y = (each / np.abs(each).max() for each in (x, y))
    return Measure(float(np.clip(of(x, y), -1.0, 1.0)), len(x))


def composition(released: ReleasedLabels) -> list[Composition]:
    """Labels and first errors by subset and policy model, in the order of the release and of names."""
    position, length = released.positions(), released.lengths()
    first = first_positions(released.value, released.record, position, released.n_records)
    third = np.where(first == NONE, -1, np.minimum(3 * first // np.maximum(length, 1), 2))
    models = np.array(released.policy_model, dtype=object)
    compositions = []
    for place, subset in enumerate(released.subsets):
        inside = released.subset == place
        for model in sorted(set(models[inside].tolist())):
            chosen = inside & (models == model)
            values = released.value[chosen[released.record]]
            places = first[chosen & (first != NONE)] + 1
            counts = np.bincount(values + 1, minlength=3).tolist()
            thirds = np.bincount(third[chosen & (third >= 0)], minlength=3).tolist()
            compositions.append(
                Composition(
                    subset,
                    model,
                    int(chosen.sum()),
                    len(values),
                    (counts[0], counts[1], counts[2]),
                    (thirds[0], thirds[1], thirds[2]),
                    float(np.median(places)) if len(places) else None,
                )
            )
    return compositions
