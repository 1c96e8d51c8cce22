"""Effects of an arm on a figure, estimated between labels of the same step whose annotators are in different
arms, with standard errors clustered by task.

The model is y = effect of the item + β of the arm + error, where an item is what several people judge alike
(a step), and y says whether a label agrees. Item effects are swept out by subtracting means, so that only
differences within an item count. Everything else is a function of sums per task.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy

from annotation.core.figures.measure import FloatArray

IntArray = npt.NDArray[np.int64]

POWER: Final = 0.80
DRAWS: Final = 20_000
"""Draws from which the joint quantile of several contrasts is taken."""
OTHERS: Final = 0.25
"""The part of the level that all other contrasts have together. Far out, t is only nearly right: in
simulations of experiments in which nothing differs, up to twice as many are found as this allows
(docs/influence.md)."""
_FEW_DRAWS: Final = 50
_ROUNDING: Final = 1e-9
"""The bound below which a number is 0 but for rounding: a swept column, 1 − leverage, a standard error."""


@dataclass(frozen=True, slots=True)
class TaskSums:
    """Sums of each task: `squares` (T, p, p) of the swept design with itself, `products` (T, p) with y; `n`
    is how many labels stand beside one of another arm."""

    squares: FloatArray
    products: FloatArray
    n: int

    @property
    def n_tasks(self) -> int:
        """The number of informative tasks."""
        return len(self.squares)


@dataclass(frozen=True, slots=True)
class ContrastFit:
    """A contrast c'β with its CR2 standard error, its degrees of freedom, and each task's part in the error
    (T,), by the numbers in `tasks`. `se` is None where the data leave no variance to estimate."""

    value: float
    se: float | None
    freedom: float
    parts: FloatArray

    @property
    def t(self) -> float | None:
        """The value in standard errors; None without one."""
        return None if self.se is None else self.value / self.se

    def p(self) -> float | None:
        """Two-sided, by t with `freedom` degrees."""
        return None if self.t is None else float(2 * scipy.special.stdtr(self.freedom, -abs(self.t)))

    def half_width(self, level: float) -> float | None:
        """Half the width of the interval whose error is `level`, two-sided."""
        if self.se is None:
            return None
        return float(scipy.special.stdtrit(self.freedom, 1 - level / 2)) * self.se

    def detectable(self) -> float | None:
        """The minimum detectable effect (t of 97.5 % + t of 80 %) × SE (Bloom 1995)."""
        if self.se is None:
            return None
        found, missed = scipy.special.stdtrit(self.freedom, (0.975, POWER))
        return float(found + missed) * self.se


def swept(item: IntArray, design: FloatArray) -> FloatArray:
    """Columns (n, p) less their means within items (n,); items are numbered from 0."""
    size = np.bincount(item)
    means = np.stack([np.bincount(item, column) / size for column in design.T], axis=1)
    return design - means[item]


def sums_of(
    task: IntArray, item: IntArray | None, design: FloatArray, y: FloatArray, n_tasks: int
) -> TaskSums:
    """Sums of labels: `task` (n,) from 0 to n_tasks − 1, `item` (n,) numbered from 0, `design` (n, p) with a
    column for each arm but the first, `y` (n,). A task without a difference between arms has sums of 0.
    Without items nothing is swept out: then the design has columns for the means as well."""
    x = design if item is None else swept(item, design)
    outcome = y if item is None else swept(item, y[:, None])[:, 0]
    width = design.shape[1]
    squares = np.empty((n_tasks, width, width))
    products = np.empty((n_tasks, width))
    for a in range(width):
        products[:, a] = np.bincount(task, x[:, a] * outcome, n_tasks)
        for b in range(width):
            squares[:, a, b] = np.bincount(task, x[:, a] * x[:, b], n_tasks)
    return TaskSums(squares, products, int((np.abs(x) > _ROUNDING).any(axis=1).sum()))


def fit(sums: TaskSums, contrast: FloatArray) -> ContrastFit | None:
    """The contrast c'β (p,) by least squares, with a cluster-robust error; None when it is not identified.

    The error is "CR2" (Bell and McCaffrey 2002): each task's residuals are multiplied by (I − H)^(−1/2), H
    being their part of the hat matrix, and the degrees of freedom are Satterthwaite's for errors that are
    equal and independent. Sweeping out item effects first changes neither, as items lie within tasks
    (Pustejovsky and Tipton 2018, theorem 2). H has the rank of the design: roots are taken in p dimensions.
    """
    total = sums.squares.sum(axis=0)
    if not _identified(total, contrast):
        return None
    root = _root_of_inverse(total)
    beta = root @ root.T @ sums.products.sum(axis=0)
    hat = np.einsum("ai,tab,bj->tij", root, sums.squares, root)
    values, vectors = np.linalg.eigh(hat)
    left = 1 - values
    # a task that alone decides a direction has no residual in it
    stretch = np.where(left > _ROUNDING, 1 / np.sqrt(np.maximum(left, _ROUNDING)), 0.0)
    adjust = np.einsum("tij,tj,tkj->tik", vectors, stretch, vectors)
    direction = root.T @ contrast
    residual = (sums.products - sums.squares @ beta) @ root
    bent = adjust @ direction
    parts = (residual * bent).sum(axis=1)
    along = np.einsum("tij,tj->ti", hat, bent)
    own = (bent * along).sum(axis=1)
    cross = np.diag(own) - along @ along.T
    spread = float((cross**2).sum())
    variance = float((parts**2).sum())
    value = float(contrast @ beta)
    if variance <= _ROUNDING**2 or spread <= 0 or np.trace(cross) <= 0:
        return ContrastFit(value, None, 0.0, parts)
    return ContrastFit(value, float(np.sqrt(variance)), float(np.trace(cross) ** 2 / spread), parts)


def _identified(total: FloatArray, contrast: FloatArray) -> bool:
    """Whether labels in different arms stand beside each other, so that the contrast can be told."""
    if not total.size or not total.any():
        return False
    back = total @ np.linalg.pinv(total, hermitian=True) @ contrast
    return bool(np.allclose(back, contrast, atol=1e-8))


def _root_of_inverse(total: FloatArray) -> FloatArray:
    """R with R R' the (generalised) inverse of a symmetric matrix."""
    values, vectors = np.linalg.eigh(total)
    kept = values > values.max() * 1e-12
    root: FloatArray = vectors[:, kept] / np.sqrt(values[kept])
    return root


