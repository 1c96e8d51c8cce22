"""The words around questions: one built-in text for each kind and language, and texts of people's own.

A text has three places. What stands before `{{examples}}` is said once; what stands after it is said of every
example and of the question itself, with `{{history}}` and `{{options}}` filled in. After it comes what an
answer begins with, and of an example the answer. Prompts are made again from release and settings, so that a
built-in text is never edited: other words are another version (a test holds each to its digest).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.releases.exports.asked import AskedKind

_FOLDER: Final = Path(__file__).parent
VERSION: Final = "v1"
ENGLISH: Final = "en"
CHINESE: Final = "zh"
LANGUAGES: Final = (ENGLISH, CHINESE)
EXAMPLES: Final = "examples"
HISTORY: Final = "history"
OPTIONS: Final = "options"
PLACES: Final = (EXAMPLES, HISTORY, OPTIONS)
MAX_TEMPLATE: Final = 20_000
"""Characters of a text of people's own."""
_PLACE: Final = re.compile(r"{{(.*?)}}")
_FENCE: Final = "```"
_OPENINGS: Final = {
    AskedKind.CHOICE: ("(", ")"),
    AskedKind.KEYS: ("(", ")"),
    AskedKind.ANSWER: ("[", "]"),
    AskedKind.COMMAND: (f"{_FENCE}\n", f"\n{_FENCE}"),
}
"""The text before and after an answer of each kind."""


@dataclass(frozen=True, slots=True)
class Template:
    """A text: what is said once, and what is said of each question."""

    preamble: str
    question: str

    def asks(self, kind: AskedKind, history: str, options: str) -> str:
        """A question up to where its answer begins."""
        values = {HISTORY: history, OPTIONS: options}
        # in one pass: what stands in a value is never filled in again
        text = _PLACE.sub(lambda place: values[place[1].strip()], self.question).rstrip()
        opening, _ = _OPENINGS[kind]
        if text.endswith(opening.strip()):
            text = text.removesuffix(opening.strip()).rstrip()
        gap = "\n" if kind is AskedKind.COMMAND else " " if text[-1:].isascii() else ""
        return f"{text}{gap}{opening}"


def answered(kind: AskedKind, keys: tuple[str, ...]) -> str:
    """The answer of an example, with what ends it."""
    return (",".join(keys) if kind is AskedKind.KEYS else keys[0]) + _OPENINGS[kind][1]


def nearest(language: str) -> str:
    """The language of the built-in texts in which a question of `language` is asked."""
    return CHINESE if language.lower().split("-")[0] == CHINESE else ENGLISH


@cache
def built_in(kind: AskedKind, language: str) -> Template:
    """The built-in text for a kind of question, in one of `LANGUAGES`."""
    return _parts(built_in_text(kind, language))


def built_in_text(kind: AskedKind, language: str) -> str:
    """It as it is written."""
    return (_FOLDER / f"{VERSION}-{kind}.{language}.md").read_text(encoding="utf-8")


def own_template(text: str, field: str) -> Template:
    """A text of people's own. Raises Invalid, with the field, for one that is too long, or whose places are
    unknown, missing, or not where they may be."""
    places = Counter(place.strip() for place in _PLACE.findall(text))
    named = ", ".join(f"{{{{{place}}}}}" for place in PLACES)
    unknown = next((place for place in places if place not in PLACES), None)
    missing = next((place for place in PLACES if place not in places), None)
    problem = ""
    if len(text) > MAX_TEMPLATE:
        problem = translatable("A template has at most {n} characters.", n=f"{MAX_TEMPLATE:,}")
    elif unknown is not None:
        problem = translatable(
            "Unknown placeholder {place}; there are {known}.", place=f"{{{{{unknown[:40]}}}}}", known=named
        )
    elif missing is not None:
        problem = translatable("The placeholder {place} is missing.", place=f"{{{{{missing}}}}}")
    elif places.total() > len(PLACES):
        problem = translatable("Each of the placeholders {known} stands once.", known=named)
    elif next(iter(places)) != EXAMPLES:
        problem = translatable(
            "The placeholder {place} stands before the others.", place=f"{{{{{EXAMPLES}}}}}"
        )
    if problem:
        raise Invalid(problem, fields={field: problem})
    return _parts(text)


def _parts(text: str) -> Template:
    place = next(place for place in _PLACE.finditer(text) if place[1].strip() == EXAMPLES)
    return Template(text[: place.start()].strip(), text[place.end() :].strip())
