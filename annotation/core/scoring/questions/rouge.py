"""ROUGE-1, ROUGE-2 and ROUGE-L as F1 (C.-Y. Lin, "ROUGE: A package for automatic evaluation of summaries",
2004).

N-grams are counted as multisets, tokens are neither stemmed nor put into lower case, and ROUGE-L is that of
the whole text. The values are those of the package `rouge-score` for the same tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeVar

_Gram = TypeVar("_Gram", bound=Hashable)

WITHOUT_BLANKS = frozenset({"zh", "ja"})
"""Languages that are written without blanks between words."""


@dataclass(frozen=True, slots=True)
class Rouge:
    """The three figures, from 0 to 1."""

    rouge_1: float
    rouge_2: float
    rouge_l: float


NOTHING: Final = Rouge(0.0, 0.0, 0.0)


def tokens(text: str, language: str) -> list[str]:
    """Words, by the blanks between them; in a language without blanks, characters."""
    words = text.split()
    return list("".join(words)) if language.split("-")[0].lower() in WITHOUT_BLANKS else words


class Target:
    """A text by its tokens, held against many predictions."""

    __slots__ = ("_at", "_counts", "_pairs", "_size")

    def __init__(self, target: Sequence[str]) -> None:
        self._size = len(target)
        self._counts = Counter(target)
        self._pairs = Counter(pairwise(target))
        self._at: dict[str, int] = {}
        for place, token in enumerate(target):
            self._at[token] = self._at.get(token, 0) | 1 << place

    def near(self, prediction: Sequence[str]) -> Rouge:
        """The figures of a prediction's tokens; 0 where either has none."""
        # what is in the target: nothing else can be in common, and most tokens are not
        shared = [token for token in prediction if token in self._at]
        if not shared:
            return NOTHING
        n, size = len(prediction), self._size
        pairs = _common(pairwise(prediction), self._pairs) if len(shared) > 1 and size > 1 else 0
        return Rouge(
            _f1(_common(shared, self._counts), n, size),
            _f1(pairs, n - 1, size - 1),
            _f1(self._longest_common(shared), n, size),
        )

    def _longest_common(self, shared: Iterable[str]) -> int:
        """The length of the longest common subsequence, by the bits of a number (H. Hyyrö, "Bit-parallel
        LCS-length computation revisited", 2004)."""
        whole = (1 << self._size) - 1
        row = whole
        for token in shared:
            same = row & self._at[token]
            row = ((row + same) | (row - same)) & whole
        return self._size - row.bit_count()


def _common(grams: Iterable[_Gram], wanted: Mapping[_Gram, int]) -> int:
    """The number of grams common to both, as multisets."""
    met: dict[_Gram, int] = {}
    common = 0
    for one in grams:
        most = wanted.get(one)
        if most is not None and (times := met.get(one, 0)) < most:
            met[one] = times + 1
            common += 1
    return common


def _f1(common: int, predicted: int, wanted: int) -> float:
    # 2PR / (P + R) with P = common / predicted and R = common / wanted
    return 2 * common / (predicted + wanted) if common else 0.0
