"""Influence of judges' suggestions on people: figures of one arm of the experiment, and differences of arms.

Everything is a function of sums over tasks, as in `summary`, and resampled by tasks within subsets. Arms
hold different tasks, which makes them independent: resamples of two arms are drawn apart and subtracted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from annotation.core.agreement.figures import FIGURES
from annotation.core.agreement.pair_sums import headline
from annotation.core.figures.confusion import SIZE, confusion_by
from annotation.core.figures.figure import Figure
from annotation.core.figures.measure import (
    FEW_TASKS,
    MIN_TASKS,
    NOT_RESAMPLED,
    UNSTABLE,
    FloatArray,
    Interval,
    Measure,
    divide,
)
from annotation.core.i18n import translatable
from annotation.core.influence.bootstrap import (
    interval,
    resampled_sums,
    task_weights,
)

MDE_FACTOR: Final = 1.959963984540054 + 0.8416212335729143
"""z of 97.5 % and of 80 %: two-sided at 5 %, found with a power of 80 %."""

NOT_RANDOMISED: Final = translatable("the tasks were not randomised, so there are no arms to compare")
FEW_TO_TELL: Final = translatable("fewer than 20 tasks")
NO_DIFFERENCE: Final = translatable("the figure is undefined in one of the arms")


@dataclass(frozen=True, slots=True)
class LabelPairTables:
    """Pairs of labels: `counts` (tasks, strata, 9), `subset` (tasks,) the subset of each task.

    A stratum is a pair of annotators, or a judge with people in the rows and itself in the columns. The
    figures of several strata are their mean weighted by n, as everywhere (docs/design.md, "Statistics").
    """

    counts: FloatArray
    subset: npt.NDArray[np.int64]

    @classmethod
    def of(cls, rows: npt.ArrayLike) -> "LabelPairTables":
        """From rows (n, 5): subset, task, stratum, and the two labels, in the order of the table."""
        subset, of_task, of_stratum, one, other = np.asarray(rows, dtype=np.int64).reshape(-1, 5).T
        tasks, first, task = np.unique(of_task, return_index=True, return_inverse=True)
        strata, stratum = np.unique(of_stratum, return_inverse=True)
        cells = task.reshape(-1) * len(strata) + stratum.reshape(-1)
        counts = confusion_by(one, other, cells, len(tasks) * len(strata))
        return cls(counts.reshape(len(tasks), len(strata), SIZE * SIZE).astype(np.float64), subset[first])

    @property
    def n_tasks(self) -> int:
        """The number of tasks."""
        return len(self.subset)


@dataclass(frozen=True, slots=True)
class ResampledMeasure:
    """A figure with what a difference of two needs: its resamples (empty without any), and its tasks."""

    measure: Measure
    resamples: FloatArray
    n_tasks: int


@dataclass(frozen=True, slots=True)
class ArmDifference:
    """One arm's figure minus another's.

    `se` is its standard error over tasks; `mde` the smallest true difference that data of this size would
    have found in 80 % of all repetitions, at 5 %, two-sided. Both None with `mde_reason`.
    """

    measure: Measure
    se: float | None
    mde: float | None
    mde_reason: str = ""


def estimates(
    tables: LabelPairTables, rng: np.random.Generator | None = None
) -> tuple[ResampledMeasure, ResampledMeasure]:
    """The share of equal labels, and Cohen's κ (undefined where one label only was used)."""
    total = tables.counts.sum(axis=0)
    drawn = _draw(tables.counts, tables.subset, rng)

    def one(figure: Figure) -> ResampledMeasure:
        measure = figure.measure(float(headline(figure, total)), float(figure.n(total).sum()))
        return _resampled(measure, tables.n_tasks, None if drawn is None else headline(figure, drawn))

    return one(FIGURES["percent_agreement"]), one(FIGURES["kappa"])


