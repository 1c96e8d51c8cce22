"""Paired labels of a project as arrays, and how figures cut them (models.PairedLabels).

A row is one trajectory that two annotators labelled; its steps are bytes (`packed`). What a figure is cut by
is an attribute of the row (subset, policy model, pair of annotators, guideline version, week) or of a step in
it (position, kind, source, exposure). Both are integers, so that cutting is one comparison.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np

from annotation.core.agreement import label_pair_codec
from annotation.core.agreement.pairs import BoolArray, Pairs
from annotation.core.figures.grouping import distinct
from annotation.core.figures.measure import IntArray

POSITIONS: Final = ("early", "middle", "late")
KINDS: Final = ("reply", "call")
SOURCES: Final = ("explicit", "confirmed")
EXPOSURES: Final = ("untouched", "touched")
STEP_CUTS: Final[Mapping[str, tuple[str, ...]]] = {
    "position": POSITIONS,
    "kind": KINDS,
    "source": SOURCES,
    "exposure": EXPOSURES,
}
"""The cuts of steps, and the names of their parts."""
PLACES: Final = 10
"""Steps beyond this one share a column of the map."""


@dataclass(frozen=True, slots=True)
class PairedRows:
    """Parallel arrays, a row for each (trajectory, pair), in any order.

    `length` is how many steps the trajectory has, `steps` the bytes of all rows one after the other. `model`
    is an index into `models`.
    """

    trajectory: IntArray
    task: IntArray
    subset: IntArray
    model: IntArray
    first: IntArray
    second: IntArray
    first_guideline: IntArray
    second_guideline: IntArray
    week: IntArray
    outcome: IntArray
    length: IntArray
    steps: label_pair_codec.Bytes
    models: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.trajectory)

    def where(self, keep: BoolArray | IntArray) -> "PairedRows":
        """Some of the rows, by a mask or by number."""
        numbers = np.flatnonzero(keep) if keep.dtype == np.bool_ else keep
        if len(numbers) == len(self) and (numbers == np.arange(len(self))).all():
            return self
        ends = np.cumsum(self.length)
        length = self.length[numbers]
        inside = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        steps = self.steps[np.repeat((ends - self.length)[numbers], length) + inside]
        columns = {name: getattr(self, name)[numbers] for name in ROW_COLUMNS}
        return replace(self, steps=steps, **columns)

    @classmethod
    def of(
        cls, columns: Mapping[str, IntArray], steps: label_pair_codec.Bytes, models: tuple[str, ...]
    ) -> "PairedRows":
        """From columns, the steps of all rows one after the other, and the names of the models."""
        return cls(**columns, steps=steps, models=models)

    def joined(self, added: "PairedRows") -> "PairedRows":
        """With more rows, whose models go on where these end."""
        both = {name: np.concatenate([getattr(self, name), getattr(added, name)]) for name in ROW_COLUMNS}
        models = added.models or self.models
        return replace(self, steps=np.concatenate([self.steps, added.steps]), models=models, **both)

    @property
    def row_of_step(self) -> IntArray:
        """The row of each step."""
        return np.repeat(np.arange(len(self)), self.length)

    @property
    def ordinal(self) -> IntArray:
        """The place of each step in its trajectory, from 0."""
        starts = np.repeat(np.cumsum(self.length) - self.length, self.length)
        places: IntArray = np.arange(len(self.steps)) - starts
        return places

    def step_cut(self, name: str) -> IntArray:
        """For each step, which part of a cut of steps it is in: an index into `STEP_CUTS[name]`."""
        if name == "position":
            third: IntArray = self.ordinal * len(POSITIONS) // np.repeat(self.length, self.length)
            return third
        flag = {
            "kind": label_pair_codec.CALL,
            "source": label_pair_codec.CONFIRMED,
            "exposure": label_pair_codec.TOUCHED,
        }[name]
        flagged: IntArray = ((self.steps & flag) != 0).astype(np.int64)
        return flagged

    def paired(self, keep: BoolArray | None = None) -> BoolArray:
        """A mask (steps,) of the steps, of those that `keep` leaves, that both annotators labelled."""
        both = label_pair_codec.paired(self.steps)
        return both if keep is None else both & keep

    def pairs(self, keep: BoolArray | None = None, *, alone: bool = False) -> Pairs:
        """The steps that both annotators labelled, or those of them that `keep`, (steps,), leaves.

        `alone`: each pair as if nobody else had labelled its steps; for selections that take some pairs of a
        step and leave others.
        """
        numbers = np.flatnonzero(self.paired(keep))
        starts = np.cumsum(self.length) - self.length
        row = self.row_of_step[numbers]
        position = numbers - starts[row]
        first, second = label_pair_codec.values(self.steps[numbers])
        one_pair, pair = distinct(self.first, self.second)
        one_trajectory, trajectory = distinct(self.trajectory)
        one_task, task = distinct(self.task)
        return Pairs(
            a=first.astype(np.int64) - 1,
            b=second.astype(np.int64) - 1,
            pair=pair[row],
            trajectory=trajectory[row],
            position=position,
            task=task[row],
            labels=_annotators(trajectory[row], position, len(one_trajectory) == len(self) or alone),
            steps=self.length[row],
            pair_ids=np.column_stack([self.first[one_pair], self.second[one_pair]]),
            trajectory_ids=self.trajectory[one_trajectory],
            task_ids=self.task[one_task],
            task_subset=self.subset[one_task],
        )

    def of_outcomes(self) -> "PairedRows":
        """The same rows with the outcome as their only step."""
        return replace(self, steps=self.outcome.astype(np.uint8), length=np.ones_like(self.length))

    def shared_by_at_least(self, trajectories: int) -> IntArray:
        """The rows of trajectories at which every pair of annotators shares at least so many of the subset
        (see `pairs.at_least`), by number: no figure of them is about fewer trajectories of a pair."""
        numbers = np.arange(len(self))
        _, cell = distinct(self.first, self.second, self.subset)
        while len(numbers):
            few = np.bincount(cell[numbers])[cell[numbers]] < trajectories
            if not few.any():
                break
            numbers = numbers[~np.isin(self.trajectory[numbers], self.trajectory[numbers[few]])]
        return numbers


ROW_COLUMNS: Final = tuple(
    field.name for field in fields(PairedRows) if field.name not in ("steps", "models")
)


def _annotators(trajectory: IntArray, position: IntArray, two: bool) -> IntArray:
    """The number of annotators of each step, of a row for each pair of them."""
    if two or not len(position):
        return np.full(len(position), 2, dtype=np.int64)
    cell = trajectory * (int(position.max()) + 1) + position
    rows = np.bincount(cell)[cell]  # N (N − 1) / 2
    people: IntArray = ((1 + np.sqrt(1 + 8 * rows)) / 2).round().astype(np.int64)
    return people


def empty() -> PairedRows:
    """No rows."""
    none = np.zeros(0, dtype=np.int64)
    columns = dict.fromkeys(ROW_COLUMNS, none)
    return PairedRows(**columns, steps=np.zeros(0, dtype=np.uint8), models=())
