"""Krippendorff's α, nominal and ordinal, any number of annotators, missing labels allowed.

Source: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011). Each pair of labels of a unit
with m labels adds 1/(m − 1) to the coincidences o_ck, in both orders; n_c = Σ_k o_ck and n = Σ_c n_c. Then
α = 1 − (n − 1) Σ_ck o_ck δ²_ck / Σ_ck n_c n_k δ²_ck. Nominal: δ² is 1 between different labels. Ordinal: δ_ck
is the number of labels used from c to k, those of c and k themselves counted half.

Conventions: units with fewer than two labels say nothing; undefined without any other, and when only one
label was used at all.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

from annotation.core.figures.measure import FloatArray, divide

Scale = Literal["nominal", "ordinal"]


def alpha_values(coincidences: npt.ArrayLike, scale: Scale = "nominal") -> FloatArray:
    """α of many tables of coincidences at once: (…, k, k), symmetric, labels in their order → (…), NaN where
    it is undefined."""
    counts = np.asarray(coincidences, dtype=np.float64)
    per_label = counts.sum(axis=-1)
    n = per_label.sum(axis=-1)
    squared = _nominal(counts.shape[-1]) if scale == "nominal" else _ordinal(per_label)
    observed = (counts * squared).sum(axis=(-2, -1))
    expected = (per_label[..., :, None] * per_label[..., None, :] * squared).sum(axis=(-2, -1))
    return 1.0 - divide((n - 1) * observed, expected)


def _nominal(size: int) -> FloatArray:
    return 1.0 - np.eye(size)


def _ordinal(per_label: FloatArray) -> FloatArray:
    """δ² of labels used so often, (…, k) → (…, k, k)."""
    middle = np.cumsum(per_label, axis=-1) - per_label / 2
    apart: FloatArray = (middle[..., :, None] - middle[..., None, :]) ** 2
    return apart
