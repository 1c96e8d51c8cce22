"""Pages name one ES module; joined with all that it imports it does the same."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.staticfiles import storage
from django.template import Context, Template

from frontend import scripts

TEMPLATES = Path(__file__).resolve().parents[2] / "frontend" / "templates"
NODE = Path(sysconfig.get_path("scripts"), "node")

Write = Callable[[dict[str, str]], Path]


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Write:
    """Write modules of the test's own in place of the product's."""
    monkeypatch.setattr(scripts, "FOLDER", tmp_path)
    scripts.imports.cache_clear()

    def write(texts: dict[str, str]) -> Path:
        for name, text in {"pages/site": "", **texts}.items():
            path = tmp_path / f"{name}.js"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return tmp_path

    yield write
    scripts.imports.cache_clear()


def test_imports_are_found_on_one_line_or_several_and_not_in_comments(modules: Write) -> None:
    modules(
        {
            "pages/probe": 'import { a } from "../lib/a.js";\nimport {\n  b,\n} from "./b.js";\n'
            'import "./c.js";\n'
            '/** @typedef {import("./only_a_type.js").T} T */\n'
        }
    )
    assert scripts.imports("pages/probe") == ("lib/a", "pages/b", "pages/c")


def test_page_names_in_advance_what_its_script_imports_where_modules_are_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def page() -> tuple[list[str], list[str]]:
        text = Template('{% load modules %}{% module "pages/runs" %}').render(Context())
        hints = re.findall(r'<link rel="modulepreload" href="/static/frontend/js/([\w/]+)\.js">', text)
        return hints, re.findall(
            r'<script type="module" src="/static/frontend/js/([\w/]+)\.js"></script>', text
        )

    assert page() == ([], ["pages/runs"])
    monkeypatch.setattr(storage.staticfiles_storage, "joins_modules", False)
    hints, run = page()
    assert (*hints, *run) == scripts.in_order("pages/runs") and "lib/dom" in hints


def test_entry_modules_are_those_that_templates_name_and_need_every_module() -> None:
    pages = "".join(path.read_text() for path in TEMPLATES.rglob("*.html"))
    assert {*re.findall(r'{% module "([^"]+)" %}', pages), scripts.SITE} == set(scripts.ENTRIES)
    every = {
        path.relative_to(scripts.FOLDER).with_suffix("").as_posix() for path in scripts.FOLDER.rglob("*.js")
    }
    assert {module for entry in scripts.ENTRIES for module in scripts.in_order(entry)} == every


def test_joined_modules_keep_names_apart_run_once_in_order_and_share_what_every_page_has(
    modules: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {
        "lib/log": "// every page has it\nexport const said = [];\n",
        "pages/site": 'import { said } from "../lib/log.js";\nconst name = "site";\nsaid.push(name);\n',
        "lib/count": 'import { said } from "./log.js";\nsaid.push("count");\nlet count = 0;\n'
        "export function next() {\n  return ++count;\n}\nexport class Of {\n  n = next();\n}\n",
        "pages/first": 'import { said } from "../lib/log.js";\n'
        'import { next as following } from "../lib/count.js";\n'
        'const name = "first";\nexport const told = await Promise.resolve(`${name} ${following()}`);\n'
        "said.push(told); // then\n",
        "pages/second": 'import "./first.js";\nimport {\n  Of,\n  next,\n} from "../lib/count.js";\n'
        'import { said } from "../lib/log.js";\nconst name = "second";\nexport async function later() {\n'
        "  return name;\n}\nsaid.push(`${await later()} ${next()} ${new Of().n}`);\n"
        "console.log(said.join());\n",
    }
    folder = modules(texts)
    monkeypatch.setattr(scripts, "ENTRIES", ("pages/site", "pages/second"))
    together = folder.parent / f"{folder.name}-joined"
    for name, text in scripts.joined_files():
        path = together / name.removeprefix("frontend/js/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run(place: Path) -> bytes:
        (place / "package.json").write_text('{"type": "module"}')
        (place / "page.js").write_text('import "./pages/site.js";\nimport "./pages/second.js";\n')
        return subprocess.run([NODE, place / "page.js"], capture_output=True, check=True).stdout

    assert run(folder) == b"site,count,first 1,second 2 3\n"
    assert run(together) == run(folder)
    assert sorted(path.name for path in together.rglob("*.js")) == ["page.js", "second.js", "site.js"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('import { b } from "../lib/b.js";\n', "pages/a.js imports b, which lib/b.js does not export"),
        ('import * as b from "../lib/b.js";\n', "pages/a.js cannot be joined with others: import"),
        ("export let changing = 1;\n", "pages/a.js cannot be joined with others: export let"),
        ("export const { one, two } = {};\n", "pages/a.js cannot be joined with others: export const"),
        ('import "./a.js";\n', "pages/a → pages/a: these modules import each other"),
    ],
)
def test_joining_refuses_what_it_does_not_understand(modules: Write, text: str, problem: str) -> None:
    modules({"pages/a": text, "lib/b": "export const c = 1;\n"})
    with pytest.raises(ValueError, match=re.escape(problem)):
        scripts.joined("pages/a")
