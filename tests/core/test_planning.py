"""Planning a benchmark: components of variance against the jackknife, and power against simulated studies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t, ttest_1samp

from annotation.core.scoring import Predictions, ReleasedLabels
from annotation.core.scoring.counts import task_sums
from annotation.core.scoring.planning import (
    PUBLISHED,
    Design,
    VarianceComponents,
    components,
    plan,
    variance_so_far,
)
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


def test_half_width_is_that_of_the_mean_of_as_many_tasks() -> None:
    """Against Student's interval of the means of tasks, over simulated studies."""
    truth, design, rng = VarianceComponents(0.04, 0.09), Design(30, 2), np.random.default_rng(11)
    means = [drawn(rng, truth, 30, 2).reshape(30, 2).mean(axis=1) for _ in range(2000)]
    widths = [t.interval(0.95, 29, scale=mean.std(ddof=1) / np.sqrt(30))[1] for mean in means]
    assert truth.half_width(design) == pytest.approx(np.sqrt(np.mean(np.square(widths))), rel=0.02)
    tasks = truth.tasks_within(0.05, design)
    assert tasks is not None
    assert (
        truth.half_width(replace(design, tasks=tasks))
        <= 0.05
        < truth.half_width(replace(design, tasks=tasks - 1))
    )


@pytest.mark.published
def test_published_variance_is_that_of_the_published_judges(published: Path) -> None:
    found = variance_so_far(released_labels(published), [predictions(published, model) for model in MODELS])
    assert found is not None
    for ours, theirs in ((PUBLISHED.accuracy, found.accuracy), (PUBLISHED.difference, found.difference)):
        assert ours.task == pytest.approx(theirs.task, abs=5e-4)
        assert ours.run == pytest.approx(theirs.run, abs=5e-4)


def test_variance_so_far_is_of_the_tasks_that_two_models_share() -> None:
    labels = release(40, 1)
    said = np.random.default_rng(10).integers(-1, 2, (2, 40))
    one, other = (Predictions.constant(steps, labels.outcome) for steps in said)
    one.there[:] = np.arange(40) < 30
    other.there[:] = np.arange(40) >= 10
    shared = said[:, 10:30]
    right = (shared == 1).astype(float)

    found = variance_so_far(labels, [one, other])

    # one run of one step each: all variance stands between tasks
    assert found is not None
    assert found.difference.task == pytest.approx((right[0] - right[1]).var(ddof=1))
    assert found.accuracy.task in [pytest.approx(each.var(ddof=1)) for each in right]
    other.there[29] = False
    assert variance_so_far(labels, [one, other]) is None, "19 tasks"


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
