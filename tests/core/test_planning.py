"""Planning a benchmark: components of variance against the jackknife, and power against simulated studies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from annotation.core.scoring import Predictions, ReleasedLabels
from annotation.core.scoring.counts import task_sums
from annotation.core.scoring.planning import Design, VarianceComponents, components, plan
from annotation.core.scoring.scores import estimated
from tests.fixtures.published_labels import MODELS, predictions, released_labels


def release(tasks: int, runs: int) -> ReleasedLabels:
    """Runs of one step each."""
    task = np.repeat(np.arange(tasks), runs)
    return ReleasedLabels.of_steps(np.zeros_like(task), task, np.arange(len(task)), np.ones_like(task))


def drawn(rng: np.random.Generator, truth: VarianceComponents, tasks: int, runs: int) -> np.ndarray:
    """The differences of so many runs."""
    of_task = np.repeat(rng.normal(0, np.sqrt(truth.task), tasks), runs)
    return of_task + rng.normal(0, np.sqrt(truth.run), tasks * runs)


@pytest.mark.published
def test_standard_error_of_the_components_is_about_the_jackknifes(published: Path) -> None:
    labels = released_labels(published)
    for pair in ((0, 1), (0, 2), (1, 2)):
        models = [predictions(published, MODELS[at]) for at in pair]
        found = plan(labels, models, [])
        assert found is not None and found.design == Design(50, 5.0)
        sums = np.stack([task_sums(labels, model) for model in models])
        influence = estimated(labels, sums)["step_accuracy"].influence
        jackknife = np.sqrt(((influence[0] - influence[1]) ** 2).sum())
        assert found.components.standard_error(found.design) == pytest.approx(jackknife, rel=0.06)


def test_components_are_those_that_runs_were_drawn_with() -> None:
    truth, rng = VarianceComponents(0.04, 0.09), np.random.default_rng(7)
    found = components(drawn(rng, truth, 4000, 3), release(4000, 3))
    assert (found.task, found.run) == (pytest.approx(0.04, rel=0.1), pytest.approx(0.09, rel=0.1))


def test_detectable_difference_is_found_in_four_of_five_studies() -> None:
    truth, design, rng = VarianceComponents(0.04, 0.09), Design(30, 2), np.random.default_rng(8)
    means = [drawn(rng, truth, 30, 2).reshape(30, 2).mean(axis=1) for _ in range(2000)]
    power = np.mean([ttest_1samp(mean + truth.detectable(design), 0).pvalue < 0.05 for mean in means])
    assert power == pytest.approx(0.8, abs=0.03)


def test_tasks_for_a_difference_are_the_fewest_that_show_it() -> None:
    truth, design = VarianceComponents(0.04, 0.09), Design(30, 2)
    tasks = truth.tasks_for(0.05, design)
    assert tasks is not None
    assert (
        truth.detectable(replace(design, tasks=tasks))
        <= 0.05
        < truth.detectable(replace(design, tasks=tasks - 1))
    )
    assert truth.tasks_for(1.0, design) == 20, "below 20 tasks there is no interval"
    assert truth.tasks_for(1e-5, design) is None


def test_readers_who_differ_on_a_run_are_part_of_its_variance() -> None:
    labels = release(20, 2)
    said = np.random.default_rng(9).integers(-1, 2, (4, 40))
    one, other, first, second = (Predictions.constant(steps, labels.outcome) for steps in said)
    found = plan(labels, [one, other], [first, second])
    assert found is not None
    moved = [(int(a == x) - int(b == x)) - (int(a == y) - int(b == y)) for a, b, x, y in said.T.tolist()]
    assert found.components.reader == pytest.approx(np.mean(np.square(moved)) / 2)
    more = found.components.detectable(found.options()["readers"])
    assert more <= found.components.detectable(found.design)


def test_plan_needs_two_models_and_twenty_tasks() -> None:
    few, enough = release(19, 2), release(20, 2)
    model = Predictions.constant(few.value, few.outcome)
    assert plan(few, [model, model], []) is None
    assert plan(enough, [Predictions.constant(enough.value, enough.outcome)], []) is None
