"""The sentences of the domain in the reader's language."""

from __future__ import annotations

from typing import Any

from django.utils.functional import lazy
from django.utils.translation import gettext

from annotation.core.i18n import Translatable


def translated(sentence: str) -> str:
    """A sentence of the domain in the active language; anything else unchanged.

    A sentence with values is said anew by its pattern (`annotation.core.i18n`); what came from JSON or from a
    column has lost its pattern, so that only sentences without values are known again.
    """
    if isinstance(sentence, Translatable):
        values: dict[str, Any] = {
            name: translated(value) if isinstance(value, Translatable) else value
            for name, value in sentence.values.items()
        }
        words = gettext(sentence.pattern)
        return words.format(**values) if values else words
    return gettext(sentence) if sentence else ""


translated_lazy = lazy(translated, str)
"""`translated` when it is shown: for what is made once and read in many languages."""
