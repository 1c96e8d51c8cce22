"""Transition κ: agreement on where a trajectory's labels go next (docs/design.md, "Statistics").

Auto-fill and habit make neighbouring labels alike, which κ over single steps rewards. Transition κ conditions
on the past: its units are the first steps, and the steps whose previous step both annotators labelled alike;
its strata s are that previous label, or "start". With p_o,s the agreement and p_e,s the chance agreement
(from the marginals within the stratum), κ_T = Σ n_s (p_o,s − p_e,s) / Σ n_s (1 − p_e,s).

Conventions: undefined when there is no unit, and when the denominator is 0 (in every stratum both annotators
used one label only). The source of a label plays no part.
"""

import numpy as np
import numpy.typing as npt

from annotation.core.figures.confusion import SIZE
from annotation.core.figures.measure import FloatArray, IntArray

STRATA = SIZE + 1
"""Strata 0, 1, 2: the previous label was −1, 0, +1; stratum 3: the first step of a trajectory."""
NO_UNIT = -1


def strata(
    a: npt.ArrayLike, b: npt.ArrayLike, trajectories: npt.ArrayLike, positions: npt.ArrayLike
) -> IntArray:
    """The stratum of each step, (n,), NO_UNIT where it is no unit.

    One row per step that both labelled, sorted by trajectory, then by `positions` (0 for a trajectory's first
    step). A step whose previous step is not among the rows is no unit.
    """
    first, second = np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64)
    group, place = np.asarray(trajectories, dtype=np.int64), np.asarray(positions, dtype=np.int64)
    result = np.where(place == 0, STRATA - 1, NO_UNIT)
    if len(place) > 1:
        follows = (group[1:] == group[:-1]) & (place[1:] == place[:-1] + 1)
        alike = follows & (first[:-1] == second[:-1])
        result[1:] = np.where(alike, first[:-1] + 1, result[1:])
    return result


def transition_values(tables: npt.ArrayLike) -> FloatArray:
    """κ_T of many tables at once: (…, 4, 3, 3) → (…), NaN where it is undefined."""
    counts = np.asarray(tables, dtype=np.float64)
    n = counts.sum(axis=(-2, -1))  # (…, 4)
    agreed = np.trace(counts, axis1=-2, axis2=-1)
    by_chance = np.zeros_like(n)
    np.divide(
        (counts.sum(axis=-1) * counts.sum(axis=-2)).sum(axis=-1), n, out=by_chance, where=n > 0
    )  # n_s · p_e,s
    above = (agreed - by_chance).sum(axis=-1)
    possible = (n - by_chance).sum(axis=-1)
    result = np.full(np.shape(possible), np.nan)
    np.divide(above, possible, out=result, where=possible > 1e-9)
    return result
