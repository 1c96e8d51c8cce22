"""Options that are written as one text: "(A) … (B) …", as APTBench publishes its choices."""

from __future__ import annotations

import re
from string import ascii_uppercase
from typing import Final

MAX_LETTERS: Final = len(ascii_uppercase)


def split_lettered(text: str) -> dict[str, str]:
    """The options by their letters, with what stands around them exactly as written.

    Each letter is expected in its turn, at the start or after a line break or a blank: a "(B)" that comes
    out of turn belongs to the option in which it stands. Empty where there is no "(A)".
    """
    texts: dict[str, str] = {}
    start = 0
    for letter in ascii_uppercase:
        mark = re.compile(rf"(?:^|(?<=\s))\({letter}\)").search(text, start)
        if mark is None:
            break
        if texts:
            last = next(reversed(texts))
            texts[last] = text[start : mark.start()]
        texts[letter] = text[mark.end() :]
        start = mark.end()
    return texts
