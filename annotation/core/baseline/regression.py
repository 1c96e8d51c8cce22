"""The baseline's regression for outcomes: a multinomial logistic regression on standardised figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from annotation.core.vocabulary import VALUES

from .forest import Bools, Floats, Ints, shares_of

STRENGTH: Final = 0.05
"""The inverse strength of the L2 penalty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    """A fitted regression. `mean`, `scale` (n_features,): what figures are standardised with; `weights`
    (n_known, n_features) and `bias` (n_known,) of the log-odds of the labels that occurred, None where that
    was one alone; `known`, `shares`: as in `forest.Forest`."""

    mean: Floats
    scale: Floats
    weights: Floats | None
    bias: Floats | None
    known: Bools
    shares: Floats

    def forward(self, rows: Floats, first: Bools) -> Floats:
        """(n, n_features) → (n, 3): how probable −1, 0 and +1 are; each row stands for itself, `first` or
        not. Rows sum to 1."""
        probabilities = np.tile(np.where(self.known, 0.0, self.shares), (len(rows), 1))
        left = 1 - probabilities.sum(axis=1, keepdims=True)
        if self.weights is None or self.bias is None:
            return np.where(self.known, left, probabilities)
        scores = (rows - self.mean) / self.scale @ self.weights.T + self.bias
        exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
        probabilities[:, self.known] = left * exponentials / exponentials.sum(axis=1, keepdims=True)
        return probabilities


def regress(rows: Floats, labels: Ints, first: Bools, *, seed: int, alive: Callable[[], None]) -> Regression:
    """A regression of these rows (n, n_features) with their labels (n,); nothing in it is chance."""
    alive()
    present = np.array([bool((labels == value).any()) for value in VALUES])
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(spread > 1e-8, spread, 1.0)
    weights, bias = None, None
    if present.sum() > 1:
        # takes a second or two: only who trains pays for it
        from sklearn.linear_model import LogisticRegression

        model: Any = LogisticRegression(C=STRENGTH, max_iter=2_000).fit((rows - mean) / scale, labels)
        weights, bias = model.coef_, model.intercept_
        if len(weights) == 1:
            weights, bias = np.vstack([-weights, weights]) / 2, np.concatenate([-bias, bias]) / 2
    return Regression(
        mean=mean, scale=scale, weights=weights, bias=bias, known=present, shares=shares_of(labels)
    )
