"""The band of difficulty by which decisions are picked for a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from ..errors import Invalid
from ..i18n import translatable

BAD_BAND = translatable("A band of difficulty is two shares from 0 to 1, the lower first.")


@dataclass(frozen=True, slots=True)
class DifficultyBand:
    """From and to which share of right answers by judges a decision may lie, both ends included: 1 is easy, 0
    hard."""

    low: float
    high: float

    @classmethod
    def of(cls, ends: Sequence[float]) -> DifficultyBand:
        """The band between two ends. Raises Invalid that names the field."""
        if len(ends) != 2 or not all(map(isfinite, ends)) or not 0 <= ends[0] <= ends[1] <= 1:
            raise Invalid(BAD_BAND, fields={"difficulty": BAD_BAND})
        return cls(*map(float, ends))

    def __contains__(self, share: float) -> bool:
        return self.low <= share <= self.high
