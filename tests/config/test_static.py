"""Collected files refer to each other by hashed names, so that browsers may keep them for ever."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from config.static import COMMENT_LINES, in_comment
from frontend.stylesheets import COMPONENTS, STYLESHEETS

IMPORT = re.compile(r'^(?:import|export) [^;]*?from "(\.{1,2}/[^"]+)";', re.MULTILINE)
HASHED = re.compile(r"\.[0-9a-f]{12}\.js$")


def scripts_of(collected: Path) -> list[Path]:
    """The collected scripts under their hashed names."""
    scripts = sorted((collected / "frontend" / "js").rglob("*.????????????.js"))
    assert scripts
    return scripts


def test_static_modules_with_hashes_import_modules_with_hashes(collected: Path) -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in scripts_of(collected)}
    imports = [(name, found) for name, text in texts.items() for found in IMPORT.findall(text)]
    assert any("/lib/" in found for _, found in imports)
    assert [pair for pair in imports if not HASHED.search(pair[1])] == []


def test_static_modules_find_what_they_import(collected: Path) -> None:
    for script in scripts_of(collected):
        for found in IMPORT.findall(script.read_text(encoding="utf-8")):
            assert (script.parent / found).is_file(), f"{script.name} imports {found}"


def test_static_files_have_a_compressed_copy(collected: Path) -> None:
    styles = list((collected / "frontend").rglob("*.????????????.css"))
    assert styles
    assert [path.name for path in styles if not path.with_name(path.name + ".gz").exists()] == []


def test_static_scripts_lack_the_comments_and_nothing_else(collected: Path) -> None:
    for script in scripts_of(collected):
        source = (script.parent / re.sub(r"\.[0-9a-f]{12}\.js$", ".js", script.name)).read_text(
            encoding="utf-8"
        )
        text = script.read_text(encoding="utf-8")
        assert not re.search(COMMENT_LINES, text)
        unhashed = re.sub(r"\.[0-9a-f]{12}\.js", ".js", text)
        # Django writes an import for its effects alone without the space.
        assert unhashed.replace('import"', 'import "') == re.sub(COMMENT_LINES, "", source)
        assert "`" not in re.sub(r"`[^`\n]*`", "", text), (
            "a text of several lines could hold what looks like a comment"
        )


def test_static_comment_lines_are_told_from_code_beside_comments() -> None:
    text = '// a\nx(); // b\n/**\n * c\n */\n/** d */ (y);\n/** e */\nconst z = "/* f */";\n'
    assert re.sub(COMMENT_LINES, "", text) == 'x(); // b\n/** d */ (y);\nconst z = "/* f */";\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('import("./a.js")', False),
        (' * @param {import("./a.js").A} a', False),
        ('/**\n * @param {import("./a.js").A} a', True),
        ('/** x */ import("./a.js")', False),
        ('// import("./a.js")', True),
        ('const b = /** @type {import("./a.js").B} */ (c);', True),
    ],
)
def test_static_comments_are_told_from_code(text: str, expected: bool) -> None:
    assert in_comment(text, text.index("import(")) is expected


def test_stylesheet_is_one_for_every_component() -> None:
    listed = sorted(component for components in STYLESHEETS.values() for component in components.split())
    assert listed == sorted(path.stem for path in COMPONENTS.glob("*.css"))


def test_stylesheet_collected_holds_its_components_in_order(collected: Path) -> None:
    text = (collected / "frontend" / "css" / "site.css").read_text(encoding="utf-8")
    parts = [(COMPONENTS / f"{name}.css").read_text(encoding="utf-8") for name in STYLESHEETS["site"].split()]
    assert text == "\n".join(parts)


def test_stylesheet_answers_a_pointer_only_where_there_is_one() -> None:
    """A finger leaves `:hover` behind: what was tapped would look pressed until something else is."""
    everywhere = []
    for component in COMPONENTS.glob("*.css"):
        css = re.sub(r"/\*.*?\*/", "", component.read_text(encoding="utf-8"), flags=re.DOTALL)
        blocks: list[str] = []
        for part in re.findall(r"[^{}]*[{}]", css):
            if part.endswith("}"):
                blocks.pop()
                continue
            blocks.append(part)
            if ":hover" in part and not any("(hover: hover)" in block for block in blocks):
                everywhere.append(f"{component.name}: {part.strip()}")
    assert everywhere == []
