"""`make check`: reads of the database by browser tests that do not wait for what they read.

A click returns before the server has stored anything. So a browser test reads the database inside
`eventually(…)` and nowhere else, and what it reads with is written there or in tests/browser/stored.py. Reads
are told by names: those imported from READERS, what is asked of a related manager, and `refresh_from_db`. A
statement that ends in `.update(…)` or `.delete()` only writes.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).parent
STORED: Final = TESTS / "browser" / "stored.py"
READERS: Final = re.compile(
    r"annotation\.(models|reports|policies\.visible)\b|django\.(db|contrib\.\w+\.models)\b"
    r"|tests\.(callers\.Caller|browser\.stored\.(?!eventually$))|bench\.workbench\.rows"
)
MANAGERS: Final = frozenset(
    name
    for path in (TESTS.parent / "annotation" / "models").rglob("*.py")
    for name in re.findall(r'related_name="(\w+)"', path.read_text())
)


def reads(source: str) -> Iterator[tuple[int, str]]:
    """Line and name of each read that does not wait."""
    nodes = list(ast.walk(ast.parse(source)))
    readers = {name for node in nodes for path, name in _imported(node) if READERS.match(path)}
    harmless = {inner for node in nodes for place in _harmless(node) for inner in ast.walk(place)}
    for node in nodes:
        if node in harmless:
            continue
        match node:
            case ast.Name(id=name) if name in readers:
                yield node.lineno, name
            case ast.Attribute(attr="refresh_from_db" as name):
                yield node.lineno, name
            case ast.Attribute(value=ast.Attribute(attr=name)) if name in MANAGERS:
                yield node.lineno, f"{name}.{node.attr}"


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """What an import brings, and the name that it has here."""
    if isinstance(node, ast.ImportFrom):
        yield from ((f"{node.module}.{alias.name}", alias.asname or alias.name) for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from ((alias.name, alias.asname or alias.name.split(".")[0]) for alias in node.names)


def _harmless(node: ast.AST) -> Iterator[ast.AST]:
    """Parts of it that may name what reads: they wait, are types, or write."""
    match node:
        case ast.Call(func=ast.Name(id="eventually"), args=args):
            # what is called again and again, and not what is worked out before
            yield from (arg for arg in args if isinstance(arg, ast.Lambda) or not _calls(arg))
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="update" | "delete", value=place))):
            while isinstance(place, ast.Attribute | ast.Call):
                place = place.func if isinstance(place, ast.Call) else place.value
            yield place
    types = (getattr(node, "annotation", None), getattr(node, "returns", None))
    yield from (part for part in types if part is not None)


def _calls(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Call) for inner in ast.walk(node))


def main() -> int:
    """Print each read that does not wait; 1 when there is one."""
    modules = [path for path in TESTS.rglob("*.py") if "mark.browser" in path.read_text()]
    found = [
        f"{path.relative_to(TESTS.parent)}:{line}: {name} is read, and nothing waits for it"
        for path in sorted({*modules, *(TESTS / "browser").glob("*.py")} - {STORED, Path(__file__)})
        for line, name in reads(path.read_text())
    ]
    if found:
        print("Read what is stored inside eventually(…) (CONTRIBUTING.md, Tests):", *found, sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
