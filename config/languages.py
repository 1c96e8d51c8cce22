"""The languages on offer: English, and every one that has a catalogue."""

from __future__ import annotations

from pathlib import Path

from django.conf.locale import LANG_INFO
from django.utils.translation import to_language


def offered(locales: Path) -> list[tuple[str, str]]:
    """(code, the language's own name) for English and each folder of `locales`: one file makes a language."""
    codes = [to_language(path.parts[-3]) for path in sorted(locales.glob("*/LC_MESSAGES/django.mo"))]
    return [(code, str(LANG_INFO.get(code, {}).get("name_local", code))) for code in ("en", *codes)]
