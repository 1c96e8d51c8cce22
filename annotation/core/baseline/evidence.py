"""The evidence of each figure of a step for a label of the baseline.

Prediction difference (Robnik-Šikonja and Kononenko 2008, "Explaining classifications for individual
instances"): the log-odds of the label, less those that it would have if this one figure were not known, that
is, with the label's probability averaged over the values which the figure has in training. It asks nothing of
the model but its answers, so it is as sound for trees as for a line.

The label of the step before is no figure here: a reason that told of it would show what is suggested for a
step that may still be sealed.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from annotation.core.vocabulary import VALUES

from .forest import Bools, Floats, Forest, Ints

MOST_VALUES: Final = 5
"""A figure with more values than these is represented by as many quantiles."""


class Evidence:
    """For one forest and the rows (n, n_features) it was grown on. `mean` (n_features,): of those rows."""

    def __init__(self, forest: Forest, rows: Floats) -> None:
        self._forest = forest
        self.mean: Floats = rows.mean(axis=0)
        spread = [_spread(column) for column in rows.T]
        self._figure = np.repeat(np.arange(rows.shape[1]), [len(values) for values, _ in spread])
        self._value = np.concatenate([values for values, _ in spread])
        self._weight = np.concatenate([weights for _, weights in spread])

    def of(self, rows: Floats, first: Bools, labels: Ints) -> Floats:
        """(n, n_features): the evidence of each figure for the label (n,) of each step of one or several
        trajectories, in log-odds, steps in order and `first` (n,) where a trajectory begins."""
        if not self._forest.trees or not len(rows):
            return np.zeros_like(rows)
        before = self._before(rows, first)
        column = labels - VALUES[0]
        with_all = _log_odds(self._forest.given(rows, before)[np.arange(len(rows)), column])
        varied = np.repeat(rows, len(self._value), axis=0)
        at = np.arange(len(varied))
        varied[at, np.tile(self._figure, len(rows))] = np.tile(self._value, len(rows))
        shares = self._forest.given(varied, np.repeat(before, len(self._value), axis=0))
        weighted = shares[at, np.repeat(column, len(self._value))].reshape(len(rows), -1) * self._weight
        starts = np.unique(self._figure, return_index=True)[1]
        unknown = np.add.reduceat(weighted, starts, axis=1)
        return with_all[:, None] - _log_odds(unknown)

    def _before(self, rows: Floats, first: Bools) -> Floats:
        """The most probable label of the step before, one-hot; zeros where a trajectory begins."""
        forward = self._forest.forward(rows, first).argmax(axis=1)
        previous: Floats = np.eye(len(VALUES))[np.roll(forward, 1)]
        previous[first] = 0.0
        return previous


def _spread(column: Floats) -> tuple[Floats, Floats]:
    """The values of a figure (k,) and how frequent each is, k at most MOST_VALUES."""
    values, counts = np.unique(column, return_counts=True)
    if len(values) > MOST_VALUES:
        middles = (np.arange(MOST_VALUES) + 0.5) / MOST_VALUES
        values, counts = np.unique(np.quantile(column, middles, method="nearest"), return_counts=True)
    return values, counts / counts.sum()


def _log_odds(probability: Floats) -> Floats:
    bounded = np.clip(probability, 1e-6, 1 - 1e-6)
    return np.log(bounded) - np.log1p(-bounded)
