"""The part of a question that is its own, after instructions that a whole data set begins with."""

from collections.abc import Sequence
from typing import Final

SHORTEST: Final = 40
"""A shared beginning shorter than this is chance: many questions begin with "What is the"."""
ENDS: Final = ("\n", ". ", ": ", "? ", "! ", "。", "：", "？")
"""Marks at which instructions may end."""


def _shared(one: str, other: str) -> int:
    """The length of the beginning that two texts share."""
    ends = (index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(ends, min(len(one), len(other)))


def own_part(question: str, others: Sequence[str]) -> str:
    """The question from where it differs from at least half of these others, back to the end of a sentence or
    line; the whole of one that shares no beginning with them, or is the same."""
    shared = sorted(_shared(question, other) for other in others)
    if not shared or shared[len(shared) // 2] < SHORTEST:
        return question
    beginning = question[: shared[len(shared) // 2]]
    cut = max(beginning.rfind(end) + len(end) if end in beginning else 0 for end in ENDS)
    return question[cut:].strip() or question
