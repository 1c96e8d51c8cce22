"""Differences between the annotators of one trajectory, by which its case is filtered and sorted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class DisputeKind(StrEnum):
    """A kind of dispute; one trajectory may be of several.

    `sign_flip`: a step that is +1 to one annotator and −1 to another. `neutral_boundary`: a step that is 0 to
    one and +1 or −1 to another, and no sign flip. `first_error`: the first −1 stands elsewhere, or only some
    found one. `outcome_only`: every step is agreed on, the outcome is not.
    """

    SIGN_FLIP = "sign_flip"
    NEUTRAL_BOUNDARY = "neutral_boundary"
    FIRST_ERROR = "first_error"
    OUTCOME_ONLY = "outcome_only"


@dataclass(frozen=True, slots=True)
class TrajectoryDifferences:
    """Differences between the annotators of one trajectory; each disputed step is a sign flip or a neutral
    boundary."""

    sign_flips: int
    neutral_boundaries: int
    first_error: bool
    outcome: bool


def differences(steps: Iterable[Sequence[int]], outcomes: Sequence[int]) -> TrajectoryDifferences:
    """Compare complete labels: for each step in order the values of all annotators, always in the same order
    of annotators; and their outcomes."""
    flips = boundaries = 0
    first_errors: dict[int, int] = {}
    for ordinal, values in enumerate(steps):
        if len(set(values)) > 1:
            flipped = min(values) == -1 and max(values) == 1
            flips += flipped
            boundaries += not flipped
        for annotator, value in enumerate(values):
            if value == -1:
                first_errors.setdefault(annotator, ordinal)
    positions = {first_errors.get(annotator) for annotator in range(len(outcomes))}
    return TrajectoryDifferences(
        sign_flips=flips,
        neutral_boundaries=boundaries,
        first_error=len(positions) > 1,
        outcome=len(set(outcomes)) > 1,
    )
