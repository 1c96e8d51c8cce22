"""Documents say what is there: files, sections, functions and names that they cite exist."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests import rooms
from tests.repository import tracked
from tests.servers import ROOT

DOCS = ROOT / "docs"
DESIGN = DOCS / "design.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
WALKS = (
    *("From upload to row", "From key to row", "From judge to screen", "From freeze to verify"),
    "From release to decision",
)
WALK_LINES = 12
WALK_LINE = re.compile(r"(\d+)\. `([\w./-]+)` `([\w.]+)`: \S.*")
RECIPE_STEP = re.compile(r"(\d+)\. `([^`]+)`(?: `([\w.]+)`)?: \S.*")
CITED_SECTION = re.compile(r"docs/([\w/-]+\.md), [\"'“]([^\"'”]+)[\"'”]")
CITED_FILE = re.compile(r"[\w/-]+\.(?:md|py)")
BETWEEN_WORDS = re.compile(r"[\s`'\"“”(),;:]+|\.(?=\s|$)")
OLD_DESIGN = re.compile(r"\bDESIGN(?:\.md| §)|\bDATA\.md\b")
NOT_THERE_YET = {"frontend/locale/fr/LC_MESSAGES/django.po"}
"""Names in a document of things that the reader will make."""
FOLDERS = "annotation|api|bench|clients|config|docs|fixtures|frontend|tests"
REPOSITORY_PATH = re.compile(rf"`((?:{FOLDERS})/[\w./-]*)`")
LINK = re.compile(r"\]\(([^)\s#]*)(#[^)\s]*)?\)")


def markdown() -> list[Path]:
    """The documents of the repository, fixtures apart."""
    return [path for path in tracked(".md") if path.parent == ROOT or DOCS in path.parents]


def prose(path: Path) -> str:
    """A document without what stands in fences."""
    return re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@cache
def headings(path: Path) -> tuple[str, ...]:
    return tuple(re.findall(r"^#{1,6} (.+?)\s*$", prose(path), re.MULTILINE))


def anchor(heading: str) -> str:
    """The anchor that a code host gives a heading."""
    return "#" + re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def section(path: Path, heading: str) -> str:
    """The text below a heading, up to the next of its rank or a higher one."""
    level = next(
        len(marks) for marks, title in re.findall(r"^(#+) (.+)$", prose(path), re.M) if title == heading
    )
    _, _, rest = prose(path).partition(f"\n{'#' * level} {heading}\n")
    return re.split(rf"^#{{1,{level}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


# ── docs/design.md ────────────────────────
def test_diagrams_of_the_rooms_are_those_of_the_code() -> None:
    text = DESIGN.read_text(encoding="utf-8")
    assert rooms.with_diagrams(text) == text, "stale: run `make diagram`"


def test_diagram_finds_a_circle() -> None:
    with pytest.raises(ValueError, match="between a, b"):
        rooms.levels({"a": frozenset("b"), "b": frozenset("a"), "c": frozenset()})


def test_diagram_leaves_out_arrows_that_follow_from_others() -> None:
    imports = {
        "top": frozenset({"middle", "ground"}),
        "middle": frozenset({"ground"}),
        "ground": frozenset[str](),
    }
    assert rooms.needed_arrows(imports) == [("top", "middle"), ("middle", "ground")]


@pytest.mark.parametrize("walk", WALKS)
def test_walk_has_twelve_lines_and_names_what_exists(walk: str) -> None:
    lines = [line for line in section(DESIGN, walk).splitlines() if line.strip()]
    steps = [WALK_LINE.fullmatch(line) for line in lines]
    assert [line for line, step in zip(lines, steps, strict=True) if step is None] == []
    assert [int(step[1]) for step in steps if step] == list(range(1, WALK_LINES + 1))
    missing = [f"{step[2]}: {step[3]}" for step in steps if step and not defines(ROOT / step[2], step[3])]
    assert not missing, "\n".join(missing)


def test_walk_would_not_take_a_name_that_is_not_defined() -> None:
    assert defines(ROOT / "tests" / "test_docs.py", "defines")
    assert not defines(ROOT / "tests" / "test_docs.py", "defined")
    assert not defines(ROOT / "tests" / "absent.py", "defines")


def defines(path: Path, name: str) -> bool:
    """Whether a file defines a function, class, method (`Class.method`) or constant of this name."""
    if not path.is_file():
        return False
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return name in set(python_names(ast.parse(text)))
    found = rf"^(?:export )?(?:(?:async )?function\*? |const |let |class ){re.escape(name)}\b"
    return re.search(found, text, re.MULTILINE) is not None


def python_names(tree: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield prefix + node.name
        if isinstance(node, ast.ClassDef):
            yield from python_names(node, f"{prefix}{node.name}.")
        if isinstance(node, ast.Assign):
            yield from (prefix + target.id for target in node.targets if isinstance(target, ast.Name))
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield prefix + node.target.id


# ── Recipes of CONTRIBUTING.md ────────────
def recipe_steps(recipe: str) -> list[tuple[int, str, str]]:
    """Number, path and name (or "") of each step of a recipe; fails on a step of another form."""
    lines = [line for line in section(CONTRIBUTING, recipe).splitlines() if re.match(r"\d+\. ", line)]
    steps = [RECIPE_STEP.fullmatch(line) for line in lines]
    assert [line for line, step in zip(lines, steps, strict=True) if step is None] == []
    return [(int(step[1]), step[2], step[3] or "") for step in steps if step]


def fault_of(path: str, name: str) -> str:
    """The fault of a place, or "". Of `<…>`, which one chooses, only the folder above is looked for."""
    known = ROOT / (path.partition("<")[0].rpartition("/")[0] if "<" in path else path)
    if not known.exists():
        return f"{path}: no such file"
    return f"{path}: {name}" if name and not defines(known, name) else ""


@pytest.mark.parametrize("recipe", re.findall(r"^### (An? .+)$", CONTRIBUTING.read_text("utf-8"), re.M))
def test_recipe_is_numbered_and_names_what_exists(recipe: str) -> None:
    steps = recipe_steps(recipe)
    assert [number for number, _, _ in steps] == list(range(1, len(steps) + 1))
    assert [fault for _, path, name in steps if (fault := fault_of(path, name))] == []


def test_recipe_would_not_take_what_is_not_there() -> None:
    assert fault_of("tests/test_docs.py", "fault_of") == "" == fault_of("tests/<kind>/<name>.py", "")
    assert fault_of("tests/absent.py", "")
    assert fault_of("absent/<name>.py", "")
    assert fault_of("tests/test_docs.py", "absent")


# ── What documents and docstrings cite ────
def test_documents_link_to_files_and_sections_that_exist() -> None:
    broken = []
    for path in markdown():
        for target, fragment in LINK.findall(prose(path)):
            if "://" in target or target.startswith("mailto:"):
                continue
            file = (path.parent / target).resolve() if target else path
            if not file.exists() or (fragment and fragment not in map(anchor, headings(file))):
                broken.append(f"{path.relative_to(ROOT)}: {target}{fragment}")
    assert not broken, "\n".join(broken)


def test_documents_name_files_that_exist() -> None:
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in markdown()
        for name in REPOSITORY_PATH.findall(prose(path))
        if not (ROOT / name).exists() and name not in NOT_THERE_YET
    ]
    assert not missing, "\n".join(missing)


def test_docstrings_and_comments_cite_documents_and_modules_that_exist() -> None:
    known = {path.relative_to(ROOT).as_posix() for path in tracked(".md", ".py")}
    ends = {"/".join(name.split("/")[start:]) for name in known for start in range(name.count("/") + 1)}
    wrong = []
    for path in tracked(".py", ".js", ".mjs", ".css", ".html"):
        text = path.read_text(encoding="utf-8")
        where = path.relative_to(ROOT).as_posix()
        if path == Path(__file__):
            continue
        wrong += [f"{where}: {match[0]}" for match in OLD_DESIGN.finditer(text)]
        for document, heading in CITED_SECTION.findall(" ".join(text.split()) if "docs/" in text else ""):
            if not (DOCS / document).is_file() or heading not in headings(DOCS / document):
                wrong.append(f"{where}: docs/{document}, '{heading}'")
        if path.suffix == ".py" and (".py" in text or ".md" in text):
            cited = filter(CITED_FILE.fullmatch, BETWEEN_WORDS.split(docstrings(text)))
            wrong += [f"{where}: {name}" for name in cited if name not in ends]
    assert not wrong, "\n".join(wrong)


def test_docstrings_quote_code_in_single_backticks() -> None:
    files = [path for path in tracked(".py") if "``" in path.read_text(encoding="utf-8")]
    doubled = [path for path in files if "``" in docstrings(path.read_text(encoding="utf-8"))]
    assert doubled == []


def docstrings(text: str) -> str:
    """The docstrings of a module and of all that is defined in it, in one text."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = (ast.get_docstring(node) for node in ast.walk(ast.parse(text)) if isinstance(node, kinds))
    return "\n".join(filter(None, found))


