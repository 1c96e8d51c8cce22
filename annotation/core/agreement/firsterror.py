"""Agreement on errors of whole trajectories: that there is one, and where the first is (DESIGN §9)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.core.agreement.kappa import cohen_kappa
from annotation.core.agreement.measure import (
    NO_SHARED_ERROR,
    NO_TRAJECTORIES,
    ONE_VERDICT,
    IntArray,
    Measure,
    measured,
)


@dataclass(frozen=True, slots=True)
class FirstErrors:
    """Counts over trajectories. `table`: 2×2, rows first annotator, columns second, "has an error" first.

    `same`: both found an error, and the same first one.
    """

    table: IntArray
    same: int

    @property
    def presence(self) -> Measure:
        """κ of whether there is an error; undefined when both always said yes, or always no."""
        found = cohen_kappa(self.table, reason=ONE_VERDICT)
        return found if found.n else Measure(None, 0, NO_TRAJECTORIES)

    @property
    def location(self) -> Measure:
        """Share of the trajectories in which both found an error that agree on the first; 0 … 1."""
        both = int(self.table[0, 0])
        return measured(self.same / both if both else np.nan, both, "", empty=NO_SHARED_ERROR)


def first_positions(
    values: npt.ArrayLike, trajectories: npt.ArrayLike, positions: npt.ArrayLike, n_trajectories: int
) -> IntArray:
    """Position of the first −1 of each trajectory, (n_trajectories,); −1 when it has none.

    One row per step; `trajectories` holds 0 … n_trajectories − 1, `positions` the step's place in it.
    """
    error = np.asarray(values) == -1
    where = np.asarray(positions, dtype=np.int64)[error]
    first = np.full(n_trajectories, np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(first, np.asarray(trajectories, dtype=np.int64)[error], where)
    return np.where(first == np.iinfo(np.int64).max, -1, first)


def first_errors(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    trajectories: npt.ArrayLike,
    positions: npt.ArrayLike,
    n_trajectories: int,
) -> FirstErrors:
    """Compare two annotators over `n_trajectories`; one row per step that both labelled."""
    in_a = first_positions(a, trajectories, positions, n_trajectories)
    in_b = first_positions(b, trajectories, positions, n_trajectories)
    # row and column 0: has an error
    table = np.bincount((in_a < 0) * 2 + (in_b < 0), minlength=4).reshape(2, 2)
    return FirstErrors(table=table, same=int(((in_a == in_b) & (in_a >= 0)).sum()))
