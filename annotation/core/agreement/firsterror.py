"""Agreement on errors of whole trajectories: that there is one, and where the first is (docs/design.md,
"Statistics").

That there is one: Cohen's κ over trajectories (2×2, "has an error" first). Where it is: of the trajectories
in which both found an error, the share that agree on the first. `summary` puts both together.
"""

import numpy as np
import numpy.typing as npt

from annotation.core.agreement.measure import IntArray

NONE = -1


def first_positions(
    values: npt.ArrayLike, groups: npt.ArrayLike, positions: npt.ArrayLike, n_groups: int
) -> IntArray:
    """Position of the first −1 of each trajectory, (n_groups,); NONE when it has no −1.

    One row per step; `groups` holds 0 … n_groups − 1, `positions` the step's place in its trajectory.
    """
    error = np.asarray(values) == -1
    first = np.full(n_groups, np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(
        first, np.asarray(groups, dtype=np.int64)[error], np.asarray(positions, dtype=np.int64)[error]
    )
    return np.where(first == np.iinfo(np.int64).max, NONE, first)


def compare_first_errors(
    a: npt.ArrayLike, b: npt.ArrayLike, groups: npt.ArrayLike, positions: npt.ArrayLike, n_groups: int
) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Two annotators of the same trajectories; one row per step that both labelled.

    For each trajectory: its cell in the 2×2 table of presence (0 both found an error, 1 only a, 2 only b,
    3 neither), and whether both found one and the same first error.
    """
    in_a = first_positions(a, groups, positions, n_groups)
    in_b = first_positions(b, groups, positions, n_groups)
    cell = (in_a == NONE).astype(np.int64) * 2 + (in_b == NONE)
    return cell, (in_a == in_b) & (in_a != NONE)
