"""95 % intervals by resampling tasks within subsets (docs/design.md, "Statistics").

Labels of one task are not independent: its steps share a trajectory, and its trajectories share a question.
So whole tasks are drawn, with replacement, as many from each subset as it has. Every figure here is a
function of sums over tasks, and so a resample is a row of weights (how often each task was drawn) and costs
one product with the per-task sums: no step is touched again.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from annotation.core.figures.measure import FEW_TASKS, MIN_TASKS, UNSTABLE, FloatArray, Interval

RESAMPLES = 1000
RESAMPLES_AT_ONCE = 100  # resamples at a time: bounds memory at RESAMPLES_AT_ONCE × tasks floats
LARGEST_UNDEFINED_SHARE = 0.05


def task_weights(subsets: npt.ArrayLike, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Blocks of resamples, each (≤ RESAMPLES_AT_ONCE, tasks): how often every task was drawn.

    `subsets` gives the subset of each task; within a subset the weights of a row add up to its tasks.
    """
    of_task = np.asarray(subsets)
    members = [np.flatnonzero(of_task == subset) for subset in np.unique(of_task)]
    for start in range(0, RESAMPLES, RESAMPLES_AT_ONCE):
        rows = min(RESAMPLES_AT_ONCE, RESAMPLES - start)
        weights = np.zeros((rows, len(of_task)))
        for tasks in members:
            size = len(tasks)
            drawn = rng.integers(0, size, size=(rows, size)) + np.arange(rows)[:, None] * size
            weights[:, tasks] = np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size)
        yield weights


def resampled_sums(weights: FloatArray, per_task: npt.NDArray[np.generic]) -> FloatArray:
    """Sums over the drawn tasks: weights (rows, tasks) and sums per task (tasks, …) → (rows, …)."""
    flat = per_task.reshape(len(per_task), int(np.prod(per_task.shape[1:]))).astype(np.float64)
    sums: FloatArray = (weights @ flat).reshape(len(weights), *per_task.shape[1:])
    return sums


def interval(values: npt.ArrayLike, n_tasks: int) -> Interval:
    """The central 95 % of the resampled `values` (NaN: undefined in that resample).

    None, with a reason, below 20 tasks, and when more than 5 % of the resamples leave the figure undefined.
    """
    if n_tasks < MIN_TASKS:
        return Interval(None, None, FEW_TASKS)
    array = np.asarray(values, dtype=np.float64)
    defined = array[~np.isnan(array)]
    if len(defined) < (1 - LARGEST_UNDEFINED_SHARE) * len(array) or not len(defined):
        return Interval(None, None, UNSTABLE)
    low, high = np.quantile(defined, [0.025, 0.975])
    return Interval(float(low), float(high))
