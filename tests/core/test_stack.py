"""The stack of judges: calibrated, cross-fitted by task, and with a say of each judge it is given."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import log_loss

from annotation.core.scoring import MISSING, Predictions, ReleasedLabels
from annotation.core.scoring.labels import BoolArray
from annotation.core.scoring.stack import JudgeLabels, Stack, stack

TASKS, STEPS = 60, 6


def world(seed: int, tasks: int = TASKS) -> tuple[ReleasedLabels, list[JudgeLabels]]:
    """One trajectory a task, and judges that are right on 85, 75 and 65 % of steps and outcomes."""
    rng = np.random.default_rng(seed)
    value = rng.choice([-1, 0, 1], size=tasks * STEPS, p=[0.3, 0.1, 0.6])
    task = np.repeat(np.arange(tasks), STEPS)
    known = ReleasedLabels.of_steps(np.zeros_like(task), task, task, value)
    known.outcome[:] = rng.choice([-1, 1], size=tasks)
    judges = []
    for share in (0.85, 0.75, 0.65):
        steps, outcome = (
            np.where(rng.random(len(truth)) < share, truth, rng.choice([-1, 0, 1], size=len(truth)))
            for truth in (value, known.outcome)
        )
        judges.append(JudgeLabels(Predictions.constant(steps, outcome)))
    return known, judges


def made(known: ReleasedLabels, judges: list[JudgeLabels], labelled: BoolArray | None = None) -> Stack:
    found = stack(known, judges, np.ones(known.n_records, dtype=bool) if labelled is None else labelled)
    assert found is not None
    return found


def loss(known: ReleasedLabels, of: Stack) -> float:
    return float(log_loss(known.value, of.steps, labels=[-1, 0, 1]))


def test_probabilities_are_calibrated_and_better_than_those_without_the_best_judge() -> None:
    known, judges = world(1, tasks=400)
    found = made(known, judges)
    assert np.allclose(found.steps.sum(axis=1), 1) and np.allclose(found.outcome.sum(axis=1), 1)
    right, sure = known.value == 1, found.steps[:, 2]
    for low, high in ((0.0, 0.2), (0.2, 0.6), (0.6, 0.9), (0.9, 1.0)):
        within = (sure >= low) & (sure < high)
        assert sure[within].mean() == pytest.approx(right[within].mean(), abs=0.06), (low, high)
    assert loss(known, found) < loss(known, made(known, judges[1:]))
    assert (found.outcome.argmax(axis=1) - 1 == known.outcome).mean() > 0.85


def test_a_task_tells_nothing_of_its_own_labels_and_an_unlabelled_one_is_not_looked_at() -> None:
    known, judges = world(2)
    labelled = np.arange(TASKS) < 40
    before = made(known, judges, labelled)
    mine = known.record == 7
    known.value[mine], known.outcome[7] = -1, -known.outcome[7]
    after = made(known, judges, labelled)
    assert (after.steps[mine] == before.steps[mine]).all() and (after.outcome[7] == before.outcome[7]).all()
    assert (after.steps[~mine] != before.steps[~mine]).any(), "others learn from them"
    hidden = ~labelled[known.record]
    known.value[hidden], known.outcome[~labelled] = 0, 0
    again = made(known, judges, labelled)
    assert (again.steps == after.steps).all() and (again.outcome == after.outcome).all()


def test_judges_that_say_anything_are_not_heard() -> None:
    heard = 0
    for seed in range(8):
        known, _ = world(seed)
        rng = np.random.default_rng([seed, 1])
        noise = [
            JudgeLabels(Predictions.constant(rng.integers(-1, 2, known.n_steps), rng.integers(-1, 2, TASKS)))
            for _ in range(2)
        ]
        heard += made(known, noise).tells
    assert heard <= 1 and made(*world(1)).tells


def test_a_judges_own_probability_counts() -> None:
    known, judges = world(5, tasks=200)
    sure = np.where(judges[0].predicted.steps == known.value, 0.95, 0.4)
    sure[::7] = np.nan  # where it gives none
    assert loss(known, made(known, [JudgeLabels(judges[0].predicted, sure), *judges[1:]])) < 0.8 * loss(
        known, made(known, judges)
    )


def test_wrong_labels_are_expected_where_judges_contradict_them() -> None:
    known, judges = world(6, tasks=200)
    known.value[known.record == 11] = -known.value[known.record == 11]
    expected = made(known, judges).expected_wrong(known)
    assert expected.argmax() == 11 and expected.shape == (200,)
    assert 0 < np.delete(expected, 11).mean() < 0.4 * STEPS


def test_probability_of_a_missing_label_is_nothing() -> None:
    known, judges = world(7)
    found, labels = made(known, judges), np.full(known.n_steps, 1)
    labels[3] = MISSING
    right = found.right_steps(labels)
    assert right[3] == 0 and right[2] == found.steps[2, 2]


def test_there_is_no_stack_of_one_judge_or_of_one_task() -> None:
    known, judges = world(8)
    assert stack(known, judges[:1], np.ones(TASKS, dtype=bool)) is None
    assert stack(known, judges, np.arange(TASKS) < 1) is None
