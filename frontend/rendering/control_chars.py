"""Make control characters, bidirectional marks and lone surrogates in text from outside visible."""

from __future__ import annotations

import re
from typing import Final

_INVISIBLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_control_chars(text: str) -> str:
    """The text with control characters as their symbols (␀); lone surrogates, and the marks that turn the
    direction of writing round and could make a text look like another, as \\u and its number."""
    return _INVISIBLE.sub(_symbol, text) if _INVISIBLE.search(text) else text


def _symbol(matched: re.Match[str]) -> str:
    code = ord(matched.group())
    if code > 0x7F:
        return f"\\u{code:04x}"
    return "\u2421" if code == 0x7F else chr(0x2400 + code)
