"""Keys taken out of everything that is kept or shown."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote, quote_plus

SHORTEST: Final = 5
"""A shorter key ("none", for servers that need no key) is a word like others, and left standing."""
INSTEAD: Final = "[key]"

_ESCAPE: Final = re.compile(r"\\+u([0-9a-fA-F]{4})")
_BEARER: Final = re.compile(r"(?i)\b(bearer)\s+[A-Za-z0-9._~+/=-]{6,}")


class Redactor:
    """Replaces a key by ``[key]``: plain, escaped for JSON or an address, in base64, or partly starred out
    as servers like to repeat it (its first letters, then stars). Whatever follows "Bearer" goes too."""

    __slots__ = ("_pattern",)

    def __init__(self, key: str) -> None:
        forms = sorted(set(_forms(key)), key=len, reverse=True) if len(key) >= SHORTEST else []
        self._pattern = re.compile("|".join(forms)) if forms else None

    def __repr__(self) -> str:
        return "Redactor()"

    def text(self, text: str) -> str:
        """``text`` without the key."""
        if self._pattern is not None:
            text = self._pattern.sub(INSTEAD, text)
        return _BEARER.sub(rf"\1 {INSTEAD}", text)

    def data(self, data: bytes) -> bytes:
        """The same for bytes of any encoding that keeps ASCII.

        A key spelled in Unicode escapes goes too, and with it all such escapes.
        """
        text = self.text(data.decode("utf-8", "surrogateescape"))
        if self._pattern is not None and "\\u" in text:
            plain = _ESCAPE.sub(lambda found: chr(int(found.group(1), 16)), text)
            if self._pattern.search(plain):  # spelled in escapes, of JSON within JSON too
                return self.text(plain).encode("utf-8", "replace")
        return text.encode("utf-8", "surrogateescape")


def _forms(key: str) -> Iterator[str]:
    for form in (key, json.dumps(key)[1:-1], quote(key, safe=""), quote_plus(key)):
        yield re.escape(form)
    for raw in (key, f":{key}", f"Bearer {key}"):
        yield re.escape(base64.b64encode(raw.encode()).decode().rstrip("=")) + "=*"
    yield re.escape(key[:3]) + r"[\w.-]*\*{3,}[\w.*-]*"
