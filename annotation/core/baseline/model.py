"""The baseline's model: a logistic regression with calibrated probabilities, and its cross-fitting by task.

A multinomial logistic regression on `features`, whose probabilities are then drawn towards the shares of the
labels it was trained on: log p = (1 − a) · log share + a · log p_model, renormalised. `a` (0 … 1) and the
strength of the regularisation are those with the smallest log-loss in a cross-validation grouped by task;
where that is no more than one standard error (over tasks) below what the shares alone come to, a is 0, and
the model says no more than how frequent each label is.

Cross-fitting: the tasks are dealt into folds, and what is said about a task comes from a model fitted, `a`
and all, without its fold. The figures in `CrossFit` are made of exactly these answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from annotation.core.vocabulary import VALUES

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FOLDS: Final = 5
INNER_FOLDS: Final = 4
STRENGTHS: Final = (0.01, 0.05, 0.3)
"""Inverse strengths of the L2 penalty that are tried, on standardised features."""
TRUST: Final = tuple(round(0.05 * n, 2) for n in range(21))
"""Values of `a` that are tried: 0, 0.05 … 1."""
SMALLEST_GAIN: Final = 1e-9
_TINY: Final = 1e-9


def _nothing() -> None:
    """Nobody waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Classifier:
    """One fitted model of a label, for `VALUES` in their order.

    `mean`, `scale`: (n_features,), what features are standardised with; `weights` (3, n_features) and `bias`
    (3,) of the log-odds; `known` (3,): whether the label occurred in training; `shares` (3,): how often, one
    added to each; `trust`: the `a` of the module's docstring.
    """

    mean: Floats
    scale: Floats
    weights: Floats
    bias: Floats
    known: npt.NDArray[np.bool_]
    shares: Floats
    trust: float

    def probabilities(self, rows: Floats) -> Floats:
        """(n, n_features) → (n, 3): how probable −1, 0 and +1 are; each row sums to 1, none is 0."""
        return _shrunk(self.raw(rows), self.shares, self.trust)

    def raw(self, rows: Floats) -> Floats:
        """The same before it is drawn towards the shares."""
        scores = self._standard(rows) @ self.weights.T + self.bias
        scores = np.where(self.known, scores, -np.inf)
        exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
        among_known = exponentials / exponentials.sum(axis=1, keepdims=True)
        unknown = np.where(self.known, 0.0, self.shares)
        result: Floats = np.maximum(unknown + among_known * (1 - unknown.sum()), _TINY)
        return result

    def contributions(self, row: Floats, label: int) -> Floats:
        """(n_features,): how much each figure speaks for the label, against the mean of the others."""
        standard = self._standard(row[None])[0]
        own = VALUES.index(label)
        others = [place for place in range(len(VALUES)) if place != own and self.known[place]]
        if not self.known[own] or not others:
            return np.zeros_like(standard)
        difference = self.weights[own] - self.weights[others].mean(axis=0)
        result: Floats = self.trust * difference * standard
        return result

    def _standard(self, rows: Floats) -> Floats:
        result: Floats = (rows - self.mean) / self.scale
        return result


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


def cross_fit(
    rows: Floats,
    labels: Ints,
    groups: Ints,
    *,
    seed: int,
    fold: Ints | None = None,
    alive: Callable[[], None] = _nothing,
) -> CrossFit:
    """Fit a model of all and one without each fold of tasks.

    `rows` (n, n_features), `labels` (n,) of `VALUES`, `groups` (n,): the task of a row, as a number. `fold`
    (n,): the folds, where they are given (from `deal`). `alive` is called between fits and may raise. The
    same input and seed give the same models. Raises ValueError for fewer than two tasks.
    """
    fold = deal(groups, seed=seed) if fold is None else fold
    without, probabilities = held_out(rows, labels, groups, fold, seed=seed, alive=alive)
    everything = fit(rows, labels, groups, seed=seed, alive=alive)
    return CrossFit(everything, without, fold, probabilities)


def held_out(
    rows: Floats,
    labels: Ints,
    groups: Ints,
    fold: Ints,
    *,
    seed: int,
    alive: Callable[[], None] = _nothing,
) -> tuple[tuple[Classifier, ...], Floats]:
    """The models without each fold, and the probabilities (n, 3) of each row by the model without its own."""
    probabilities = np.zeros((len(rows), len(VALUES)))
    without = []
    for number in range(int(fold.max()) + 1):
        rest = fold != number
        model = fit(rows[rest], labels[rest], groups[rest], seed=seed, alive=alive)
        without.append(model)
        if not rest.all():
            probabilities[~rest] = model.probabilities(rows[~rest])
    return tuple(without), probabilities


