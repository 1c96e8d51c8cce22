"""Drift of a person's labels: a cumulative sum (CUSUM) over what they rechecked, in order.

The test is E. S. Page's ("Continuous inspection schemes", 1954) with the scores of S. H. Steiner, R. J. Cook,
V. T. Farewell and T. Treasure ("Monitoring surgical performance using risk-adjusted cumulative sum charts",
2000): after a trajectory of n steps of which x are wrong, where p of the steps are wrong as a rule,

    S ← max(0, S + (x ln R − n ln(1 − p + R p)) / φ),   R = 2

which is the log of how much better twice the odds of a wrong step explain it than the usual ones. Steps of
one trajectory are wrong together, so the score is divided by the dispersion φ of all trajectories, Pearson's
X² over its degrees of freedom and at least 1 (P. McCullagh and J. A. Nelder, Generalized Linear Models, 2nd
ed. 1989, section 4.5). From `LIMIT` on the sum is a signal. As long as nothing has changed it gets there once
in e^LIMIT trajectories on average, or more rarely (G. Lorden, "Procedures for reacting to a change in
distribution", 1971): once in 148.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

ODDS: Final = 2.0
"""The change that is looked for: so many times the odds of a wrong step."""
LIMIT: Final = 5.0


@dataclass(frozen=True, slots=True)
class CheckedTrajectory:
    """One trajectory that somebody rechecked: how many steps count, and how many of them are wrong. `kind`:
    what with, as different checks find different shares of wrong steps as a rule."""

    kind: str
    steps: int
    wrong: int


@dataclass(frozen=True, slots=True)
class UsualRate:
    """The usual results of a kind of recheck: the share of wrong steps, and its dispersion between
    trajectories."""

    rate: float
    dispersion: float


def usual(checked: Sequence[CheckedTrajectory]) -> dict[str, UsualRate]:
    """The usual rate of each kind, from everybody's rechecks."""
    return {
        kind: _rule([one for one in checked if one.kind == kind]) for kind in {one.kind for one in checked}
    }


def _rule(checked: Sequence[CheckedTrajectory]) -> UsualRate:
    rate = sum(trajectory.wrong for trajectory in checked) / sum(trajectory.steps for trajectory in checked)
    if not 0 < rate < 1 or len(checked) < 2:
        return UsualRate(rate, 1.0)
    squares = sum(
        (trajectory.wrong - trajectory.steps * rate) ** 2 / (trajectory.steps * rate * (1 - rate))
        for trajectory in checked
    )
    return UsualRate(rate, max(1.0, squares / (len(checked) - 1)))


def cusum(checked: Sequence[CheckedTrajectory], rules: Mapping[str, UsualRate]) -> list[float]:
    """The sum after each of somebody's trajectories, in the order in which they submitted them."""
    sums, last = [], 0.0
    for one in checked:
        rule = rules[one.kind]
        score = one.wrong * log(ODDS) - one.steps * log(1 - rule.rate + ODDS * rule.rate)
        last = max(0.0, last + score / rule.dispersion)
        sums.append(last)
    return sums
