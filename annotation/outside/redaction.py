"""Redact keys from everything that is kept or shown."""

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
    """Replaces keys, or the parts of one, by `[key]`: plain, escaped for JSON or an address, in base64, or
    partly starred out as servers like to repeat it (its first letters, then stars). Whatever follows "Bearer"
    goes too."""

    __slots__ = ("_literals", "_pattern")

    def __init__(self, *keys: str) -> None:
        keys = tuple(key for key in keys if len(key) >= SHORTEST)
        forms = sorted({form for key in keys for form in _forms(key)}, key=len, reverse=True)
        self._literals = tuple(forms)
        starred = [re.escape(key[:3]) + r"[\w.-]*\*{3,}[\w.*-]*" for key in keys]
        patterns = [*map(re.escape, forms), *starred]
        self._pattern = re.compile("|".join(patterns)) if forms else None

    def __repr__(self) -> str:
        return "Redactor()"

    def text(self, text: str) -> str:
        """`text` without the key."""
        if self._pattern is not None and self._suspects(text):
            text = self._pattern.sub(INSTEAD, text)
        if "earer" in text or "EARER" in text:
            text = _BEARER.sub(rf"\1 {INSTEAD}", text)
        return text

    def data(self, data: bytes) -> bytes:
        """The same for bytes of any encoding that keeps ASCII.

        A key spelled in Unicode escapes goes too, and with it all such escapes.
        """
        text = self.text(data.decode("utf-8", "surrogateescape"))
        if self._pattern is not None and "\\u" in text:
            plain = _ESCAPE.sub(lambda match: chr(int(match.group(1), 16)), text)
            if self._suspects(plain):  # spelled in escapes, of JSON within JSON too
                return self.text(plain).encode("utf-8", "replace")
        return text.encode("utf-8", "surrogateescape")

    def _suspects(self, text: str) -> bool:
        """Whether `text` is worth the slow search: prompts are long, and hold no key."""
        return "***" in text or any(form in text for form in self._literals)


def _forms(key: str) -> Iterator[str]:
    yield from (key, json.dumps(key)[1:-1], quote(key, safe=""), quote_plus(key))
    for raw in (key, f":{key}", f"Bearer {key}"):
        yield base64.b64encode(raw.encode()).decode().rstrip("=")
