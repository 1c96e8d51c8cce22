"""Collected files refer to each other by hashed names, so that browsers may keep them for ever."""

from __future__ import annotations

import json
import re
import subprocess
import sysconfig
from pathlib import Path

from django.contrib.staticfiles import finders

from frontend import scripts
from frontend.stylesheets import COMPONENTS, STYLESHEETS

IMPORT = re.compile(r'^import [^;]*?from "(\.{1,2}/[^"]+)";', re.MULTILINE)
NODE = Path(sysconfig.get_path("scripts"), "node")
HASHED = re.compile(r"\.[0-9a-f]{12}\.js$")
# the parser inside of Node: what a script is, without places and comments
PROGRAMS = """
const { parse } = require("internal/deps/acorn/acorn/dist/acorn");
const options = { ecmaVersion: "latest", sourceType: "module" };
const plain = (key, value) => (["start", "end"].includes(key) ? undefined : value);
const texts = JSON.parse(require("fs").readFileSync(0, "utf-8"));
console.log(JSON.stringify(texts.map((text) => JSON.stringify(parse(text, options), plain))));
"""


def scripts_of(collected: Path) -> list[Path]:
    """The collected scripts under their hashed names."""
    scripts = sorted((collected / "frontend" / "js").rglob("*.????????????.js"))
    assert scripts
    return scripts


def programs(texts: list[str]) -> list[str]:
    """Each script as the parser understands it, equal for equal programs."""
    done = subprocess.run(
        [NODE, "--expose-internals", "-e", PROGRAMS],
        input=json.dumps(texts).encode(),
        capture_output=True,
        check=True,
    )
    parsed: list[str] = json.loads(done.stdout)
    return parsed


def test_static_scripts_are_the_entry_modules_and_import_a_hashed_one_at_most(collected: Path) -> None:
    found = {}
    for script in scripts_of(collected):
        name = script.relative_to(collected / "frontend" / "js").as_posix()
        found[HASHED.sub("", name)] = IMPORT.findall(script.read_text(encoding="utf-8"))
        for path in found[HASHED.sub("", name)]:
            assert HASHED.search(path) and (script.parent / path).is_file(), f"{name} imports {path}"
            assert path.partition(".js")[0].rpartition("/")[2].startswith("site.")
    assert sorted(found) == sorted(scripts.ENTRIES)
    assert found["workbench/main"] and all(len(paths) <= 1 for paths in found.values())


def test_static_scripts_and_styles_have_a_compressed_copy(collected: Path) -> None:
    files = list((collected / "frontend").rglob("*.????????????.css")) + scripts_of(collected)
    assert [path.name for path in files if not path.with_name(path.name + ".gz").exists()] == []


def test_static_scripts_without_comments_are_the_same_programs() -> None:
    sources = [path.read_text(encoding="utf-8") for path in sorted(scripts.FOLDER.rglob("*.js"))]
    light = [scripts.without_comments(text) for text in sources]
    assert programs(light) == programs(sources)
    assert sum(map(len, light)) < 0.7 * sum(map(len, sources))
    assert not re.search(r"/\*|^\s*//", "".join(light), re.MULTILINE)


def test_static_joined_scripts_are_programs() -> None:
    assert all(programs([text for _name, text in scripts.joined_files()]))


def test_static_files_of_browser_tests_are_what_is_collected(collected: Path) -> None:
    for name in ("frontend/js/case/main.js", "frontend/css/workbench.css"):
        hashed = next((collected / name).parent.glob(f"{Path(name).stem}.????????????{Path(name).suffix}"))
        served = Path(str(finders.find(name))).read_text(encoding="utf-8")
        assert re.sub(r"\.[0-9a-f]{12}\.js", ".js", hashed.read_text(encoding="utf-8")) == served


def test_static_styles_without_comments_keep_every_rule() -> None:
    for component in COMPONENTS.glob("*.css"):
        css = component.read_text(encoding="utf-8")
        plain = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
        assert "".join(scripts.without_comments(css).split()) == "".join(plain.split()), component.name
        for string in re.findall(r'"[^"]*"', plain):
            assert not re.search(r"/\*|\n", string), f"{component.name}: {string}"


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
