"""Confusion of raters without a known truth, by EM (Dawid and Skene 1979).

Raters are people, never judges: the model takes raters to err independently of one another, and judges err
together; their agreement would count as truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

ROUNDS: Final = 1_000
SMALL: Final = 1e-9


@dataclass(frozen=True, slots=True)
class RaterConfusion:
    """`rates` (raters, classes, classes): how often a rater says the class of the column where the one of the
    row is true; NaN in a row that nothing was said about. `marginals` (classes): how frequent each is.
    `posterior` (units, classes): how probably each is true of a unit."""

    rates: FloatArray
    marginals: FloatArray
    posterior: FloatArray


def rater_confusion(counts: npt.NDArray[np.int64]) -> RaterConfusion | None:
    """The maximum-likelihood confusion of raters, from how often each rater said each class of each unit.

    `counts`: (units, raters, classes); a rater who said nothing of a unit has zeros there. None without a
    unit. As published: the first guess at the truth is each unit's shares of the answers, and E and M steps
    follow until the log-likelihood does not rise by 1e-9 any more. It can have several maxima; this is the
    one that majority leads to. Two raters do not tell who of them errs: give units with three answers.
    """
    answered = counts[counts.sum(axis=(1, 2)) > 0]
    if not len(answered):
        return None
    given = answered.astype(np.float64)
    posterior = given.sum(axis=1) / given.sum(axis=(1, 2))[:, None]
    before = -np.inf
    for _ in range(ROUNDS):
        marginals = posterior.mean(axis=0)
        answers = np.einsum("uj,urk->rjk", posterior, given)
        total = answers.sum(axis=2, keepdims=True)
        rates = np.divide(answers, total, out=np.full_like(answers, np.nan), where=total > 0)
        # what was never said of a class has probability 0: its logarithm is low, and multiplied by no count
        logs = np.log(np.maximum(np.nan_to_num(rates), 1e-300))
        joint = np.log(np.maximum(marginals, 1e-300)) + np.einsum("urk,rjk->uj", given, logs)
        highest = joint.max(axis=1, keepdims=True)
        weight = np.exp(joint - highest)
        likelihood = float((highest[:, 0] + np.log(weight.sum(axis=1))).sum())
        posterior = weight / weight.sum(axis=1, keepdims=True)
        if likelihood - before < SMALL:
            break
        before = likelihood
    return RaterConfusion(rates, marginals, posterior)
