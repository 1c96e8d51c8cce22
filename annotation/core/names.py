"""Names that people give to things: one line of visible text."""

from __future__ import annotations

import unicodedata

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable

# letters of some scripts, and pictures, are joined by these
_JOINERS = "\u200c\u200d"


def _is_visible(character: str) -> bool:
    return unicodedata.category(character)[0] != "C" or character in _JOINERS


def _tidy(name: str) -> str:
    kept = (one for one in unicodedata.normalize("NFC", name) if one.isspace() or _is_visible(one))
    return " ".join("".join(kept).split())


def folded(name: str) -> str:
    """A form that is the same for names that differ in the case of letters, in spaces, or in nothing one
    sees."""
    return unicodedata.normalize("NFC", _tidy(name).casefold())


def one_line(name: str, limit: int) -> str:
    """A name in Unicode's composed form, without control characters, with single spaces.

    Raises Invalid for an empty name, and for one of more than `limit` characters.
    """
    line = _tidy(name)
    if not line.strip(_JOINERS):
        message = translatable("Type a name.")
        raise Invalid(message, fields={"name": message})
    if len(line) > limit:
        message = translatable("Keep the name under {limit} characters.", limit=limit + 1)
        raise Invalid(message, fields={"name": message})
    return line
