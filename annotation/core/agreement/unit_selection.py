"""Selections of the steps behind a figure, as many as its n says; for the lists that its numbers open.

Most figures count pairs of labels. Transition κ counts those whose previous step both labelled alike, α the
steps, onset κ the steps up to the first error; the others that look at first errors count trajectories, of
which the list has the step that decides.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from annotation.core.agreement.counts import rows_of
from annotation.core.agreement.pairs import BoolArray, Pairs
from annotation.core.agreement.transition import NO_UNIT, strata
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
        first_errors = _FirstErrors.of(pairs)
        before: BoolArray = first_errors.whole & (pairs.position <= first_errors.earliest)
        return before
    if name == "error_presence_kappa":
        return _FirstErrors.of(pairs).deciding
    if name == "first_error_agreement":
        first_errors = _FirstErrors.of(pairs)
        return first_errors.deciding & first_errors.both
    return np.ones(len(pairs), dtype=bool)


def of_first_errors(pairs: Pairs, kind: str) -> BoolArray:
    """For each whole trajectory whose first errors lie as `kind` says (a field of `Offsets`), the step of
    the first one; without an error, the first step. (pairs,)"""
    first_errors = _FirstErrors.of(pairs)
    fits: BoolArray = {
        "exact": first_errors.both & (first_errors.apart == 0),
        "one_step_off": first_errors.both & (first_errors.apart == 1),
        "farther_off": first_errors.both & (first_errors.apart > 1),
        "one_only": ~first_errors.both & (first_errors.earliest != _NEVER),
        "neither": first_errors.earliest == _NEVER,
    }[kind]
    return first_errors.deciding & fits


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
        if not len(starts):
            none = np.zeros(0, dtype=bool)
            return cls(none, row, none, row, none)
        size = np.diff(np.append(starts, len(pairs)))
        first, second = (
            np.minimum.reduceat(np.where(values == -1, pairs.position, _NEVER), starts)
            for values in (pairs.a, pairs.b)
        )
        both = (first != _NEVER) & (second != _NEVER)
        earliest = np.minimum(first, second)
        whole = (size == pairs.steps[starts])[row]
        standing = np.where(earliest == _NEVER, 0, earliest)[row]
        apart = np.abs(np.where(both, first - second, 0))
        return cls(whole, earliest[row], both[row], apart[row], whole & (pairs.position == standing))
