"""The regressions of the stack (core.scoring.recalibration.probabilities), for simulations that fit hundreds
of thousands of them.

Tasks that are drawn again and again have equal rows: these are fitted once, by their number, and by Newton's
method, in a fifth of the time. The objective is the same, and so is where it is smallest; what comes out
differs from the product by as much as its solver stops short of that.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import scipy

from annotation.core.figures.measure import FloatArray, IntArray
from annotation.core.vocabulary import VALUES

ENOUGH: Final = 1e-9
"""What another step can bring in the objective, when it is the last."""
NO_PENALTY: Final = 1e-9
"""Of intercepts, as good as none: without any, one of the labels could have any."""
ROUNDS, SHORTEST = 50, 1e-4


def probabilities(features: FloatArray, value: IntArray, asked: FloatArray, strength: float) -> FloatArray:
    """As in the product: the probabilities of −1, 0, +1 of the rows `asked`, (n, 3)."""
    labels = np.unique(value)
    found = np.zeros((len(asked), len(VALUES)))
    if len(labels) == 1:
        found[:, labels - VALUES[0]] = 1.0
        return found
    # equal rows have an equal sum under any weights
    mixed = features @ np.random.default_rng(0).standard_normal(features.shape[1])
    _, first, place = np.unique(np.round(mixed, 9), return_index=True, return_inverse=True)
    times = np.zeros((len(first), len(labels)))
    np.add.at(times, (place, np.searchsorted(labels, value)), 1)
    # of two labels the product has one column of weights, which two of half its size share here
    weights = _fitted(_with_intercept(features[first]), times, strength / (1 + (len(labels) == 2)))
    found[:, labels - VALUES[0]] = scipy.special.softmax(_with_intercept(asked) @ weights, axis=1)
    return found


def _with_intercept(features: FloatArray) -> FloatArray:
    return np.column_stack([features, np.ones(len(features))])


def _fitted(rows: FloatArray, times: FloatArray, strength: float) -> FloatArray:
    """The weights (columns, labels) of rows that have each label so many times."""
    columns, labels = rows.shape[1], times.shape[1]
    each = times.sum(axis=1)
    penalty = np.full((columns, 1), 1 / strength)
    penalty[-1] = NO_PENALTY

    def objective(weights: FloatArray) -> float:
        told = rows @ weights
        loss = each @ scipy.special.logsumexp(told, axis=1) - (times * told).sum()
        return float(loss + (penalty * weights**2).sum() / 2)

    weights = np.zeros((columns, labels))
    now = objective(weights)
    for _ in range(ROUNDS):
        told = scipy.special.softmax(rows @ weights, axis=1)
        slope = rows.T @ (each[:, None] * told - times) + penalty * weights
        curve = np.zeros((labels, columns, labels, columns))
        for a in range(labels):
            for b in range(labels):
                curve[a, :, b] = (rows * (each * told[:, a] * ((a == b) - told[:, b]))[:, None]).T @ rows
            curve[a, :, a] += np.diag(penalty[:, 0])
        size = labels * columns
        step = np.linalg.solve(curve.reshape(size, size) + NO_PENALTY * np.eye(size), slope.T.ravel())
        step = step.reshape(labels, columns).T
        brings, length = float((slope * step).sum()), 1.0
        while (later := objective(weights - length * step)) > now - 1e-4 * length * brings:
            length /= 2
            if length < SHORTEST:
                break
        weights, now = weights - length * step, later
        if brings < ENOUGH:
            break
    return weights
