"""The stack of judges: how probable each label is, by the labels of several judges together.

A multinomial logistic regression is fitted on the trajectories that people have labelled, and says of every
step with which probability people call it −1, 0, +1; another does so of outcomes. It reads what each judge
says of the step and of the one before, whether it has said −1 before, what it says of the outcome, its own
probability where it gives one, and where the step stands.

Cross-fitting: labelled tasks are dealt into folds, and those of a fold are told by a regression that was
fitted without it. Tasks that nobody has labelled are told by the mean over these same regressions, so that on
both the stack errs alike (T. Zrnic and E. J. Candès, "Cross-prediction-powered inference", 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from annotation.core.figures.folds import deal
from annotation.core.figures.measure import FloatArray, IntArray
from annotation.core.scoring.labels import MISSING, BoolArray, Labels, Predictions, ReleasedLabels
from annotation.core.scoring.recalibration import (
    SAID,
    STRENGTH,
    one_hot,
    probabilities,
    step_features,
    subset_columns,
)
from annotation.core.seed import SEED
from annotation.core.vocabulary import VALUES

VERSION: Final = "1"
"""Changes with every change of what comes out."""
FEWEST_JUDGES: Final = 2
FEWEST_TASKS: Final = 2
TINY: Final = 1e-6
"""The least probability by which a label is judged that came all the same."""
LEAST_DOUBT: Final = 0.02
"""A judge is believed to be wrong in one of fifty cases at least, whatever it says of itself."""


@dataclass(frozen=True, slots=True)
class JudgeLabels:
    """The labels of one judge, and its own `probability` of each step's label, (S,), NaN where it gives none;
    None for a judge that never does."""

    predicted: Predictions
    probability: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """The probabilities of −1, 0, +1 of each step, (S, 3), and of each outcome, (R, 3). Rows sum to 1.
    `tells`: judges tell more of labelled steps than where these stand does."""

    steps: FloatArray
    outcome: FloatArray
    tells: bool = True

    def only(self, released: ReleasedLabels, records: BoolArray) -> Stack:
        """Those of some records (R,)."""
        return replace(self, steps=self.steps[records[released.record]], outcome=self.outcome[records])

    def right_steps(self, labels: Labels | IntArray) -> FloatArray:
        """The probability that each label of a step is right, (S,); 0 where there is none."""
        return _of_label(self.steps, labels)

    def right_outcomes(self, labels: Labels | IntArray) -> FloatArray:
        """The same of outcomes, (R,)."""
        return _of_label(self.outcome, labels)

    def expected_wrong(self, released: ReleasedLabels) -> FloatArray:
        """The expected number of steps whose label in `released` is wrong, by record: (R,)."""
        doubt = 1 - self.right_steps(released.value)
        expected = np.bincount(released.record, weights=doubt, minlength=released.n_records)
        return expected.astype(np.float64)


def stack(released: ReleasedLabels, judges: Sequence[JudgeLabels], labelled: BoolArray) -> Stack | None:
    """The stack of these judges. `labelled` (R,): the records whose labels in `released` are people's; those
    of others are not looked at. None for fewer than two judges, or fewer than two labelled tasks.

    A judge is left out by not giving it: a model that is one is measured by a stack without it."""
    tasks = np.unique(released.task[labelled])
    if len(judges) < FEWEST_JUDGES or len(tasks) < FEWEST_TASKS:
        return None
    fold_of = np.full(released.n_tasks, -1)
    fold_of[released.task[labelled]] = deal(released.task[labelled], seed=SEED)
    strength = STRENGTH / len(judges)
    by_record = fold_of[released.task]
    own, fold = labelled[released.record], by_record[released.record]
    steps = _told(_step_columns(released, judges), released.value, own, fold, strength)
    alone = _told(_step_columns(released, []), released.value, own, fold, STRENGTH)
    tells = _more(steps[own], alone[own], released.value[own], released.task[released.record[own]])
    outcome = _told(_outcome_columns(released, judges), released.outcome, labelled, by_record, strength)
    return Stack(steps, outcome, tells)


def _told(
    features: FloatArray, value: IntArray, labelled: BoolArray, fold: IntArray, strength: float
) -> FloatArray:
    chances = np.zeros((len(value), len(VALUES)))
    unseen, folds = fold < 0, int(fold.max()) + 1
    for number in range(folds):
        taught, asked = labelled & (fold != number), unseen | (fold == number)
        shares = probabilities(features[taught], value[taught], features[asked], strength)
        chances[asked] += np.where(unseen[asked, None], shares / folds, shares)
    return chances


def _more(with_judges: FloatArray, alone: FloatArray, value: IntArray, task: IntArray) -> bool:
    """Whether the first probabilities (n, 3) are better by log-loss, by more than a standard error over
    tasks."""
    right = np.arange(len(value)), value - VALUES[0]
    gain = np.log(np.maximum(with_judges[right], TINY)) - np.log(np.maximum(alone[right], TINY))
    tasks, place = np.unique(task, return_inverse=True)
    by_task = np.bincount(place, gain)
    return bool(by_task.mean() > by_task.std(ddof=1) / np.sqrt(len(tasks)))


def _step_columns(released: ReleasedLabels, judges: Sequence[JudgeLabels]) -> FloatArray:
    """(S, n): those of recalibration, and what a whole trajectory tells of its steps."""
    left = released.lengths()[released.record] - 1 - released.positions()
    return np.hstack(
        [
            step_features(released, [one.predicted for one in judges]),
            (left == 0)[:, None],
            np.log1p(left)[:, None],
        ]
        + [one_hot(one.predicted.outcome, SAID)[released.record] for one in judges]
        + [_confidence(one) for one in judges if one.probability is not None]
    )


def _outcome_columns(released: ReleasedLabels, judges: Sequence[JudgeLabels]) -> FloatArray:
    """(R, n): of each judge its outcome, whether it says −1 of any step, and its label of the last."""
    lengths = released.lengths()
    ends = np.where(lengths > 0, released.starts()[1:] - 1, -1)
    columns = [subset_columns(released), np.log1p(lengths)[:, None]]
    for one in judges:
        minus = np.bincount(
            released.record, weights=one.predicted.steps == VALUES[0], minlength=released.n_records
        )
        columns += [
            one_hot(one.predicted.outcome, SAID),
            (minus > 0)[:, None],
            one_hot(np.append(one.predicted.steps, MISSING)[ends], SAID),
        ]
    return np.hstack(columns)


def _confidence(judge: JudgeLabels) -> FloatArray:
    """The log-odds of a judge's own probability, in the column of its label: (S, 3)."""
    assert judge.probability is not None
    sure = np.clip(np.nan_to_num(judge.probability, nan=0.5), LEAST_DOUBT, 1 - LEAST_DOUBT)
    return one_hot(judge.predicted.steps, VALUES) * np.log(sure / (1 - sure))[:, None]


def _of_label(shares: FloatArray, labels: Labels | IntArray) -> FloatArray:
    given = labels != MISSING
    place = np.where(given, labels, VALUES[0]).astype(np.int64) - VALUES[0]
    chances: FloatArray = np.where(given, shares[np.arange(len(place)), place], 0.0)
    return chances
