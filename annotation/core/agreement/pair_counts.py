"""Paired labels with the counts of each row, kept together, so that most figures look at no label again.

What figures are cut by is an attribute of a row (subset, policy model, pair of annotators, guideline version,
week, arm) or of a step in it. For the first kind counts are selected; for the second, the labels that are
left are counted anew.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from annotation.core.agreement import label_pair_codec
from annotation.core.agreement.counts import (
    OUTCOME_COLUMNS,
    STEP_COLUMNS,
    TABLE,
    Counts,
    count_outcome_pairs,
    count_step_pairs,
)
from annotation.core.agreement.pair_table import PLACES, PairedRows
from annotation.core.agreement.pairs import BoolArray
from annotation.core.figures.grouping import ranks
from annotation.core.figures.measure import IntArray

Sums = npt.NDArray[Any]
_SUMS: Final = ("steps", "outcomes", "places", "touched")
TRAJECTORIES_AT_ONCE: Final = 2_000
"""So many trajectories are counted at a time by `CountedRows.in_blocks`."""


@dataclass(frozen=True, slots=True)
class CountedRows:
    """Rows with the sums of each: `steps` (rows, 61) and `outcomes` (rows, 16) as `counts` has them, 0 where
    nothing is paired; `places` (rows, 2 · PLACES), how many pairs of labels there are at each place of the
    trajectory (the last one: there and beyond), then how many of them differ; and `touched` (rows, 2), how
    many pairs of labels of steps are touched, and of outcomes."""

    rows: PairedRows
    steps: Sums
    outcomes: Sums
    places: Sums
    touched: Sums

    @classmethod
    def of(
        cls,
        rows: PairedRows,
        keep: BoolArray | None = None,
        outcome_keep: BoolArray | None = None,
        *,
        alone: bool = False,
    ) -> "CountedRows":
        """Count rows; of their steps those that `keep`, (steps,), leaves, of their outcomes those that
        `outcome_keep`, (rows,), does. `alone`: each pair as if nobody else had labelled its steps."""
        steps, outcomes = rows.paired(keep), rows.of_outcomes().paired(outcome_keep)
        of_step = rows.row_of_step
        touched = [
            np.bincount(at[here & ((of.steps & label_pair_codec.TOUCHED) != 0)], minlength=len(rows))
            for of, here, at in (
                (rows, steps, of_step),
                (rows.of_outcomes(), outcomes, np.arange(len(rows))),
            )
        ]
        return cls(
            rows,
            _aligned(count_step_pairs(rows.pairs(keep, alone=alone)), rows, of_step[steps]),
            _aligned(
                count_outcome_pairs(rows.of_outcomes().pairs(outcome_keep, alone=alone)),
                rows,
                np.flatnonzero(outcomes),
            ),
            _places(rows, np.flatnonzero(steps)),
            _small(np.stack(touched).T),
        )

    @classmethod
    def in_blocks(cls, rows: PairedRows) -> "CountedRows":
        """The counted rows that `of(rows)` gives, counted `TRAJECTORIES_AT_ONCE`: on its way a step takes
        some hundred bytes, as much as at last a whole row."""
        _, trajectory = ranks(rows.trajectory)
        if trajectory.max(initial=0) < TRAJECTORIES_AT_ONCE:
            return cls.of(rows)
        # a trajectory's rows may stand anywhere, and are counted together
        order = np.argsort(trajectory, kind="stable")
        ends = np.flatnonzero(np.diff(trajectory[order] // TRAJECTORIES_AT_ONCE)) + 1
        parts: dict[str, list[Sums]] = {name: [] for name in _SUMS}
        for numbers in np.split(order, ends):
            part = cls.of(rows.where(numbers))
            for name, arrays in parts.items():
                arrays.append(getattr(part, name).T)
        back = np.argsort(order)
        return cls(
            rows,
            **{name: np.concatenate(arrays, axis=1).take(back, axis=1).T for name, arrays in parts.items()},
        )

    def __len__(self) -> int:
        return len(self.rows)

    def joined(self, added: "CountedRows") -> "CountedRows":
        """With the rows of other trajectories."""
        both = {
            name: np.concatenate([getattr(self, name).T, getattr(added, name).T], axis=1).T for name in _SUMS
        }
        return CountedRows(self.rows.joined(added.rows), **both)

    def where(self, numbers: IntArray) -> "CountedRows":
        """Some of the rows, by number: all or none of a trajectory."""
        if len(numbers) == len(self):
            return self
        return CountedRows(
            self.rows.where(numbers),
            **{name: getattr(self, name).T.take(numbers, axis=1).T for name in _SUMS},
        )

    def counts(self, sums: Sums, chosen: BoolArray | None = None) -> tuple[Counts, IntArray]:
        """The counts of `steps` or `outcomes`, of all rows or those that `chosen`, (rows,), leaves, where
        anything is paired; and the row of each."""
        paired = sums.T[TABLE].any(axis=0)
        numbers = np.flatnonzero(paired if chosen is None else paired & chosen)
        rows = self.rows
        counted = Counts(rows.subset, rows.task, rows.first, rows.second, rows.trajectory, sums)
        return (counted if len(numbers) == len(rows) else counted.where(numbers)), numbers


def _aligned(counts: Counts, rows: PairedRows, row_of_pair: IntArray) -> Sums:
    """The sums of every row; 0 for those without a pair of labels. `row_of_pair`: the row of each pair, in
    order."""
    if len(counts) == len(rows):
        return _small(counts.sums)
    columns = len(STEP_COLUMNS) if counts.of_steps else len(OUTCOME_COLUMNS)
    sums = np.zeros((len(rows), columns), order="F")
    sums[np.flatnonzero(np.bincount(row_of_pair, minlength=len(rows)))] = counts.sums
    return _small(sums)


def _places(rows: PairedRows, steps: IntArray) -> Sums:
    """`CountedRows.places`, of these steps."""
    cell = rows.row_of_step[steps] * PLACES + np.minimum(rows.ordinal[steps], PLACES - 1)
    first, second = label_pair_codec.values(rows.steps[steps])
    sums = [
        np.bincount(at, minlength=len(rows) * PLACES).reshape(-1, PLACES)
        for at in (cell, cell[first != second])
    ]
    return _small(np.concatenate(sums, axis=1))


def _small(sums: Sums) -> Sums:
    """The same numbers in fewer bytes, columns together: most are small and whole."""
    small = sums.astype(np.min_scalar_type(int(sums.max(initial=0))), order="F")
    return small if (small == sums).all() else np.asfortranarray(sums)
