"""Names of records on pages: the identity, which for a record without one of its own is a checksum."""

from __future__ import annotations

import re
from typing import Final

from annotation.core.text import unescape

from .control_chars import escape_control_chars

MAX_TITLE: Final = 80
_CHECKSUM: Final = re.compile(r"(?:sha256:)?([0-9a-f]{12})[0-9a-f]{52}")


def short_identity(record_id: str) -> str:
    """A stored identity (core.text) for a page; of a checksum its first twelve digits."""
    checksum = _CHECKSUM.fullmatch(record_id)
    return f"{checksum[1]}…" if checksum else escape_control_chars(unescape(record_id))


def title_of(record_id: str, question: str) -> str:
    """The title of a record whose question is known: a checksum says less than how the question begins."""
    words = " ".join(question[: 4 * MAX_TITLE].split())
    if not words or not _CHECKSUM.fullmatch(record_id):
        return short_identity(record_id)
    return escape_control_chars(words if len(words) <= MAX_TITLE else f"{words[:MAX_TITLE].rstrip()}…")
