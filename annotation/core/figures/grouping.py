"""Number the distinct values of columns: what `np.unique(…, axis=0)` does, many times faster.

Labels come in hundreds of thousands. Sorting rows as strings of bytes, which `axis=0` means, was most of the
time of an agreement report; here ids become running numbers, and several columns one integer.
"""

import numpy as np
import numpy.typing as npt

from annotation.core.figures.measure import IntArray

LARGEST_KEY = 2**62
SPARSE = 16
"""Ids that lie this many times farther apart than there are of them are sorted rather than looked up."""


def ranks(ids: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    """The distinct ids in order, (distinct,), and the place of each id among them, (n,).

    Without sorting where the ids lie close together, as those of one project do.
    """
    array = np.asarray(ids, dtype=np.int64)
    if not len(array):
        return array, array
    low, high = int(array.min()), int(array.max())
    if high - low > SPARSE * len(array) + 1000:
        distinct, places = np.unique(array, return_inverse=True)
        return distinct, places.reshape(-1)
    offset = array - low
    there = np.zeros(high - low + 1, dtype=bool)
    there[offset] = True
    used = np.flatnonzero(there)
    place = np.empty(high - low + 1, dtype=np.int64)  # only where there is an id
    place[used] = np.arange(len(used))
    return used + low, place[offset]


def keys(*columns: IntArray) -> IntArray:
    """One integer for each row, (n,): equal where the rows are equal, in the order of the columns."""
    key, size = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        low = int(column.min()) if len(column) else 0
        width = int(column.max()) - low + 1 if len(column) else 1
        if size * width >= LARGEST_KEY:
            distinct, key = ranks(key)
            size = len(distinct)
            column, low = ranks(column)[1], 0
            width = int(column.max()) + 1
        key, size = key * width + (column - low), size * width
    return key


def distinct(*columns: IntArray) -> tuple[IntArray, IntArray]:
    """The first row of every distinct combination, in their order, and the number of each row's."""
    distinct, number = ranks(keys(*columns))
    first = np.full(len(distinct), len(number), dtype=np.int64)
    np.minimum.at(first, number, np.arange(len(number)))
    return first, number
