"""Shorten tool outputs to fit a budget together: the longest first, each with a note of what it lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from .tokens import LETTER_UNITS, units

HEAD_SHARE: Final = 0.6
"""Of what is kept of a clipped text, this much is its beginning: results put what matters first."""


@dataclass(frozen=True, slots=True)
class Clip:
    """A text made to fit; `left_out` characters of it (0: none) are replaced by a note in its middle."""

    text: str
    left_out: int


def note(left_out: int) -> str:
    """The mark in place of characters that were left out."""
    return f"\n[… {left_out:,} characters left out …]\n"


def water_level(sizes: Sequence[int], room: int) -> int | None:
    """The largest cap L with Σ min(size, L) ≤ `room`: sizes up to L stay whole, longer ones are cut to L.

    `None`: everything fits as it is.
    """
    if sum(sizes) <= room:
        return None
    left = max(room, 0)
    ordered = sorted(sizes)
    for done, size in enumerate(ordered):
        share = left // (len(ordered) - done)
        if size > share:
            return share
        left -= size
    return None


def clip_middle(text: str, room: int, note: Callable[[int], str] = note) -> Clip:
    """`text` in at most `room` units, its middle replaced by a note; whole when it fits.

    When not even the note fits, the note alone is what remains. `note` makes it of the number of characters.
    """
    if units(text) <= room:
        return Clip(text, 0)
    low, high = 0, min(len(text), max(room, 0) // LETTER_UNITS)  # no character costs less
    while low < high:
        kept = (low + high + 1) // 2
        if units(_with(text, kept, note)) <= room:
            low = kept
        else:
            high = kept - 1
    return Clip(_with(text, low, note), len(text) - low)


def _with(text: str, kept: int, note: Callable[[int], str]) -> str:
    head = round(kept * HEAD_SHARE)
    tail = kept - head
    return text[:head] + note(len(text) - kept) + (text[-tail:] if tail else "")
