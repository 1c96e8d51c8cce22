"""Shares of labels that were kept or changed after suggestions were revealed, and in which direction."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from annotation.core.figures.measure import Measure
from annotation.core.i18n import translatable
from annotation.core.influence.arm_figures import shares_of

NO_MAJORITY: Final = 2
"""Stands for a missing majority, or a judge's missing label: no label has this value."""

NONE_EXPOSED: Final = translatable("no label was given before its suggestions were seen")
NONE_APART: Final = translatable("no label differed from the suggestions when they were seen")


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


def changes(rows: npt.ArrayLike, *, rng: np.random.Generator | None = None) -> ChangeShares:
    """From rows (n, 5): subset, task, blind value, final value, what was suggested (or NO_MAJORITY)."""
    of_subset, of_task, blind, final, suggested = np.asarray(rows, dtype=np.int64).reshape(-1, 5).T
    told = suggested != NO_MAJORITY
    before, after = np.abs(blind - suggested), np.abs(final - suggested)
    changed = blind != final
    towards, away = told & (after < before), told & (after > before)
    _, first, task = np.unique(of_task, return_index=True, return_inverse=True)
    subset = of_subset[first]

    def shares(hits: list[npt.NDArray[np.bool_]], units: npt.NDArray[np.bool_], empty: str) -> list[Measure]:
        def by_task(which: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
            return np.bincount(task.reshape(-1)[which], minlength=len(first))

        sums = [by_task(hit & units) for hit in hits]
        return [one.measure for one in shares_of(sums, by_task(units), subset, empty=empty, rng=rng)]

    every = np.ones(len(blind), dtype=bool)
    ways = shares([changed, towards, away, changed & ~towards & ~away], every, NONE_EXPOSED)
    (followed,) = shares([towards], told & (blind != suggested), NONE_APART)
    return ChangeShares(
        labels=len(blind),
        changed=ways[0],
        towards=ways[1],
        away=ways[2],
        neither=ways[3],
        followed=followed,
    )
