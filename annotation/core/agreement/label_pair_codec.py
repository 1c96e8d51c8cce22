"""Two annotators' labels of one trajectory, packed into a byte for each step.

A byte holds the pair of values in its low four bits, 4·(a + 1) + (b + 1) with −1, 0, +1 for the values and 3
in place of a missing one, and above them what a figure may be cut by: whether the step calls a tool, whether
one of the labels is a proposal that its annotator confirmed, and whether one of them is touched
(models.blindness).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from annotation.core.vocabulary import VALUES

Bytes = npt.NDArray[np.uint8]

MISSING: Final = 3
CALL: Final = 16
CONFIRMED: Final = 32
TOUCHED: Final = 64


@dataclass(frozen=True, slots=True)
class SeenLabel:
    """One annotator's blind label of a step, as far as figures ask."""

    value: int
    confirmed: bool
    touched: bool


def pack(first: SeenLabel | None, second: SeenLabel | None, *, call: bool) -> int:
    """The byte of one step. ValueError for a value that is no label."""
    pair = 0
    for one in (first, second):
        if one is not None and one.value not in VALUES:
            raise ValueError("labels are the integers -1, 0 and 1")
        pair = pair * 4 + (MISSING if one is None else one.value + 1)
    both = [one for one in (first, second) if one is not None]
    confirmed = CONFIRMED if any(one.confirmed for one in both) else 0
    touched = TOUCHED if any(one.touched for one in both) else 0
    return pair + (CALL if call else 0) + confirmed + touched


def values(packed: Bytes) -> tuple[Bytes, Bytes]:
    """Both annotators' labels as 0, 1, 2 for −1, 0, +1, and MISSING: (n,) and (n,)."""
    return (packed >> 2 & 3).astype(np.uint8), (packed & 3).astype(np.uint8)


def paired(packed: Bytes) -> npt.NDArray[np.bool_]:
    """A mask (n,) of the steps with a label of both."""
    first, second = values(packed)
    both: npt.NDArray[np.bool_] = (first != MISSING) & (second != MISSING)
    return both
