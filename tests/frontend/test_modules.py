"""Pages name the ES modules that they need: all of them, once, and only those that exist."""

from __future__ import annotations

import re
from pathlib import Path

from django.template import Context, Template

from frontend.templatetags.modules import FOLDER, graph, imports

TEMPLATES = Path(__file__).resolve().parents[2] / "frontend" / "templates"


def every_module() -> set[str]:
    return {path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.js")}


def test_imports_are_found_on_one_line_or_several_and_not_in_comments(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("frontend.templatetags.modules.FOLDER", tmp_path)
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "probe.js").write_text(
        'import { a } from "../lib/a.js";\nimport {\n  b,\n} from "./b.js";\nexport { c } from "./c.js";\n'
        '/** @typedef {import("./only_a_type.js").T} T */\n'
    )
    assert imports("pages/probe") == ("lib/a", "pages/b", "pages/c")


def test_page_names_what_its_scripts_need_and_runs_the_scripts() -> None:
    page = Template('{% load modules %}{% modules "pages/runs" "pages/site" %}').render(Context())
    hints = re.findall(r'<link rel="modulepreload" href="/static/frontend/js/([\w/]+)\.js">', page)
    scripts = re.findall(r'<script type="module" src="/static/frontend/js/([\w/]+)\.js"></script>', page)
    assert hints == list(graph(("pages/runs", "pages/site"))) and "lib/dom" in hints
    assert scripts == ["pages/runs", "pages/site"]


def test_modules_are_each_needed_by_some_page_and_every_import_is_there() -> None:
    tags = re.findall(r"{% modules ([^%]+) %}", "".join(p.read_text() for p in TEMPLATES.rglob("*.html")))
    named = {name for tag in tags for name in re.findall(r'"([^"]+)"', tag)} | {"pages/site"}
    assert set(graph(tuple(sorted(named)))) == every_module()
