"""Percent agreement, Cohen's κ, plain and weighted, and Gwet's AC1, from tables of counts.

κ = 1 − Σ w·O / Σ w·E with O the counts, E those expected from the marginals, and w the disagreement weight of
a cell: 1 off the diagonal (plain), |i − j| (linear) or (i − j)² (quadratic). Sources: J. Cohen, "A
coefficient of agreement for nominal scales" (1960) and "Weighted kappa" (1968). The categories are always all
of the table's, also those that nobody used; this changes no value, and agrees with
`sklearn.metrics.cohen_kappa_score(…, labels=[-1, 0, 1])`.

AC1 = (p_o − p_e) / (1 − p_e) with p_e = Σ_c π_c (1 − π_c) / (K − 1), π_c the mean of both annotators' shares
of label c, and K the number of labels there are, used or not: K. L. Gwet, "Computing inter-rater reliability
and its variance in the presence of high agreement" (2008).

Conventions: no pairs, or for κ Σ w·E = 0 (both annotators used one and the same label only), is undefined.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

from annotation.core.figures.measure import FloatArray, divide

Weights = Literal["plain", "linear", "quadratic"]


def agreement_values(tables: npt.ArrayLike) -> FloatArray:
    """Shares of agreement of many tables at once: (…, k, k) → (…), NaN where a table is empty."""
    counts = np.asarray(tables, dtype=np.float64)
    total = counts.sum(axis=(-2, -1))
    return divide(np.trace(counts, axis1=-2, axis2=-1), total)


def kappa_values(tables: npt.ArrayLike, weights: Weights = "plain") -> FloatArray:
    """κ of many tables at once: (…, k, k) → (…), NaN where it is undefined."""
    counts = np.asarray(tables, dtype=np.float64)
    weight = disagreement(counts.shape[-1], weights)
    row, column = counts.sum(axis=-1), counts.sum(axis=-2)
    observed = expected = np.zeros(counts.shape[:-2])
    # cell by cell: tables are small, and there may be a hundred thousand of them
    for a, b in zip(*np.nonzero(weight), strict=True):
        observed = observed + weight[a, b] * counts[..., a, b]
        expected = expected + weight[a, b] * row[..., a] * column[..., b]
    return 1.0 - divide(observed * row.sum(axis=-1), expected)


def ac1_values(tables: npt.ArrayLike) -> FloatArray:
    """AC1 of many tables at once: (…, k, k) → (…), NaN where a table is empty. Defined with one label too."""
    counts = np.asarray(tables, dtype=np.float64)
    total = counts.sum(axis=(-2, -1))
    share = divide(counts.sum(axis=-1) + counts.sum(axis=-2), 2 * total[..., None])
    chance = (share * (1 - share)).sum(axis=-1) / (counts.shape[-1] - 1)
    return divide(agreement_values(counts) - chance, 1 - chance)


def disagreement(size: int, weights: Weights) -> FloatArray:
    """The weight of each cell: (size, size), 0 on the diagonal."""
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    if weights == "plain":
        return (distance > 0).astype(np.float64)
    return distance if weights == "linear" else distance**2
