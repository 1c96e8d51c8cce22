"""A judge against people: counted by hand, and against scikit-learn."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.core.scoring import MISSING
from annotation.core.scoring.judges import JudgedSteps, JudgeScores, judge_scores

# subset, task, trajectory, people, judge
BY_HAND = [
    (1, 1, 10, 1, 1),
    (1, 1, 10, -1, -1),
    (1, 1, 11, 1, MISSING),
    (1, 1, 11, 1, MISSING),
    (1, 2, 12, -1, 1),
    (1, 2, 12, -1, -1),
    (1, 2, 12, 0, MISSING),
]


def judged(rows: npt.ArrayLike, *, intervals: bool = False) -> JudgeScores:
    return judge_scores(JudgedSteps(*np.asarray(rows, dtype=np.int64).reshape(-1, 5).T), intervals=intervals)


def test_judge_score_of_a_missing_label_is_wrong_for_accuracy_and_left_out_of_agreement() -> None:
    found = judged(BY_HAND)

    assert (found.steps, found.answered, found.missing) == (7, 4, 3)
    assert (found.trajectories, found.tasks) == (3, 2)
    assert found.figures["step_accuracy"].value == pytest.approx(3 / 7)
    agreement = found.figures["percent_agreement"]
    assert (agreement.value, agreement.n) == (pytest.approx(3 / 4), 4)
    assert found.confusion.tolist() == [[2, 0, 1], [0, 0, 0], [0, 0, 1]]


def test_judge_score_of_a_failed_judgement_is_error_free_as_published_and_nothing_strictly() -> None:
    figures = judged(BY_HAND).figures

    share = figures["first_error_accuracy"].value
    assert share == pytest.approx(2 / 3), "10 alike, 11 none and none, 12 differs"
    assert figures["strict_first_error_accuracy"].value == pytest.approx(1 / 3)


def test_kappa_is_scikit_learns() -> None:
    rng = np.random.default_rng(7)
    people = rng.integers(-1, 2, 300)
    judge = np.where(rng.random(300) < 0.6, people, rng.integers(-1, 2, 300))
    ids = np.arange(300)
    rows = np.column_stack([np.zeros(300, int), ids // 6, ids // 3, people, judge])

    figures = judged(rows, intervals=True).figures

    assert figures["kappa"].value == pytest.approx(cohen_kappa_score(people, judge))
    quadratic = cohen_kappa_score(people, judge, weights="quadratic")
    assert figures["quadratic_kappa"].value == pytest.approx(quadratic)
    for name, measure in figures.items():
        assert measure.ends is not None and measure.value is not None, name
        assert measure.ends[0] < measure.value < measure.ends[1]


@pytest.mark.parametrize("rows", [[], [(1, 1, 1, 1, MISSING)]])
def test_judge_score_that_is_undefined_says_why(rows: list[tuple[int, ...]]) -> None:
    found = judged(rows, intervals=True)

    for name in ("kappa", "percent_agreement"):
        assert found.figures[name].value is None and found.figures[name].reason
    assert found.answered == 0


def test_judge_score_of_one_label_only_has_no_kappa_with_a_reason() -> None:
    kappa = judged([(1, 1, 1, 1, 1), (1, 1, 1, 1, 1)]).figures["kappa"]

    assert kappa.value is None
    assert kappa.reason == "people and judge used one label only"
