"""Surface features of a text: words, names, numbers, and whether it reports an error."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Final

MAX_TEXT: Final = 20_000
"""So much of a text is looked at."""
_ERROR_HEAD: Final = 400
"""An error says so at its beginning; further down the word may be part of what was found."""

_WORD: Final = re.compile(r"[^\W_]+")
_NAME: Final = re.compile(r"\b[A-ZÀ-Þ][\w’'-]+")
_NUMBER: Final = re.compile(r"\d[\d.,:]*\d|\d")
ANSWER: Final = re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.DOTALL | re.IGNORECASE)
_ERROR: Final = re.compile(
    r"\berror\b|\bexception\b|\btraceback\b|\bnot found\b|\bno such\b|\binvalid\b|\bfailed\b|\bfailure\b"
    r"|\bdenied\b|\bforbidden\b|\bunauthori[sz]ed\b|\btimed? ?out\b|\bunavailable\b|\bdoes not exist\b"
    r"|\bcannot be\b|\b(?:http|status|code)\W{0,6}[45]\d\d\b"
    r"|\b40[0-9]\b (?:client|bad|not)|\b50[0-9]\b server",
    re.IGNORECASE,
)
_EMPTY: Final = re.compile(
    r"\W*(?:none|null|result|results|content|data|output|items|no results?(?: found)?|nothing found"
    r"|empty)?\W*"
    r"(?:none|null)?\W*",
    re.IGNORECASE,
)
GIVES_UP: Final = re.compile(
    r"\b(?:cannot|can't|can’t|could not|couldn't|couldn’t|unable|sorry"
    r"|apologi[sz]e|unfortunately|not possible|do(?:es)? not have"
    r"|don't have|don’t have|unknown|not available|no information)\b",
    re.IGNORECASE,
)
SEARCHES: Final = re.compile(r"search|find|query|lookup|look_up|list|retriev", re.IGNORECASE)
READS: Final = re.compile(r"read|visit|browse|open|fetch|view|get|show|cat\b|parse|page", re.IGNORECASE)
WRITES: Final = re.compile(
    r"update|create|delete|remove|set|book|cancel|send|write|add|modify|edit|move|post|pay|transfer|exchange"
    r"|return|mkdir|rename|touch|buy|order",
    re.IGNORECASE,
)


def is_error(text: str) -> bool:
    """Whether a result says at its beginning that something went wrong."""
    return _ERROR.search(text[:_ERROR_HEAD]) is not None


def is_empty(text: str) -> bool:
    """Whether a result has nothing in it: "", "[]", "No results found."."""
    return len(text) <= 80 and _EMPTY.fullmatch(text) is not None


def words_of(text: str) -> set[str]:
    """Its words in small letters, those of one or two letters apart."""
    return {word for word in _WORD.findall(text[:MAX_TEXT].lower()) if len(word) > 2}


def names_of(text: str) -> set[str]:
    """Its capitalised words."""
    return set(_NAME.findall(text))


def numbers_of(text: str) -> set[str]:
    """Its numbers, as written."""
    return set(_NUMBER.findall(text))


def log(n: int) -> float:
    """log(1 + n)."""
    return math.log1p(n)


def share_inside(part: Iterable[str], whole: set[str]) -> float:
    """The share of some words that are among others: 0 … 1; 0 for none."""
    words = list(part)
    return sum(word in whole for word in words) / len(words) if words else 0.0


def share_outside(part: Iterable[str], whole: set[str]) -> float:
    """The share of some words that are not among others: 0 … 1; 0 for none."""
    words = list(part)
    return sum(word not in whole for word in words) / len(words) if words else 0.0


def alike(words: frozenset[str], other: frozenset[str]) -> float:
    """Words in common by words in all: 0 … 1; 0 for none."""
    return len(words & other) / len(words | other) if words or other else 0.0
