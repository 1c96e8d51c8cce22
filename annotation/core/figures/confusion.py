"""Tables of two annotators' labels: 3×3 counts, also one table for every group of units."""

from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.core.figures.measure import IntArray
from annotation.core.vocabulary import VALUES

SIZE = len(VALUES)


def codes(values: npt.ArrayLike) -> IntArray:
    """Labels −1, 0, +1 as 0, 1, 2. ValueError for anything else: what is missing must be left out."""
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(array.shape, dtype=np.int64)
    if array.dtype.kind not in "iu" or array.min() < -1 or array.max() > 1:
        raise ValueError("labels are the integers -1, 0 and 1")
    return array.astype(np.int64) + 1


def confusion(a: npt.ArrayLike, b: npt.ArrayLike) -> IntArray:
    """3×3 counts of the pairs (a[i], b[i]): rows a, columns b, in the order −1, 0, +1."""
    first, second = codes(a), codes(b)
    if first.shape != second.shape:
        raise ValueError("both annotators need the same number of labels")
    return np.bincount(first * SIZE + second, minlength=SIZE * SIZE).reshape(SIZE, SIZE)


def confusion_by(a: npt.ArrayLike, b: npt.ArrayLike, groups: npt.ArrayLike, n_groups: int) -> IntArray:
    """One 3×3 table per group: (n_groups, 3, 3). `groups` holds 0 … n_groups − 1 for each pair."""
    cell = np.asarray(groups, dtype=np.int64) * SIZE * SIZE + codes(a) * SIZE + codes(b)
    return np.bincount(cell, minlength=n_groups * SIZE * SIZE).reshape(n_groups, SIZE, SIZE)


def error_tables(tables: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """Tables (…, 3, 3) folded to error against non-error: (…, 2, 2), error (−1) first."""
    error, other = tables[..., 0, :], tables[..., 1:, :].sum(axis=-2)
    return two_by_two(error[..., 0], error[..., 1:].sum(axis=-1), other[..., 0], other[..., 1:].sum(axis=-1))


def two_by_two(*cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Tables (…, 2, 2) of four cells (…), row by row. Each cell stands together in memory, as in `counts`."""
    result = np.empty((*np.shape(cells[0]), 2, 2), dtype=np.result_type(*cells), order="F")
    for number, cell in enumerate(cells):
        result[(..., *divmod(number, 2))] = cell
    return result
