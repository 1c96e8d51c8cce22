"""Figures beside those of all blind labels: of what annotators say after discussion, and of untouched labels.

Both are made of few rows anew and of the others as they are counted already: most trajectories are neither
discussed nor touched.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from annotation.core.agreement import label_pair_codec
from annotation.core.agreement.after_discussion import RevisedLabels, changed, revised
from annotation.core.agreement.counts import Counts, joined
from annotation.core.agreement.pair_counts import CountedRows
from annotation.core.agreement.pair_table import PairedRows
from annotation.core.agreement.pairs import BoolArray
from annotation.core.agreement.summary import Summary
from annotation.core.figures.measure import IntArray

from .cuts import LabelSelection, LabelView, select, select_outcomes, select_rows


@dataclass(frozen=True, slots=True)
class SelectedCounts:
    """The labels that a selection leaves, counted: which rows (None: all), which of their steps and outcomes
    (None: all that are paired), whether each pair of annotators counts as if it were alone, the counts of
    steps and of outcomes, and the row that each of these is of."""

    counted: CountedRows
    chosen: BoolArray | None
    keep: BoolArray | None
    outcome_keep: BoolArray | None
    alone: bool
    steps: Counts
    step_rows: IntArray
    outcomes: Counts
    outcome_rows: IntArray

    @classmethod
    def of(cls, view: LabelView, selection: LabelSelection) -> SelectedCounts:
        """Take the counts that a selection leaves; only where it takes some steps of a trajectory and leaves
        others, count anew."""
        counted, chosen = view.counted, select_rows(view, selection)
        keep = outcome_keep = None
        if selection.of_steps:
            rows, keep = select(view, selection)
            _, outcome_keep = select_outcomes(rows, selection)
            counted, chosen = CountedRows.of(rows, keep, outcome_keep, alone=selection.alone), None
        steps, step_rows = counted.counts(counted.steps, chosen)
        outcomes, outcome_rows = counted.counts(counted.outcomes, chosen)
        if selection.alone:
            steps, outcomes = steps.as_only_pairs(), outcomes.as_only_pairs()
        return cls(
            counted,
            chosen,
            keep,
            outcome_keep,
            selection.alone,
            steps,
            step_rows,
            outcomes,
            outcome_rows,
        )

    @property
    def rows(self) -> PairedRows:
        """The labels themselves."""
        return self.counted.rows if self.chosen is None else self.counted.rows.where(self.chosen)

    def part(self, which: BoolArray) -> tuple[BoolArray, PairedRows, BoolArray | None, BoolArray | None]:
        """Some of the rows: which there are, (rows,), their labels, and which of their steps and outcomes."""
        which = which if self.chosen is None else which & self.chosen
        rows = self.counted.rows
        keep = None if self.keep is None else self.keep[np.repeat(which, rows.length)]
        outcome_keep = None if self.outcome_keep is None else self.outcome_keep[which]
        return which, rows.where(which), keep, outcome_keep


@dataclass(frozen=True, slots=True)
class OtherCounts:
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
class OtherFigures:
    """Figures of other labels than all blind ones. `changed` and `outcomes_changed`: how many pairs of labels
    are not what they were."""

    steps: Summary
    outcomes: Summary
    changed: int = 0
    outcomes_changed: int = 0

    def without_people(self) -> OtherFigures:
        """The same figures with nothing of any one person."""
        return replace(self, steps=self.steps.without_people(), outcomes=self.outcomes.without_people())


def after_discussion(labels: SelectedCounts, changes: RevisedLabels) -> OtherCounts | None:
    """The same labels as their authors hold them after discussion; None where nobody changed any of them."""
    if not len(changes):
        return None
    discussed = np.isin(labels.counted.rows.trajectory, changes.trajectory)
    here, before, keep, outcome_keep = labels.part(discussed)
    if not len(before):
        return None
    after = revised(before, changes)
    anew = CountedRows.of(after, keep, outcome_keep, alone=labels.alone)
    outcomes, outcomes_after = before.of_outcomes(), after.of_outcomes()
    other_counts = OtherCounts(
        joined(labels.steps.where(~here[labels.step_rows]), anew.counts(anew.steps)[0]),
        joined(labels.outcomes.where(~here[labels.outcome_rows]), anew.counts(anew.outcomes)[0]),
        _subsets(before, changed(before.steps, after.steps) & before.paired(keep)),
        _subsets(outcomes, changed(outcomes.steps, outcomes_after.steps) & outcomes.paired(outcome_keep)),
    )
    return other_counts if len(other_counts.changed) or len(other_counts.outcomes_changed) else None


def untouched(labels: SelectedCounts) -> OtherCounts | None:
    """Pairs of labels of which both are untouched, each pair alone, as the cut by exposure counts them; None
    where these are all."""
    touched, outcome_touched = labels.counted.touched.T > 0
    here, rows, keep, _ = labels.part(touched)
    outcomes = labels.outcomes.where(~outcome_touched[labels.outcome_rows])
    if not len(rows) and len(outcomes) == len(labels.outcomes):
        return None
    blank = (rows.steps & label_pair_codec.TOUCHED) == 0
    anew = CountedRows.of(rows, blank if keep is None else blank & keep, alone=True)
    none = np.zeros(0, dtype=np.int64)
    return OtherCounts(
        joined(labels.steps.where(~here[labels.step_rows]).as_only_pairs(), anew.counts(anew.steps)[0]),
        outcomes.as_only_pairs(),
        none,
        none,
    )


def _subsets(rows: PairedRows, steps: BoolArray) -> IntArray:
    return rows.subset[rows.row_of_step[steps]]
