"""Pair up labels of the same step: the rows from which every measure of agreement is computed."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.core.figures import grouping
from annotation.core.figures.measure import IntArray

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LabelTable:
    """One row per label; parallel integer arrays of one length. Ids are any integers.

    `position` is the step's place among the steps of its trajectory (0 for the first), `steps` how many the
    trajectory has; outcomes are a table of their own, with position 0 and one step. Missing labels have no
    row.
    """

    trajectory: IntArray
    position: IntArray
    annotator: IntArray
    value: IntArray
    task: IntArray
    subset: IntArray
    steps: IntArray

    @classmethod
    def of(cls, rows: npt.ArrayLike) -> "LabelTable":
        """From rows (trajectory, position, annotator, value, task, subset, steps); no rows give an empty
        table."""
        array = np.asarray(rows, dtype=np.int64).reshape(-1, 7)
        return cls(*(np.ascontiguousarray(column) for column in array.T))

    def __len__(self) -> int:
        return len(self.value)

    def where(self, rows: BoolArray | IntArray) -> "LabelTable":
        """Some of the rows, by a mask or by number: labels of a source, of steps of a kind. What is left of a
        trajectory counts for no figure of whole trajectories."""
        return LabelTable(
            self.trajectory[rows],
            self.position[rows],
            self.annotator[rows],
            self.value[rows],
            self.task[rows],
            self.subset[rows],
            self.steps[rows],
        )

    def in_order(self) -> "LabelTable":
        """Sorted by trajectory, position and annotator."""
        key = grouping.keys(self.trajectory, self.position, self.annotator)
        return self.where(np.argsort(key, kind="stable"))


@dataclass(frozen=True, slots=True)
class Pairs:
    """One row per pair of labels of one step, sorted by pair, trajectory and position.

    `a` is the label of the annotator with the smaller id. `pair`, `trajectory` and `task` are running numbers
    from 0; `pair_ids` (pairs, 2) names the annotators, `trajectory_ids` (trajectories,) the trajectories,
    `task_ids` (tasks,) the tasks, `task_subset` (tasks,) the subset id of each. `labels` is how many
    annotators labelled the step, `steps` how many steps the trajectory has.
    """

    a: IntArray
    b: IntArray
    pair: IntArray
    trajectory: IntArray
    position: IntArray
    task: IntArray
    labels: IntArray
    steps: IntArray
    pair_ids: IntArray
    trajectory_ids: IntArray
    task_ids: IntArray
    task_subset: IntArray

    def __len__(self) -> int:
        return len(self.a)


def at_least(labels: LabelTable, trajectories: int) -> LabelTable:
    """The labels of trajectories at which every pair of annotators shares at least so many of the subset.

    What is left can be added up over pairs and subsets: no difference of two sums is about fewer trajectories
    of a pair than that. Leaving a trajectory out takes it from its other pairs too, so this goes on until
    nothing more falls.
    """
    while len(labels):
        # one row a person and trajectory is enough to say who shares what
        once, _ = grouping.distinct(labels.trajectory, labels.annotator)
        nothing = np.zeros_like(once)
        pairs = pair_up(
            LabelTable(
                labels.trajectory[once],
                nothing,
                labels.annotator[once],
                nothing,
                labels.task[once],
                labels.subset[once],
                nothing + 1,
            )
        )
        if not len(pairs):
            return labels.where(np.zeros(len(labels), dtype=bool))
        _, cell = grouping.distinct(pairs.pair, pairs.task_subset[pairs.task])
        few = np.bincount(pairs.trajectory, weights=np.bincount(cell)[cell] < trajectories) > 0
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
    table = labels.in_order()
    step = np.zeros(len(table), dtype=np.int64)
    same = (table.trajectory[1:] == table.trajectory[:-1]) & (table.position[1:] == table.position[:-1])
    if (same & (table.annotator[1:] == table.annotator[:-1])).any():
        raise ValueError("an annotator has two labels for one step")
    np.cumsum(~same, out=step[1:])
    first, second = _within(step)
    people, person = grouping.ranks(table.annotator)
    pair_key = person[first] * max(len(people), 1) + person[second]
    # by pair, keeping the order of trajectories and positions
    order = np.argsort(pair_key, kind="stable")
    first, second, pair_key = first[order], second[order], pair_key[order]
    pair_keys, pair = grouping.ranks(pair_key)
    trajectory_ids, trajectory = grouping.ranks(table.trajectory[first])
    task_ids, task = grouping.ranks(table.task[first])
    task_subset = np.zeros(len(task_ids), dtype=np.int64)
    task_subset[task] = table.subset[first]
    of_step = np.bincount(step, minlength=1)
    return Pairs(
        a=table.value[first],
        b=table.value[second],
        pair=pair,
        trajectory=trajectory,
        position=table.position[first],
        task=task,
        labels=of_step[step[first]],
        steps=table.steps[first],
        pair_ids=people[np.column_stack(np.divmod(pair_keys, max(len(people), 1)))],
        trajectory_ids=trajectory_ids,
        task_ids=task_ids,
        task_subset=task_subset,
    )


def _within(group: IntArray) -> tuple[IntArray, IntArray]:
    """All pairs of rows of the same group, the earlier row first, in the order of the first; `group` is
    sorted."""
    left: list[IntArray] = []
    right: list[IntArray] = []
    for lag in range(1, len(group)):
        early = np.flatnonzero(group[lag:] == group[:-lag])
        if not len(early):
            break
        left.append(early)
        right.append(early + lag)
    if len(left) == 1:
        return left[0], right[0]
    first = np.concatenate(left) if left else np.zeros(0, dtype=np.int64)
    second = np.concatenate(right) if right else np.zeros(0, dtype=np.int64)
    order = np.argsort(first, kind="stable")
    return first[order], second[order]