def level_beside(
    first: ContrastFit | None, others: list[ContrastFit], level: float, rng: np.random.Generator
) -> float:
    """The two-sided level at which each of `others` is tested beside a `first` contrast that has `level` for
    itself: such that, where nothing differs, one of them is found while the first is not in a quarter of
    `level` of all experiments.

    By max-t (Westfall and Young 1993): the contrasts are taken as jointly normal, with the correlation of
    their tasks' parts. Where so little is to be spent that draws cannot tell, by Bonferroni's bound.
    """
    if not others:
        return level
    if OTHERS * level * DRAWS < _FEW_DRAWS:
        return OTHERS * level / len(others)
    fits = [first, *others] if first is not None else others
    parts = np.stack([one.parts / np.sqrt((one.parts**2).sum()) for one in fits])
    values, vectors = np.linalg.eigh(parts @ parts.T)
    loads = vectors * np.sqrt(np.clip(values, 0, None))
    drawn = np.abs(rng.standard_normal((DRAWS, len(fits))) @ loads.T)
    largest = drawn[:, len(fits) - len(others) :].max(axis=1)
    if first is not None:
        largest = np.where(drawn[:, 0] <= -scipy.special.ndtri(level / 2), largest, 0.0)
    return float(2 * scipy.special.ndtr(-np.quantile(largest, 1 - OTHERS * level)))
