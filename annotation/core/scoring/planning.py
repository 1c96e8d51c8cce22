"""Plan a benchmark: the smallest difference of two models that it shows, how sure each model's figure is, and
what a larger one would.

A difference of two models is a mean over runs (records), which lie in tasks: Var(D) = σ²_task / T +
σ²_run / (T R) for T tasks with R runs each (analysis of variance of one way; S. R. Searle, G. Casella and
C. E. McCulloch, Variance Components, 1992, ch. 3). Of a ratio over steps, each run counts with its
linearised value (C.-E. Särndal, B. Swensson and J. Wretman, Model Assisted Survey Sampling, 1992, section
5.5). Part of σ²_run is chance of the labels: half the mean square by which two readers of the same run
move the difference, over the number of readers whose labels made the consensus.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import scipy

from annotation.core.figures.intervals import UPPER
from annotation.core.figures.measure import MIN_TASKS, FloatArray
from annotation.core.scoring.labels import MISSING, Predictions, ReleasedLabels

POWER: Final = 0.8
READERS: Final = 2
"""The readers of a trajectory, whose labels make its consensus."""
MOST_TASKS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Design:
    """The size of a benchmark: tasks, runs of each, readers of each run."""

    tasks: int
    runs: float
    readers: int = READERS


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """The variance of one run's difference: between `task`s, between the `run`s of one, and what one `reader`
    adds to the latter (None: unknown)."""

    task: float
    run: float
    reader: float | None = None

    def standard_error(self, design: Design) -> float:
        """The standard error of the difference in a benchmark of that size."""
        run = self.run
        if self.reader is not None:
            run = max(0.0, run + self.reader / design.readers - self.reader / READERS)
        return float(np.sqrt(self.task / design.tasks + run / (design.tasks * design.runs)))

    def detectable(self, design: Design) -> float:
        """The difference that is found (5 %, two-sided) in 80 % of studies of that size."""
        quantiles = scipy.special.stdtrit(design.tasks - 1, [UPPER, POWER])
        return float(quantiles.sum()) * self.standard_error(design)

    def half_width(self, design: Design) -> float:
        """Half the width of the 95 % interval in a benchmark of that size."""
        return float(scipy.special.stdtrit(design.tasks - 1, UPPER)) * self.standard_error(design)

    def tasks_for(self, difference: float, design: Design) -> int | None:
        """The fewest tasks, from 20 on, that can show a difference with the design's runs and readers; None
        beyond a million."""
        return _fewest_tasks(self.detectable, difference, design)

    def tasks_within(self, half: float, design: Design) -> int | None:
        """The fewest tasks, likewise, whose interval is at most ± `half`."""
        return _fewest_tasks(self.half_width, half, design)


def _fewest_tasks(of: Callable[[Design], float], most: float, design: Design) -> int | None:
    low, high = MIN_TASKS, MOST_TASKS
    if of(replace(design, tasks=high)) > most:
        return None
    while low < high:
        middle = (low + high) // 2
        if of(replace(design, tasks=middle)) <= most:
            high = middle
        else:
            low = middle + 1
    return low


@dataclass(frozen=True, slots=True)
class StepAccuracyVariance:
    """The components of one model's StepAcc and of the difference of two models': of a model, and a pair, in
    the middle by standard error."""

    accuracy: VarianceComponents
    difference: VarianceComponents


PUBLISHED: Final = StepAccuracyVariance(VarianceComponents(0.038, 0.170), VarianceComponents(0.0003, 0.267))
"""Of HotpotQA (50 tasks, 5 runs) and its three published judges, to plan with before there are labels."""


def variance_so_far(released: ReleasedLabels, models: Sequence[Predictions]) -> StepAccuracyVariance | None:
    """From labels so far, each pair of models on the records that both were asked about; None where no two
    share 20 tasks."""
    accuracy, difference = [], []
    for place, model in enumerate(models):
        for other in models[place + 1 :]:
            both = model.there & other.there
            part = released.only(both)
            if part.n_tasks < MIN_TASKS:
                continue
            one, another = model.only(released, both), other.only(released, both)
            difference.append(components(_linearised(part, _apart(part.value, one, another)), part))
            accuracy += [
                components(_linearised(part, (each.steps == part.value).astype(np.float64)), part)
                for each in (one, another)
            ]
    return StepAccuracyVariance(_middle(accuracy), _middle(difference)) if difference else None


def _middle(variances: list[VarianceComponents]) -> VarianceComponents:
    """That in the middle by the standard error of as many tasks with one run each."""
    return sorted(variances, key=lambda one: one.standard_error(Design(MIN_TASKS, 1)))[len(variances) // 2]


@dataclass(frozen=True, slots=True)
class Plan:
    """StepAcc of the pair of models in the middle (by standard error): its components of variance, and the
    design of the release they come from."""

    models: tuple[int, int]
    components: VarianceComponents
    design: Design

    def options(self) -> dict[str, Design]:
        """The design as it is, and with twice the tasks, twice the runs, one reader more."""
        now = self.design
        more = {
            "now": now,
            "tasks": replace(now, tasks=2 * now.tasks),
            "runs": replace(now, runs=2 * now.runs),
        }
        if self.components.reader is not None:
            more["readers"] = replace(now, readers=now.readers + 1)
        return more


def plan(
    released: ReleasedLabels, models: Sequence[Predictions], turns: Sequence[Predictions]
) -> Plan | None:
    """From what models predict of a release, and its blind labellings (core.scoring.blind); None for fewer
    than two models or 20 tasks."""
    if len(models) < 2 or released.n_tasks < MIN_TASKS:
        return None
    design = Design(released.n_tasks, released.n_records / released.n_tasks)
    pairs = []
    for first in range(len(models)):
        for second in range(first + 1, len(models)):
            apart = _apart(released.value, models[first], models[second])
            variance = components(_linearised(released, apart), released)
            pairs.append((variance.standard_error(design), first, second, variance))
    pairs.sort(key=lambda pair: pair[0])
    _error, first, second, variance = pairs[len(pairs) // 2]
    reader = _reader(released, models[first], models[second], turns)
    return Plan((first, second), replace(variance, reader=reader), design)


def components(value: FloatArray, released: ReleasedLabels) -> VarianceComponents:
    """The components of a run's value, (R,), from mean squares between and within tasks."""
    task, tasks = released.task, released.n_tasks
    size = np.bincount(task, minlength=tasks)
    mean = np.bincount(task, weights=value, minlength=tasks) / size
    within = float(((value - mean[task]) ** 2).sum()) / max(1, len(value) - tasks)
    between = float((size * (mean - value.mean()) ** 2).sum()) / (tasks - 1)
    typical = (len(value) - float((size**2).sum()) / len(value)) / (tasks - 1)
    return VarianceComponents(max(0.0, (between - within) / typical), within)


