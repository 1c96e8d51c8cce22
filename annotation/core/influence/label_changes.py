"""Shares of labels that were kept or changed after suggestions were revealed, and in which direction."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from annotation.core.figures.figure import Figure, by_name
from annotation.core.figures.intervals import estimates, joined
from annotation.core.figures.measure import FloatArray, IntArray, Measure, divide
from annotation.core.i18n import Translatable, translatable

NO_MAJORITY: Final = 2
"""Stands for a missing majority, or a judge's missing label: no label has this value."""

NONE_EXPOSED: Final = translatable("no label was given before its suggestions were seen")
NONE_APART: Final = translatable("no label differed from the suggestions when they were seen")


LABELS, CHANGED, TOWARDS, AWAY, NEITHER, APART = range(6)
"""The columns of counts by task; APART: labels that differed from the suggestion."""


def _share(name: str, title: Translatable, hits: int, units: int, empty: str) -> Figure:
    """The share of `hits` among `units`, by their columns."""
    return Figure(
        name,
        title,
        Translatable(),
        lambda sums: divide(sums[..., hits], sums[..., units]),
        lambda sums: sums[..., units],
        empty=empty,
        percent=True,
    )


WAYS: Final = by_name(
    _share("changed", translatable("Changed"), CHANGED, LABELS, NONE_EXPOSED),
    _share("towards", translatable("Towards"), TOWARDS, LABELS, NONE_EXPOSED),
    _share("away", translatable("Away"), AWAY, LABELS, NONE_EXPOSED),
    _share("neither", translatable("Neither"), NEITHER, LABELS, NONE_EXPOSED),
)
FOLLOWED: Final = by_name(_share("followed", translatable("Followed"), TOWARDS, APART, NONE_APART))


def majority(values: Iterable[int | None]) -> int:
    """The value that more judges gave than any other; NO_MAJORITY without such a value."""
    ranked = Counter(value for value in values if value is not None).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return NO_MAJORITY
    return ranked[0][0]


@dataclass(frozen=True, slots=True)
class ChangeShares:
    """Shares of the labels that had a value when their suggestions were first seen.

    `changed` = `towards` + `away` + `neither`. Towards (away): the final value is nearer to (farther from)
    the suggestion than the blind value was, −1, 0 and +1 being a unit apart. Neither: it is as far, as from
    −1 to +1 about a 0, or there was no majority to compare with. `followed` is of those labels only that
    differed from a suggestion: the share that moved towards it.
    """

    labels: int
    changed: Measure
    towards: Measure
    away: Measure
    neither: Measure
    followed: Measure


def changes(rows: npt.ArrayLike) -> ChangeShares:
    """From rows (n, 5): subset, task, blind value, final value, what was suggested (or NO_MAJORITY)."""
    of_subset, of_task, blind, final, suggested = np.asarray(rows, dtype=np.int64).reshape(-1, 5).T
    decided = suggested != NO_MAJORITY
    before, after = np.abs(blind - suggested), np.abs(final - suggested)
    changed = blind != final
    towards, away = decided & (after < before), decided & (after > before)
    columns = [  # in the order of their numbers above
        np.ones(len(blind), dtype=bool),
        changed,
        towards,
        away,
        changed & ~towards & ~away,
        decided & (blind != suggested),
    ]
    _, first, task = np.unique(of_task, return_index=True, return_inverse=True)
    sums: FloatArray = np.stack(
        [np.bincount(task.reshape(-1), weights=one, minlength=len(first)) for one in columns],
        axis=-1,
        dtype=np.float64,
    )
    subset = of_subset[first]
    apart = sums[:, APART] > 0  # a task without a unit says nothing about the share
    measures = _measures(WAYS, sums, subset) | _measures(FOLLOWED, sums[apart], subset[apart])
    return ChangeShares(labels=len(blind), **measures)


def _measures(figures: dict[str, Figure], sums: FloatArray, subset: IntArray) -> dict[str, Measure]:
    """Each figure of sums by task, (tasks, columns)."""
    total = sums.sum(axis=0)
    every = estimates(figures, sums, joined(subset))
    return {name: one.measures(one.figure.n(total))[0] for name, one in every.items()}
