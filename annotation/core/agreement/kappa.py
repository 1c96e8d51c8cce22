"""Percent agreement and Cohen's κ, plain and weighted, from tables of counts.

κ = 1 − Σ w·O / Σ w·E with O the counts, E those expected from the marginals, and w the disagreement weight of
a cell: 1 off the diagonal (plain), |i − j| (linear) or (i − j)² (quadratic). Sources: J. Cohen, "A
coefficient of agreement for nominal scales" (1960) and "Weighted kappa" (1968). The categories are always all
of the table's, also those that nobody used; this changes no value, and agrees with
`sklearn.metrics.cohen_kappa_score(…, labels=[-1, 0, 1])`.

Conventions: no pairs, or Σ w·E = 0 (both annotators used one and the same label only), is undefined.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

from annotation.core.agreement.measure import FloatArray, divide

Weights = Literal["plain", "linear", "quadratic"]


def agreement_values(tables: npt.ArrayLike) -> FloatArray:
    """Shares of agreement of many tables at once: (…, k, k) → (…), NaN where a table is empty."""
    counts = np.asarray(tables, dtype=np.float64)
    total = counts.sum(axis=(-2, -1))
    return divide(np.trace(counts, axis1=-2, axis2=-1), total)


def kappa_values(tables: npt.ArrayLike, weights: Weights = "plain") -> FloatArray:
    """κ of many tables at once: (…, k, k) → (…), NaN where it is undefined. For the bootstrap."""
    counts = np.asarray(tables, dtype=np.float64)
    weight = disagreement(counts.shape[-1], weights)
    total = counts.sum(axis=(-2, -1))
    observed = (counts * weight).sum(axis=(-2, -1)) * total
    expected = np.einsum("...i,ij,...j->...", counts.sum(axis=-1), weight, counts.sum(axis=-2))
    return 1.0 - divide(observed, expected)


def disagreement(size: int, weights: Weights) -> FloatArray:
    """The weight of each cell: (size, size), 0 on the diagonal."""
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    if weights == "plain":
        return (distance > 0).astype(np.float64)
    return distance if weights == "linear" else distance**2
