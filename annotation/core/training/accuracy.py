"""Running accuracy of a person on gold, with an interval that holds however often one looks. Pure functions.

A person's accuracy is the mean, over the gold trajectories that they have submitted, of the share of labels
(of steps and outcome) that are as in the key. Labels of one trajectory are right or wrong together, so a
trajectory is one observation, a number from 0 to 1, and nothing is assumed of how its steps depend on each
other.

The interval is a confidence sequence by betting (I. Waudby-Smith and A. Ramdas, "Estimating means of bounded
random variables by betting", JRSS B 86, 2024, with the mixture of F. Orabona and K.-S. Jun, "Tight
concentrations and confidence sequences from the regret of universal portfolio", IEEE Trans. Inf. Theory 70,
2024). Who claims that the mean is at least m plays against a capital of 1:

    K_t(m) = mean over κ of ∏ (1 + κ (m − y_i) / (1 − m)),   0 < κ < 1

If the claim is true K is a supermartingale, so it ever gets to 1/a with probability at most a (Ville 1939).
The means from which on it has are above the interval; those below are found alike with 1 − y. So both ends
hold at once for *all* looks at 95 %, and who is paused as the whole interval lies below a bound, and is at
or above it, was paused falsely: `FALSE_PAUSE` bounds how probable that ever is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

FALSE_PAUSE: Final = 0.025
"""The greatest probability that somebody whose accuracy is at the bound is ever paused, however much gold
they label until somebody resumes them."""
BETS: Final = (np.arange(40) + 0.5) / 40
"""The shares κ of what can be staked that are mixed, evenly."""
HALVINGS: Final = 40


@dataclass(frozen=True, slots=True)
class GoldMark:
    """One gold trajectory that somebody has submitted: `agreed` of its key's `keyed` labels are theirs."""

    keyed: int
    agreed: int

    @property
    def share(self) -> float:
        """The share that is as in the key, 0 … 1."""
        return self.agreed / self.keyed


@dataclass(frozen=True, slots=True)
class Accuracy:
    """`value` is None without a trajectory; `low` and `high` hold at 95 % however often one looks. `labels`
    are those of the keys."""

    trajectories: int
    labels: int
    value: float | None
    low: float
    high: float

    def below(self, bound: float) -> bool:
        """Whether the whole interval lies below a bound (0 … 1)."""
        return self.high < bound


def accuracy(marks: Sequence[GoldMark]) -> Accuracy:
    """The accuracy of these gold trajectories, each with a label in its key; their order plays no part."""
    shares = np.array([mark.share for mark in marks], dtype=np.float64)
    return Accuracy(
        trajectories=len(marks),
        labels=sum(mark.keyed for mark in marks),
        value=float(shares.mean()) if marks else None,
        low=1.0 - _upper_end(1.0 - shares),
        high=_upper_end(shares),
    )


def paused_at(shares: Sequence[float], bound: float) -> int | None:
    """After how many of these shares somebody who is looked at after each is paused; None: never."""
    refuted = _capital(np.asarray(shares, dtype=np.float64), bound) >= -np.log(FALSE_PAUSE)
    return int(np.argmax(refuted)) + 1 if refuted.any() else None


def _upper_end(shares: np.ndarray) -> float:
    """The largest mean that the shares do not refute, to within 2**-40; refuting rises with the mean."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        mean = (low + high) / 2
        low, high = (low, mean) if _refuted(shares, mean) else (mean, high)
    return high


def _refuted(shares: np.ndarray, mean: float) -> bool:
    """Whether the capital against a mean of at least this has got to 1 / `FALSE_PAUSE` at the last look."""
    return bool(len(shares)) and bool(_capital(shares, mean)[-1] >= -np.log(FALSE_PAUSE))


def _capital(shares: np.ndarray, mean: float) -> np.ndarray:
    """The logarithm of the capital after each share."""
    gains = np.log(1.0 + BETS[:, None] * (mean - shares[None, :]) / (1.0 - mean))
    logs: np.ndarray = np.logaddexp.reduce(gains.cumsum(axis=1), axis=0) - np.log(len(BETS))
    return logs
