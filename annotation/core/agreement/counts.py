"""Counts per (trajectory, pair of annotators), from which every figure of agreement comes without its labels.

One row is one trajectory that annotators `first` and `second` both labelled; `first` has the smaller id. All
columns add up over rows, so that rows may be stored, selected and summed by trajectory or by task before
`summary.summarise` sees them. The columns of steps, in the order of `STEP_COLUMNS` (a, b stand for the labels
of `first` and `second`, always in the order −1, 0, +1; "minus", "zero", "plus"):

- `table_a_b` (9): steps that `first` labelled a and `second` b.
- `coincidence_…` (6): for Krippendorff's α: the same steps, each weighing 1/(m − 1) where m annotators in all
  labelled the step, by the two labels in no order. Summed over the pairs of a trajectory they are its part of
  the coincidences (`alpha`): half of o_cc, and o_ck. Fractions, when there are three annotators or more.
- `units` (1): each step weighing 2/(m(m − 1)), so that the pairs of a step add up to one step. A fraction.
- `transition_s_a_b` (36): the units of transition κ by stratum s: the previous step's label on which both
  agreed, or "start" (`transition`).
- `first_error_…` (8): the trajectory's class, one of them 1 (`first_errors.FirstErrors`); all 0 unless both
  annotators labelled every step of the trajectory, as the next.
- `steps_before_error` (1): how many steps lie before the first error of both; all, without an error.

Outcomes have the first 16 of these, each trajectory being one step.

`coincidence_…` and `units` speak of all annotators of a trajectory. Where a cut takes some of
its pairs and leaves others, `Counts.as_only_pairs` makes them speak of each pair alone.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from annotation.core.agreement.pairs import BoolArray, LabelTable, Pairs, pair_up
from annotation.core.agreement.transition import NO_UNIT, STRATA, strata
from annotation.core.figures.confusion import SIZE, confusion_by
from annotation.core.figures.first_errors import CLASSES, classify, earliest, first_positions
from annotation.core.figures.measure import FloatArray, IntArray
from annotation.core.vocabulary import VALUE_NAMES, VALUES

_NAMES: Final = tuple(VALUE_NAMES[value] for value in VALUES)
_CELLS: Final = tuple(f"{a}_{b}" for a in _NAMES for b in _NAMES)
_UPPER: Final = tuple((a, b) for a in range(SIZE) for b in range(a, SIZE))

OUTCOME_COLUMNS: Final = (
    *(f"table_{cell}" for cell in _CELLS),
    *(f"coincidence_{_NAMES[a]}_{_NAMES[b]}" for a, b in _UPPER),
    "units",
)
STEP_COLUMNS: Final = (
    *OUTCOME_COLUMNS,
    *(f"transition_{stratum}_{cell}" for stratum in (*_NAMES, "start") for cell in _CELLS),
    *(
        f"first_error_{name}"
        for name in (
            *("far_earlier", "one_earlier", "same", "one_later", "far_later"),
            *("only_first", "only_second", "neither"),
        )
    ),
    "steps_before_error",
)

TABLE: Final = slice(0, SIZE * SIZE)
COINCIDENCES: Final = slice(TABLE.stop, TABLE.stop + len(_UPPER))
UNITS: Final = COINCIDENCES.stop
TRANSITIONS: Final = slice(UNITS + 1, UNITS + 1 + STRATA * SIZE * SIZE)
FIRST_ERRORS: Final = slice(TRANSITIONS.stop, TRANSITIONS.stop + CLASSES)
STEPS_BEFORE: Final = FIRST_ERRORS.stop
assert len(OUTCOME_COLUMNS) == UNITS + 1 and len(STEP_COLUMNS) == STEPS_BEFORE + 1


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows of counts; parallel arrays. `sums` is (rows, 61) for steps, (rows, 16) for outcomes, numbers of
    any type; its columns stand together in memory, which makes sums over rows many times faster.

    Ids are any integers. A row may also be the sum of a pair's rows in a task, or of several tasks taken for
    one; figures need no trajectory, only tasks for their intervals.
    """

    subset: IntArray
    task: IntArray
    first: IntArray
    second: IntArray
    trajectory: IntArray
    sums: FloatArray

    def __len__(self) -> int:
        return len(self.task)

    def where(self, keep: BoolArray | IntArray) -> "Counts":
        """Some of the rows, by a mask or by number."""
        numbers = np.flatnonzero(keep) if keep.dtype == np.bool_ else keep
        if len(numbers) == len(self) and keep.dtype == np.bool_:
            return self
        return Counts(
            self.subset[numbers],
            self.task[numbers],
            self.first[numbers],
            self.second[numbers],
            self.trajectory[numbers],
            self.sums.T.take(numbers, axis=1).T,
        )

    @property
    def of_steps(self) -> bool:
        """Whether these are counts of steps; else of outcomes."""
        return int(self.sums.shape[1]) == len(STEP_COLUMNS)

    def as_only_pairs(self) -> "Counts":
        """The same pairs, each as if nobody else had labelled its steps."""
        if (self.sums[:, UNITS] == self.sums[:, TABLE].sum(axis=1)).all():  # nobody else did
            return self
        return replace(self, sums=as_only_pairs(self.sums))


