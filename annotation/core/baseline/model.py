"""The baseline's models: trees for steps, a regression for outcomes, calibrated and cross-fitted by task.

Their probabilities (`forest`, `regression`) are drawn towards the shares of the labels they were fitted on:
log p = (1 − a) · log share + a · log p_raw, renormalised. `a` is from 0 to 2; above 1 they are drawn away
from the shares, because trees may be less sure than they have reason to be. It is the one with the smallest
log-loss on tasks that were not fitted on; where that is no more than one standard error (over tasks) below
what the shares alone come to, a is 0, and the model says no more than how frequent each label is.

Cross-fitting: the tasks are dealt into folds, and what is said about a task comes from a model fitted, `a`
and all, without its fold. The figures in `CrossFit` are made of exactly these answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from annotation.core.figures.fitting import small_fits
from annotation.core.vocabulary import VALUES

from .forest import Bools, Floats, Ints

VERSION: Final = "2"
"""Changes with every change of what a training comes to."""
TRUST: Final = tuple(round(0.05 * n, 2) for n in range(41))
"""Values of `a` that are tried: 0, 0.05 … 2."""
SMALLEST_GAIN: Final = 1e-9
_TINY: Final = 1e-9


def _nothing() -> None:
    """Nobody waits."""


class FittedModel(Protocol):
    """Trees or a regression: probabilities (n, 3) of rows, and how frequent each label was, (3,)."""

    @property
    def shares(self) -> Floats: ...

    def forward(self, rows: Floats, first: Bools) -> Floats: ...


class FitFunction(Protocol):
    """`forest.grow` or `regression.regress`."""

    def __call__(
        self, rows: Floats, labels: Ints, first: Bools, *, seed: int, alive: Callable[[], None]
    ) -> FittedModel: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Classifier:
    """One fitted model of a label, for `VALUES` in their order.

    `rows` (n, n_features): the figures it was fitted on; `trust`: the `a` of the module's docstring.
    """

    raw: FittedModel
    rows: Floats
    trust: float

    def probabilities(self, rows: Floats, first: Bools) -> Floats:
        """(n, n_features), `first` (n,) where a trajectory begins → (n, 3): how probable −1, 0 and +1 are;
        each row sums to 1, none is 0."""
        return shrunk(self.raw.forward(rows, first), self.raw.shares, self.trust)


@dataclass(frozen=True, slots=True)
class CrossFit:
    """Models that have not seen a task, and one that has seen all.

    `fold` (n_rows,): which fold a row's task is in; `without[k]`: fitted on everything but fold k;
    `probabilities` (n_rows, 3): for each row, those of the model without its fold.
    """

    everything: Classifier
    without: tuple[Classifier, ...]
    fold: Ints
    probabilities: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSet:
    """Training data and their fit: `rows` (n, n_features) in the order of their trajectories, `labels` (n,)
    of `VALUES`, `groups` (n,): the task as a number, `first` (n,): where a trajectory begins, `fold` (n,)
    from `deal`."""

    fit: FitFunction
    rows: Floats
    labels: Ints
    groups: Ints
    first: Bools
    fold: Ints

    def fitted(self, left_out: set[int], seed: int, alive: Callable[[], None]) -> FittedModel:
        """Fitted on everything but these folds."""
        kept = ~np.isin(self.fold, list(left_out))
        return self.fit(self.rows[kept], self.labels[kept], self.first[kept], seed=seed, alive=alive)

    def asked(self, raw: FittedModel, fold: int) -> Floats:
        """The model's probabilities for the rows of a fold, (n_rows_of_it, 3)."""
        held = self.fold == fold
        return raw.forward(self.rows[held], self.first[held])


def cross_fit(table: TrainingSet, *, seed: int, alive: Callable[[], None] = _nothing) -> CrossFit:
    """Fit a model of all and one without each fold of tasks.

    `alive` is called between trees and may raise. The same input and seed give the same models.
    """
    with small_fits():
        without, raw, probabilities = _without(table, seed, alive)
        everything = table.fitted(set(), seed, alive)
    # what those without its fold say of each row is what chooses how far the whole is trusted
    shares = np.array([model.raw.shares for model in without])[table.fold]
    trust = chosen_trust(raw, shares, table.labels, table.groups)
    whole = Classifier(raw=everything, rows=table.rows, trust=trust)
    return CrossFit(whole, without, table.fold, probabilities)