def deal(groups: Ints, *, seed: int, folds: int = FOLDS) -> Ints:
    """The fold of each row, (n,): all rows of a task in one fold, tasks shuffled, folds of about equal size.

    Raises ValueError for fewer than two tasks.
    """
    tasks, place = np.unique(groups, return_inverse=True)
    if len(tasks) < 2:
        raise ValueError("one task cannot be set against itself")
    sizes = np.bincount(place)
    order = np.random.default_rng(seed).permutation(len(tasks))
    order = order[np.argsort(-sizes[order], kind="stable")]
    held = np.zeros(min(folds, len(tasks)), dtype=np.int64)
    fold = np.zeros(len(tasks), dtype=np.int64)
    for task in order:
        fold[task] = held.argmin()
        held[fold[task]] += sizes[task]
    dealt: Ints = fold[place]
    return dealt


def fit(
    rows: Floats, labels: Ints, groups: Ints, *, seed: int, alive: Callable[[], None] = _nothing
) -> Classifier:
    """One model, with strength and trust chosen by an inner cross-validation grouped by task.

    With one task, or one label, nothing can be chosen: the model gives the shares of the labels.
    """
    if len(np.unique(groups)) < 2 or len(np.unique(labels)) < 2:
        return _fitted(rows, labels, STRENGTHS[0], trust=0.0)
    # the matrices are small: more threads cost more than they bring, and could add up in another order
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(limits=1):
        return _chosen(rows, labels, groups, seed, alive)


def _chosen(rows: Floats, labels: Ints, groups: Ints, seed: int, alive: Callable[[], None]) -> Classifier:
    fold = deal(groups, seed=seed + 1, folds=INNER_FOLDS)
    target = places(labels)
    base = np.zeros((len(rows), len(VALUES)))
    found: list[tuple[float, float, float, Floats]] = []
    for strength in STRENGTHS:
        raw = np.zeros_like(base)
        for number in range(int(fold.max()) + 1):
            held = fold == number
            model = _fitted(rows[~held], labels[~held], strength, trust=1.0)
            raw[held], base[held] = model.raw(rows[held]), model.shares
            alive()
        for trust in TRUST:
            losses = _losses(_shrunk(raw, base, trust), target)
            found.append((float(losses.mean()), strength, trust, losses))
    _, strength, trust, losses = min(found, key=lambda one: one[:3])
    return _fitted(
        rows, labels, strength, trust=trust if _gains(_losses(base, target) - losses, groups) else 0.0
    )


def _gains(gain: Floats, groups: Ints) -> bool:
    """Whether a gain per row (n,) is more than chance brings: more than one standard error over tasks."""
    _, place = np.unique(groups, return_inverse=True)
    by_task = np.bincount(place, weights=gain)
    return bool(by_task.mean() > by_task.std(ddof=1) / np.sqrt(len(by_task)) + SMALLEST_GAIN)


def _fitted(rows: Floats, labels: Ints, strength: float, *, trust: float) -> Classifier:
    known = np.array([bool((labels == value).any()) for value in VALUES])
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(spread > 1e-8, spread, 1.0)
    weights, bias = np.zeros((len(VALUES), rows.shape[1])), np.zeros(len(VALUES))
    if known.sum() > 1 and trust > 0:
        weights[known], bias[known] = _regression((rows - mean) / scale, labels, strength)
    return Classifier(
        mean=mean, scale=scale, weights=weights, bias=bias, known=known, shares=shares_of(labels), trust=trust
    )


def _regression(rows: Floats, labels: Ints, strength: float) -> tuple[Floats, Floats]:
    """Log-odds of the labels that occur, in order: (n_labels, n_features) and (n_labels,)."""
    # takes a second or two: only who trains pays for it
    from sklearn.linear_model import LogisticRegression

    model: Any = LogisticRegression(C=strength, max_iter=2_000).fit(rows, labels)
    weights, bias = model.coef_, model.intercept_
    if len(weights) == 1:
        return np.vstack([-weights, weights]) / 2, np.concatenate([-bias, bias]) / 2
    return weights, bias


def places(labels: Ints) -> Ints:
    """Labels as columns of the probabilities."""
    return labels - VALUES[0]


def shares_of(labels: Ints) -> Floats:
    """How frequent each label is, (3,), one added to each so that none is impossible."""
    counts = np.array([(labels == value).sum() for value in VALUES], dtype=np.float64)
    result: Floats = (counts + 1) / (counts.sum() + len(VALUES))
    return result


def _shrunk(raw: Floats, shares: Floats, trust: float) -> Floats:
    logs = (1 - trust) * np.log(shares) + trust * np.log(raw)
    exponentials = np.exp(logs - logs.max(axis=1, keepdims=True))
    result: Floats = exponentials / exponentials.sum(axis=1, keepdims=True)
    return result


def log_loss(probabilities: Floats, target: Ints) -> float:
    """Mean of −log p of the label that is right; `target` (n,): its columns (`places`)."""
    return float(_losses(probabilities, target).mean())


def _losses(probabilities: Floats, target: Ints) -> Floats:
    found: Floats = -np.log(np.maximum(probabilities[np.arange(len(target)), target], _TINY))
    return found
