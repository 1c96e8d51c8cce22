"""The draw of an audit: trajectories with replacement, with chances fixed before the first draw.

Nine tenths of a trajectory's chance are its share of the steps, and one is its share of the steps expected
to be wrong (probability proportional to size with replacement: M. H. Hansen and W. N. Hurwitz, "On the theory
of sampling from finite populations", 1943). The part by steps keeps every chance above nine tenths of that
share, so that no single draw counts for more than 1.12, whatever judges expected: that much wider a bound
without a difference can become.

All chance is a pure function of an audit's secret seed, as in `core.rechecks.sampling`: who does not know it
cannot foretell a draw.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from typing import Final

from annotation.core.rechecks.sampling import fraction

BY_STEPS: Final = 0.9
"""The part of the chances that goes by steps alone."""


def chances(steps: Mapping[int, int], expected_wrong: Mapping[int, float] | None) -> dict[int, float]:
    """The chance of each trajectory with steps: .9 its share of all + .1 its share of those expected wrong.

    `expected_wrong`: the steps of a trajectory that judges expect to be wrong, by their calibrated
    probabilities; one that is not in it has none. By steps alone where it is None or comes to nothing.
    """
    counted = {trajectory: count for trajectory, count in sorted(steps.items()) if count > 0}
    total = sum(counted.values())
    expected = {trajectory: (expected_wrong or {}).get(trajectory, 0.0) for trajectory in counted}
    wrong = sum(expected.values())
    if wrong <= 0:
        return {trajectory: count / total for trajectory, count in counted.items()}
    return {
        trajectory: BY_STEPS * count / total + (1 - BY_STEPS) * expected[trajectory] / wrong
        for trajectory, count in counted.items()
    }


def draw(seed: int, chances: Mapping[int, float], number: int, start: int = 0) -> list[int]:
    """The trajectories of the draws `start` to `start + number - 1`, with replacement.

    The same seed and chances give the same sequence, in whatever parts it is asked for.
    """
    order = sorted(chances)
    ends = list(accumulate(chances[trajectory] for trajectory in order))
    return [
        order[min(bisect_right(ends, fraction(seed, "audit", at) * ends[-1]), len(order) - 1)]
        for at in range(start, start + number)
    ]


def heaviest(steps: Mapping[int, int], chances: Mapping[int, float]) -> float:
    """The most that one draw may count for: the largest quotient of a share of the steps and its chance.

    1 where draws go by steps alone, at most 1.12 where they are mixed; known before the first draw.
    """
    total = sum(steps[trajectory] for trajectory in chances)
    return max(1.0, *(steps[trajectory] / total / chance for trajectory, chance in chances.items()))