def held_out(table: TrainingSet, *, seed: int, alive: Callable[[], None] = _nothing) -> Floats:
    """The probabilities (n, 3) of each row by the model without its fold, as `cross_fit` has them."""
    with small_fits():
        return _without(table, seed, alive)[2]


def _without(
    table: TrainingSet, seed: int, alive: Callable[[], None]
) -> tuple[tuple[Classifier, ...], Floats, Floats]:
    """The models without each fold, and what each says of its fold, (n, 3): raw, and as it is trusted."""
    folds = range(int(table.fold.max()) + 1)
    inner, shares = _pairs(table, folds, seed, alive)
    without = []
    raw = np.zeros((len(table.labels), len(VALUES)))
    probabilities = np.zeros_like(raw)
    for a in folds:
        kept = table.fold != a
        fitted = table.fitted({a}, seed, alive)
        trust = chosen_trust(inner[a, kept], shares[a, kept], table.labels[kept], table.groups[kept])
        raw[~kept] = table.asked(fitted, a)
        probabilities[~kept] = shrunk(raw[~kept], fitted.shares, trust)
        without.append(Classifier(raw=fitted, rows=table.rows[kept], trust=trust))
    return tuple(without), raw, probabilities


def _pairs(table: TrainingSet, folds: range, seed: int, alive: Callable[[], None]) -> tuple[Floats, Floats]:
    """For each fold a, what is said of the rows of every other fold b by who has seen neither, and the shares
    it has seen: (n_folds, n, 3) each. Nothing of fold a plays a part in row a. One fit serves (a, b) and
    (b, a); with two folds nothing is left to fit on, and both say the same.
    """
    probabilities = np.ones((len(folds), len(table.labels), len(VALUES))) / len(VALUES)
    shares = probabilities.copy()
    for a, b in combinations(folds, 2) if len(folds) > 2 else ():
        fitted = table.fitted({a, b}, seed, alive)
        for own, other in ((a, b), (b, a)):
            held = table.fold == other
            probabilities[own, held], shares[own, held] = table.asked(fitted, other), fitted.shares
    return probabilities, shares


def chosen_trust(raw: Floats, shares: Floats, labels: Ints, groups: Ints) -> float:
    """The `a` with the smallest log-loss of raw probabilities (n, 3) drawn towards shares (n, 3); 0 where it
    gains no more than one standard error over tasks, or there is only one task."""
    target = places(labels)
    if len(np.unique(groups)) < 2:
        return 0.0
    losses = [_losses(shrunk(raw, shares, trust), target) for trust in TRUST]
    best = int(np.argmin([loss.mean() for loss in losses]))
    return TRUST[best] if _gains(_losses(shares, target) - losses[best], groups) else 0.0


def _gains(gain: Floats, groups: Ints) -> bool:
    """Whether a gain per row (n,) is more than chance brings: more than one standard error over tasks."""
    _, place = np.unique(groups, return_inverse=True)
    by_task = np.bincount(place, weights=gain)
    return bool(by_task.mean() > by_task.std(ddof=1) / np.sqrt(len(by_task)) + SMALLEST_GAIN)


def places(labels: Ints) -> Ints:
    """Labels as columns of the probabilities."""
    return labels - VALUES[0]


def shrunk(raw: Floats, shares: Floats, trust: float) -> Floats:
    """Probabilities (n, 3) drawn towards shares, (3,) or (n, 3), as far as `trust` is below 1, away above."""
    logs = (1 - trust) * np.log(shares) + trust * np.log(np.maximum(raw, _TINY))
    exponentials = np.exp(logs - logs.max(axis=1, keepdims=True))
    result: Floats = exponentials / exponentials.sum(axis=1, keepdims=True)
    return result


def log_loss(probabilities: Floats, target: Ints) -> float:
    """Mean of −log p of the label that is right; `target` (n,): its columns (`places`)."""
    return float(_losses(probabilities, target).mean())


def _losses(probabilities: Floats, target: Ints) -> npt.NDArray[np.float64]:
    losses: Floats = -np.log(np.maximum(probabilities[np.arange(len(target)), target], _TINY))
    return losses
