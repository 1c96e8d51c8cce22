"""Sums by task of what a model got right: whole numbers that add up, of which every figure is made."""

from typing import Final

import numpy as np

from annotation.core.figures.first_errors import CLASSES, NONE, classify, earliest, first_positions
from annotation.core.figures.measure import FloatArray, IntArray
from annotation.core.scoring.labels import MISSING, BoolArray, Labels, Predictions, ReleasedLabels

SAID: Final = 4
"""The number of a model's possible answers on a step: −1, 0, +1, nothing."""

TABLE: Final = slice(0, 12)
"""Steps by consensus (rows: −1, 0, +1) and prediction (columns: −1, 0, +1, none)."""
OUTCOMES: Final = slice(12, 24)
"""Outcomes likewise."""
ERRONEOUS: Final = 24
"""Trajectories with a −1 in the consensus, and next to it those without."""
ERROR_FREE: Final = 25
RIGHT: Final = slice(26, 28)
"""Of both, those whose first error is right."""
STRICT: Final = slice(28, 30)
"""The same without those of which nothing is predicted."""
EXACT: Final = 30
"""Trajectories whose steps are all right."""
FIRST_ERRORS: Final = slice(31, 31 + CLASSES)
"""Completely predicted trajectories by class of first errors (figures.first_errors.FirstErrors)."""
STEPS_BEFORE: Final = 31 + CLASSES
"""Their steps before the first error of both."""
COLUMNS: Final = 32 + CLASSES


def codes(labels: Labels) -> IntArray:
    """−1, 0, +1 and MISSING as 0, 1, 2, 3."""
    return labels.astype(np.int64) + 1


def by_trajectory(
    released: ReleasedLabels, predicted: Predictions
) -> tuple[IntArray, IntArray, BoolArray, BoolArray]:
    """The facts of every record, (R,): the place of its first −1 in the consensus and in the prediction (NONE
    without one), whether anything is predicted, and whether all steps are."""
    n, position = released.n_records, released.positions()
    first = first_positions(released.value, released.record, position, n)
    theirs = first_positions(predicted.steps, released.record, position, n)
    given = np.bincount(released.record[predicted.steps != MISSING], minlength=n)
    return first, theirs, given > 0, given == released.lengths()


def task_sums(released: ReleasedLabels, predicted: Predictions) -> FloatArray:
    """The counts of every task, (T, COLUMNS)."""
    n = released.n_tasks
    sums = np.zeros((n, COLUMNS))
    task = released.task[released.record]
    sums[:, TABLE] = _table(task, released.value, predicted.steps, n)
    sums[:, OUTCOMES] = _table(released.task, released.outcome, predicted.outcome, n)
    first, theirs, answered, complete = by_trajectory(released, predicted)
    same, erroneous = first == theirs, first != NONE
    wrong = np.bincount(released.record[released.value != predicted.steps], minlength=released.n_records)
    for column, chosen in (
        (ERRONEOUS, erroneous),
        (ERROR_FREE, ~erroneous),
        (RIGHT.start, same & erroneous),
        (RIGHT.start + 1, same & ~erroneous),
        (STRICT.start, same & erroneous & answered),
        (STRICT.start + 1, same & ~erroneous & answered),
        (EXACT, wrong == 0),
    ):
        sums[:, column] = np.bincount(released.task[chosen], minlength=n)
    classes = classify(first, theirs)[complete]
    cells = released.task[complete] * CLASSES + classes
    sums[:, FIRST_ERRORS] = np.bincount(cells, minlength=n * CLASSES).reshape(n, CLASSES)
    length = released.lengths()
    before = earliest(first, theirs, length)
    sums[:, STEPS_BEFORE] = np.bincount(released.task[complete], weights=before[complete], minlength=n)
    return sums


def _table(task: IntArray, value: IntArray, labels: Labels, n: int) -> IntArray:
    cell = (task * 3 + value + 1) * SAID + codes(labels)
    return np.bincount(cell, minlength=n * 3 * SAID).reshape(n, 3 * SAID)


def tables(sums: FloatArray, part: slice = TABLE) -> FloatArray:
    """Sums (…, COLUMNS) → consensus by prediction, none among it: (…, 3, 4)."""
    return sums[..., part].reshape(*sums.shape[:-1], 3, SAID)
