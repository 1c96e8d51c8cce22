"""Verdicts on the outputs of a model, as arrays, without their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from annotation.core.figures.measure import FloatArray
from annotation.core.scoring.questions.verdicts import Verdict

BoolArray = npt.NDArray[np.bool_]
States = npt.NDArray[np.uint8]

SAID: Final = 1
"""Of a record about which there is an output."""
EMPTY: Final = 2
UNREADABLE: Final = 4
LEFT_OUT: Final = 8
"""Of a record on which what stands beside the models is not scored."""
EARNED: Final = ("published", "strict", "unquoted", "rouge_1", "rouge_2", "rouge_l")
_KEPT: Final = np.dtype("<f4")


@dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs about R records: the `state` of each, (R,), SAID and more, 0 without one; and what it
    `earned`, (EARNED, R), from 0 to 1."""

    state: States
    earned: FloatArray

    @classmethod
    def none(cls, n_records: int) -> Outputs:
        """No output at all."""
        return cls(np.zeros(n_records, dtype=np.uint8), np.zeros((len(EARNED), n_records)))

    @classmethod
    def of(cls, n_records: int, verdicts: Mapping[int, Verdict | None]) -> Outputs:
        """From the verdicts by record; None: there is an output, and nothing that it could be held
        against."""
        made = cls.none(n_records)
        for place, one in verdicts.items():
            made.state[place] = SAID
            if one is None:
                continue
            made.state[place] += EMPTY * one.empty + UNREADABLE * (not one.readable)
            near = (one.near.rouge_1, one.near.rouge_2, one.near.rouge_l) if one.near else (0, 0, 0)
            made.earned[:, place] = (one.published and not one.empty, one.strict, one.unquoted, *near)
        return made

    def column(self, name: str) -> FloatArray:
        """The points of one kind, (R,)."""
        points: FloatArray = self.earned[EARNED.index(name)]
        return points

    def has(self, state: int) -> BoolArray:
        """The records in a state, (R,)."""
        mask: BoolArray = (self.state & state) > 0
        return mask

    def only(self, records: BoolArray) -> Outputs:
        """Those about some records (R,)."""
        return Outputs(self.state[records], self.earned[:, records])

    def joined(self, more: Outputs) -> Outputs:
        """These, and then those about other records."""
        return Outputs(np.concatenate([self.state, more.state]), np.hstack([self.earned, more.earned]))

    def merged(self, newer: Outputs, records: BoolArray) -> Outputs:
        """These, with newer ones about some records (R,) in their place."""
        return Outputs(
            np.where(records, newer.state, self.state), np.where(records, newer.earned, self.earned)
        )

    def packed(self) -> bytes:
        """All of it, for `unpacked`; what is earned with 24 bits."""
        return self.state.tobytes() + self.earned.astype(_KEPT).tobytes()

    @classmethod
    def size(cls, n_records: int) -> int:
        """The bytes of `packed`."""
        return n_records * (1 + len(EARNED) * _KEPT.itemsize)

    @classmethod
    def unpacked(cls, packed: bytes, n_records: int) -> Outputs:
        """The inverse of `packed`, for so many records."""
        earned = np.frombuffer(packed[n_records:], dtype=_KEPT).reshape(len(EARNED), n_records)
        return cls(np.frombuffer(packed[:n_records], dtype=np.uint8), earned.astype(np.float64))
