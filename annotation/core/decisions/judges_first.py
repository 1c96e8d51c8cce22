"""Judges first: what an item comes to when judges have said how good its options are, before people are
asked.

At least three judges must all put the options in the order of the key for the item to be settled without
people, and all in its reverse for it to be dropped; every other item, and every failure, goes to people. How
often people then agree with what judges settled is told by a sample of it (`wilson`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from statistics import NormalDist
from typing import Final

LEAST_JUDGES: Final = 3

Labels = Mapping[int, int | None]
"""Labels of an item's options by message index; None: missing."""


class JudgesFirst(StrEnum):
    """What an item comes to."""

    JUDGED = "judged"
    DROPPED = "dropped"
    PEOPLE = "people"


def settle(key: Labels, said: Sequence[Labels]) -> JudgesFirst:
    """What an item with this `key` comes to, from the labels of all judges that were asked.

    A judge puts the options in the key's order if, of every two that the key tells apart, the better one has
    the higher label. A missing label is in no order, and an item without a key or with too few judges is for
    people.
    """
    pairs = [
        (better, worse)
        for better, high in key.items()
        for worse, low in key.items()
        if high is not None and low is not None and high > low
    ]
    if not pairs or len(said) < LEAST_JUDGES:
        return JudgesFirst.PEOPLE
    signs = {_sign(labels.get(better), labels.get(worse)) for labels in said for better, worse in pairs}
    return {frozenset({1}): JudgesFirst.JUDGED, frozenset({-1}): JudgesFirst.DROPPED}.get(
        frozenset(signs), JudgesFirst.PEOPLE
    )


def _sign(one: int | None, other: int | None) -> int:
    """1 if `one` is higher, −1 if it is lower, 0 for a tie and where either is missing."""
    return 0 if one is None or other is None else (one > other) - (one < other)


def wilson(agreed: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share, `agreed` of `n` (E. B. Wilson, "Probable inference, the law of
    succession, and statistical inference", 1927). Of nothing it is (0, 1)."""
    if not n:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.975)
    share, spread = agreed / n, z * z / n
    centre = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    return max(0.0, centre - half), min(1.0, centre + half)
