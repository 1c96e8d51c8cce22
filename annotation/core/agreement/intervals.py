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
  approximate distribution of estimates of variance components", 1946).

There is no chance in it, and nothing depends on names or on the order of rows.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from annotation.core.agreement import grouping
from annotation.core.agreement.bootstrap import MIN_TASKS
from annotation.core.agreement.counts import Counts, by_task
from annotation.core.agreement.figures import Figure
from annotation.core.agreement.measure import (
    FEW_TASKS,
    NO_SPREAD,
    ONE_TASK,
    FloatArray,
    IntArray,
    Interval,
    divide,
    weighted_mean,
)

LEVEL: Final = 0.975
"""The quantile at the upper end of the central 95 %."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Counts by (task, pair): `sums` (rows, columns), `task` and `pair` the running numbers of each row's,
    sorted by pair; `stratum` (tasks,) that of each task's subset. A subset of one task is joined with the
    smallest other."""

    sums: FloatArray
    task: IntArray
    pair: IntArray
    stratum: IntArray

    @classmethod
    def of(cls, counts: Counts) -> "Sample":
        """From counts of any grain down to the task."""
        rows = by_task(counts)
        tasks, task = grouping.ranks(rows.task)
        _, pair = grouping.distinct(rows.first, rows.second)
        subset = np.zeros(len(tasks), dtype=np.int64)
        subset[task] = rows.subset
        return cls(rows.sums, task, pair, _joined(grouping.ranks(subset)[1]))

    @property
    def n_tasks(self) -> int:
        """How many tasks."""
        return len(self.stratum)

    def totals(self) -> FloatArray:
        """Sums by pair: (pairs, columns)."""
        if not len(self.pair):
            return np.zeros((0, self.sums.shape[1]))
        return np.add.reduceat(self.sums, np.flatnonzero(np.diff(self.pair, prepend=-1)))

    def by_task(self) -> FloatArray:
        """Sums by task: (tasks, columns)."""
        order = np.argsort(self.task, kind="stable")
        starts = np.flatnonzero(np.diff(self.task[order], prepend=-1))
        return np.add.reduceat(self.sums[order], starts)


def _joined(stratum: IntArray) -> IntArray:
    """Subsets with one task become one with the smallest other: alone, a task tells nothing of spread."""
    sizes = np.bincount(stratum)
    if len(sizes) < 2 or sizes.min() > 1:
        return stratum
    rest = np.flatnonzero(sizes > 1)
    alone = sizes[stratum] == 1
    into = stratum[0] if not len(rest) else rest[np.argmin(sizes[rest])]
    return grouping.ranks(np.where(alone, into, stratum))[1]


def headline(figure: Figure, totals: FloatArray) -> FloatArray:
    """The figure of sums by pair: (…, pairs, columns) → (…), NaN where it is undefined."""
    if figure.pooled:
        return figure.values(totals.sum(axis=-2))
    return weighted_mean(figure.values(totals), figure.n(totals))


def intervals(sample: Sample, figures: dict[str, Figure]) -> dict[str, Interval]:
    """The interval of each figure; none, with a reason, below 20 tasks, when all tasks are alike, or when the
    figure is undefined without one of them."""
    if sample.n_tasks < MIN_TASKS:
        return {name: Interval(None, None, FEW_TASKS) for name in figures}
    without = _Without.of(sample)
    return {name: _interval(sample, figure, without) for name, figure in figures.items()}


@dataclass(frozen=True, slots=True)
class _Without:
    """Sums by pair (pairs, columns); of a row's pair without the row's task (rows, columns); and of all pairs
    together without each task (tasks, columns)."""

    totals: FloatArray
    of_pairs: FloatArray
    pooled: FloatArray

    @classmethod
    def of(cls, sample: Sample) -> "_Without":
        totals = sample.totals()
        # columns stand together in memory: sums over the few columns of a figure are then many times faster
        of_pairs = np.asfortranarray(totals[sample.pair] - sample.sums)
        return cls(totals, of_pairs, totals.sum(axis=0) - sample.by_task())


def _interval(sample: Sample, figure: Figure, sums: _Without) -> Interval:
    from scipy.special import expit, logit, stdtrit  # a third of what starting a process would take

    value = float(headline(figure, sums.totals))
    without = _without_each(sample, figure, sums)
    if np.isnan(value) or np.isnan(without).any():
        return Interval(None, None, ONE_TASK)
    size = np.bincount(sample.stratum)
    mean = np.bincount(sample.stratum, weights=without) / size
    influence = mean[sample.stratum] - without
    influence *= np.sqrt(size / (size - 1))[sample.stratum]
    variance = float((influence**2).sum())
    if variance < 1e-24:
        return Interval(None, None, NO_SPREAD)
    freedom = min(sample.n_tasks - len(size), 2 * variance**2 / float((influence**4).sum()))
    half = float(stdtrit(freedom, LEVEL)) * variance**0.5
    if figure.percent:
        centre, half = logit(value), half / (value * (1 - value))
        return Interval(float(expit(centre - half)), float(expit(centre + half)))
    centre, half = np.arctanh(value), half / (1 - value**2)
    return Interval(float(np.tanh(centre - half)), float(np.tanh(centre + half)))


def _without_each(sample: Sample, figure: Figure, sums: _Without) -> FloatArray:
    """The figure without each of the tasks, (tasks,)."""
    if figure.pooled:
        return figure.values(sums.pooled)

    def parts(of_pairs: FloatArray) -> tuple[FloatArray, FloatArray]:
        values = figure.values(of_pairs)
        n = np.where(np.isnan(values), 0.0, figure.n(of_pairs))
        return np.nan_to_num(values) * n, n

    # only the pairs that share the task change
    whole, weight = parts(sums.totals)
    whole_left, weight_left = parts(sums.of_pairs)
    above = np.bincount(sample.task, weights=whole_left - whole[sample.pair], minlength=sample.n_tasks)
    below = np.bincount(sample.task, weights=weight_left - weight[sample.pair], minlength=sample.n_tasks)
    return divide(whole.sum() + above, weight.sum() + below)
