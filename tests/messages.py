"""`make messages`: the catalogues brought up to date with the sources, compiled, and what they still lack.

Strings come from the Python modules and templates of the server, found with Babel (Django's templates by way
of its own `templatize`, Jinja2's with its own extractor): nothing but the development packages is needed. A
catalogue is one file, `frontend/locale/<locale>/LC_MESSAGES/django.po`; the `.mo` beside it is made from it
and committed, so that running needs no tools. `make messages NEW=fr` begins a language.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import django
from babel import Locale
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize
from jinja2.ext import babel_extract

ROOT: Final = Path(__file__).resolve().parents[1]
LOCALES: Final = ROOT / "frontend" / "locale"
ROOMS: Final = ("annotation", "api", "config", "frontend")
LEFT_OUT: Final = ("annotation/management/", "annotation/migrations/")
"""Commands speak English."""
KEYWORDS: Final[dict[str, Any]] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    # annotation.core knows no Django: its sentences are marked by `translatable`, its reasons
    # by what holds them
    "translatable": None,
    "ReasonCode": (3,),
}
MARKED: Final = re.compile(rb"\b(?:%s)\(" % b"|".join(map(str.encode, KEYWORDS)))
JINJA: Final = {"trim_blocks": "true", "lstrip_blocks": "true", "newstyle_gettext": "true", "silent": "false"}
NOTES: Final = ("Translators:",)
WIDTH: Final = 100


def sources() -> Iterator[tuple[str, Any, bytes]]:
    """(path in the repository, Babel's method, what it reads) of all that may hold strings for people."""
    for path in sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.*")):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(LEFT_OUT):
            continue
        if path.suffix == ".py":
            code = path.read_bytes()
            if MARKED.search(code):
                yield name, "python", code
        elif "/templates/" in name and path.suffix in (".html", ".txt"):
            # in brackets, where the tokenizer does not mind how lines are indented
            yield name, "python", f"({templatize(path.read_text('utf-8'), origin=name)}\n)".encode()
        elif "/jinja2/" in name:
            yield name, babel_extract, path.read_bytes()


def extracted() -> Catalog:
    """Every string of the sources, without translations."""
    found = Catalog(charset="utf-8")
    for name, method, code in sources():
        for _line, texts, comments, context in extract(
            method, io.BytesIO(code), keywords=KEYWORDS, comment_tags=NOTES, options=JINJA
        ):
            found.add(texts, locations=[(name, None)], auto_comments=comments, context=context)  # type: ignore[list-item]
    return found


def catalogues() -> list[Path]:
    """The file of each language."""
    return sorted(LOCALES.glob("*/LC_MESSAGES/django.po"))


def read(path: Path) -> Catalog:
    """The catalogue in a file; its folder names the language."""
    with path.open("rb") as file:
        return read_po(file, locale=path.parts[-3])


def untranslated(catalogue: Catalog) -> list[Message]:
    """The messages that lack a translation, or one of their plural forms."""
    return [
        message
        for message in catalogue
        if message.id
        and not all([message.string] if isinstance(message.string, str) else message.string or [""])
    ]


def renew(path: Path, strings: Catalog) -> Catalog:
    """Bring one catalogue up to date: new strings empty, strings that are gone dropped, the rest kept."""
    catalogue = read(path) if path.exists() else _begun(path.parts[-3])
    strings.creation_date = catalogue.creation_date
    catalogue.update(strings, no_fuzzy_matching=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalogue, width=WIDTH, ignore_obsolete=True, include_lineno=False, sort_by_file=True)
    with path.with_suffix(".mo").open("wb") as file:
        write_mo(file, catalogue)
    return catalogue


def _begun(locale: str) -> Catalog:
    return Catalog(
        locale=locale,
        header_comment=f"# Tristep in {Locale.parse(locale).english_name}.",
        project="Tristep",
        version="1",
        msgid_bugs_address="-",
        last_translator="-",
        language_team="-",
        fuzzy=False,
        revision_date=datetime.now(UTC),
    )


def main(new: list[str]) -> None:
    """Renew all catalogues, and those of the languages named; print what each still lacks."""
    django.setup()
    strings = extracted()
    begun = [LOCALES / name / "LC_MESSAGES" / "django.po" for name in new]
    for path in dict.fromkeys([*catalogues(), *begun]):
        lacking = untranslated(renew(path, strings))
        for message in lacking:
            print(f"{path.parts[-3]}: {message.id!r}")
        print(f"{path.relative_to(ROOT)}: {len(strings)} strings, {len(lacking)} without a translation")


if __name__ == "__main__":
    main(sys.argv[1:])
