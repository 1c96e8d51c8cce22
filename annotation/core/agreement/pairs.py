"""Pair up labels of the same step: the rows from which every measure of agreement is computed."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.core.agreement.measure import IntArray

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LabelTable:
    """One row per label; parallel integer arrays of one length. Ids are any integers.

    `position` is the step's place among the steps of its trajectory (0 for the first); outcomes are a table
    of their own, with position 0. Missing labels have no row.
    """

    trajectory: IntArray
    position: IntArray
    annotator: IntArray
    value: IntArray
    task: IntArray
    subset: IntArray

    @classmethod
    def of(cls, rows: npt.ArrayLike) -> "LabelTable":
        """From rows (trajectory, position, annotator, value, task, subset); no rows give an empty table."""
        array = np.asarray(rows, dtype=np.int64).reshape(-1, 6)
        return cls(*(np.ascontiguousarray(column) for column in array.T))

    def __len__(self) -> int:
        return len(self.value)

    def where(self, keep: BoolArray) -> "LabelTable":
        """The rows for which `keep` is true."""
        return LabelTable(
            self.trajectory[keep],
            self.position[keep],
            self.annotator[keep],
            self.value[keep],
            self.task[keep],
            self.subset[keep],
        )


@dataclass(frozen=True, slots=True)
class Pairs:
    """One row per pair of labels of one step, sorted by pair, trajectory and position.

    `a` is the label of the annotator with the smaller id. `pair`, `trajectory` and `task` are running numbers
    from 0; `pair_ids` (pairs, 2) names the annotators, `trajectory_ids` (trajectories,) the trajectories,
    `task_subset` (tasks,) the subset id of each task.
    """

    a: IntArray
    b: IntArray
    pair: IntArray
    trajectory: IntArray
    position: IntArray
    task: IntArray
    pair_ids: IntArray
    task_subset: IntArray
    trajectory_ids: IntArray

    def __len__(self) -> int:
        return len(self.a)

    @property
    def n_pairs(self) -> int:
        """How many pairs of annotators."""
        return len(self.pair_ids)

    @property
    def n_trajectories(self) -> int:
        """How many trajectories with at least one pair."""
        return len(self.trajectory_ids)

    @property
    def n_tasks(self) -> int:
        """How many tasks."""
        return len(self.task_subset)


def at_least(labels: LabelTable, trajectories: int) -> LabelTable:
    """The labels of trajectories at which every pair of annotators shares at least so many of the subset.

    What is left can be added up over pairs and subsets: no difference of two sums is about fewer trajectories
    of a pair than that. Leaving a trajectory out takes it from its other pairs too, so this goes on until
    nothing more falls.
    """
    while len(labels):
        # one row a person and trajectory is enough to say who shares what
        ids = np.column_stack([labels.trajectory, labels.annotator, labels.task, labels.subset])
        trajectory, annotator, task, subset = np.unique(ids, axis=0).T
        once = np.zeros_like(trajectory)
        pairs = pair_up(LabelTable(trajectory, once, annotator, once, task, subset))
        if not len(pairs):
            return labels.where(np.zeros(len(labels), dtype=bool))
        cell = np.column_stack([pairs.pair, pairs.task_subset[pairs.task]])
        _, cell, shared = np.unique(cell, axis=0, return_inverse=True, return_counts=True)
        few = np.bincount(pairs.trajectory, weights=shared[cell.reshape(-1)] < trajectories) > 0
        paired = pairs.trajectory_ids
        keep = np.isin(labels.trajectory, paired[~few])
        if keep.all():
            break
        labels = labels.where(keep)
    return labels


def pair_up(labels: LabelTable) -> Pairs:
    """Every pair of annotators who labelled the same step; N annotators of a step give N(N − 1)/2 rows.

    ValueError when one annotator labels a step twice.
    """
    order = np.lexsort((labels.annotator, labels.position, labels.trajectory))
    trajectory, position = labels.trajectory[order], labels.position[order]
    annotator = labels.annotator[order]
    left: list[IntArray] = []
    right: list[IntArray] = []
    lag, rows = 1, np.arange(len(order))
    while lag < len(order):
        early, late = rows[:-lag], rows[lag:]
        same = (trajectory[early] == trajectory[late]) & (position[early] == position[late])
        if not same.any():
            break
        if lag == 1 and (annotator[early][same] == annotator[late][same]).any():
            raise ValueError("an annotator has two labels for one step")
        left.append(early[same])
        right.append(late[same])
        lag += 1
    first = np.concatenate(left) if left else np.zeros(0, dtype=np.int64)
    second = np.concatenate(right) if right else np.zeros(0, dtype=np.int64)
    people = np.column_stack([annotator[first], annotator[second]])
    pair_ids, pair = np.unique(people, axis=0, return_inverse=True)
    by_pair = np.lexsort((position[first], trajectory[first], pair.reshape(-1)))
    first, second, pair = first[by_pair], second[by_pair], pair.reshape(-1)[by_pair]
    trajectory_ids, trajectory_number = np.unique(trajectory[first], return_inverse=True)
    _, one_row, task_number = np.unique(labels.task[order][first], return_index=True, return_inverse=True)
    return Pairs(
        a=labels.value[order][first],
        b=labels.value[order][second],
        pair=pair,
        trajectory=trajectory_number.reshape(-1),
        position=position[first],
        task=task_number.reshape(-1),
        pair_ids=pair_ids.reshape(-1, 2),
        task_subset=labels.subset[order][first][one_row],
        trajectory_ids=trajectory_ids,
    )
