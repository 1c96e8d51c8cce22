"""The scripts of pages: ES modules, each a file, and for the production server one file an entry module.

A page names one entry module, whose file is collected with all that it imports (`joined`). What every page
has (`SITE`) stays a file of its own: browsers keep it from page to page, and the others import from it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parent / "static" / "frontend" / "js"
SITE: Final = "pages/site"
ENTRIES: Final = (
    SITE,
    "case/audit",
    "case/main",
    "pages/api_reference",
    "pages/correction",
    "pages/differences",
    "pages/drafts",
    "pages/freeze",
    "pages/import",
    "pages/passkey",
    "pages/runs",
    "pages/transcript",
    "workbench/main",
)
"""The scripts that templates name, relative to `frontend/js` and without the suffix."""

# Statements as prettier writes them, at the beginning of a line.
_IMPORT: Final = re.compile(r'^import (?:(\{[^{}]*\}) from )?"(\.[^"\n]+)\.js";$', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export ((?:(?:async )?function\*? ?|class |const )(\w+)\b)", re.MULTILINE)
_LEFT: Final = re.compile(r"^(?:import|export|var)\b.*", re.MULTILINE)
_COMMENT: Final = re.compile(r"/\*.*?\*/|^[ \t]*//[^\n]*", re.MULTILINE | re.DOTALL)


def without_comments(text: str) -> str:
    """The text of a script or style sheet without comments (but those behind code on its line), indentation
    and empty lines. No string of it may go over several lines or hold what looks like a comment; tests hold
    every file to that.
    """
    lines = (line.strip() for line in _COMMENT.sub("", text).splitlines())
    return "".join(f"{line}\n" for line in lines if line)


def read(name: str) -> str:
    """The source of a module."""
    return (FOLDER / f"{name}.js").read_text(encoding="utf-8")


@cache
def imports(name: str) -> tuple[str, ...]:
    """The modules that a module imports, relative to the folder, in its order."""
    return tuple(_beside(name, other) for _names, other in _IMPORT.findall(read(name)))


def in_order(name: str) -> tuple[str, ...]:
    """This module behind all that it needs, as a browser runs them. Raises ValueError for a circle."""
    ordered: dict[str, None] = {}

    def visit(module: str, above: tuple[str, ...]) -> None:
        if module in above:
            raise ValueError(f"{' → '.join((*above, module))}: these modules import each other")
        if module not in ordered:
            for other in imports(module):
                visit(other, (*above, module))
            ordered[module] = None

    visit(name, ())
    return tuple(ordered)


def joined(name: str) -> str:
    """An entry module with all that it imports, each module in a block of its own, so that names are those of
    a module; what it exports is in an object that others take from. Raises ValueError for a statement that is
    not understood, and for an import of what is not exported.
    """
    shared = in_order(SITE)
    own = [module for module in in_order(name) if name == SITE or module not in shared]
    exports = {
        module: tuple(exported for _, exported in _EXPORT.findall(read(module))) for module in (*shared, *own)
    }
    blocks = [_block(module, exports) for module in own]
    if name == SITE:
        return "".join([*blocks, f"export {{ {', '.join(map(_object, own))} }};\n"])
    taken = sorted({_object(other) for module in own for other in imports(module) if other in shared})
    away = posixpath.relpath(SITE, posixpath.dirname(name))
    away = away if away.startswith(".") else f"./{away}"
    head = f'import {{ {", ".join(taken)} }} from "{away}.js";\n' if taken else ""
    return head + "".join(blocks)


def joined_files() -> Iterator[tuple[str, str]]:
    """Every entry module, as the name of its static file and its text with all that it imports."""
    for name in ENTRIES:
        yield f"frontend/js/{name}.js", joined(name)


def _block(module: str, exports: dict[str, tuple[str, ...]]) -> str:
    def take(match: re.Match[str]) -> str:
        names, other = match[1], _beside(module, match[2])
        if not names:  # for its effects: it has run before
            return ""
        wanted = [one.strip() for one in names.strip("{}").split(",") if one.strip()]
        missing = {one.split(" as ")[0] for one in wanted} - set(exports[other])
        if missing:
            raise ValueError(
                f"{module}.js imports {', '.join(sorted(missing))}, which {other}.js does not export"
            )
        return f"const {{ {', '.join(one.replace(' as ', ': ') for one in wanted)} }} = {_object(other)};"

    text = _EXPORT.sub(r"\1", _IMPORT.sub(take, without_comments(read(module))))
    if left := _LEFT.search(text):
        raise ValueError(f"{module}.js cannot be joined with others: {left[0]}")
    given = (
        f"Object.assign({_object(module)}, {{ {', '.join(exports[module])} }});\n" if exports[module] else ""
    )
    return f"const {_object(module)} = {{}};\n{{\n{text}{given}}}\n"


def _beside(module: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(module), path))


def _object(module: str) -> str:
    return "$" + module.replace("/", "_")
