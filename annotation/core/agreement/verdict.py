"""Say in words whether labels can be relied on.

Convention: K. Krippendorff, Content Analysis (2nd ed. 2004, ch. 11): from .800 on data are reliable, from
.667 on good for tentative conclusions only, below they are not to be used; and what decides is the interval,
not the figure. The thresholds are for α; κ of two annotators hardly differs from it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from annotation.core.figures.measure import Measure
from annotation.core.i18n import translatable

TENTATIVE_FROM: Final = 0.667
RELIABLE_FROM: Final = 0.8


class Level(StrEnum):
    """The reliability of labels according to an interval; `open` when it lies on both sides of a
    threshold."""

    RELIABLE = "reliable"
    TENTATIVE = "tentative"
    UNRELIABLE = "unreliable"
    OPEN = "open"
    UNDEFINED = "undefined"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The level, and a sentence that says it and why."""

    level: Level
    sentence: str


_SENTENCES: Final = {
    Level.RELIABLE: translatable("The labels are reliable: all of the interval lies at .800 or above."),
    Level.TENTATIVE: translatable(
        "The labels allow tentative conclusions: all of the interval lies at .667 or above, but not at .800."
    ),
    Level.UNRELIABLE: translatable(
        "The labels are not reliable enough: all of the interval lies below .667. Look at the steps on which "
        "annotators differ, and at the guidelines."
    ),
    Level.OPEN: translatable(
        "It is not settled whether the labels are reliable enough: the interval reaches from below .667 to "
        "above it. More tasks will tell."
    ),
}
_ALONE: Final = {
    Level.RELIABLE: translatable(
        "The figure reaches .800, which would be reliable; how sure that is cannot be said yet."
    ),
    Level.TENTATIVE: translatable(
        "The figure lies between .667 and .800, which would allow tentative conclusions; how sure that is "
        "cannot be said yet."
    ),
    Level.UNRELIABLE: translatable(
        "The figure lies below .667, which would not be reliable enough; how sure that is cannot be said yet."
    ),
}


def verdict(measure: Measure) -> Verdict:
    """The verdict of a figure with its interval on the labels; without an interval, a provisional one."""
    if measure.value is None:
        return Verdict(Level.UNDEFINED, measure.reason)
    interval = measure.interval
    if interval is None or interval.low is None or interval.high is None:
        level = _level(measure.value)
        return Verdict(level, _ALONE[level])
    if interval.low < TENTATIVE_FROM <= interval.high:
        return Verdict(Level.OPEN, _SENTENCES[Level.OPEN])
    level = _level(interval.low)
    return Verdict(level, _SENTENCES[level])


def _level(value: float) -> Level:
    if value >= RELIABLE_FROM:
        return Level.RELIABLE
    return Level.TENTATIVE if value >= TENTATIVE_FROM else Level.UNRELIABLE
