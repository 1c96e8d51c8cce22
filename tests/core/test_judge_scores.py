"""A judge against people: counted by hand, and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.core.agreement.judge_scores import MISSING, judged

# subset, task, trajectory, position, people, judge
BY_HAND = [
    (1, 1, 10, 0, 1, 1),
    (1, 1, 10, 1, -1, -1),
    (1, 1, 11, 0, 1, MISSING),
    (1, 1, 11, 1, 1, MISSING),
    (1, 2, 12, 0, -1, 1),
    (1, 2, 12, 1, -1, -1),
    (1, 2, 12, 2, 0, MISSING),
]


def test_judge_score_of_a_missing_label_is_wrong_for_accuracy_and_left_out_of_agreement() -> None:
    found = judged(BY_HAND)

    assert (found.steps, found.answered, found.missing) == (7, 4, 3)
    assert (found.trajectories, found.tasks) == (3, 2)
    assert found.step_accuracy.value == pytest.approx(3 / 7)
    assert (found.agreement.value, found.agreement.n) == (pytest.approx(3 / 4), 4)
    assert found.confusion.tolist() == [[2, 0, 1], [0, 0, 0], [0, 0, 1]]


def test_judge_score_of_a_failed_judgement_is_error_free_as_published_and_nothing_strictly() -> None:
    found = judged(BY_HAND)

    assert found.first_error.value == pytest.approx(2 / 3), "10 alike, 11 none and none, 12 differs"
    assert found.first_error_strict.value == pytest.approx(1 / 3)


def test_kappa_is_scikit_learns() -> None:
    rng = np.random.default_rng(7)
    people = rng.integers(-1, 2, 300)
    judge = np.where(rng.random(300) < 0.6, people, rng.integers(-1, 2, 300))
    ids = np.arange(300)
    rows = np.column_stack([np.zeros(300, int), ids // 6, ids // 3, ids % 3, people, judge])

    found = judged(rows, intervals=True)

    assert found.kappa.value == pytest.approx(cohen_kappa_score(people, judge))
    assert found.kappa_quadratic.value == pytest.approx(cohen_kappa_score(people, judge, weights="quadratic"))
    for figure in (found.kappa, found.step_accuracy, found.first_error):
        assert figure.interval is not None and figure.value is not None
        low, high = figure.interval.low, figure.interval.high
        assert low is not None and high is not None and low < figure.value < high


@pytest.mark.parametrize("rows", [[], [(1, 1, 1, 0, 1, MISSING)]])
def test_judge_score_that_is_undefined_says_why(rows: list[tuple[int, ...]]) -> None:
    found = judged(rows, intervals=True)

    assert found.kappa.value is None and found.kappa.reason
    assert found.agreement.value is None and found.agreement.reason
    assert found.answered == 0


def test_judge_score_of_one_label_only_has_no_kappa_with_a_reason() -> None:
    found = judged([(1, 1, 1, 0, 1, 1), (1, 1, 1, 1, 1, 1)])

    assert found.kappa.value is None
    assert found.kappa.reason == "people and judge used one label only"
