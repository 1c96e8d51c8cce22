"""Krippendorff's α for nominal data, any number of annotators, missing labels allowed.

Source: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011). With n_uc the labels c of unit u
and m_u all of its labels (units with fewer than two say nothing), the coincidences are o_cc = Σ_u n_uc (n_uc
− 1) / (m_u − 1), n_c = Σ_u n_uc over those units, n = Σ_c n_c, and α = 1 − (n − 1)(n − Σ_c o_cc) / (n² − Σ_c
n_c²).

Conventions: undefined without a unit that two people labelled, and when only one label was used at all.
"""

import numpy as np
import numpy.typing as npt

from annotation.core.agreement.confusion import SIZE, codes
from annotation.core.agreement.measure import FloatArray, IntArray, divide


def counts_by_unit(values: npt.ArrayLike, units: npt.ArrayLike, n_units: int) -> IntArray:
    """How often each unit got each label, (n_units, 3). One row per label; `units` holds 0 … n_units − 1."""
    cell = np.asarray(units, dtype=np.int64) * SIZE + codes(values)
    return np.bincount(cell, minlength=n_units * SIZE).reshape(n_units, SIZE)


def alpha_sums(counts: npt.ArrayLike) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """What each unit adds to α, (units, k + 1): labels by value, and coincidences; and which units count."""
    table = np.asarray(counts, dtype=np.float64)
    labels = table.sum(axis=1)
    pairable = labels >= 2
    kept = np.where(pairable[:, None], table, 0.0)
    coincident = (kept * (kept - 1)).sum(axis=1) / np.where(pairable, labels - 1, 1.0)
    return np.column_stack([kept, coincident]), pairable


def alpha_values(sums: npt.ArrayLike) -> FloatArray:
    """α of many samples at once: (…, k + 1) summed as in `alpha_sums` → (…), NaN where it is undefined."""
    array = np.asarray(sums, dtype=np.float64)
    per_label, coincident = array[..., :-1], array[..., -1]
    n = per_label.sum(axis=-1)
    expected = n**2 - (per_label**2).sum(axis=-1)
    return 1.0 - divide((n - 1) * (n - coincident), expected)
