"""The scripts of a page: ES modules, and all that they import named in advance."""

from __future__ import annotations

import posixpath
import re
from functools import cache
from pathlib import Path

from django import template
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

register = template.Library()

FOLDER = Path(__file__).resolve().parents[1] / "static" / "frontend" / "js"
IMPORT = re.compile(r'^(?:import|export)\s[^;]*?from "(\.[^"]+)\.js";', re.MULTILINE)


@cache
def imports(name: str) -> tuple[str, ...]:
    """The modules that `import` and `export … from` statements of a module name, relative to the folder."""
    found = IMPORT.findall((FOLDER / f"{name}.js").read_text(encoding="utf-8"))
    return tuple(posixpath.normpath(posixpath.join(posixpath.dirname(name), other)) for other in found)


@cache
def graph(names: tuple[str, ...]) -> tuple[str, ...]:
    """These modules and everything that they need, sorted."""
    seen = set(names)
    waiting = list(names)
    while waiting:
        new = set(imports(waiting.pop())) - seen
        seen |= new
        waiting += new
    return tuple(sorted(seen))


@register.simple_tag
def modules(*names: str) -> SafeString:
    """`{% modules "pages/transcript" "workbench/main" %}`: the scripts, and all that they import in advance.

    Otherwise a browser learns of a module only when the one that imports it has come.
    """
    scripts = format_html_join(
        "",
        '<script type="module" src="{}"></script>',
        ((static(f"frontend/js/{name}.js"),) for name in names),
    )
    hints = format_html_join(
        "",
        '<link rel="modulepreload" href="{}">',
        ((static(f"frontend/js/{name}.js"),) for name in graph(names)),
    )
    return hints + scripts