def as_only_pairs(sums: FloatArray) -> FloatArray:
    """Sums of pairs, (pairs, columns), as if nobody else had labelled their steps."""
    result = sums.astype(np.float64, order="F")
    table = result[:, TABLE].copy(order="F").reshape(-1, SIZE, SIZE)
    for column, (a, b) in enumerate(_UPPER, COINCIDENCES.start):
        result[:, column] = table[:, a, b] + (table[:, b, a] if a != b else 0)
    result[:, UNITS] = table.sum(axis=(1, 2))
    return result


def count_outcomes(labels: LabelTable) -> Counts:
    """Count outcomes: one row in `labels` per outcome."""
    return count_outcome_pairs(pair_up(labels))


def count_outcome_pairs(pairs: Pairs) -> Counts:
    """Count outcomes that are paired already."""
    rows, starts = rows_of(pairs)
    return _counts(pairs, starts, _common(pairs, rows, len(starts)))


def count_steps(labels: LabelTable) -> Counts:
    """Count the steps that two annotators labelled. ValueError when one annotator labels a step twice."""
    return count_step_pairs(pair_up(labels))


def count_step_pairs(pairs: Pairs) -> Counts:
    """Count steps that are paired already."""
    rows, starts = rows_of(pairs)
    n = len(starts)
    sums = np.zeros((n, len(STEP_COLUMNS)), order="F")
    sums[:, : UNITS + 1] = _common(pairs, rows, n)
    stratum = strata(pairs.a, pairs.b, rows, pairs.position)
    unit = stratum != NO_UNIT
    cell = rows[unit] * STRATA + stratum[unit]
    moved = confusion_by(pairs.a[unit], pairs.b[unit], cell, n * STRATA)
    sums[:, TRANSITIONS] = moved.reshape(n, STRATA * SIZE * SIZE)
    first, second, whole = first_errors(pairs, rows, starts)
    sums[whole, FIRST_ERRORS.start + classify(first, second)[whole]] = 1
    sums[whole, STEPS_BEFORE] = earliest(first, second, pairs.steps[starts])[whole]
    return _counts(pairs, starts, sums)


def rows_of(pairs: Pairs) -> tuple[IntArray, IntArray]:
    """The running number of each step's row (pair and trajectory), and the first step of each row."""
    if not len(pairs):
        return pairs.pair, pairs.pair
    new = np.ones(len(pairs), dtype=bool)
    new[1:] = (pairs.pair[1:] != pairs.pair[:-1]) | (pairs.trajectory[1:] != pairs.trajectory[:-1])
    return np.cumsum(new) - 1, np.flatnonzero(new)


def first_errors(pairs: Pairs, rows: IntArray, starts: IntArray) -> tuple[IntArray, IntArray, BoolArray]:
    """The facts of each row: where the first error of either annotator lies, and whether both labelled every
    step."""
    n = len(starts)
    first, second = (first_positions(values, rows, pairs.position, n) for values in (pairs.a, pairs.b))
    return first, second, np.bincount(rows, minlength=n) == pairs.steps[starts]


def _common(pairs: Pairs, rows: IntArray, n: int) -> FloatArray:
    """The 16 columns that steps and outcomes have."""
    sums = np.zeros((n, len(OUTCOME_COLUMNS)), order="F")
    sums[:, TABLE] = confusion_by(pairs.a, pairs.b, rows, n).reshape(n, SIZE * SIZE)
    weight = 1 / (pairs.labels - 1)
    cell = rows * SIZE * SIZE + (pairs.a + 1) * SIZE + pairs.b + 1
    weighted = np.bincount(cell, weights=weight, minlength=n * SIZE * SIZE).reshape(n, SIZE, SIZE)
    for column, (a, b) in enumerate(_UPPER, COINCIDENCES.start):
        sums[:, column] = weighted[:, a, b] + (weighted[:, b, a] if a != b else 0)
    sums[:, UNITS] = np.bincount(rows, weights=2 * weight / pairs.labels, minlength=n)
    return sums


def _counts(pairs: Pairs, starts: IntArray, sums: FloatArray) -> Counts:
    people = pairs.pair_ids[pairs.pair[starts]]
    task = pairs.task[starts]
    return Counts(
        subset=pairs.task_subset[task],
        task=pairs.task_ids[task],
        first=people[:, 0],
        second=people[:, 1],
        trajectory=pairs.trajectory_ids[pairs.trajectory[starts]],
        sums=sums,
    )


def joined(first: Counts, second: Counts) -> Counts:
    """The rows of both."""
    if not len(first) or not len(second):
        return first if len(first) else second
    ids = ("subset", "task", "first", "second", "trajectory")
    both = {name: np.concatenate([getattr(first, name), getattr(second, name)]) for name in ids}
    return Counts(**both, sums=np.concatenate([first.sums.T, second.sums.T], axis=1).T)
