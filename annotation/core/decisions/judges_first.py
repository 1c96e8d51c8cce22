"""Judges first: what an item comes to when judges have said how good its options are, before people are
asked.

At least three judges must all put the options in the order of the key for the item to be settled without
people, and all in its reverse for it to be dropped; every other item, and every failure, goes to people. How
often people then agree with what judges settled is told by a sample of it (`wilson`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist
from typing import Final

from ..rechecks.sampling import fraction
from ..trajectories.trajectory import SourceLabel
from ..vocabulary import is_value
from .record import KEY, WRITER

LEAST_JUDGES: Final = 3

Labels = Mapping[int, int | None]
"""Labels of an item's options by message index; None: missing."""


class JudgesFirst(StrEnum):
    """The verdict on an item."""

    JUDGED = "judged"
    DROPPED = "dropped"
    PEOPLE = "people"


def key_of(steps: Iterable[int], labels: Iterable[SourceLabel]) -> dict[int, int | None]:
    """The key of an item with these options, by message index, from the labels of its source."""
    given = {label.message: label.value for label in labels if label.name == KEY and is_value(label.value)}
    return {index: given.get(index) for index in steps}


def writers_of(labels: Iterable[SourceLabel]) -> frozenset[str]:
    """The models of the judges that wrote options of an item."""
    return frozenset(label.value for label in labels if label.name == WRITER and isinstance(label.value, str))


def settle(key: Labels, judges: Sequence[Labels]) -> JudgesFirst:
    """The verdict on an item with this `key`, from the labels of all judges that were asked.

    A judge puts the options in the key's order if, of every two that the key tells apart, the better one has
    the higher label. A missing label is in no order, and an item with an option without a key, with a key
    that tells none apart, or with too few judges is for people.
    """
    if None in key.values() or len(judges) < LEAST_JUDGES:
        return JudgesFirst.PEOPLE
    signs = frozenset().union(*(_signs(key, labels) for labels in judges))
    verdicts = {frozenset({1}): JudgesFirst.JUDGED, frozenset({-1}): JudgesFirst.DROPPED}
    return verdicts.get(signs, JudgesFirst.PEOPLE)


def in_order(key: Labels, labels: Labels) -> bool:
    """Whether labels put the options in the key's order."""
    return _signs(key, labels) == {1}


def resolution(verdict: JudgesFirst, key: Labels) -> tuple[dict[int, int], int]:
    """The labels of the options and the outcome of an item that judges have settled: the key where they agree
    with it, and the item is fit for use; where they contradict it, nothing can be said, and it is dropped."""
    if verdict is JudgesFirst.DROPPED:
        return dict.fromkeys(key, 0), -1
    return {index: label for index, label in key.items() if label is not None}, 1


def place(seed: int, trajectory: int) -> float:
    """The place of chance of an item among all that judges settle: the first ones are audited."""
    return fraction(seed, "judges first", trajectory)


@dataclass(frozen=True, slots=True)
class JudgedAudit:
    """The agreement of people with what judges settled: `drawn` by chance, `done` of them resolved by people,
    `agreed` of these fit for use with the options in the judges' order."""

    drawn: int
    done: int
    agreed: int

    @property
    def share(self) -> float | None:
        """The share that agrees; None before any is resolved."""
        return self.agreed / self.done if self.done else None

    @property
    def low(self) -> float:
        """The lower end of its 95 % interval."""
        return wilson(self.agreed, self.done)[0]

    @property
    def high(self) -> float:
        """The upper end of its 95 % interval."""
        return wilson(self.agreed, self.done)[1]

    def as_json(self) -> dict[str, float | int | None]:
        """JSON-ready, unrounded."""
        return {name: getattr(self, name) for name in ("drawn", "done", "agreed", "share", "low", "high")}


def _signs(key: Labels, labels: Labels) -> set[int]:
    """The signs of all pairs that the key tells apart."""
    return {
        _sign(labels.get(better), labels.get(worse))
        for better, high in key.items()
        for worse, low in key.items()
        if high is not None and low is not None and high > low
    }


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
