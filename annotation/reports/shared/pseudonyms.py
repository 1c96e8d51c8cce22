"""Pseudonyms: the letters "A", "B" … under which annotators appear to those who may not see names."""

import string
from collections.abc import Iterable

from annotation.core.jsonio.canonical import sha256_hex
from annotation.core.vocabulary import AdjudicationState
from annotation.models import Adjudication, Discussion, Trajectory

LETTERS = string.ascii_uppercase


def letter_seed(trajectory: Trajectory) -> int | None:
    """The seed of a trajectory's letters: that of its discussion, else of its case; None without either. Two
    queries at most."""
    seed = Discussion.objects.filter(trajectory=trajectory).values_list("letter_seed", flat=True).first()
    if seed is not None:
        return seed
    cases = Adjudication.objects.filter(trajectory=trajectory).exclude(state=AdjudicationState.RELEASED)
    return cases.values_list("letter_seed", flat=True).first()


def in_order(seed: int, trajectory: int, annotators: Iterable[int]) -> list[int]:
    """The annotators (by pk) in the order of their letters: drawn by a seed that is sent to nobody, so that
    no letter tells who it was in another case."""
    return sorted(annotators, key=lambda pk: sha256_hex(f"{seed}: {trajectory}: {pk}".encode()))


def letters(seed: int, trajectory: int, annotators: Iterable[int]) -> dict[int, str]:
    """The letter of each annotator of a trajectory, by their pk."""
    order = in_order(seed, trajectory, annotators)
    return {pk: LETTERS[number % len(LETTERS)] for number, pk in enumerate(order)}
