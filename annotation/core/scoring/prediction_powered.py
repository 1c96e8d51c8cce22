"""Prediction-powered figures: people's labels of some tasks, and judges' of many more, in one estimate.

What a model earns is known on n tasks that people have labelled. On those, and on further tasks that judges
have labelled and people have not, the stack of judges (core.scoring.stack) says how probable it is that the
model is right. With true and soft sums of task i, T_i and S_i out of B_i steps or trajectories, the figure is

    θ(λ) = [Σ T_h + λ Σ (B_h M_h − S_h)] / Σ B_h

over subsets h, whose sums T_h, S_h, B_h are of people's tasks alone, and M_h is the mean of the soft values
over all tasks of the subset, labelled or not. λ = 0 is the classical figure. Whatever judges say, the two
soft parts cancel in expectation, as long as people's tasks are a sample of all tasks of their subset: judges
can make the figure surer, and cannot move it (A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan and
T. Zrnic, "Prediction-powered inference", Science 382, 2023). λ is where the jackknife's variance is smallest,
within [0, 1] (Angelopoulos, J. C. Duchi and Zrnic, "PPI++: efficient prediction-powered inference", 2023),
and 0 where that is not smaller than the classical one.

θ(λ) = a + λ b, so that the influences of tasks (core.figures.intervals) are those of a and b: people's and
unlabelled tasks of a subset are two strata. The variance is that of the residuals, each over 1 − its share of
Σ b² (J. G. MacKinnon and H. White, "Some heteroskedasticity-consistent covariance matrix estimators with
improved finite sample properties", 1985), with one degree of freedom less for λ; Student's quantile has the
degrees of freedom of both samples (B. L. Welch, "The generalization of Student's problem", 1947), or fewer
where single tasks carry most of the variance.

The soft value of a whole trajectory is a product over steps, as if their labels were independent given what
judges say of them. That they are not costs precision, and never truth.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import scipy

from annotation.core.figures import grouping
from annotation.core.figures.first_errors import NONE, first_positions
from annotation.core.figures.intervals import LEAST_FREEDOM, LEAST_VARIANCE, UPPER, influences, joined
from annotation.core.figures.measure import FEW_DIFFER, NO_SPREAD, FloatArray, IntArray, Interval, divide
from annotation.core.i18n import translatable
from annotation.core.scoring.counts import by_trajectory
from annotation.core.scoring.labels import MISSING, Predictions, ReleasedLabels
from annotation.core.scoring.stack import Stack

COLUMNS: Final = (
    "step_accuracy",
    "first_error_accuracy",
    "strict_first_error_accuracy",
    "exact_match",
    "outcome_accuracy",
)
"""The figures that are made this way, in the order of the columns of sums."""
FEWEST_TASKS: Final = 50
FEWEST_OF_DIFFERENCES: Final = 200
"""Of fewer tasks that people have labelled there is no interval (docs/scoring.md, "Prediction-powered
figures")."""
MOST_PULL: Final = 0.9
"""The largest share of the spread for which the influence of a single task is corrected."""


@dataclass(frozen=True, slots=True)
class TaskSums:
    """Sums by task, (T,) over the tasks of both parts: `right` (T, COLUMNS), and what there is, `steps` and
    `records`."""

    right: FloatArray
    steps: FloatArray
    records: FloatArray

    def of(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Numerator and denominator of a figure."""
        return self.right[:, COLUMNS.index(name)], self.steps if name == COLUMNS[0] else self.records


@dataclass(frozen=True, slots=True)
class Components:
    """A figure of one model, or a difference of two: θ(λ) = a + λ b, with the influences of people's tasks
    and then of others, (T + U,), whose strata count from 0; the first `tasks` are people's."""

    a: float
    b: float
    of_a: FloatArray
    of_b: FloatArray
    stratum: IntArray
    tasks: int

    def less(self, other: Components) -> Components:
        """The difference to another model's figure, task by task."""
        return replace(
            self,
            a=self.a - other.a,
            b=self.b - other.b,
            of_a=self.of_a - other.of_a,
            of_b=self.of_b - other.of_b,
        )


@dataclass(frozen=True, slots=True)
class Powered:
    """A prediction-powered figure or difference, and the `classical` one without judges. `weight` is λ;
    `worth`: the number of tasks with people's labels that would make the classical interval as narrow, None
    without an interval."""

    value: float
    interval: Interval
    weight: float
    worth: float | None
    classical: float
    tasks: int
    unlabelled_tasks: int

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        interval = self.interval
        return {
            "value": self.value,
            "interval": None if interval.low is None else [interval.low, interval.high],
            "interval_reason": interval.reason,
            "lambda": self.weight,
            "worth_tasks": self.worth,
            "classical": self.classical,
            "tasks": self.tasks,
            "unlabelled_tasks": self.unlabelled_tasks,
        }


@dataclass(frozen=True, slots=True)
class SoftSums:
    """The sums of one model under the stack: on trajectories that people have labelled, and on others."""

    labelled: TaskSums
    unlabelled: TaskSums

    @classmethod
    def of(
        cls, released: ReleasedLabels, more: ReleasedLabels, predicted: Predictions, stack: Stack
    ) -> SoftSums:
        """Of predictions for both parts, and the stack of both."""
        both = released.joined(more)
        own = np.arange(both.n_records) < released.n_records
        labelled, unlabelled = (
            soft_sums(part, predicted.only(both, rows), stack.only(both, rows), both.n_tasks)
            for part, rows in ((released, own), (more, ~own))
        )
        return cls(labelled, unlabelled)

    def packed(self) -> bytes:
        """The sums in few bytes, for `unpacked`."""
        return zlib.compress(np.stack([self.labelled.right, self.unlabelled.right]).tobytes(), 1)

    @classmethod
    def unpacked(cls, packed: bytes, released: ReleasedLabels, more: ReleasedLabels) -> SoftSums:
        """The sums that `packed` made of both parts."""
        tasks = released.joined(more).n_tasks
        right = np.frombuffer(zlib.decompress(packed)).reshape(2, tasks, len(COLUMNS))
        sizes = (_sizes(part, tasks) for part in (released, more))
        return cls(*(TaskSums(of, *size) for of, size in zip(right, sizes, strict=True)))


def true_sums(released: ReleasedLabels, predicted: Predictions, tasks: int) -> TaskSums:
    """The sums of a model by people's labels, of so many tasks."""
    first, theirs, answered, _complete = by_trajectory(released, predicted)
    right, same = released.value == predicted.steps, first == theirs
    wrong = np.bincount(released.record[~right], minlength=released.n_records)
    records = (same, same & answered, wrong == 0, released.outcome == predicted.outcome)
    return _by_task(released, right, records, tasks)


def soft_sums(part: ReleasedLabels, predicted: Predictions, stack: Stack, tasks: int) -> TaskSums:
    """The expected sums of a model, by the stack. The labels in `part` are not looked at."""
    n, record, position = part.n_records, part.record, part.positions()
    right, minus = stack.right_steps(predicted.steps), stack.steps[:, 0]
    first = first_positions(predicted.steps, record, position, n)
    # the first −1 of a trajectory is where the model's is: no step before is one, and that one is
    here = position == first[record]
    before = (position < first[record]) | (first[record] == NONE)
    none_before = _products(np.where(before, 1 - minus, 1.0), record, n)
    same = none_before * np.where(first == NONE, 1.0, np.bincount(record[here], minus[here], minlength=n))
    answered = np.bincount(record[predicted.steps != MISSING], minlength=n) > 0
    outcomes = stack.right_outcomes(predicted.outcome)
    records = (same, same * answered, _products(right, record, n), outcomes)
    return _by_task(part, right, records, tasks)


def _products(values: FloatArray, record: IntArray, records: int) -> FloatArray:
    """The product over the steps of each record, (R,)."""
    with np.errstate(divide="ignore"):
        logs = np.log(values)
    products: FloatArray = np.exp(np.bincount(record, logs, minlength=records))
    return products


def _by_task(
    part: ReleasedLabels, steps: npt.NDArray[Any], records: Sequence[npt.NDArray[Any]], tasks: int
) -> TaskSums:
    of_step = part.task[part.record]
    columns = [np.bincount(of_step, steps, tasks), *(np.bincount(part.task, one, tasks) for one in records)]
    return TaskSums(np.stack(columns, axis=1), *_sizes(part, tasks))


def _sizes(part: ReleasedLabels, tasks: int) -> tuple[FloatArray, FloatArray]:
    """The steps and the records of each task, (T,)."""
    steps, records = (np.bincount(of, minlength=tasks) for of in (part.task[part.record], part.task))
    return steps.astype(np.float64), records.astype(np.float64)


def components(name: str, true: TaskSums, soft: SoftSums, subset: IntArray) -> Components | None:
    """A figure of a model from its sums on what people have labelled and on what judges alone have, task by
    task; `subset` (T,). A task may have trajectories of both kinds; it is then one of people's.

    Of subsets in which people have labelled fewer than two tasks the unlabelled part plays no part; None
    where none is left."""
    people = true.records > 0
    n_subsets = int(subset.max()) + 1
    own, other = (np.bincount(subset[kind], minlength=n_subsets) for kind in (people, ~people))
    kept = people | ((own[subset] > 1) & (other[subset] > 1))
    (right, units), (expected, _units), (more, more_units) = (
        tuple(np.where(kept, column, 0.0) for column in part.of(name))
        for part in (true, soft.labelled, soft.unlabelled)
    )
    alone = own[subset] < 2
    more, more_units = np.where(alone, 0.0, more), np.where(alone, 0.0, more_units)
    if not more_units.any():
        return None

    def by_subset(values: FloatArray) -> FloatArray:
        return np.bincount(subset, values, minlength=n_subsets).astype(np.float64)

    def moves(s: FloatArray, b: FloatArray, s_more: FloatArray, b_more: FloatArray) -> FloatArray:
        """B M − S of subsets; nothing of those without an unlabelled part."""
        return np.where(b_more > 0, divide(b * (s + s_more), b + b_more) - s, 0.0)

    columns = (expected, units, more, more_units)
    sums = tuple(by_subset(column) for column in columns)
    moved, n = moves(*sums), units.sum()
    fewer = n - units
    left = moves(*(of[subset] - column for of, column in zip(sums, columns, strict=True)))
    without_a = (right.sum() - right) / fewer
    without_b = (moved.sum() - moved[subset] + left) / fewer
    order = np.concatenate([np.flatnonzero(people), np.flatnonzero(kept & ~people)])
    tasks = int(people.sum())
    strata = joined(subset[people])
    stratum = np.concatenate([strata, int(strata.max()) + 1 + grouping.ranks(subset[order[tasks:]])[1]])
    return Components(
        float(right.sum() / n),
        float(moved.sum() / n),
        influences(without_a[order], stratum),
        influences(without_b[order], stratum),
        stratum,
        tasks,
    )


def powered(components: Components, *, share: bool, fewest: int) -> Powered:
    """The figure at the λ of the smallest variance; `share`: it lies in 0 … 1, a difference in −1 … 1. Of
    fewer than `fewest` of people's tasks there is no interval."""
    n = components.tasks
    degrees = n - len(np.unique(components.stratum[:n]))
    classical = float((components.of_a**2).sum())
    weight, influence = 0.0, components.of_a
    if degrees > 1 and (spread := float((components.of_b**2).sum())) > LEAST_VARIANCE:
        best = min(1.0, max(0.0, -float((components.of_a * components.of_b).sum()) / spread))
        # a task that carries much of the spread draws λ towards itself, and looks closer than it is
        pull = np.minimum(components.of_b**2 / spread, MOST_PULL)
        residuals = (components.of_a + best * components.of_b) / (1 - pull)
        if float((residuals**2).sum()) < classical:
            weight, influence, degrees = best, residuals, degrees - 1
    variance = float((influence**2).sum())
    value = components.a + weight * components.b
    value = min(max(value, 0.0 if share else -1.0), 1.0)
    interval = (
        _interval(value, influence, degrees, components, share=share)
        if n >= fewest
        else Interval(None, None, _too_few(fewest))
    )
    worth = None if interval.low is None else n * classical / variance
    return Powered(value, interval, weight, worth, components.a, n, len(components.stratum) - n)


def _too_few(fewest: int) -> str:
    return translatable(
        "a prediction-powered interval needs at least {n} tasks with people’s labels", n=fewest
    )


def _interval(
    value: float, influence: FloatArray, degrees: int, components: Components, *, share: bool
) -> Interval:
    squares = influence**2
    variance = float(squares.sum())
    if variance < LEAST_VARIANCE:
        return Interval(None, None, NO_SPREAD)
    own, others = squares[: components.tasks].sum(), squares[components.tasks :].sum()
    free = len(components.stratum) - components.tasks - len(np.unique(components.stratum[components.tasks :]))
    welch = (own + others) ** 2 / (own**2 / degrees + others**2 / max(free, 1))
    freedom = min(welch, 2 * variance**2 / (squares**2).sum())
    if freedom < LEAST_FREEDOM or (share and not 0 < value < 1):
        return Interval(None, None, FEW_DIFFER)
    half = float(scipy.special.stdtrit(freedom, UPPER)) * variance**0.5
    if not share:
        return Interval(max(value - half, -1.0), min(value + half, 1.0))
    centre, half = float(scipy.special.logit(value)), half / (value * (1 - value))
    return Interval(float(scipy.special.expit(centre - half)), float(scipy.special.expit(centre + half)))
