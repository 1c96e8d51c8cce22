"""The answer in a model's output to a question: a letter, several letters, a command or a text.

Each kind has two readings. The published one is that of APTBench (github.com/TencentYoutuResearch/APTBench),
so that its figures can be compared; it reads less than people do ("The answer is B." is none). The strict one
is ours: it reads every clear answer, and every item counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_PUBLISHED_LETTER: Final = re.compile(r"\b([A-Za-z])[)\n]")
_LETTER: Final = re.compile(r"(?<![^\W_])([A-Za-z])\s*[)）\n]")
_LONE_LETTER: Final = re.compile(r"\W*([A-Za-z])\W*")
_QUOTES: Final = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』"}


@dataclass(frozen=True, slots=True)
class Reading:
    """The two readings of one output; None where it cannot be read."""

    published: str | None
    strict: str | None


def choice(output: str) -> Reading:
    """One letter. Published: the first letter before ")" or a line break, without blanks and asterisks
    around it, in the case in which it was written. Strict: also before "）", or alone, in any case."""
    text = output.strip().replace("*", "")
    published = _PUBLISHED_LETTER.search(text)
    strict = _LETTER.search(text) or _LONE_LETTER.fullmatch(text)
    return Reading(published and published[1], strict and strict[1].upper())


def keys(output: str) -> Reading:
    """Several letters, sorted and joined by commas: what stands before the first ")", split at commas.
    Strict: without blanks, in any case."""
    letters = output.split(")", 1)[0].split(",")
    bare = {letter.strip().upper() for letter in letters} - {""}
    return Reading(",".join(sorted(set(letters))), ",".join(sorted(bare)) or None)


def command(output: str) -> Reading:
    """A command. Published: where there is a line break, the first line up to its first ";"; else
    everything. Strict: the first line."""
    text = output.strip()
    first = text.split("\n", 1)[0]
    published = first.split(";", 1)[0] if "\n" in text else text
    return Reading(published, first.strip() or None)


def answer(output: str) -> Reading:
    """A text: what stands before the first "]"; None without one."""
    text, bracket, _rest = output.partition("]")
    bracketed = text if bracket else None
    return Reading(bracketed, bracketed)


READINGS: Final[dict[str, Callable[[str], Reading]]] = {
    "choice": choice,
    "keys": keys,
    "command": command,
    "answer": answer,
}
"""The strict reading of an output, by the kind of answer."""


def without_outer_quotes(text: str) -> str:
    """The text without one pair of quotes around it."""
    text = text.strip()
    closing = _QUOTES.get(text[:1])
    return text[1:-1].strip() if closing and len(text) > 1 and text.endswith(closing) else text
