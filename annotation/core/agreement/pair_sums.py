"""Counts by task and pair of annotators, and the figures that are made of them.

A figure of pairs is the mean over the pairs of annotators, weighted by each pair's n, without the pairs that
leave it undefined; a pooled figure comes from the sum over all pairs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annotation.core.agreement.counts import Counts
from annotation.core.figures import grouping
from annotation.core.figures.figure import EVERY, Figure
from annotation.core.figures.intervals import Estimates, joined
from annotation.core.figures.measure import (
    FEW_TASKS,
    MIN_TASKS,
    FloatArray,
    IntArray,
    Interval,
    divide,
    weighted_mean,
)


@dataclass(frozen=True, slots=True)
class PairSums:
    """Counts by (task, pair): `sums` (rows, columns), `task` and `pair` the running numbers of each row's,
    sorted by pair; `stratum` (tasks,) that of each task's subset, `people` (pairs, 2) the annotators of each
    pair. A subset of one task is joined with the smallest other."""

    sums: FloatArray
    task: IntArray
    pair: IntArray
    stratum: IntArray
    people: IntArray

    @classmethod
    def of(cls, counts: Counts, columns: slice = EVERY) -> "PairSums":
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

    def left(self, figure: Figure, totals: FloatArray) -> FloatArray:
        """The rest of the `totals` of the columns that a figure reads: for a figure of pairs, of each
        row's pair without the row's task (rows, reads); for a pooled one, of all without each task (tasks,
        reads)."""
        if figure.pooled:
            left: FloatArray = (totals.sum(axis=0)[:, None] - self.by_task(figure.reads).T).T
        else:
            left = np.repeat(totals.T, np.bincount(self.pair), axis=1).T
            left -= self.sums[:, figure.reads]
        return left


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


def headline(figure: Figure, totals: FloatArray) -> FloatArray:
    """The figure of sums by pair: (…, pairs, columns) → (…), NaN where it is undefined."""
    if figure.pooled:
        return figure.values(totals.sum(axis=-2))
    return weighted_mean(figure.values(totals), figure.n(totals))


def intervals(sample: PairSums, figures: Mapping[str, Figure]) -> dict[str, Interval]:
    """The interval of each figure of all pairs together."""
    if sample.n_tasks < MIN_TASKS:
        return {name: Interval(None, None, FEW_TASKS) for name in figures}
    made: dict[tuple[int, bool], tuple[FloatArray, FloatArray]] = {}
    found = {}
    for name, figure in figures.items():
        # figures that read the same columns share their sums
        key = (figure.reads.start, figure.pooled)
        if key not in made:
            totals = sample.totals(figure.reads)
            made[key] = totals, sample.left(figure, totals)
        value, without = _without_each(sample, figure, *made[key])
        (found[name],) = Estimates.of(figure, value, without, sample.stratum).intervals()
    return found


def _without_each(
    sample: PairSums, figure: Figure, totals: FloatArray, left: FloatArray
) -> tuple[float, FloatArray]:
    """The figure of the `totals` of its columns, and without each of the tasks, (tasks,)."""
    if figure.pooled:
        return float(figure.make(totals.sum(axis=0))), figure.make(left)

    def parts(of_pairs: FloatArray) -> tuple[FloatArray, FloatArray]:
        values, n = figure.make(of_pairs), figure.count(of_pairs)
        undefined = np.isnan(values)
        if undefined.any():
            values, n = np.where(undefined, 0.0, values), np.where(undefined, 0.0, n)
        return values * n, n

    # only the pairs that share the task change
    whole, weight = parts(totals)
    whole_left, weight_left = parts(left)
    above = np.bincount(sample.task, weights=whole_left - whole[sample.pair], minlength=sample.n_tasks)
    below = np.bincount(sample.task, weights=weight_left - weight[sample.pair], minlength=sample.n_tasks)
    return float(divide(whole.sum(), weight.sum())), divide(whole.sum() + above, weight.sum() + below)
