"""Answers of a model to decisions otherwise than by labels, as arrays: scores of the options of each, or
choices among them in several orders.

Scores are kept as their ranks within the decision, for nothing but their order counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from annotation.core.scoring.decisions.answers import Answer, Choice

Codes = npt.NDArray[np.uint8]

NOT_SHOWN: Final = 0
"""Of an option that stood in no such order."""
UNREADABLE: Final = 1
"""Of an option of which nothing can be read; higher codes are ranks, the worst first."""
LOWEST: Final = 2
NO_CHOICE: Final = 0
FIRST: Final = 1
"""Of a choice that fell on the option that stood first; `LATER`: on another."""
LATER: Final = 2


@dataclass(frozen=True, slots=True)
class Orders:
    """The answers in L orders or fewer of each record: the `ranks` of its options, (L, S), and where the
    choice fell, `chosen` (L, R). Of a record that was answered by labels, or not at all, all is 0."""

    ranks: Codes
    chosen: Codes

    @property
    def number(self) -> int:
        """L."""
        return len(self.ranks)

    @classmethod
    def none(cls, n_steps: int, n_records: int, number: int = 0) -> Orders:
        """No answer at all, in so many orders."""
        return cls(np.zeros((number, n_steps), dtype=np.uint8), np.zeros((number, n_records), dtype=np.uint8))

    def wider(self, number: int) -> Orders:
        """The same in so many orders, with nothing in the later ones."""
        more = ((0, number - self.number), (0, 0))
        return Orders(np.pad(self.ranks, more), np.pad(self.chosen, more))

    def of_record(self, steps: slice, place: int) -> bytes:
        """The answer to one record, as `coded` made it."""
        both = np.hstack([self.ranks[:, steps], self.chosen[:, place : place + 1]])
        return both[both.any(axis=1)].tobytes()


def coded(answer: Answer, indexes: Sequence[int]) -> bytes:
    """One answer to a decision whose options have these message indexes: of each order the ranks of the
    options, and where the choice fell. Nothing of one by labels."""
    if answer.scores is not None:
        return bytes([*_ranks(answer.scores, indexes), NO_CHOICE])
    return b"".join(bytes([*_shown(one, indexes), _chosen(one)]) for one in answer.choices)


def _ranks(scores: Mapping[int, float | None], indexes: Sequence[int]) -> list[int]:
    given = [scores.get(index) for index in indexes]
    rank = {score: LOWEST + at for at, score in enumerate(sorted({one for one in given if one is not None}))}
    return [UNREADABLE if one is None else rank[one] for one in given]


def _shown(choice: Choice, indexes: Sequence[int]) -> list[int]:
    if choice.chosen is None:
        return [UNREADABLE if index in choice.order else NOT_SHOWN for index in indexes]
    return [
        NOT_SHOWN if index not in choice.order else LOWEST + int(index == choice.chosen) for index in indexes
    ]


def _chosen(choice: Choice) -> int:
    if choice.chosen is None:
        return NO_CHOICE
    return FIRST if choice.chosen == choice.order[0] else LATER
