"""Pseudonyms: the letters "A", "B" … under which annotators appear to those who may not see names."""

import string
from collections.abc import Iterable

from annotation.core.jsonio.canonical import sha256_hex

LETTERS = string.ascii_uppercase


def in_order(seed: int, trajectory: int, annotators: Iterable[int]) -> list[int]:
    """The annotators (by pk) in the order of their letters: drawn by a seed that is sent to nobody, so that
    no letter tells who it was in another case."""
    return sorted(annotators, key=lambda pk: sha256_hex(f"{seed}: {trajectory}: {pk}".encode()))


def letters(seed: int, trajectory: int, annotators: Iterable[int]) -> dict[int, str]:
    """The letter of each annotator of a trajectory, by their pk."""
    order = in_order(seed, trajectory, annotators)
    return {pk: LETTERS[number % len(LETTERS)] for number, pk in enumerate(order)}
