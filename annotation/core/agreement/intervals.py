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
import scipy

from annotation.core.agreement.counts import Counts
from annotation.core.agreement.figures import Figure
from annotation.core.figures import grouping
from annotation.core.figures.bootstrap import MIN_TASKS
from annotation.core.figures.measure import (
    FEW_TASKS,
    NO_SPREAD,
    ONE_TASK,
    FloatArray,
    IntArray,
    Interval,
    divide,
    weighted_mean,
)

EVERY: Final = slice(None)
UPPER: Final = 0.975
"""Where the central 95 % end above; they begin at 1 − this."""
LEAST_VARIANCE: Final = 1e-24
"""Below this, all tasks give the same figure."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Counts by (task, pair): `sums` (rows, columns), `task` and `pair` the running numbers of each row's,
    sorted by pair; `stratum` (tasks,) that of each task's subset, `people` (pairs, 2) the annotators of each
    pair. A subset of one task is joined with the smallest other."""

    sums: FloatArray
    task: IntArray
    pair: IntArray
    stratum: IntArray
    people: IntArray

    @classmethod
    def of(cls, counts: Counts, columns: slice = EVERY) -> "Sample":
        """From counts of any grain down to the task. Only `columns` are added up, all others are 0."""
        tasks, task = grouping.ranks(counts.task)
        of_pair, pair = grouping.distinct(counts.first, counts.second)
        subset = np.zeros(len(tasks), dtype=np.int64)
        subset[task] = counts.subset
        keys, cell = grouping.ranks(pair * len(tasks) + task)
        number, place = np.divmod(keys, max(len(tasks), 1))
        return cls(
            _added(counts.sums, cell, len(keys), columns),
            place,
            number,
            joined(subset),
            np.column_stack([counts.first[of_pair], counts.second[of_pair]]),
        )

    @property
    def n_tasks(self) -> int:
        """The number of tasks."""
        return len(self.stratum)

    def totals(self, columns: slice = EVERY) -> FloatArray:
        """Sums by pair: (pairs, columns)."""
        sums = self.sums.T[columns]
        if not len(self.pair):
            return np.zeros((0, len(sums)))
        return np.add.reduceat(sums, np.flatnonzero(np.diff(self.pair, prepend=-1)), axis=1).T

    def by_task(self, columns: slice = EVERY) -> FloatArray:
        """Sums by task: (tasks, columns)."""
        return _added(self.sums[:, columns], self.task, self.n_tasks)


def _added(sums: FloatArray, group: IntArray, n_groups: int, columns: slice = EVERY) -> FloatArray:
    """Sums over the rows of each group: (n_groups, columns)."""
    result = np.zeros((n_groups, sums.shape[1]), order="F")
    if n_groups == len(group):  # each row is a group
        row = np.empty_like(group)
        row[group] = np.arange(len(group))
        result.T[columns] = sums.T[columns].take(row, axis=1)
        return result
    for column in range(sums.shape[1])[columns]:
        result[:, column] = np.bincount(group, weights=sums[:, column], minlength=n_groups)
    return result


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
    without: dict[tuple[int, bool], _Without] = {}
    found = {}
    for name, figure in figures.items():
        key = (figure.reads.start, figure.pooled)
        if key not in without:
            without[key] = _Without.of(sample, figure)
        found[name] = _interval(sample, figure, without[key])
    return found


@dataclass(frozen=True, slots=True)
class _Without:
    """Sums of the columns that a figure reads: by pair (pairs, columns); and of what is left: for a figure of
    pairs, of each row's pair without the row's task (rows, columns); else of all without each task (tasks,
    columns)."""

    totals: FloatArray
    left: FloatArray

    @classmethod
    def of(cls, sample: Sample, figure: Figure) -> "_Without":
        totals = sample.totals(figure.reads)
        if figure.pooled:
            return cls(totals, (totals.sum(axis=0)[:, None] - sample.by_task(figure.reads).T).T)
        rows = np.repeat(totals.T, np.bincount(sample.pair), axis=1)
        rows -= sample.sums.T[figure.reads]
        return cls(totals, rows.T)


def _interval(sample: Sample, figure: Figure, sums: _Without) -> Interval:
    without, value = _without_each(sample, figure, sums)
    return jackknife(value, without, sample.stratum, share=figure.percent)


def jackknife(value: float, without: FloatArray, stratum: IntArray, *, share: bool) -> Interval:
    """The interval of a figure from its values without each task, (tasks,). `stratum`: of each task
    (`joined`). `share`: the figure lies in 0 … 1, else in −1 … 1."""
    if len(without) < MIN_TASKS:
        return Interval(None, None, FEW_TASKS)
    if np.isnan(value) or np.isnan(without).any():
        return Interval(None, None, ONE_TASK)
    influence = influences(without, stratum)
    if float((influence**2).sum()) < LEAST_VARIANCE:
        return Interval(None, None, NO_SPREAD)
    low, high = ends(np.array(value), influence, stratum, share=share)
    return Interval(float(low), float(high))


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
        centre, half = special.logit(value), half / (value * (1 - value))
        return special.expit(centre - half), special.expit(centre + half)
    endless = np.abs(value) >= 1  # where Fisher's z has no end
    inside = np.where(endless, 0.0, value)
    centre, wide = np.arctanh(inside), half / (1 - inside**2)
    low = np.where(endless, np.maximum(value - half, -1.0), np.tanh(centre - wide))
    high = np.where(endless, np.minimum(value + half, 1.0), np.tanh(centre + wide))
    return low, high


def _without_each(sample: Sample, figure: Figure, sums: _Without) -> tuple[FloatArray, float]:
    """The figure without each of the tasks, (tasks,), and with all of them."""
    if figure.pooled:
        return figure.make(sums.left), float(figure.make(sums.totals.sum(axis=0)))

    def parts(of_pairs: FloatArray) -> tuple[FloatArray, FloatArray]:
        values, n = figure.make(of_pairs), figure.count(of_pairs)
        undefined = np.isnan(values)
        if undefined.any():
            values, n = np.where(undefined, 0.0, values), np.where(undefined, 0.0, n)
        return values * n, n

    # only the pairs that share the task change
    whole, weight = parts(sums.totals)
    whole_left, weight_left = parts(sums.left)
    above = np.bincount(sample.task, weights=whole_left - whole[sample.pair], minlength=sample.n_tasks)
    below = np.bincount(sample.task, weights=weight_left - weight[sample.pair], minlength=sample.n_tasks)
    return divide(whole.sum() + above, weight.sum() + below), float(divide(whole.sum(), weight.sum()))
