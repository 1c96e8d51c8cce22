"""ROUGE-1, ROUGE-2 and ROUGE-L as F1 (C.-Y. Lin, "ROUGE: A package for automatic evaluation of summaries",
2004).

N-grams are counted as multisets, tokens are neither stemmed nor put into lower case, and ROUGE-L is that of
the whole text. The values are those of the package `rouge-score` for the same tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

WITHOUT_BLANKS = frozenset({"zh", "ja"})
"""Languages that are written without blanks between words."""


@dataclass(frozen=True, slots=True)
class Rouge:
    """The three figures, from 0 to 1."""

    rouge_1: float
    rouge_2: float
    rouge_l: float


def tokens(text: str, language: str) -> list[str]:
    """Words, by the blanks between them; in a language without blanks, characters."""
    words = text.split()
    return list("".join(words)) if language.split("-")[0].lower() in WITHOUT_BLANKS else words


def rouge(prediction: Sequence[str], target: Sequence[str]) -> Rouge:
    """The figures of a prediction's tokens against those of the target; 0 where either has none."""
    return Rouge(
        _of_counts(Counter(prediction), Counter(target)),
        _of_counts(Counter(pairwise(prediction)), Counter(pairwise(target))),
        _f1(longest_common(prediction, target), len(prediction), len(target)),
    )


def _of_counts(prediction: Counter[object], target: Counter[object]) -> float:
    return _f1((prediction & target).total(), prediction.total(), target.total())


def _f1(common: int, predicted: int, wanted: int) -> float:
    # 2PR / (P + R) with P = common / predicted and R = common / wanted
    return 2 * common / (predicted + wanted) if common else 0.0


def longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence, by the bits of a number (H. Hyyrö, "Bit-parallel
    LCS-length computation revisited", 2004)."""
    at: dict[str, int] = {}
    for place, token in enumerate(one):
        at[token] = at.get(token, 0) | 1 << place
    whole = (1 << len(one)) - 1
    row = whole
    for token in other:
        same = row & at.get(token, 0)
        row = ((row + same) | (row - same)) & whole
    return len(one) - row.bit_count()
