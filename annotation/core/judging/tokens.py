"""Estimate the tokens of a text, on the high side, without any model's tokenizer.

The rule: ASCII letters and white space count 2/7 of a token (3.5 to the token; English prose has 4 to
4.5), digits one each (some vocabularies have no longer numbers), other ASCII characters 1/2, everything
else 1/2 for each byte of its UTF-8 (1.5 for a Chinese character, which common vocabularies write in 0.6
to 1.5; 1 for a Cyrillic letter; 2 for an emoji). Prose, code and JSON have fewer; only runs of random
letters, or of signs with spaces between them, can have more.
"""

from __future__ import annotations

import string
from typing import Final

UNITS_PER_TOKEN: Final = 14
LETTER_UNITS: Final = 4
DIGIT_UNITS: Final = 14
OTHER_UNITS: Final = 7

_LETTERS: Final = (string.ascii_letters + string.whitespace).encode("ascii")
_DIGITS: Final = string.digits.encode("ascii")


def units(text: str) -> int:
    """Fourteenths of a token: whole numbers, so that the units of parts add up to those of the whole."""
    data = text.encode("utf-8", "surrogatepass")
    rest = data.translate(None, _LETTERS)
    other = len(rest.translate(None, _DIGITS))
    return LETTER_UNITS * (len(data) - len(rest)) + DIGIT_UNITS * (len(rest) - other) + OTHER_UNITS * other


def tokens_of(count: int) -> int:
    """Units as tokens, rounded up."""
    return -(-count // UNITS_PER_TOKEN)


def estimate_tokens(text: str) -> int:
    """The tokens of `text`, on the high side."""
    return tokens_of(units(text))
