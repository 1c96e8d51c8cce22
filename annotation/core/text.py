"""Escape text reversibly, so that every text column can hold it.

PostgreSQL refuses U+0000, SQLite and UTF-8 refuse lone surrogates; real logs contain both. Each of them,
and the escape character itself, is written as U+FDD0 (a noncharacter, which no text needs) and four
lower-case hex digits. Ordinary text is left as it is, so it can be searched.
"""

from __future__ import annotations

import re
from typing import Final

MARK: Final = "\ufdd0"

_UNSAFE: Final = re.compile("[\x00\ud800-\udfff\ufdd0]")
_ESCAPED: Final = re.compile(MARK + "(0000|d[89a-f][0-9a-f]{2}|fdd0)")


def escape(text: str) -> str:
    """`text` without NUL and lone surrogates; `unescape` gives back exactly what came in."""
    if _UNSAFE.search(text) is None:
        return text
    return _UNSAFE.sub(lambda match: f"{MARK}{ord(match.group()):04x}", text)


def unescape(text: str) -> str:
    """The inverse of `escape`. A mark that no escape wrote is left standing."""
    if MARK not in text:
        return text
    return _ESCAPED.sub(lambda match: chr(int(match.group(1), 16)), text)
