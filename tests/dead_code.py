"""`make check`: functions, classes and methods that nothing but tests could be calling.

Vulture finds what no Python of the product names. A name counts as used as well when a template or a setting
spells it out, and when Django, DRF, Celery or the standard library calls it by its name (CALLED_BY_NAME).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from vulture import Vulture
from vulture.core import Item

ROOT: Final = Path(__file__).resolve().parents[1]
ROOMS: Final = ("annotation", "api", "frontend", "config", "bench")
KINDS: Final = frozenset({"function", "class", "method", "property", "import", "unreachable_code"})
CALLED_BY_NAME: Final = (
    # Django: commands, apps, admin, middleware, forms, migrations, databases
    *(
        "Command",
        "add_arguments",
        "handle",
        "*Config",
        "*Admin",
        "has_*_permission",
        "lookup_allowed",
        "get_urls",
        "ready",
    ),
    *(
        "process_*",
        "clean",
        "clean_*",
        "save",
        "get_initial",
        "get_success_url",
        "form_valid",
        "get_prep_value",
        "create_cursor",
        "_get_session_from_db",
    ),
    # Django's iterable of rows, of the compiler of its query
    *("execute_sql", "results_iter"),
    # Django's validators of passwords and upload handlers, gunicorn's worker
    *("validate", "password_changed"),
    *("new_file", "receive_data_chunk", "file_complete"),
    *("on_starting", "murder_keepalived", "_cap_keepalive", "_keepalive_after", "finish_request", "sendall"),
    # DRF and drf-spectacular: what serializers, views and schemas are asked for
    *("*Scheme", "get_*", "validate_*", "to_*", "select_*", "authenticate*", "initial", "finalize_response"),
    # allauth: adapters of accounts and of the organisation
    *("is_open_for_signup", "add_message", "pre_social_login", "on_authentication_error"),
    *("parse_token", "complete_login", "encrypt", "decrypt", "urlname", "error_messages"),
    # what pyarrow and zipfile ask of a file
    *("writable", "seekable"),
    # the standard library: handlers, threads, HTML parsers
    *("do_*", "handle_*", "emit", "format", "run", "default", "log_message", "visit_*"),
)
DECORATED: Final = ("@register*", "@receiver*", "@extend_schema*", "@action*", "@shared_task*", "@*.connect*")
KEPT: Final = {
    "Derivation": "decisions of a release, which the service that imports them is built on (issue 26)",
    "with_untouched": "agreement on untouched labels, which the report is to show apart",
    "lift": "the tests' clean-up and the reverse of a migration",
}
"""Product code that is kept without a caller, and why."""


def unused() -> Iterator[Item]:
    """Unused names, in the order of files and lines."""
    found = Vulture(ignore_names=list(CALLED_BY_NAME), ignore_decorators=list(DECORATED))
    found.scavenge([ROOT / room for room in ROOMS], exclude=["*/migrations/*"])
    spelt_out = _spelt_out()
    for item in found.get_unused_code(min_confidence=60):
        if item.typ in KINDS and item.name not in spelt_out and item.name not in KEPT:
            yield item


def _spelt_out() -> set[str]:
    """The words of templates, of scripts' declarations and of the dotted names in settings."""
    texts = [path.read_text() for path in (ROOT / "frontend").rglob("*.html")]
    texts += [path.read_text() for path in (ROOT / "config").rglob("*.py")]
    texts.append((ROOT / "pyproject.toml").read_text())
    return {
        word
        for text in texts
        for quoted in re.findall(r"""\{[{%][^}]*[}%]\}|"[\w.]+"|'[\w.]+'""", text)
        for word in re.findall(r"\w+", quoted)
    }


def main() -> int:
    """Print what is unused; 1 when there is any, or when a name in KEPT has gone."""
    items = list(unused())
    for item in items:
        print(f"{Path(item.filename).relative_to(ROOT)}:{item.first_lineno}: unused {item.typ} {item.name}")
    sources = "\n".join(path.read_text() for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    gone = [name for name in KEPT if f"def {name}(" not in sources and f"class {name}:" not in sources]
    for name in gone:
        print(f"tests/dead_code.py: {name} is kept, and no longer there")
    return 1 if items or gone else 0


if __name__ == "__main__":
    sys.exit(main())
