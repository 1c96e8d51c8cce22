"""How many tokens a text has at most, without any model's tokenizer.

The rule: ASCII letters and white space count 2/7 of a token (3.5 to the token; English prose has 4 to 4.5),
other ASCII characters 1/2, everything else 1/2 for each byte of its UTF-8 (1.5 for a Chinese character,
which common vocabularies write in 0.6 to 1.5; 1 for a Cyrillic letter; 2 for an emoji). It is meant to be on
the high side for prose, code and JSON; only long runs of random letters or digits can have more.
"""

from __future__ import annotations

import string
from typing import Final

UNITS_PER_TOKEN: Final = 14
LETTER_UNITS: Final = 4
OTHER_UNITS: Final = 7

_CHEAP: Final = (string.ascii_letters + string.whitespace).encode("ascii")


def units(text: str) -> int:
    """Fourteenths of a token: whole numbers, so that the units of parts add up to those of the whole."""
    data = text.encode("utf-8", "surrogatepass")
    other = len(data.translate(None, _CHEAP))
    return LETTER_UNITS * (len(data) - other) + OTHER_UNITS * other


def tokens_of(count: int) -> int:
    """Units as tokens, rounded up."""
    return -(-count // UNITS_PER_TOKEN)


def estimate_tokens(text: str) -> int:
    """The tokens of ``text``, on the high side."""
    return tokens_of(units(text))