def _apart(truth: Any, one: Predictions, other: Predictions) -> FloatArray:
    """By how much the first is ahead at each step, (S,): −1, 0, +1."""
    ahead: FloatArray = (one.steps == truth).astype(np.float64) - (other.steps == truth)
    return ahead


def _linearised(released: ReleasedLabels, apart: FloatArray) -> FloatArray:
    """The part of each run in the difference of two ratios over steps, (R,)."""
    steps = released.lengths()
    sums = np.bincount(released.record, weights=apart, minlength=released.n_records)
    part: FloatArray = (sums - apart.mean() * steps) / steps.mean()
    return part


def _reader(
    released: ReleasedLabels, one: Predictions, other: Predictions, turns: Sequence[Predictions]
) -> float | None:
    """The variance of a run's difference over its readers, from runs that two have labelled blind; None
    without any."""
    if len(turns) < READERS:
        return None
    first, second = turns[:2]
    both = (first.steps != MISSING) & (second.steps != MISSING)
    whole = np.bincount(released.record[both], minlength=released.n_records) == released.lengths()
    if not whole.any():
        return None
    moved = _apart(first.steps, one, other) - _apart(second.steps, one, other)
    by_run = np.bincount(released.record, weights=moved, minlength=released.n_records)[whole]
    return float((by_run**2).mean()) / 2 / float(released.lengths().mean()) ** 2
