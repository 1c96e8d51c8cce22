"""Agreement on the errors of whole trajectories: that there is one, where the first is, and where errors
begin (docs/design.md, "Statistics").

A trajectory that two annotators labelled falls into one of eight classes (`FirstErrors`), by where each found
the first −1. From these and the number of steps before the first of both come three figures:

- error presence κ: κ over trajectories of whether there is an error;
- first-error agreement: of the trajectories in which both found an error, the share with the same first one;
- onset κ: κ of "is this step the first error" over the steps k ≤ min(f_A, f_B), with f the place of the
  first error, and over all steps where neither found one. After the first error no step is a unit, so that a
  run of filled −1 counts once.

A trajectory counts only if both annotators labelled each of its steps blind: where labels are missing, nobody
knows which error would have been the first.
"""

from dataclasses import astuple, dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from annotation.core.figures.confusion import two_by_two
from annotation.core.figures.measure import FloatArray, IntArray

NONE = -1

CLASSES: Final = 8
"""The number of classes of trajectories: the fields of `FirstErrors`, in their order."""


@dataclass(frozen=True, slots=True)
class FirstErrors:
    """Trajectories of two annotators by where the second one's first error lies, seen from the first one's.

    Earlier and later are by person and turn round when the two change places; in steps of the agent.
    """

    far_earlier: int
    """Both found an error; the second annotator's lies two steps or more before."""
    one_earlier: int
    same: int
    one_later: int
    far_later: int
    only_first: int
    """Only the first annotator found an error: the second missed it, or the first saw one too many."""
    only_second: int
    neither: int


@dataclass(frozen=True, slots=True)
class Offsets:
    """The same over pairs of annotators without saying who: nothing changes when people change places."""

    exact: int
    one_step_off: int
    farther_off: int
    one_only: int
    """Only one of the two found an error."""
    neither: int

    @classmethod
    def of(cls, first_errors: FirstErrors) -> "Offsets":
        """Add up what differs only by who came first."""
        return cls(
            exact=first_errors.same,
            one_step_off=first_errors.one_earlier + first_errors.one_later,
            farther_off=first_errors.far_earlier + first_errors.far_later,
            one_only=first_errors.only_first + first_errors.only_second,
            neither=first_errors.neither,
        )

    @property
    def n(self) -> int:
        """The number of trajectories, each counted for every pair of annotators."""
        return sum(astuple(self))


def first_positions(
    values: npt.ArrayLike, groups: npt.ArrayLike, positions: npt.ArrayLike, n_groups: int
) -> IntArray:
    """Position of the first −1 of each trajectory, (n_groups,); NONE when it has no −1.

    One row per step; `groups` holds 0 … n_groups − 1, `positions` the step's place in its trajectory.
    """
    error = np.asarray(values) == -1
    first = np.full(n_groups, np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(
        first, np.asarray(groups, dtype=np.int64)[error], np.asarray(positions, dtype=np.int64)[error]
    )
    return np.where(first == np.iinfo(np.int64).max, NONE, first)


def earliest(first: IntArray, second: IntArray, never: IntArray | int) -> IntArray:
    """The earlier of both first positions of each trajectory; `never` where neither has one."""
    return np.minimum(np.where(first == NONE, never, first), np.where(second == NONE, never, second))


def classify(first: IntArray, second: IntArray) -> IntArray:
    """The class (0 … 7, the order of `FirstErrors`) of each trajectory from both first positions, or NONE."""
    offset = np.clip(second - first, -2, 2) + 2
    return np.select(
        [(first != NONE) & (second != NONE), first != NONE, second != NONE], [offset, 5, 6], default=7
    )


def presence_tables(classes: npt.ArrayLike) -> FloatArray:
    """Counts of the classes (…, 8) → tables (…, 2, 2) of whether each found an error, "found" first."""
    counts = np.asarray(classes, dtype=np.float64)
    return two_by_two(counts[..., :5].sum(axis=-1), counts[..., 5], counts[..., 6], counts[..., 7])


def onset_tables(classes: npt.ArrayLike, before: npt.ArrayLike) -> FloatArray:
    """Counts of the classes (…, 8) and steps before the first error of both (…) → tables (…, 2, 2) of
    whether each said that the step is the first error, "is" first."""
    counts = np.asarray(classes, dtype=np.float64)
    only_first = counts[..., 3] + counts[..., 4] + counts[..., 5]
    only_second = counts[..., 0] + counts[..., 1] + counts[..., 6]
    return two_by_two(counts[..., 2], only_first, only_second, np.asarray(before, dtype=np.float64))
