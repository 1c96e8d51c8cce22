"""The size of an audit: how many draws prove that no more than a wished share of the labels is wrong.

Asked before an audit begins, so what it will find is assumed: a share of steps that are wrong, and how much
of a trajectory is wrong where anything is. Each draw then differs with the same chance, and a bound is
reached with so many differences of n draws or fewer, whose number is binomial.
"""

from __future__ import annotations

from math import log
from typing import Final

import numpy as np
import scipy

from annotation.core.audits.certificate import BETS, CONFIDENCE, STAKES

POWER: Final = 0.8
"""The chance with which the audit proves what it was planned for."""
WRONG_OF_A_TRAJECTORY: Final = 0.5
"""The share of a trajectory's steps that is wrong, where any is (docs/agreement.md says where from)."""
MOST_DRAWS: Final = 100_000


def draws_needed(
    most: float,
    *,
    error: float = 0.0,
    share: float = WRONG_OF_A_TRAJECTORY,
    power: float = POWER,
    heaviest: float = 1.0,
) -> int | None:
    """The fewest draws that prove a bound of at most `most` with a chance of `power`, nothing corrected yet.

    `error`: the true share of wrong steps; `share`: of the steps of a trajectory, where any is wrong;
    `heaviest`: as for `core.audits.certificate`; judges are taken to expect nothing of these errors.
    None where 100,000 draws are not enough.
    """
    if most >= 1:
        return 0
    if error >= most:
        return None
    chance = min(1.0, error / heaviest / share)
    differences = 0
    while draws := _draws_with(most / heaviest, differences, share):
        if float(scipy.special.bdtr(differences, draws, chance)) >= power:
            return draws
        differences += 1
    return None


def _draws_with(most: float, differences: int, share: float) -> int | None:
    """The fewest draws that prove it with so many differences among them."""
    low, high = max(1, differences), MOST_DRAWS
    if not _proved(high, differences, most, share):
        return None
    while low < high:
        middle = (low + high) // 2
        if _proved(middle, differences, most, share):
            high = middle
        else:
            low = middle + 1
    return low


def _proved(draws: int, differences: int, most: float, share: float) -> bool:
    """Whether the bets of `core.audits.certificate` have won enough against a mean of `most` by then."""
    even = 1 - BETS + BETS / (1 - most)
    lost = 1 - BETS + BETS * (1 - share) / (1 - most)
    with np.errstate(divide="ignore"):
        capital = (draws - differences) * np.log(even) + (differences * np.log(lost) if differences else 0)
    return float(scipy.special.logsumexp(capital, b=STAKES)) >= log(1 / (1 - CONFIDENCE))
