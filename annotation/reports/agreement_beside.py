"""Figures beside those of all blind labels: of what annotators say after discussion, and of untouched labels.

Both are made of few rows anew and of the others as they are counted already: most trajectories are neither
discussed nor touched.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from annotation.core.agreement import packed
from annotation.core.agreement.counts import Counts, count_outcome_pairs, count_step_pairs, joined
from annotation.core.agreement.measure import IntArray
from annotation.core.agreement.paired_rows import PairedRows
from annotation.core.agreement.pairs import BoolArray
from annotation.core.agreement.revised import Changes, changed, revised
from annotation.core.agreement.summary import Summary

from .agreement_cuts import Selection, View, select, select_outcomes


@dataclass(frozen=True, slots=True)
class Counted:
    """The labels that a selection leaves, counted: rows, which of their steps (None: all that are paired),
    and whether each pair of annotators counts as if it were alone; the same of outcomes."""

    rows: PairedRows
    keep: BoolArray | None
    outcome_rows: PairedRows
    outcome_keep: BoolArray | None
    alone: bool
    steps: Counts
    outcomes: Counts

    @classmethod
    def of(cls, view: View, selection: Selection) -> Counted:
        """Count what a selection leaves."""
        rows, keep = select(view, selection)
        outcome_rows, outcome_keep = select_outcomes(rows, selection)
        alone = selection.alone
        steps = count_step_pairs(rows.pairs(keep, alone=alone))
        outcomes = count_outcome_pairs(outcome_rows.pairs(outcome_keep, alone=alone))
        return cls(rows, keep, outcome_rows, outcome_keep, alone, steps, outcomes)


@dataclass(frozen=True, slots=True)
class Other:
    """Counts of other labels than all blind ones. `changed` and `outcomes_changed` have the subset of each
    pair of labels that is not what it was."""

    steps: Counts
    outcomes: Counts
    changed: IntArray
    outcomes_changed: IntArray

    def of_subset(self, pk: int | None) -> tuple[Counts, Counts, IntArray, IntArray]:
        """The fields, of one subset or (None) of all."""
        if pk is None:
            return self.steps, self.outcomes, self.changed, self.outcomes_changed
        return (
            self.steps.where(self.steps.subset == pk),
            self.outcomes.where(self.outcomes.subset == pk),
            self.changed[self.changed == pk],
            self.outcomes_changed[self.outcomes_changed == pk],
        )


@dataclass(frozen=True, slots=True)
class Beside:
    """Figures of other labels than all blind ones. `changed` and `outcomes_changed`: how many pairs of labels
    are not what they were."""

    steps: Summary
    outcomes: Summary
    changed: int = 0
    outcomes_changed: int = 0

    def without_people(self) -> Beside:
        """The same figures with nothing of any one person."""
        return replace(self, steps=self.steps.without_people(), outcomes=self.outcomes.without_people())


def after_discussion(labels: Counted, changes: Changes) -> Other | None:
    """The same labels as their authors hold them after discussion; None where nobody changed any of them."""
    discussed = np.isin(labels.rows.trajectory, changes.trajectory)
    if not discussed.any():
        return None
    before, keep = _part(labels.rows, labels.keep, discussed)
    after = revised(before, changes)
    outcomes, outcome_keep = _part(labels.outcome_rows, labels.outcome_keep, discussed)
    outcomes_after = after.of_outcomes()
    found = Other(
        joined(
            labels.steps.where(~np.isin(labels.steps.trajectory, changes.trajectory)),
            count_step_pairs(after.pairs(keep, alone=labels.alone)),
        ),
        joined(
            labels.outcomes.where(~np.isin(labels.outcomes.trajectory, changes.trajectory)),
            count_outcome_pairs(outcomes_after.pairs(outcome_keep, alone=labels.alone)),
        ),
        _subsets(before, changed(before.steps, after.steps) & _paired(before, keep)),
        _subsets(outcomes, changed(outcomes.steps, outcomes_after.steps) & _paired(outcomes, outcome_keep)),
    )
    return found if len(found.changed) or len(found.outcomes_changed) else None


def untouched(labels: Counted) -> Other | None:
    """Those pairs of labels of which both are untouched, each pair alone, as the cut by exposure counts them;
    None where these are all."""
    steps, touched = _untouched(labels.rows, labels.keep, labels.steps)
    outcomes, touched_too = _untouched(labels.outcome_rows, labels.outcome_keep, labels.outcomes)
    if not (touched or touched_too):
        return None
    none = np.zeros(0, dtype=np.int64)
    return Other(steps, outcomes, none, none)


def _untouched(rows: PairedRows, keep: BoolArray | None, counted: Counts) -> tuple[Counts, bool]:
    """The counts of untouched pairs, and whether there are others."""
    here = _paired(rows, keep)
    touched = here & ((rows.steps & packed.TOUCHED) != 0)
    with_touched = np.zeros(len(rows), dtype=bool)
    with_touched[rows.row_of_step[touched]] = True
    anew, kept = _part(rows, here & ~touched, with_touched)
    count = count_step_pairs if counted.of_steps else count_outcome_pairs
    row_of_counts = np.unique(rows.row_of_step[here])
    whole = counted.where(~with_touched[row_of_counts]).as_only_pairs()
    return joined(whole, count(anew.pairs(kept, alone=True))), bool(touched.any())


def _part(rows: PairedRows, keep: BoolArray | None, which: BoolArray) -> tuple[PairedRows, BoolArray | None]:
    """Some of the rows, and which of their steps."""
    return rows.where(which), (None if keep is None else keep[np.repeat(which, rows.length)])


def _paired(rows: PairedRows, keep: BoolArray | None) -> BoolArray:
    both = packed.paired(rows.steps)
    return both if keep is None else both & keep


def _subsets(rows: PairedRows, steps: BoolArray) -> IntArray:
    return rows.subset[rows.row_of_step[steps]]
