"""The price of looking at a running experiment: the level that each look may use.

A result that is tested at every look is found by chance more often than the level says. So the level is
spent, little of it early (Lan and DeMets 1983, with the spending function that resembles O'Brien and
Fleming's bounds), and how often anybody looks need not be known before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from annotation.core.figures.measure import FloatArray

LEVEL: Final = 0.05
STEPS: Final = 100
"""Information is counted in hundredths: a look within the same hundredth is the same look."""
_POINTS: Final = 401
_FAR: Final = 8.0
"""Bounds beyond so many standard errors are never crossed: 10^−15."""


@dataclass(frozen=True, slots=True)
class InterimLook:
    """A look at a share `information` (0 to 1) of the labels: how much of the level is `spent` with it, and
    the `bound`, in standard errors, that the statistic must pass."""

    information: float
    spent: float
    bound: float

    @property
    def level(self) -> float:
        """The two-sided level of this look alone."""
        return float(2 * scipy.special.ndtr(-self.bound))


def information(settled: int, planned: int) -> float:
    """The share of the trajectories whose labels are all in, rounded down to hundredths."""
    return 0.0 if planned <= 0 else min(STEPS, STEPS * settled // planned) / STEPS


def spent_until(share: float, level: float = LEVEL) -> float:
    """The part of a two-sided level that may be spent until a share of the information: on either side 2 (1 −
    Φ(z / √share)) with z the normal quantile of 1 − level/4, capped at the whole."""
    if share <= 0:
        return 0.0
    if share >= 1:
        return level
    return float(4 * scipy.special.ndtr(scipy.special.ndtri(level / 4) / np.sqrt(share)))


def looks(shares: Sequence[float], level: float = LEVEL) -> list[InterimLook]:
    """The bounds of looks at growing shares of the information.

    By Armitage, McPherson and Rowe's (1969) recursion: the density of the statistic times √information, among
    experiments that no earlier look has ended, is carried from look to look by its normal increments, and
    each bound leaves out what may be spent in between. Raises ValueError for shares that do not grow.
    """
    planned_looks: list[InterimLook] = []
    before, at, density = 0.0, np.zeros(1), np.ones(1)
    for share in shares:
        if not before < share <= 1:
            raise ValueError("each look needs more information than the one before, and no more than all")
        spread = np.sqrt(share - before)
        spent = spent_until(share, level)
        due = spent - (planned_looks[-1].spent if planned_looks else 0.0)
        bound = _bound(at, density, spread, due, float(np.sqrt(share)))
        planned_looks.append(InterimLook(share, spent, bound))
        edge = min(bound, _FAR) * np.sqrt(share)
        grid = np.linspace(-edge, edge, _POINTS)
        apart = (grid[:, None] - at[None, :]) / spread
        carried = np.exp(-(apart**2) / 2) / (spread * np.sqrt(2 * np.pi)) @ density
        weights = np.full(_POINTS, grid[1] - grid[0])
        weights[[0, -1]] /= 2
        before, at, density = share, grid, carried * weights
    return planned_looks


def _bound(at: FloatArray, density: FloatArray, spread: float, due: float, root: float) -> float:
    """The bound, in standard errors, beyond which a probability of `due` lies on both sides together."""

    def beyond(bound: float) -> float:
        below, above = (-bound * root - at) / spread, (at - bound * root) / spread
        outside = scipy.special.ndtr(below) + scipy.special.ndtr(above)
        return float(outside @ density) - due

    if beyond(_FAR) >= 0:
        return _FAR
    return float(scipy.optimize.brentq(beyond, 0.0, _FAR, xtol=1e-8))