def _draw(
    sums: FloatArray, subset: npt.NDArray[np.int64], rng: np.random.Generator | None
) -> FloatArray | None:
    """Resamples of sums per task (tasks, …) → (RESAMPLES, …); None where there is no interval anyway."""
    if rng is None or len(subset) < MIN_TASKS:
        return None
    return np.concatenate([resampled_sums(weights, sums) for weights in task_weights(subset, rng)])


def shares_of(
    hits: Sequence[npt.ArrayLike],
    units: npt.ArrayLike,
    subset: npt.ArrayLike,
    *,
    empty: str,
    rng: np.random.Generator | None = None,
) -> list[ResampledMeasure]:
    """Shares Σ hits / Σ units of the same units, from sums per task (tasks,), in the same resamples;
    undefined, for the reason `empty`, without units."""
    sums = np.column_stack([np.asarray(one, dtype=np.float64) for one in (*hits, units)])
    there = sums[:, -1] > 0  # a task without a unit says nothing about the share and is not counted
    of_task, sums = np.asarray(subset, dtype=np.int64)[there], sums[there]
    *found, n = sums.sum(axis=0)
    drawn = _draw(sums, of_task, rng)

    def one(place: int, hit: float) -> ResampledMeasure:
        measure = Measure(float(hit / n), int(n)) if n else Measure(None, 0, empty)
        resamples = None if drawn is None else divide(drawn[:, place], drawn[:, -1])
        return _resampled(measure, len(of_task), resamples)

    return [one(place, hit) for place, hit in enumerate(found)]


def _resampled(measure: Measure, n_tasks: int, resamples: FloatArray | None) -> ResampledMeasure:
    """A figure with its interval."""
    nothing = np.zeros(0)
    if measure.value is None:
        return ResampledMeasure(measure, nothing, n_tasks)
    if resamples is None:
        why = FEW_TASKS if n_tasks < MIN_TASKS else NOT_RESAMPLED
        return ResampledMeasure(replace(measure, interval=Interval(None, None, why)), nothing, n_tasks)
    return ResampledMeasure(replace(measure, interval=interval(resamples, n_tasks)), resamples, n_tasks)


def difference(one: ResampledMeasure, other: ResampledMeasure) -> ArmDifference:
    """`one` minus `other`, of two arms whose tasks differ; interval from the differences of the resamples.

    The minimum detectable effect is (z_.975 + z_.8) × SE, about 2.8 standard errors: H. S. Bloom, "Minimum
    detectable effects: a simple way to report the statistical power of experimental designs", Evaluation
    Review 19 (1995). SE is the standard deviation of the difference over resamples of tasks within subsets.
    Undefined, with a reason, when either arm has fewer than 20 tasks. A figure whose resamples are undefined
    too often has neither an SE nor an interval.
    """
    n = one.measure.n + other.measure.n
    if one.measure.value is None or other.measure.value is None:
        lacking = one if one.measure.value is None else other
        reason = lacking.measure.reason or NO_DIFFERENCE
        return ArmDifference(Measure(None, n, reason), None, None, reason)
    value = one.measure.value - other.measure.value
    fewest = min(one.n_tasks, other.n_tasks)
    if fewest < MIN_TASKS:
        bounds = Interval(None, None, FEW_TASKS)
        return ArmDifference(Measure(value, n, "", bounds), None, None, FEW_TO_TELL)
    if not len(one.resamples) or not len(other.resamples):
        bounds = Interval(None, None, NOT_RESAMPLED)
        return ArmDifference(Measure(value, n, "", bounds), None, None, NOT_RESAMPLED)
    apart = one.resamples - other.resamples
    bounds = interval(apart, fewest)
    if bounds.low is None:
        return ArmDifference(Measure(value, n, "", bounds), None, None, UNSTABLE)
    se = float(np.nanstd(apart, ddof=1))
    return ArmDifference(Measure(value, n, "", bounds), se, MDE_FACTOR * se)