# ── docs/glossary.md ──────────────────────
def glossary() -> list[list[tuple[str, str]]]:
    """The tables of words, each a list of (word, the cell with its names in code)."""
    tables: list[list[tuple[str, str]]] = []
    within = False
    for line in (DOCS / "glossary.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if cells[0] == "word":
            tables.append([])
            within = True
        elif not line.startswith("|"):
            within = False
        elif within and len(cells) == 4:
            tables[-1].append((cells[0], cells[3]))
    return tables


def in_code(name: str) -> bool:
    """Whether a dotted name (below `annotation`, or from the top) leads to a module or a name in it."""
    parts = name.split(".")
    for base in ("annotation.", ""):
        for end in range(len(parts), 0, -1):
            try:
                value: object = importlib.import_module(base + ".".join(parts[:end]))
            except ModuleNotFoundError:
                continue
            for part in parts[end:]:
                if not has(value, part):
                    return False
                value = getattr(value, part, None)
            return True
    return False


def has(value: object, part: str) -> bool:
    """Whether a module or class has this name; a dataclass's field without a default is no attribute."""
    return hasattr(value, part) or (is_dataclass(value) and part in {field.name for field in fields(value)})


def test_glossary_names_exist_in_code() -> None:
    named = [
        (word, name)
        for table in glossary()
        for word, cell in table
        for name in re.findall(r"`([^`]+)`", cell)
    ]
    assert len(named) > 100
    absent = [f"{word}: {name}" for word, name in named if not in_code(name)]
    assert not absent, "\n".join(absent)


def test_glossary_defines_each_word_once_and_in_order() -> None:
    tables = [[word for word, _ in table] for table in glossary()]
    words = [word for table in tables for word in table]
    assert [word for word in words if words.count(word) > 1] == []
    assert [table for table in tables if table != sorted(table, key=str.casefold)] == []


# ── docs/decisions ────────────────────────
DECISION = re.compile(
    r"# (\d+)\. ([^\n]+)\n\n\*Status: (accepted|superseded by \d+)\. Date: (20\d\d-\d\d-\d\d)\.\*\n\n"
)


def test_decisions_have_one_form_and_numbers_without_a_gap() -> None:
    files = sorted((DOCS / "decisions").glob("0*.md"))
    heads = [DECISION.match(path.read_text(encoding="utf-8")) for path in files]
    assert [path.name for path, head in zip(files, heads, strict=True) if head is None] == []
    assert [int(head[1]) for head in heads if head] == list(range(1, len(files) + 1))
    assert [int(path.name[:4]) for path in files] == list(range(1, len(files) + 1))


def test_decisions_are_listed_with_title_status_and_date() -> None:
    index = (DOCS / "decisions" / "README.md").read_text(encoding="utf-8")
    for path in sorted((DOCS / "decisions").glob("0*.md")):
        head = DECISION.match(path.read_text(encoding="utf-8"))
        assert head is not None
        assert f"| {head[1]} | [{head[2]}]({path.name}) | {head[3]} | {head[4]} |" in index


# ── CITATION.cff and CHANGELOG.md ─────────
def test_citation_has_what_the_format_asks_for_and_the_present_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors", "version", "license"} <= citation.keys()
    assert citation["cff-version"] == "1.2.0"
    assert all(author.get("name") or author.get("family-names") for author in citation["authors"])
    version = re.search(r'^version = "([^"]+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version is not None
    assert citation["version"] == version[1]
    assert f"## [{version[1]}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
