"""`make check`: reads by browser tests that do not wait for what they read.

A click returns before the server has stored anything. So a browser test reads the database inside
`eventually(…)` and nowhere else, and what it reads with is written there or in tests/browser/stored.py. Reads
are told by names: those imported from READERS, what is asked of a related manager, and `refresh_from_db`. A
statement that ends in `.update(…)` or `.delete()` only writes.

It returns before the page shows anything, too. So between an act on a page and what Playwright reads of one
without waiting stands a wait: `expect(…)`, `eventually(…)`, `page.wait_for_…`, or opening a page.

And it is caught only some time after `page.route(…)`, and offline only some time after `set_offline(True)`;
`intercept` and `cut_off` wait for that.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
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
ACTS: Final = re.compile(
    r"(click|dblclick|tap|press|press_sequentially|type|insert_text|fill|clear|check|uncheck|set_checked"
    r"|select_option|set_input_files|drag_to|dispatch_event)$"
)
WAITS: Final = re.compile(r"(goto|go|reload|go_back|go_forward|wait_for(?!_timeout).*)$")
PAGE_READS: Final = re.compile(
    r"(all_inner_texts|all_text_contents|inner_text|inner_html|text_content|input_value|get_attribute|is_\w+"
    r"|bounding_box|evaluate\w*)$"
)
# said of a page without arguments; strings and lists count with one
BARE_READS: Final = frozenset({"all", "content", "count", "title"})
WAITING: Final = ("intercept", "cut_off")
"""Helpers in tests/browser/workbench.py."""


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
    """The imported names: each in full, and the name that it has here."""
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


class _Order(ast.NodeVisitor):
    """Follows a function in the order in which it runs, into the functions of `known` that it calls."""

    def __init__(self, known: Mapping[str, ast.FunctionDef], inside: frozenset[str], acted: bool) -> None:
        self.known = known
        self.inside = inside
        self.acted = acted
        self.found: dict[tuple[int, str], None] = {}

    def follow(self, function: ast.FunctionDef) -> _Order:
        for statement in function.body:
            self.visit(statement)
        return self

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Skip a function's body: it runs at another time."""

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """The same."""

    def visit_For(self, node: ast.For) -> None:
        """Its end is followed by its beginning."""
        self.visit(node.iter)
        for statement in [*node.body, *node.body, *node.orelse]:
            self.visit(statement)

    def visit_With(self, node: ast.With) -> None:
        """`with page.expect_…():` waits at its end."""
        self.generic_visit(node)
        self.acted &= not any(".expect_" in ast.unparse(item.context_expr) for item in node.items)

    def visit_comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        """Visit the iterated values before the made ones."""
        for generator in node.generators:
            self.visit(generator.iter)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.visit(part)

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_comprehension

    def visit_Expr(self, node: ast.Expr) -> None:
        """`page.evaluate(…)` of which nothing is made is no read."""
        match node.value:
            case ast.Call(func=ast.Attribute(value=place, attr=name)) if name.startswith("evaluate"):
                self.visit(place)
            case value:
                self.visit(value)

    def visit_Call(self, node: ast.Call) -> None:
        match node.func:
            case ast.Name(id="expect" | "eventually"):
                self.acted = False
            case ast.Name(id=name):
                self.generic_visit(node)
                if name in self.known and name not in self.inside:
                    self._call(node, name)
            case ast.Attribute(attr=name):
                self.generic_visit(node)
                bare = name in BARE_READS and not node.args and not node.keywords
                if self.acted and (bare or PAGE_READS.match(name)):
                    self.found[node.lineno, name] = None
                self.acted = (self.acted or bool(ACTS.match(name))) and not WAITS.match(name)
            case _:
                self.generic_visit(node)

    def _call(self, node: ast.Call, name: str) -> None:
        function, inside = self.known[name], self.inside | {name}
        as_called = _Order(self.known, inside, self.acted).follow(function)
        if as_called.found.keys() - _Order(self.known, inside, False).follow(function).found.keys():
            self.found[node.lineno, name] = None
        self.acted = as_called.acted


def _functions(source: str) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def early_reads(source: str, helpers: Iterable[str] = ()) -> Iterator[tuple[int, str]]:
    """Line and name of each read of a page right after an act; `helpers`: the sources of what is called."""
    mine = _functions(source)
    known = {name: node for text in helpers for name, node in _functions(text).items()} | mine
    for name, function in mine.items():
        yield from _Order(known, frozenset({name}), False).follow(function).found


def too_soon(source: str) -> Iterator[tuple[int, str]]:
    """Line of each `.route(…)` and `.set_offline(True)` outside of the helper that waits for it; its name."""
    tree = ast.parse(source)
    sure = {inner for node in tree.body if getattr(node, "name", "") in WAITING for inner in ast.walk(node)}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="route")) if node not in sure:
                yield node.lineno, "intercept"
            case ast.Call(func=ast.Attribute(attr="set_offline"), args=[ast.Constant(value=True)]) if (
                node not in sure
            ):
                yield node.lineno, "cut_off"


def main() -> int:
    """Print each read that does not wait, and what a request may overtake; 1 when there is one."""
    modules = {path for path in TESTS.rglob("*.py") if "mark.browser" in path.read_text()} - {Path(__file__)}
    folder = {*(TESTS / "browser").glob("*.py")}
    helpers = [path.read_text() for path in sorted(folder - modules)]
    found = []
    for path in sorted(modules | folder):
        place, source = path.relative_to(TESTS.parent), path.read_text()
        if path != STORED:
            found += [
                f"{place}:{line}: {name} is read, and nothing waits for it" for line, name in reads(source)
            ]
        found += [
            f"{place}:{line}: {name} comes right after an act; expect what it does first"
            for line, name in early_reads(source, helpers)
        ]
        found += [f"{place}:{line}: call {name}, which waits for it" for line, name in too_soon(source)]
    if found:
        print("Browser tests wait for what they read (CONTRIBUTING.md, Tests):", *found, sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
