"""Prediction-powered figures: unbiased, narrower where judges tell something, classical where they do not."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from annotation.core.scoring import MISSING, Predictions, ReleasedLabels
from annotation.core.scoring.counts import task_sums
from annotation.core.scoring.figures import FIGURES
from annotation.core.scoring.prediction_powered import (
    COLUMNS,
    Components,
    SoftSums,
    components,
    powered,
    soft_sums,
    true_sums,
)
from annotation.core.scoring.scores import estimated
from annotation.core.scoring.stack import Stack

STEPS = 4


def labels(rng: np.random.Generator, tasks: int, first: int = 0) -> ReleasedLabels:
    """One trajectory a task, in two subsets, numbered from `first`."""
    value = rng.choice([-1, 0, 1], size=tasks * STEPS, p=[0.3, 0.1, 0.6])
    task = np.repeat(np.arange(tasks), STEPS)
    made = ReleasedLabels.of_steps(task % 2, task, task, value)
    made.outcome[:] = rng.choice([-1, 1], size=tasks)
    return replace(made, task=made.task + first)


def study(
    seed: int, *, tasks: int = 40, times: int = 5, sure: float = 0.9
) -> tuple[ReleasedLabels, ReleasedLabels, Predictions, Stack]:
    """People's tasks and others; a model right on seven steps of ten, and a stack that is `sure` of what is
    true of every step."""
    rng = np.random.default_rng(seed)
    released, more = labels(rng, tasks), labels(rng, tasks * times, tasks)
    both = released.joined(more)
    said = np.where(rng.random(both.n_steps) < 0.7, both.value, rng.choice([-1, 0, 1], both.n_steps))
    outcome = np.where(rng.random(both.n_records) < 0.7, both.outcome, -both.outcome)
    told = (np.where(of[:, None] == [-1, 0, 1], sure, (1 - sure) / 2) for of in (both.value, both.outcome))
    return released, more, Predictions.constant(said, outcome), Stack(*told)


def figures(
    released: ReleasedLabels, more: ReleasedLabels, said: Predictions, stack: Stack
) -> dict[str, Components]:
    both = released.joined(more)
    own = np.arange(both.n_records) < released.n_records
    true = true_sums(released, said.only(both, own), both.n_tasks)
    soft = SoftSums.of(released, more, said, stack)
    found = {name: components(name, true, soft, both.subset_of_task()) for name in COLUMNS}
    return {name: one for name, one in found.items() if one is not None}


def test_without_weight_they_are_the_classical_figures_with_their_intervals() -> None:
    released, more, said, stack = study(1)
    own = said.only(released.joined(more), np.arange(240) < 40)
    sums = task_sums(released, own)
    for name, one in figures(released, more, said, stack).items():
        plain = powered(replace(one, b=0.0, of_b=np.zeros_like(one.of_b)), share=True, fewest=20)
        (classical,) = estimated(released, sums[None], [name])[name].measures(FIGURES[name].n(sums.sum(0)))
        assert plain.value == pytest.approx(classical.value), name
        assert classical.ends == pytest.approx([plain.interval.low, plain.interval.high], abs=1e-9), name
        assert (plain.weight, plain.worth) == (0, 40)


def test_a_stack_that_knows_makes_labels_worth_more_and_does_not_move_the_figure() -> None:
    """Over studies the mean is that of the classical figure, and the spread smaller; a stack that believes
    the contrary of most labels costs nothing but the gain."""
    for sure, gains in ((0.9, 2.0), (0.1, 0.9)):
        found = [
            {
                name: powered(one, share=True, fewest=20)
                for name, one in figures(*study(seed, sure=sure)).items()
            }
            for seed in range(60)
        ]
        for name in COLUMNS:
            values = np.array([(one[name].value, one[name].classical) for one in found])
            error = values.std(axis=0).max() / np.sqrt(len(values))
            assert abs(values[:, 0].mean() - values[:, 1].mean()) < 2 * error, (sure, name)
            assert values[:, 1].var() / values[:, 0].var() > gains, (sure, name)


def test_soft_sums_are_the_expectation_over_all_labels_a_trajectory_may_have() -> None:
    rng = np.random.default_rng(3)
    part = labels(rng, 1)
    said = Predictions.constant(np.array([1, 0, -1, 1]), np.array([-1]))
    stack = Stack(rng.dirichlet([1, 1, 1], STEPS), rng.dirichlet([1, 1, 1], 1))
    expected = np.zeros(len(COLUMNS))
    for truth in product((-1, 0, 1), repeat=STEPS):
        chance = float(np.prod([stack.steps[at, value + 1] for at, value in enumerate(truth)]))
        here = replace(part, value=np.array(truth), outcome=np.array([-1]))
        expected[:4] += chance * true_sums(here, said, 1).right[0, :4]
    expected[4] = stack.outcome[0, 0]
    assert soft_sums(part, said, stack, 1).right[0] == pytest.approx(expected)


def test_a_failed_prediction_is_a_trajectory_without_error_but_in_the_strict_figure() -> None:
    released, _more, _said, stack = study(4)
    none = Predictions.none(released)
    soft = soft_sums(released, none, Stack(stack.steps[:160], stack.outcome[:40]), 40).right
    named = dict(zip(COLUMNS, soft.T, strict=True))
    assert named["first_error_accuracy"] == pytest.approx((1 - stack.steps[:160, 0]).reshape(40, 4).prod(1))
    for name in set(COLUMNS) - {"first_error_accuracy"}:
        assert (named[name] == 0).all(), name
    assert (none.steps == MISSING).all()


def test_unlabelled_trajectories_of_peoples_tasks_count_with_these() -> None:
    released, more, said, stack = study(5)
    shared = replace(more, task=np.concatenate([np.arange(40), more.task[40:] - 40]))
    one = figures(released, shared, said, stack)["step_accuracy"]
    assert one.tasks == 40 and len(one.stratum) == 40 + 160
    assert powered(one, share=True, fewest=20).worth is not None


def test_the_unlabelled_part_of_a_subset_without_peoples_labels_plays_no_part() -> None:
    released, more, said, stack = study(6)
    elsewhere = replace(more, subset=np.full_like(more.subset, 2))
    assert figures(released, elsewhere, said, stack) == {}
    half = replace(more, subset=np.where(more.subset == 1, 2, more.subset))
    assert len(figures(released, half, said, stack)["exact_match"].stratum) == 40 + 100


def test_a_model_differs_from_itself_by_nothing_and_few_tasks_have_no_interval() -> None:
    one = figures(*study(7, tasks=40))["exact_match"]
    same = powered(one.less(one), share=False, fewest=20)
    assert (same.value, same.interval.low) == (0, None)
    few = powered(figures(*study(8, tasks=18))["exact_match"], share=True, fewest=20)
    assert few.interval.low is None and "20" in few.interval.reason and few.worth is None
    assert few.as_json()["interval"] is None and few.as_json()["tasks"] == 18


def test_sums_are_kept_as_they_are() -> None:
    released, more, said, stack = study(9)
    made = SoftSums.of(released, more, said, stack)
    again = SoftSums.unpacked(made.packed(), released, more)
    for one, other in ((made.labelled, again.labelled), (made.unlabelled, again.unlabelled)):
        assert (one.right == other.right).all() and (one.steps == other.steps).all()
        assert (one.records == other.records).all()
