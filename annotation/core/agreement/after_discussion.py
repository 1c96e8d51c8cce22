"""Labels after discussion: two annotators' labels of the same steps, with later changes.

Which steps count stays as it is: a step without a blind label has none after the discussion either. So a
figure after discussion differs from the blind one by the changes of mind and by nothing else.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from annotation.core.agreement import label_pair_codec
from annotation.core.agreement.pair_table import PairedRows
from annotation.core.agreement.pairs import BoolArray
from annotation.core.figures.grouping import keys
from annotation.core.figures.measure import IntArray

OUTCOME: Final = -1
"""Stands for the ordinal of a step where the outcome was changed."""
_UNCHANGED: Final = -1


@dataclass(frozen=True, slots=True)
class RevisedLabels:
    """Changes of mind; parallel arrays, one row for each label that was changed, with what its author says
    now (−1, 0, +1). `ordinal` is the step's place in its trajectory, or `OUTCOME`."""

    trajectory: IntArray
    annotator: IntArray
    ordinal: IntArray
    value: IntArray

    def __len__(self) -> int:
        return len(self.value)

    @classmethod
    def of(cls, rows: npt.ArrayLike) -> "RevisedLabels":
        """From rows (trajectory, annotator, ordinal, value), oldest first; the newest of a label counts."""
        array = np.asarray(rows, dtype=np.int64).reshape(-1, 4)[::-1]
        _, newest = np.unique(keys(*array[:, :3].T), return_index=True)
        return cls(*(np.ascontiguousarray(column) for column in array[newest].T))


def revised(rows: PairedRows, changes: RevisedLabels) -> PairedRows:
    """The same rows with the values that annotators hold after discussion."""
    discussed = np.isin(rows.trajectory, changes.trajectory)
    if not discussed.any():
        return rows
    part = rows.where(discussed)  # few as a rule
    steps, outcome = part.steps.copy(), part.outcome.astype(np.uint8)
    row, ordinal = part.row_of_step, part.ordinal
    of_outcome = np.full(len(part), OUTCOME, dtype=np.int64)
    for people, shift in ((part.first, 2), (part.second, 0)):
        _put(steps, shift, _looked_up(changes, part.trajectory[row], people[row], ordinal))
        _put(outcome, shift, _looked_up(changes, part.trajectory, people, of_outcome))
    every_step, every_outcome = rows.steps.copy(), rows.outcome.copy()
    every_step[np.repeat(discussed, rows.length)] = steps
    every_outcome[discussed] = outcome
    return replace(rows, steps=every_step, outcome=every_outcome)


def changed(before: label_pair_codec.Bytes, after: label_pair_codec.Bytes) -> BoolArray:
    """A mask (n,) of the pairs of labels that are not what they were."""
    different: BoolArray = (before ^ after) & 15 != 0
    return different


def _looked_up(
    changes: RevisedLabels, trajectory: IntArray, annotator: IntArray, ordinal: IntArray
) -> IntArray:
    """For each label the changed one as 0, 1, 2, or `_UNCHANGED`."""
    both = keys(
        np.concatenate([changes.trajectory, trajectory]),
        np.concatenate([changes.annotator, annotator]),
        np.concatenate([changes.ordinal, ordinal]),
    )
    changed_keys, asked_keys = both[: len(changes)], both[len(changes) :]
    order = np.argsort(changed_keys)
    place = np.minimum(np.searchsorted(changed_keys, asked_keys, sorter=order), len(changed_keys) - 1)
    values: IntArray = np.where(
        changed_keys[order][place] == asked_keys, changes.value[order][place] + 1, _UNCHANGED
    )
    return values


def _put(labels: label_pair_codec.Bytes, shift: int, value: IntArray) -> None:
    there = (value != _UNCHANGED) & (labels >> shift & 3 != label_pair_codec.MISSING)
    labels[there] = labels[there] & ~np.uint8(3 << shift) | (value[there] << shift).astype(np.uint8)
