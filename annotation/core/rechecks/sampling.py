"""The sample of rechecks: its trajectories, the people to ask, the gaps between rechecks; and the queue.

All chance is a pure function of a project's secret seed: the same trajectories, resolved in the same order,
give the same sample, and nobody without the seed can foretell it. Places in the queue are drawn for the
rechecks' sake: in the order of the import, whatever comes out of turn would be one.
"""

from __future__ import annotations

from math import floor
from typing import Final

from annotation.core.jsonio.canonical import canonical_json, sha256_hex
from annotation.core.vocabulary import ConsensusKind, JudgeDoubt, Origin, QueueTurn

DIGITS: Final = 13
"""Hexadecimal digits that a float holds exactly."""

PLACE_DIGITS: Final = 15
"""Hexadecimal digits of a place: so many that no two trajectories of a project share one."""
PLACES: Final = 16**PLACE_DIGITS

PERCENT: Final = 100

READERS: Final = 2
"""The people who read each trajectory that an audit draws."""


def fraction(seed: int, *what: str | int) -> float:
    """A number from 0 to below 1, uniform and independent for each `what`: the first 52 bits of the sha256 of
    the seed and it, as canonical JSON."""
    return float(_drawn(seed, *what, digits=DIGITS) / 16**DIGITS)


def place(*, seed: int, subset: str, record: str) -> int:
    """The place of a trajectory in its project's queue, from 0 to below 2**60, uniform. What is imported
    later stands between what is left of earlier imports."""
    return _drawn(seed, "place", subset, record, digits=PLACE_DIGITS)


def position(*, seed: int, subset: str, record: str, turn: QueueTurn = QueueTurn.NORMAL) -> int:
    """The position of a trajectory in its project's queue: its place among those of subsets whose turn is the
    same, after all those that come before these."""
    return level(turn) + place(seed=seed, subset=subset, record=record)


def level(turn: QueueTurn) -> int:
    """The position from which on trajectories stand whose turn this is."""
    return list(QueueTurn).index(turn) * PLACES


def _drawn(seed: int, *what: str | int, digits: int) -> int:
    return int(sha256_hex(canonical_json([seed, *what]))[:digits], 16)


def chosen(*, seed: int, stratum: int, series: str, number: int, percent: int) -> bool:
    """Whether the `number`-th trajectory (from 0) of a stratum is in the sample of a series.

    Of each 100/`percent` trajectories that follow one another in a stratum one is chosen, and which one is
    chance: stratified systematic sampling with an independent start in each block (Cochran 1977, chapter 8).
    So every trajectory has the same probability, every stratum its share (to within one), and no period in
    the data can go along with one in the sample. `series` tells samples of the same trajectories apart.
    """
    if percent <= 0:
        return False
    share = percent / PERCENT
    blocks = range(floor(number * share), floor((number + 1) * share) + 1)
    return any(
        floor((block + fraction(seed, "block", stratum, series, block)) / share) == number for block in blocks
    )


def gap(*, seed: int, recheck: int, demand: float) -> int:
    """The number of trajectories from the queue before a person's next recheck, after this one.

    `demand` is how many rechecks arise for each trajectory claimed. Rechecks may come twice as often as they
    arise, so that none waits for long; the gap is uniform from 0 to twice its mean, so that nobody can tell
    them by their order.
    """
    mean = 1 / (2 * demand) if demand > 0 else 0.0
    return floor(fraction(seed, "gap", recheck) * (floor(2 * mean) + 1))


def rank(*, seed: int, trajectory: int, person: int, turn: int) -> float:
    """A person's rank as the reader of a trajectory: the lowest of those who may be is asked; each `turn`
    draws anew."""
    return fraction(seed, "person", trajectory, person, turn)


def origin_of(kinds: frozenset[str]) -> Origin:
    """The origin of a whole trajectory's consensus, from the kinds of its parts, outcome included:
    adjudicated if anything took a decision, else discussed if anything took a discussion."""
    if kinds == {ConsensusKind.ONE_PERSON}:
        return Origin.ONE_PERSON
    if kinds <= {ConsensusKind.UNANIMOUS}:
        return Origin.UNANIMOUS
    return (
        Origin.DISCUSSED
        if kinds <= {ConsensusKind.UNANIMOUS, ConsensusKind.DISCUSSED}
        else Origin.ADJUDICATED
    )


def doubt_of(contested: float | None) -> JudgeDoubt:
    """Whether judges differ about a trajectory, from how contested it is
    (core.influence.triage.contested)."""
    if contested is None:
        return JudgeDoubt.UNKNOWN
    return JudgeDoubt.DIFFERED if contested > 0 else JudgeDoubt.AGREED
