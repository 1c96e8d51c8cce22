"""The size of an audit: how many draws prove that no more than a wished share of the labels is wrong.

Asked before an audit begins, so what it will find is assumed: a share of steps that are wrong, and how much
of a trajectory is wrong where anything is. Each draw then differs with the same chance, and a bound is
reached with so many differences of n draws or fewer, whose number is binomial.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import scipy

from annotation.core.audits.certificate import CONFIDENCE, anytime_bound

POWER: Final = 0.8
"""The chance with which the audit proves what it was planned for."""
WRONG_OF_A_TRAJECTORY: Final = 0.5
"""The share of a trajectory's steps that is wrong, where any is."""
MOST_DRAWS: Final = 100_000


def draws_needed(
    most: float, *, error: float = 0.0, mixed: bool, share: float = WRONG_OF_A_TRAJECTORY
) -> int | None:
    """The fewest draws that prove a bound of at most `most` in 80 % of audits, before anything is corrected.

    `error`: the true share of wrong steps; `share`: of the steps of a trajectory, where any is wrong;
    `mixed`: whether draws go by what judges expect too, who are taken to expect nothing of these errors. None
    where 100,000 draws are not enough.
    """
    heaviest = 2.0 if mixed else 1.0
    if error >= most:
        return None
    chance = min(1.0, error / heaviest / share)
    differences = 0
    while True:
        draws = _draws_with(most / heaviest, differences, share)
        if draws is None:
            return None
        if float(scipy.special.bdtr(differences, draws, chance)) >= POWER:
            return draws
        differences += 1


def _draws_with(most: float, differences: int, share: float) -> int | None:
    """The fewest draws whose bound is at most `most` with so many differences among them."""
    low, high = max(1, differences), MOST_DRAWS
    if _bound(high, differences, share) > most:
        return None
    while low < high:
        middle = (low + high) // 2
        if _bound(middle, differences, share) <= most:
            high = middle
        else:
            low = middle + 1
    return low


def _bound(draws: int, differences: int, share: float) -> float:
    z = np.zeros(draws)
    z[:differences] = share
    return anytime_bound(z, 1 - CONFIDENCE)
