"""Recalibrated judges: what the labels of a release make of a judge's labels, without seeing the task.

A judge errs in ways that repeat: it says −1 too early, or calls what follows an error harmless. A
multinomial logistic regression puts the most probable label in the place of the judge's, from the judge's own
label of the step, its label of the step before, whether it has said −1 before, the subset, and the position
of the step (log). Stacked, it does so from the labels of several judges together.

Cross-fitting: the tasks are dealt into folds, and the labels of a task come from a regression that was fitted
without its fold. Nothing that the release says of a task plays a part in how it is labelled; who fits on all
and scores on the same reaches any κ. What a judge leaves without a label stays so: a regression that filled
gaps would be paid for them. FirstErrAcc often falls while κ rises, because single labels are optimised: a
trajectory in which every step is probably right may still be one in which probably one of them is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from annotation.core.figures.fitting import small_fits
from annotation.core.figures.folds import deal
from annotation.core.figures.measure import FloatArray, IntArray
from annotation.core.scoring.labels import MISSING, BoolArray, Labels, Predictions, ReleasedLabels
from annotation.core.seed import SEED
from annotation.core.vocabulary import VALUES

VERSION: Final = "1"
"""Changes with every change of what comes out."""
STRENGTH: Final = 1.0
"""The inverse strength of the L2 penalty for one judge; several share it."""
FIRST: Final = 9
"""The place of the label before that of a first step."""
SAID: Final = (*VALUES, MISSING)


def recalibrated(released: ReleasedLabels, predicted: Predictions) -> Predictions | None:
    """A judge's step labels after recalibration; outcomes stay as the judge gave them. None when it labels
    steps of fewer than two tasks."""
    steps = _steps(released, [predicted])
    return None if steps is None else Predictions(steps, predicted.outcome, predicted.there, predicted.failed)


def of_project(released: ReleasedLabels, predicted: Predictions, resolved: BoolArray) -> Labels | None:
    """A judge's step labels after recalibration on what has been resolved of a project: (S,), MISSING where
    the judge gave none.

    `resolved` (S,): the steps whose `known.value` is a resolved label; the value of others is not looked at,
    and steps of tasks without a resolved one are labelled by a regression fitted on all resolved steps. None
    when the judge labels resolved steps of fewer than two tasks.
    """
    rows = predicted.steps != MISSING
    task, taught = released.task[released.record], rows & resolved
    if len(np.unique(task[taught])) < 2:
        return None
    features = step_features(released, [predicted])
    labels = np.full(released.n_steps, MISSING, dtype=np.int8)
    tasks, place = np.unique(task[taught], return_inverse=True)
    fold_of = np.full(released.n_tasks, -1)
    fold_of[tasks[place]] = deal(task[taught], seed=SEED)
    fold = fold_of[task]
    for number in range(-1, int(fold.max()) + 1):
        asked, learned = rows & (fold == number), taught & (fold != number)
        if asked.any():
            labels[asked] = _told(features[learned], released.value[learned], features[asked], STRENGTH)
    return labels


def stacked(released: ReleasedLabels, predicted: Sequence[Predictions]) -> Predictions | None:
    """One judge made of several: its labels of every step and outcome that any of them labels. None when they
    label steps of fewer than two tasks."""
    steps = _steps(released, predicted) if predicted else None
    if steps is None:
        return None
    there = np.any([one.there for one in predicted], axis=0)
    failed = there & np.all([one.failed | ~one.there for one in predicted], axis=0)
    return Predictions(steps, _outcomes(released, predicted), there, failed)


def held_out(features: FloatArray, value: IntArray, task: IntArray, strength: float) -> Labels:
    """The most probable label of each row, (n,), by a regression fitted without the rows of its task and of
    those dealt into the same fold. `task` has two different values or more."""
    fold = deal(task, seed=SEED)
    labels = np.zeros(len(value), dtype=np.int8)
    for number in range(int(fold.max()) + 1):
        held = fold == number
        labels[held] = _told(features[~held], value[~held], features[held], strength)
    return labels


def _told(features: FloatArray, value: IntArray, asked: FloatArray, strength: float) -> Labels:
    labels: Labels = (probabilities(features, value, asked, strength).argmax(axis=1) + VALUES[0]).astype(
        np.int8
    )
    return labels


def probabilities(features: FloatArray, value: IntArray, asked: FloatArray, strength: float) -> FloatArray:
    """The probabilities of −1, 0, +1 of the rows `asked`, (n, 3), by a regression fitted on the others; 0 of
    a label that none of these has."""
    known = np.unique(value)
    chances = np.zeros((len(asked), len(VALUES)))
    if len(known) == 1:  # nothing to tell apart
        chances[:, known - VALUES[0]] = 1.0
        return chances
    # takes a second or two: only who fits pays for it
    from sklearn.linear_model import LogisticRegression

    model: Any = LogisticRegression(C=strength, max_iter=1_000)
    with small_fits():
        chances[:, known - VALUES[0]] = model.fit(features, value).predict_proba(asked)
    return chances


def _steps(released: ReleasedLabels, predicted: Sequence[Predictions]) -> Labels | None:
    rows = np.any([one.steps != MISSING for one in predicted], axis=0)
    task = released.task[released.record[rows]]
    if len(np.unique(task)) < 2:
        return None
    labels = np.full(released.n_steps, MISSING, dtype=np.int8)
    features = step_features(released, predicted)[rows]
    labels[rows] = held_out(features, released.value[rows], task, STRENGTH / len(predicted))
    return labels


def _outcomes(released: ReleasedLabels, predicted: Sequence[Predictions]) -> Labels:
    labels = np.full(released.n_records, MISSING, dtype=np.int8)
    rows = np.any([one.outcome != MISSING for one in predicted], axis=0)
    if len(np.unique(released.task[rows])) > 1:
        outcomes = [one_hot(one.outcome, SAID) for one in predicted]
        features = np.hstack([subset_columns(released), *outcomes])[rows]
        task, strength = released.task[rows], STRENGTH / len(predicted)
        labels[rows] = held_out(features, released.outcome[rows], task, strength)
    return labels


def step_features(released: ReleasedLabels, predicted: Sequence[Predictions]) -> FloatArray:
    """(S, n): subset and position, then of each judge its label, the one before, and whether a −1 came."""
    place = released.positions()
    return np.hstack(
        [subset_columns(released)[released.record], np.log1p(place)[:, None]]
        + [_of_judge(released, one.steps, place) for one in predicted]
    )


def _of_judge(released: ReleasedLabels, steps: npt.NDArray[np.int8], place: IntArray) -> FloatArray:
    before = np.where(place > 0, np.roll(steps, 1), FIRST)
    earlier = np.concatenate([[0], np.cumsum(steps == VALUES[0])])
    so_far = earlier[:-1] > earlier[released.starts()][released.record]
    return np.hstack([one_hot(steps, SAID), one_hot(before, (*SAID, FIRST)), so_far[:, None]])


def subset_columns(released: ReleasedLabels) -> FloatArray:
    """The subset of each record, (R, subsets)."""
    return one_hot(released.subset, range(len(released.subsets)))


def one_hot(values: npt.NDArray[Any], known: Sequence[int]) -> FloatArray:
    """A column for each of the known values."""
    encoded: FloatArray = (values[:, None] == np.asarray(known)).astype(np.float64)
    return encoded
