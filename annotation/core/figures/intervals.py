"""95 % intervals over tasks within subsets: the delete-one-task jackknife (docs/agreement.md, "Intervals").

Labels of one task are not independent: its steps share a trajectory, and its trajectories share a question.
So the sample is of T tasks in S subsets, and every figure a function of sums over tasks. With θ_hi the figure
without task i of subset h, which has m_h tasks, and θ̄_h their mean:

- the influences are u_hi = √(m_h / (m_h − 1)) (θ̄_h − θ_hi), and the standard error is √Σu² (K. M. Wolter,
  Introduction to Variance Estimation, 2007, ch. 4);
- the interval is symmetric for the logit of a share and for Fisher's z of any other figure, where the
  standard error is √Σu² / (θ (1 − θ)) and √Σu² / (1 − θ²); so it never leaves the figure's range;
- its quantile is Student's, with the smaller of T − S and 2 (Σu²)² / Σu⁴ degrees of freedom: when single
  tasks carry most of Σu², it rests on little, which the fourth moments tell (F. E. Satterthwaite, "An
  approximate distribution of estimates of variance components", 1946). Below four degrees of freedom this
  approximation does not hold (E. Tipton, "Small sample adjustments for robust variance estimation with
  meta-regression", 2015), and there is no interval.

There is no chance in it, and nothing depends on names or on the order of rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy

from annotation.core.figures import grouping
from annotation.core.figures.figure import Figure
from annotation.core.figures.measure import (
    FEW_DIFFER,
    FEW_TASKS,
    MIN_TASKS,
    NO_SPREAD,
    ONE_TASK,
    FloatArray,
    IntArray,
    Interval,
    Measure,
)

UPPER: Final = 0.975
"""The upper end of the central 95 %; they begin at 1 − this."""
LEAST_VARIANCE: Final = 1e-24
"""Below this, all tasks give the same figure."""
LEAST_FREEDOM: Final = 4
"""Of fewer degrees of freedom there is no interval."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """One figure of M sets of labels (models, judges, annotators) of the same T tasks: `value` (M,), the
    `influence` of each task (M, T), and `stratum` (T,), the subset of each.

    `usable` (M,): the figure is defined, and stays so without any of the tasks.
    """

    figure: Figure
    value: FloatArray
    influence: FloatArray
    stratum: IntArray
    usable: npt.NDArray[np.bool_]

    @classmethod
    def of(
        cls, figure: Figure, value: npt.ArrayLike, without: FloatArray | None, stratum: IntArray
    ) -> "Estimates":
        """From the figure's values `without` each of the tasks, (M, T), or (T,) of a single set of labels;
        None below MIN_TASKS."""
        values = np.atleast_1d(np.asarray(value, dtype=np.float64))
        if without is None:
            nothing = np.zeros((len(values), len(stratum)))
            return cls(figure, values, nothing, stratum, np.zeros(len(values), dtype=bool))
        usable = ~np.isnan(values) & ~np.isnan(without).any(axis=-1)
        defined = np.where(usable.reshape(*without.shape[:-1], 1), without, 0.0)
        return cls(figure, values, np.atleast_2d(influences(defined, stratum)), stratum, usable)

    def only(self, places: list[int]) -> "Estimates":
        """Some of the sets of labels, by place."""
        columns = {name: getattr(self, name)[places] for name in ("value", "influence", "usable")}
        return replace(self, **columns)

    def intervals(self) -> list[Interval]:
        """The interval of each; none, with a reason, below 20 tasks, when all tasks or all but a few are
        alike, or when the figure is undefined without one of them."""
        if len(self.stratum) < MIN_TASKS:
            return [Interval(None, None, FEW_TASKS)] * len(self.value)
        spread = self.usable & ((self.influence**2).sum(axis=-1) >= LEAST_VARIANCE)
        drawn = spread.copy()
        drawn[spread] = freedom(self.influence[spread], self.stratum) >= LEAST_FREEDOM
        low, high = np.full((2, len(self.value)), np.nan)
        if drawn.any():
            share = self.figure.percent
            low[drawn], high[drawn] = ends(
                self.value[drawn], self.influence[drawn], self.stratum, share=share
            )
        return [
            Interval(float(low[at]), float(high[at]))
            if drawn[at]
            else Interval(
                None, None, FEW_DIFFER if spread[at] else NO_SPREAD if self.usable[at] else ONE_TASK
            )
            for at in range(len(self.value))
        ]

    def measures(self, n: FloatArray) -> list[Measure]:
        """Each with its n, (M,), and its interval."""
        columns = zip(self.value.tolist(), np.atleast_1d(n).tolist(), self.intervals(), strict=True)
        return [self.figure.measure(value, size, interval) for value, size, interval in columns]


def estimates(figures: Mapping[str, Figure], sums: FloatArray, stratum: IntArray) -> dict[str, Estimates]:
    """Figures of sums by task, (M, T, columns), or (T, columns) of a single set of labels; by name."""
    totals = sums.sum(axis=-2)
    if len(stratum) < MIN_TASKS:
        return {name: Estimates.of(one, one.values(totals), None, stratum) for name, one in figures.items()}
    left = totals[..., None, :] - sums
    if len(figures) > 1:  # each reads few of the columns, which had better stand together in memory
        left = np.asfortranarray(left)
    return {
        name: Estimates.of(figure, figure.values(totals), figure.values(left), stratum)
        for name, figure in figures.items()
    }


def joined(subset: IntArray) -> IntArray:
    """The stratum of each task from its subset. Subsets with one task become one with the smallest other:
    alone, a task tells nothing of spread."""
    stratum = grouping.ranks(subset)[1]
    sizes = np.bincount(stratum)
    if len(sizes) < 2 or sizes.min() > 1:
        return stratum
    rest = np.flatnonzero(sizes > 1)
    alone = sizes[stratum] == 1
    into = stratum[0] if not len(rest) else rest[np.argmin(sizes[rest])]
    return grouping.ranks(np.where(alone, into, stratum))[1]


def influences(without: FloatArray, stratum: IntArray) -> FloatArray:
    """u of figures without each task, (…, tasks) → (…, tasks). `stratum` (tasks,) counts from 0, and each has
    two tasks or more."""
    size = np.bincount(stratum)
    belongs = np.zeros((len(stratum), len(size)))
    belongs[np.arange(len(stratum)), stratum] = 1 / size[stratum]
    mean = without @ belongs
    influence: FloatArray = (mean[..., stratum] - without) * np.sqrt(size / (size - 1))[stratum]
    return influence


def freedom(influence: FloatArray, stratum: IntArray) -> FloatArray:
    """The degrees of freedom of influences (…, tasks) with a spread: (…)."""
    squares = influence**2
    variance = squares.sum(axis=-1)
    most = influence.shape[-1] - (int(stratum.max()) + 1)
    least: FloatArray = np.minimum(most, 2 * variance**2 / (squares**2).sum(axis=-1))
    return least


def ends(
    value: FloatArray, influence: FloatArray, stratum: IntArray, *, share: bool
) -> tuple[FloatArray, FloatArray]:
    """Both ends of the intervals of figures (…) from influences (…, tasks) with a spread: shares on the logit
    scale, others on Fisher's."""
    special = scipy.special
    half = special.stdtrit(freedom(influence, stratum), UPPER) * np.sqrt((influence**2).sum(axis=-1))
    if share:
        # of equal values rounding may leave a spread
        endless = (value <= 0) | (value >= 1)
        inside = np.where(endless, 0.5, value)
        centre, wide = special.logit(inside), half / (inside * (1 - inside))
        low, high = (np.where(endless, value, special.expit(centre + sign * wide)) for sign in (-1, 1))
        return low, high
    endless = np.abs(value) >= 1  # where Fisher's z has no end
    inside = np.where(endless, 0.0, value)
    centre, wide = np.arctanh(inside), half / (1 - inside**2)
    low = np.where(endless, np.maximum(value - half, -1.0), np.tanh(centre - wide))
    high = np.where(endless, np.minimum(value + half, 1.0), np.tanh(centre + wide))
    return low, high
