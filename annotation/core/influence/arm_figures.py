"""Influence of judges' suggestions on people: figures of one arm of the experiment, and differences of arms.

Everything is a function of sums over tasks, with the intervals that agreement has: the delete-one-task
jackknife within subsets (core.figures.intervals). Arms hold different tasks, which makes them independent: a
difference has the influences of both, and each arm's subsets are strata of their own.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy

from annotation.core.agreement.figures import FIGURES
from annotation.core.agreement.pair_sums import headline
from annotation.core.figures.confusion import SIZE, confusion_by
from annotation.core.figures.figure import Figure
from annotation.core.figures.intervals import LEAST_FREEDOM, LEAST_VARIANCE, UPPER, Estimates, freedom, joined
from annotation.core.figures.measure import (
    FEW_DIFFER,
    FEW_TASKS,
    MIN_TASKS,
    NO_SPREAD,
    FloatArray,
    IntArray,
    Interval,
    Measure,
)
from annotation.core.i18n import translatable
from annotation.core.influence.effects import POWER

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
class ArmMeasure:
    """A figure with what a difference of two needs: the `influence` of each task and its `stratum`, both
    (tasks,). `usable`: the figure stays defined without any of them; `percent`: it is a share."""

    measure: Measure
    influence: FloatArray
    stratum: IntArray
    usable: bool
    percent: bool

    @property
    def n_tasks(self) -> int:
        """The number of tasks."""
        return len(self.stratum)


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


def estimates(tables: LabelPairTables) -> tuple[ArmMeasure, ArmMeasure]:
    """The share of equal labels, and Cohen's κ (undefined where one label only was used)."""
    total = tables.counts.sum(axis=0)
    left = total - tables.counts if tables.n_tasks >= MIN_TASKS else None
    stratum = joined(tables.subset)

    def one(figure: Figure) -> ArmMeasure:
        value = headline(figure, total)
        without = None if left is None else headline(figure, left)
        estimated = Estimates.of(figure, value, without, stratum)
        (measure,) = estimated.measures(figure.n(total).sum())
        if measure.value is None:
            measure = replace(measure, interval=None)
        return ArmMeasure(measure, estimated.influence[0], stratum, bool(estimated.usable[0]), figure.percent)

    return one(FIGURES["percent_agreement"]), one(FIGURES["kappa"])


def difference(one: ArmMeasure, other: ArmMeasure) -> ArmDifference:
    """`one` minus `other`, of two arms whose tasks differ: symmetric, by Student's t, with the degrees of
    freedom of all influences together.

    The minimum detectable effect is (t of 97.5 % + t of 80 %) × SE: H. S. Bloom, "Minimum detectable effects:
    a simple way to report the statistical power of experimental designs", Evaluation Review 19 (1995).
    Undefined, with a reason, when either arm has fewer than 20 tasks, when a figure would be undefined
    without one of its tasks, or when too few tasks differ.
    """
    n = one.measure.n + other.measure.n
    if one.measure.value is None or other.measure.value is None:
        lacking = one if one.measure.value is None else other
        reason = lacking.measure.reason or NO_DIFFERENCE
        return ArmDifference(Measure(None, n, reason), None, None, reason)
    value = one.measure.value - other.measure.value

    def without(why: str, mde_reason: str = "") -> ArmDifference:
        bounds = Interval(None, None, why)
        return ArmDifference(Measure(value, n, "", bounds), None, None, mde_reason or why)

    if min(one.n_tasks, other.n_tasks) < MIN_TASKS:
        return without(FEW_TASKS, FEW_TO_TELL)
    if not (one.usable and other.usable):
        lacking = other if one.usable else one
        return without(lacking.measure.interval.reason if lacking.measure.interval else NO_DIFFERENCE)
    influence = np.concatenate([one.influence, other.influence])
    stratum = np.concatenate([one.stratum, other.stratum + 1 + one.stratum.max()])
    variance = float((influence**2).sum())
    if variance < LEAST_VARIANCE:
        return without(NO_SPREAD)
    degrees = float(freedom(influence, stratum))
    if degrees < LEAST_FREEDOM:
        return without(FEW_DIFFER)
    se = float(np.sqrt(variance))
    found, missed = scipy.special.stdtrit(degrees, (UPPER, POWER))
    most = 1.0 if one.percent else 2.0  # shares lie in 0 … 1, κ in −1 … 1
    ends = Interval(max(value - found * se, -most), min(value + found * se, most))
    return ArmDifference(Measure(value, n, "", ends), se, float(found + missed) * se)
