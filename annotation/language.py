"""The sentences of the domain in the reader's language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from string import Formatter
from typing import Any, Final, TypeGuard

from django.utils.functional import lazy
from django.utils.translation import get_language, gettext, trans_real

from annotation.core.i18n import Translatable

FEWEST_LETTERS: Final = 8
"""Letters around its values that a pattern must have for a sentence to be known by it."""
FULL_WIDTH_STOP: Final = re.compile(r"。\s+(?![\s<])")
"""A Chinese full stop, before more of the same paragraph."""
LONGEST: Final = 4_000
"""Characters of the longest sentence that is looked for among the patterns."""


def translated(sentence: str) -> str:
    """A sentence of the domain in the active language; anything else unchanged.

    A sentence with values is said anew by its pattern (`annotation.core.i18n`). What came from JSON or from a
    column has lost its pattern and is known again by its words: those of a pattern of the catalogue, with
    anything in place of the values, which are sentences themselves as often as not.
    """
    if not sentence:
        return ""
    if isinstance(sentence, Translatable):
        return _said(sentence.pattern, sentence.values) if sentence.values else gettext(sentence.pattern)
    translation = gettext(sentence)
    if translation != sentence or len(sentence) > LONGEST:
        return translation
    for pattern in _patterns(get_language() or ""):
        if values := pattern.values(sentence):
            return _said(pattern.text, values)
    return sentence


def translated_sentences(text: str) -> str:
    """A text of several sentences of the domain, such as a reason of the baseline, each of them translated;
    a text that holds anything else, unchanged."""
    sentences = [f"{part}." for part in text[:-1].split(". ")] if text.endswith(".") else []
    translations = [translated(sentence) for sentence in sentences]
    if not translations or any(now == was for now, was in zip(translations, sentences, strict=True)):
        return text
    return joined(*translations)


def joined(*sentences: str) -> str:
    """Sentences one after another; the Chinese full stop has the space behind it in itself."""
    return FULL_WIDTH_STOP.sub("。", " ".join(filter(None, sentences)))


translated_lazy = lazy(translated, str)
"""`translated` when it is shown: for what is made once and read in many languages."""


def _said(pattern: str, values: Mapping[str, object]) -> str:
    """The pattern in the active language, and those of its values that are sentences of the domain."""
    words = {name: translated(value) if _said_too(value) else value for name, value in values.items()}
    return gettext(pattern).format(**words)


def _said_too(value: object) -> TypeGuard[str]:
    """Whether a value is said in the reader's language; a name of somebody's making is said as it is."""
    return isinstance(value, Translatable) or (isinstance(value, str) and " " in value)


@dataclass(frozen=True, slots=True)
class _Pattern:
    text: str
    words: tuple[str, ...]
    """The words before, between and after the values."""
    names: tuple[str, ...]

    def values(self, sentence: str) -> dict[str, str] | None:
        """The values with which the pattern makes the sentence; None when there are none. Each word is taken
        where it stands first, so that this takes no longer than reading the sentence."""
        first, *between, last = self.words
        end = len(sentence) - len(last)
        if not sentence.startswith(first) or not sentence.endswith(last):
            return None
        place, matched = len(first), []
        for word in between:
            here = sentence.find(word, place + 1, end)
            if here < 0:
                return None
            matched.append(sentence[place:here])
            place = here + len(word)
        matched.append(sentence[place:end])
        values = dict(zip(self.names, matched, strict=True))
        return values if place < end and [values[name] for name in self.names] == matched else None


@cache
def _patterns(language: str) -> tuple[_Pattern, ...]:
    """The patterns with values that the catalogue of a language translates, those with most words first."""
    catalogue: Any = trans_real.catalog()
    patterns = []
    for text in {key if isinstance(key, str) else key[0] for key, _said in catalogue._catalog.items()}:
        if "{" not in text or "%(" in text:
            continue
        parts = list(Formatter().parse(text))
        names = [name for _words, name, _spec, _conversion in parts if name]
        words = [part[0] for part in parts] + ([""] if parts[-1][1] else [])
        apart = bool(names) and all(words[1:-1])
        if apart and sum(map(str.isalpha, "".join(words))) >= FEWEST_LETTERS:
            patterns.append(_Pattern(text, tuple(words), tuple(names)))
    return tuple(sorted(patterns, key=lambda pattern: (-len("".join(pattern.words)), pattern.text)))
