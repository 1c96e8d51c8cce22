"""Counts by task and pair of annotators, and the figures that are made of them.

A figure of pairs is the mean over the pairs of annotators, weighted by each pair's n, without the pairs that
leave it undefined; a pooled figure comes from the sum over all pairs.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

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

AT_ONCE: Final = 8192
"""Rows of which figures are worked out at once. What is made of them on the way stays in the processor's
memory; of a hundred thousand at once the system had to provide new memory each time, which took a third of
the page's time, and more where it had to look for it."""


@dataclass(frozen=True, slots=True)
class PairSums:
    """Counts by (task, pair), a cell each: `sums` (rows, columns) of any grain down to the task, `cell`
    (rows,) that of each row; `task` and `pair` (cells,) the running numbers of each cell's, sorted by pair;
    `stratum` (tasks,) that of each task's subset, `people` (pairs, 2) the annotators of each pair. A subset
    of one task is joined with the smallest other."""

    sums: FloatArray
    cell: IntArray
    task: IntArray
    pair: IntArray
    stratum: IntArray
    people: IntArray
    _columns: dict[int, FloatArray] = field(default_factory=dict)

    @classmethod
    def of(cls, counts: Counts) -> "PairSums":
        """From counts of any grain down to the task."""
        tasks, task = grouping.ranks(counts.task)
        of_pair, pair = grouping.distinct(counts.first, counts.second)
        subset = np.zeros(len(tasks), dtype=np.int64)
        subset[task] = counts.subset
        keys, cell = grouping.ranks(pair * len(tasks) + task)
        number, place = np.divmod(keys, max(len(tasks), 1))
        people = np.column_stack([counts.first[of_pair], counts.second[of_pair]])
        return cls(counts.sums, cell, place, number, joined(subset), people)

    @property
    def n_tasks(self) -> int:
        """The number of tasks."""
        return len(self.stratum)

    def by_cell(self, columns: slice = EVERY) -> list[FloatArray]:
        """Sums by cell, (cells,) of each column. Of whole numbers in half the space, which is exact up to 16
        million."""
        numbers = range(self.sums.shape[1])[columns]
        for number in numbers:
            if number not in self._columns:
                self._columns[number] = np.bincount(
                    self.cell, weights=self.sums[:, number], minlength=len(self.pair)
                ).astype(np.float64 if self.sums.dtype.kind == "f" else np.float32, copy=False)
        return [self._columns[number] for number in numbers]

    def totals(self, columns: slice = EVERY) -> FloatArray:
        """Sums by pair: (pairs, columns)."""
        sums = self.by_cell(columns)
        if not len(self.pair):
            return np.zeros((0, len(sums)))
        starts = np.flatnonzero(np.diff(self.pair, prepend=-1))
        return np.array([np.add.reduceat(column, starts, dtype=np.float64) for column in sums]).T

    def by_task(self, columns: slice = EVERY) -> FloatArray:
        """Sums by task: (tasks, columns)."""
        return np.array(
            [np.bincount(self.task, column, minlength=self.n_tasks) for column in self.by_cell(columns)]
        ).T

    def left(self, figure: Figure, totals: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """The rest of the `totals` of the columns that a figure reads, some rows at a time: for a figure of
        pairs, of each cell's pair without the cell (cells, reads); for a pooled one, of all without each task
        (tasks, reads)."""
        if figure.pooled:
            total, without = totals.sum(axis=0)[:, None], list(self.by_task(figure.reads).T)
        else:
            without = self.by_cell(figure.reads)
        for start in range(0, len(without[0]), AT_ONCE):
            rows = slice(start, start + AT_ONCE)
            of_rows = total if figure.pooled else totals.T.take(self.pair[rows], axis=1)
            yield rows, (of_rows - np.array([column[rows] for column in without])).T


def headline(figure: Figure, totals: FloatArray) -> FloatArray:
    """The figure of sums by pair: (…, pairs, columns) → (…), NaN where it is undefined."""
    if figure.pooled:
        return figure.values(totals.sum(axis=-2))
    return weighted_mean(figure.values(totals), figure.n(totals))


def intervals(sample: PairSums, figures: Mapping[str, Figure]) -> dict[str, Interval]:
    """The interval of each figure of all pairs together."""
    if sample.n_tasks < MIN_TASKS:
        return {name: Interval(None, None, FEW_TASKS) for name in figures}
    # figures that read the same columns share their sums
    alike: dict[tuple[int, bool], dict[str, Figure]] = defaultdict(dict)
    for name, figure in figures.items():
        alike[figure.reads.start, figure.pooled][name] = figure
    by_name = {}
    for some in alike.values():
        for name, (value, without) in _without_each(sample, some).items():
            (by_name[name],) = Estimates.of(figures[name], value, without, sample.stratum).intervals()
    return by_name


def _without_each(sample: PairSums, figures: Mapping[str, Figure]) -> dict[str, tuple[float, FloatArray]]:
    """Each figure, and its values without each of the tasks, (tasks,), of figures that read the same
    columns, all of them pooled or none."""
    first = next(iter(figures.values()))
    totals = sample.totals(first.reads)
    if first.pooled:
        pooled = {name: np.empty(sample.n_tasks) for name in figures}
        for rows, left in sample.left(first, totals):
            for name, figure in figures.items():
                pooled[name][rows] = figure.make(left)
        total = totals.sum(axis=0)
        return {name: (float(figure.make(total)), pooled[name]) for name, figure in figures.items()}

    # only the pairs that share the task change
    whole = {name: _weighted(figure, totals) for name, figure in figures.items()}
    change = {name: np.empty((2, len(sample.pair))) for name in figures}
    for rows, left in sample.left(first, totals):
        for name, figure in figures.items():
            change[name][:, rows] = _weighted(figure, left) - whole[name].take(sample.pair[rows], axis=1)
    by_name = {}
    for name, changed in change.items():
        value, weight = whole[name].sum(axis=1)
        above, below = (np.bincount(sample.task, one, minlength=sample.n_tasks) for one in changed)
        by_name[name] = float(divide(value, weight)), divide(value + above, weight + below)
    return by_name


def _weighted(figure: Figure, sums: FloatArray) -> FloatArray:
    """A figure's values of sums by pair, (pairs, reads), times n; and n, 0 where undefined: (2, pairs)."""
    values, n = figure.make(sums), figure.count(sums)
    undefined = np.isnan(values)
    if undefined.any():
        values, n = np.where(undefined, 0.0, values), np.where(undefined, 0.0, n)
    weighted: FloatArray = np.array([values * n, n])
    return weighted
