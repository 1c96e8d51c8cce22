"""Counts of what qualifies the annotators of a release: of groups, and of nobody in particular.

A release of few annotators has no counts, and a count of fewer people than `SMALLEST` is not stated: "1 of 1"
would be a person (docs/decisions/0065-a-release-counts-qualifications.md).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..i18n import translatable
from ..vocabulary import Degree

DEGREES: Final[dict[Degree, str]] = {
    Degree.BACHELOR: translatable("a bachelor’s degree"),
    Degree.MASTER: translatable("a master’s degree"),
    Degree.DOCTORATE: translatable("a doctorate"),
}
FEWEST_ANNOTATORS: Final = 5
"""A release of fewer annotators states no counts."""
SMALLEST: Final = 3
"""A count of fewer people is not stated."""
_COMMAS: Final = re.compile("[,;，；、\n]")
_BANDS: Final = ((10, "10+"), (5, "5–9"), (2, "2–4"), (0, "0–1"))


@dataclass(frozen=True, slots=True)
class Qualifications:
    """The notes of a project's admins on one person. Nothing noted: "" and None."""

    degree: str = ""
    field: str = ""
    years: int | None = None
    languages: str = ""


def languages_of(text: str) -> list[str]:
    """The languages of a list with commas, each once, in its order."""
    named = {" ".join(part.split()).casefold(): " ".join(part.split()) for part in _COMMAS.split(text)}
    return [name for key, name in named.items() if key]


def qualification_counts(
    people: Collection[Qualifications], tests: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """The manifest's block about the annotators of a release, one entry of `people` each, and `tests`: how
    many of them passed each test, by its name. Empty where there is nothing to state.

    {"annotators": 6, "smallest_count": 3, "degree": {"master": 4}, "degree_in": {"computer science": 5},
    "years": {"2–4": 3}, "languages": {"English": 6}, "tests": {"Test 2": 6}}. A kind without a count of
    SMALLEST or more is left out; who is in none of its counts may have said something else or nothing.
    """
    if len(people) < FEWEST_ANNOTATORS:
        return {}
    degrees = [person for person in people if person.degree not in ("", Degree.NONE)]
    years = [_band(person.years) for person in people if person.years is not None]
    counts = {
        "degree": _counted(person.degree for person in degrees),
        "degree_in": _counted(person.field for person in degrees if person.field),
        "years": _counted(years),
        "languages": _counted(name for person in people for name in languages_of(person.languages)),
        "tests": {name: n for name, n in sorted((tests or {}).items()) if n >= SMALLEST},
    }
    stated = {name: counted for name, counted in counts.items() if counted}
    return {"annotators": len(people), "smallest_count": SMALLEST, **stated} if stated else {}


def qualification_sentences(block: Mapping[str, Any]) -> list[str]:
    """A manifest's block in sentences, for a card and for pages: "6 of 6 annotators passed Test 2"."""
    of = block.get("annotators")
    sentences: list[str] = [
        translatable("{n} of {of} annotators passed {test}", n=n, of=of, test=name)
        for name, n in (block.get("tests") or {}).items()
    ]
    sentences += [
        translatable(
            "{n} of {of} hold as their highest degree: {degree}", n=n, of=of, degree=DEGREES[Degree(name)]
        )
        for name, n in (block.get("degree") or {}).items()
        if name in set(Degree)
    ]
    sentences += [
        translatable("{n} of {of} hold a degree in {field}", n=n, of=of, field=name)
        for name, n in (block.get("degree_in") or {}).items()
    ]
    sentences += [
        translatable("{n} of {of} have worked in their field for {years} years", n=n, of=of, years=name)
        for name, n in (block.get("years") or {}).items()
    ]
    sentences += [
        translatable("{n} of {of} annotators speak {language}", n=n, of=of, language=name)
        for name, n in (block.get("languages") or {}).items()
    ]
    return sentences


def _band(years: int) -> str:
    return next(name for least, name in _BANDS if years >= least)


def _counted(names: Iterable[str]) -> dict[str, int]:
    """The count of each name, in whatever case, as it is written most often; without small counts."""
    spelt: dict[str, Counter[str]] = {}
    for name in names:
        spelt.setdefault(name.casefold(), Counter())[name] += 1
    counted = {min(all_, key=lambda name: (-all_[name], name)): all_.total() for all_ in spelt.values()}
    return {name: n for name, n in sorted(counted.items()) if n >= SMALLEST}
