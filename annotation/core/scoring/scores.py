"""A model's figures with their intervals, on a release or a subset of it.

Intervals are those of agreement (core.agreement.intervals): the delete-one-task jackknife within subsets. The
design effect of StepAcc is its variance there over that of as many independent steps, p (1 − p) / n (L. Kish,
Survey Sampling, 1965); n over it is how many independent steps these are worth.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from annotation.core.agreement.figures import Figure
from annotation.core.agreement.intervals import LEAST_VARIANCE, ends, influences, joined
from annotation.core.figures.bootstrap import MIN_TASKS
from annotation.core.figures.measure import (
    FEW_TASKS,
    NO_SPREAD,
    ONE_TASK,
    FloatArray,
    IntArray,
    Interval,
    Measure,
    measured,
)
from annotation.core.scoring.counts import TABLE, task_sums
from annotation.core.scoring.figures import FIGURES
from annotation.core.scoring.labels import MISSING, Predictions, ReleasedLabels

STEP_ACCURACY: Final = "step_accuracy"


@dataclass(frozen=True, slots=True)
class Scores:
    """One model on one part of a release. `records`, `steps`, `tasks`: how many there are; `absent`: records
    that it was not asked about; `failed`: judgements that failed; `missing`: steps without a prediction.

    `effective_steps`: as how many independent steps these count for StepAcc, None without an interval.
    """

    records: int
    steps: int
    tasks: int
    absent: int
    failed: int
    missing: int
    figures: dict[str, Measure]
    design_effect: float | None
    effective_steps: float | None


@dataclass(frozen=True, slots=True)
class Compared:
    """Models on the same part of a release: values (M,) and influences (M, T) of one figure, `stratum` (T,).

    `usable` (M,): the figure is defined, and stays so without any of the tasks.
    """

    value: FloatArray
    influence: FloatArray
    stratum: IntArray
    usable: npt.NDArray[np.bool_]

    def only(self, models: list[int]) -> "Compared":
        """Some of the models, by place."""
        return Compared(self.value[models], self.influence[models], self.stratum, self.usable[models])


def scores(released: ReleasedLabels, said: Sequence[Predictions]) -> list[Scores]:
    """The scores of each model, all figures with intervals."""
    if not said:
        return []
    sums = np.stack([task_sums(released, one) for one in said])
    return of_sums(released, said, sums)


def of_sums(released: ReleasedLabels, said: Sequence[Predictions], sums: FloatArray) -> list[Scores]:
    """The same from counts that are there already, (M, T, COLUMNS)."""
    return of_compared(released, said, sums, every_compared(released, sums))


def of_compared(
    released: ReleasedLabels, said: Sequence[Predictions], sums: FloatArray, every: dict[str, Compared]
) -> list[Scores]:
    """The same from counts and what `every_compared` made of them."""
    stratum, totals = strata(released), sums.sum(axis=1)
    measures: list[dict[str, Measure]] = [{} for _ in said]
    deff = np.full(len(said), np.nan)
    for name, figure in FIGURES.items():
        found = every[name]
        for at, (measure, interval) in enumerate(
            zip(_values(figure, totals), _intervals(figure, found), strict=True)
        ):
            measures[at][name] = (
                measure
                if measure.value is None
                else Measure(measure.value, measure.n, measure.reason, interval)
            )
        if name == STEP_ACCURACY and len(stratum) >= MIN_TASKS:
            n = totals[:, TABLE].sum(axis=-1)
            variance = (found.influence**2).sum(axis=-1)
            alone = found.value * (1 - found.value) / n
            deff = np.divide(variance, alone, out=deff, where=found.usable & (alone > 0) & (variance > 0))
    return [
        Scores(
            released.n_records,
            released.n_steps,
            released.n_tasks,
            int((~one.there).sum()),
            int(one.failed.sum()),
            int((one.steps == MISSING).sum()),
            figures,
            None if np.isnan(effect) else float(effect),
            None if np.isnan(effect) else released.n_steps / float(effect),
        )
        for one, figures, effect in zip(said, measures, deff, strict=True)
    ]


def too_few_tasks(found: Iterable[Scores]) -> int | None:
    """The largest number of tasks that any of these is scored on, if none has enough of them for an interval;
    None if one has, or if there are none."""
    most = max((one.tasks for one in found), default=MIN_TASKS)
    return most if most < MIN_TASKS else None


def every_compared(released: ReleasedLabels, sums: FloatArray) -> dict[str, Compared]:
    """Every figure of several models, task by task, from counts (M, T, COLUMNS)."""
    stratum, totals = strata(released), sums.sum(axis=1)
    # columns stand together in memory: figures read few of them
    without = np.asfortranarray(totals[:, None, :] - sums)
    return {name: _compared(figure, totals, without, stratum) for name, figure in FIGURES.items()}


def compared(released: ReleasedLabels, sums: FloatArray, name: str) -> Compared:
    """One figure of several models, task by task, from counts (M, T, COLUMNS)."""
    totals = sums.sum(axis=1)
    return _compared(FIGURES[name], totals, totals[:, None, :] - sums, strata(released))


def strata(released: ReleasedLabels) -> IntArray:
    """The stratum of each task, (T,): its subset."""
    if not released.n_tasks:
        return np.zeros(0, dtype=np.int64)
    return joined(released.subset_of_task())


def _values(figure: Figure, totals: FloatArray) -> list[Measure]:
    return [
        measured(value, int(n), figure.reason, empty=figure.empty)
        for value, n in zip(figure.values(totals).tolist(), figure.n(totals).tolist(), strict=True)
    ]


def _compared(figure: Figure, totals: FloatArray, without: FloatArray, stratum: IntArray) -> Compared:
    value = figure.values(totals)
    if len(stratum) < MIN_TASKS:
        return Compared(value, np.zeros(without.shape[:2]), stratum, np.zeros(len(value), dtype=bool))
    left = figure.values(without)
    usable = ~np.isnan(value) & ~np.isnan(left).any(axis=-1)
    return Compared(value, influences(np.where(usable[:, None], left, 0.0), stratum), stratum, usable)


def _intervals(figure: Figure, found: Compared) -> list[Interval]:
    if len(found.stratum) < MIN_TASKS:
        return [Interval(None, None, FEW_TASKS)] * len(found.value)
    spread = (found.influence**2).sum(axis=-1) >= LEAST_VARIANCE
    drawn = found.usable & spread
    low, high = np.full((2, len(found.value)), np.nan)
    if drawn.any():
        low[drawn], high[drawn] = ends(
            found.value[drawn], found.influence[drawn], found.stratum, share=figure.percent
        )
    return [
        Interval(float(low[at]), float(high[at]))
        if drawn[at]
        else Interval(None, None, NO_SPREAD if found.usable[at] else ONE_TASK)
        for at in range(len(found.value))
    ]
