"""Comparing models, ranking them, and choosing runs with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from annotation.core.scoring import MISSING, Predictions, ReleasedLabels
from annotation.core.scoring.best_of_n import best_of_n
from annotation.core.scoring.counts import task_sums
from annotation.core.scoring.figures import RANKED
from annotation.core.scoring.ranks import Rank, differences, movable, ranks, tolerated
from annotation.core.scoring.scores import estimated
from tests.fixtures.published_labels import MODELS, predictions, released_labels

# model -> tasks of 50 solved by final, #pos, %pos, two-stage: ties to the lowest index; averaged, in per cent
BEST_OF_5 = {
    "GPT-5.2": ((38, 39, 38, 38), (77.57, 77.00, 76.10, 76.10)),
    "DeepSeek-V3.2": ((32, 37, 33, 33), (71.03, 72.93, 69.63, 69.63)),
    "Llama-3.2-3B-Instruct": ((28, 36, 38, 38), (67.97, 73.50, 74.60, 74.60)),
}
TASKS = 40


def simulated(right: list[float], seed: int = 5) -> tuple[ReleasedLabels, list[Predictions]]:
    """A release of 40 tasks of 6 steps, and a model for each share of steps that it gets right."""
    rng = np.random.default_rng(seed)
    released = ReleasedLabels.of(
        {
            "subset": "hop",
            "record_id": f"hop:{task}:0",
            "query_index": task,
            "sample_index": 0,
            "step_labels": {str(index): int(rng.integers(-1, 2)) for index in range(6)},
            "final_label": 1,
        }
        for task in range(TASKS)
    )
    models = []
    for share in right:
        wrong = rng.random(released.n_steps) >= share
        steps = np.where(wrong, (released.value + 2) % 3 - 1, released.value)
        models.append(Predictions.constant(steps, released.outcome))
    return released, models


def still_differ(value: float, half: float, wrong: float, shares: tuple[float, float]) -> bool:
    """Whether a difference holds with a share `wrong` of wrong labels, by the formula."""
    two, one = shares
    return abs(value) - half > 2 * min(wrong, two) + min(max(wrong - two, 0.0), one)


def ranked(released: ReleasedLabels, models: list[Predictions], name: str) -> list[Rank | None]:
    sums = np.stack([task_sums(released, one) for one in models])
    return ranks(estimated(released, sums)[name])


@pytest.mark.published
@pytest.mark.parametrize("model", MODELS)
def test_best_of_5_is_as_measured(published: Path, model: str) -> None:
    found = best_of_n(released_labels(published), predictions(published, model))

    lowest, averaged = BEST_OF_5[model]
    rules = [found.rules[rule] for rule in ("final", "pos_count", "pos_share", "two_stage")]
    assert tuple(one.lowest for one in rules) == lowest
    assert [100 * one.averaged / 50 for one in rules] == pytest.approx(averaged, abs=5e-3)
    assert (found.tasks, found.runs, found.oracle) == (50, 250, 45)
    assert found.random / 50 == pytest.approx(0.652)


@pytest.mark.published
def test_ranks_of_equal_models_overlap_and_a_worse_one_is_behind(published: Path) -> None:
    released = released_labels(published)
    models = [predictions(published, model) for model in (*MODELS, MODELS[0])]
    for name in RANKED:
        found = ranked(released, models, name)
        assert found[0] == found[3], f"{name}: equal models have equal ranks"
    first, _, third, _ = ranked(released, models, "step_accuracy")
    assert third == Rank((4, 4), (4, 4)) and first is not None and first.alone[1] == 3


@pytest.mark.published
def test_comparison_of_a_model_with_itself_is_zero(published: Path) -> None:
    released = released_labels(published)
    model = predictions(published, "GPT-5.2")
    sums = np.stack([task_sums(released, one) for one in (model, model)])
    for name in RANKED:
        found = differences(estimated(released, sums)[name])
        assert (found.value == 0).all() and (found.half == 0).all() and (found.p == 1).all(), name


@pytest.mark.parametrize("seed", range(4))
def test_ranks_together_hold_those_alone_and_the_order_of_the_figures(seed: int) -> None:
    released, models = simulated([0.9, 0.7, 0.68, 0.5, 0.3], seed)
    sums = np.stack([task_sums(released, one) for one in models])
    found = estimated(released, sums)["step_accuracy"]
    got = ranks(found)
    place = np.empty(5, dtype=int)
    place[np.argsort(-found.value)] = range(1, 6)
    for at, rank in enumerate(got):
        assert rank is not None
        assert rank.together[0] <= rank.alone[0] <= place[at] <= rank.alone[1] <= rank.together[1]
    assert got == ranks(found), "chance is seeded"
    assert got[0] is not None and got[0].together[1] < 4, "far better ones are told apart"


def test_rank_of_a_model_with_an_undefined_figure_is_none_and_takes_no_place() -> None:
    released, models = simulated([0.9, 0.5])
    silent = Predictions.none(released)
    found = ranked(released, [*models, silent], "kappa")
    assert found[2] is None and found[0] == Rank((1, 1), (1, 1)) and found[1] == Rank((2, 2), (2, 2))


def test_ranks_need_twenty_tasks() -> None:
    released, models = simulated([0.9, 0.2])
    few = released.task < 19
    part = released.only(few)
    assert ranked(part, [one.only(released, few) for one in models], "step_accuracy") == [None, None]


def test_wrong_labels_move_a_difference_as_far_as_trying_all_says() -> None:
    """Every way to change one label of six steps, against the shares by which it can."""
    released, (one, other) = simulated([0.6, 0.5])
    other.steps[::7] = MISSING
    ahead, behind = (
        (one, other)
        if (one.steps == released.value).sum() >= (other.steps == released.value).sum()
        else (other, one)
    )
    moves = []
    for step, truth in enumerate(released.value):

        def lead(value: int, step: int = step) -> int:
            return int(ahead.steps[step] == value) - int(behind.steps[step] == value)

        moves.append(max(lead(truth) - lead(value) for value in (-1, 0, 1)))
    shares = movable(released, one, other)
    assert shares == (moves.count(2) / len(moves), moves.count(1) / len(moves))
    assert shares == movable(released, other, one)
    for wrong in (0.0, 0.05, 0.2, 0.6, 1.0):
        most = sum(sorted(moves, reverse=True)[: round(wrong * len(moves))]) / len(moves)
        assert still_differ(most + 0.02, 0.01, wrong, shares) and not still_differ(most, 0.01, wrong, shares)


def test_tolerated_is_where_a_difference_ends() -> None:
    shares = (0.1, 0.3)
    assert tolerated(0.05, 0.06, shares) is None
    assert tolerated(0.9, 0.1, shares) == 1.0
    for value in (0.15, 0.3, 0.5):
        limit = tolerated(value, 0.05, shares)
        assert limit is not None
        assert still_differ(value, 0.05, limit - 1e-6, shares)
        assert not still_differ(value, 0.05, limit + 1e-6, shares)


def test_best_of_n_lets_all_runs_stand_where_none_is_predicted_successful() -> None:
    rows = [(0, 1, [1, 1], 1), (0, 0, [1, -1], -1), (1, 0, [1], -1), (1, 1, [1, 1, 1], 1)]
    released = ReleasedLabels.of(
        {
            "subset": "hop",
            "record_id": f"{task}:{sample}",
            "query_index": task,
            "sample_index": sample,
            "step_labels": {str(at): value for at, value in enumerate(steps)},
            "final_label": outcome,
        }
        for task, sample, steps, outcome in rows
    )
    # task 0: nobody succeeds, both runs stand; task 1: the first run is called a success, its share is lower
    model = Predictions.constant(np.array([1, 0, 1, -1, 0, 1, 1, 1]), np.array([-1, 0, 1, -1]))
    found = best_of_n(released, model)

    assert (found.random, found.oracle) == (1.0, 2)
    assert (found.rules["final"].averaged, found.rules["final"].lowest) == (0.5, 0)
    assert (found.rules["pos_count"].averaged, found.rules["pos_count"].lowest) == (1.5, 1)
    assert (found.rules["pos_share"].averaged, found.rules["pos_share"].lowest) == (1.5, 1)
    assert found.rules["two_stage"].averaged == 0.5
