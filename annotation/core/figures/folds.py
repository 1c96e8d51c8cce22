"""Folds for cross-fitting: the runs of a task stand in one fold."""

from typing import Final

import numpy as np

from annotation.core.figures.measure import IntArray

FOLDS: Final = 5


def deal(groups: IntArray, *, seed: int, folds: int = FOLDS) -> IntArray:
    """The fold of each row, (n,): all rows of a task in one fold, tasks shuffled, folds of about equal size.

    Raises ValueError for fewer than two tasks.
    """
    tasks, place = np.unique(groups, return_inverse=True)
    if len(tasks) < 2:
        raise ValueError("one task cannot be set against itself")
    sizes = np.bincount(place)
    order = np.random.default_rng(seed).permutation(len(tasks))
    order = order[np.argsort(-sizes[order], kind="stable")]
    held = np.zeros(min(folds, len(tasks)), dtype=np.int64)
    fold = np.zeros(len(tasks), dtype=np.int64)
    for task in order:
        fold[task] = held.argmin()
        held[fold[task]] += sizes[task]
    dealt: IntArray = fold[place]
    return dealt
