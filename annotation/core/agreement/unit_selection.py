"""Selections of the steps behind a figure, as many as its n says; for the lists that its numbers open.

Most figures count pairs of labels. Transition κ counts those whose previous step both labelled alike, α the
steps, onset κ the steps up to the first error; the others that look at first errors count trajectories, of
which the list has the step that decides.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from annotation.core.agreement.counts import first_errors, rows_of
from annotation.core.agreement.pairs import BoolArray, Pairs
from annotation.core.agreement.transition import NO_UNIT, strata
from annotation.core.figures.first_errors import NONE, earliest
from annotation.core.figures.measure import IntArray

BY_STEP: Final = frozenset({"alpha", "ordinal_alpha"})
"""Figures whose unit is a step with all its labels, however many pairs they make."""
_NEVER: Final = int(np.iinfo(np.int64).max)


def of_figure(pairs: Pairs, name: str) -> BoolArray:
    """A mask (pairs,) of the pairs of labels behind a figure. Of a figure that counts trajectories one step
    of each: the earliest error that either found, or the first step."""
    if name == "transition_kappa":
        unit: BoolArray = strata(pairs.a, pairs.b, rows_of(pairs)[0], pairs.position) != NO_UNIT
        return unit
    if name == "onset_kappa":
        of = _FirstErrors.of(pairs)
        before: BoolArray = of.whole & (pairs.position <= of.earliest)
        return before
    if name == "error_presence_kappa":
        return _FirstErrors.of(pairs).deciding
    if name == "first_error_agreement":
        of = _FirstErrors.of(pairs)
        return of.deciding & of.both
    return np.ones(len(pairs), dtype=bool)


def of_first_errors(pairs: Pairs, kind: str) -> BoolArray:
    """For each whole trajectory whose first errors lie as `kind` says (a field of `Offsets`), the step of
    the first one; without an error, the first step. (pairs,)"""
    of = _FirstErrors.of(pairs)
    fits: BoolArray = {
        "exact": of.both & (of.apart == 0),
        "one_step_off": of.both & (of.apart == 1),
        "farther_off": of.both & (of.apart > 1),
        "one_only": ~of.both & (of.earliest != _NEVER),
        "neither": of.earliest == _NEVER,
    }[kind]
    return of.deciding & fits


@dataclass(frozen=True, slots=True)
class _FirstErrors:
    """For each pair of labels what is true of its trajectory and annotators: whether every step has both
    labels, where the earliest error of either lies, whether both found one and how far apart, and whether
    this is the step that stands for the trajectory."""

    whole: BoolArray
    earliest: IntArray
    both: BoolArray
    apart: IntArray
    deciding: BoolArray

    @classmethod
    def of(cls, pairs: Pairs) -> "_FirstErrors":
        row, starts = rows_of(pairs)
        first, second, whole = first_errors(pairs, row, starts)
        both = (first != NONE) & (second != NONE)
        positions = earliest(first, second, _NEVER)
        standing = np.where(positions == _NEVER, 0, positions)
        deciding = whole[row] & (pairs.position == standing[row])
        return cls(whole[row], positions[row], both[row], np.abs(first - second)[row], deciding)
