"""The rules of the server that no other tool enforces, and one look that import-linter's contracts hold."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.repository import tracked
from tests.servers import ROOT

# and an __init__
MAX_MODULES = 25
# Some take as long to load as a third of the product, and few requests or tasks need one.
LOADED_LATE = ("sklearn", "scipy.special", "scipy.optimize", "pyarrow", "httpx", "jsonschema")
STARTED = """
import sys, django
django.setup()
import annotation.jobs, config.celery, config.urls
print(*sys.modules)
"""

# The one place where HTML is called safe: it has just come out of the sanitiser.
MAY_MARK_SAFE = {"frontend/rendering/markdown.py"}
UNSAFE = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\|safe\b|{%-?\s*autoescape\s+(?:off|false)"
    r"|csrf_exempt|unsafe-(?:inline|eval|hashes)|\beval\(|new Function\("
)
SAID_SAFE = re.compile(r"mark_safe|SafeString\(|html_safe|__html__|\bMarkup\(")
INLINE_STYLE = re.compile(r"<[^>]*\sstyle=|<style\b", re.IGNORECASE)
INLINE_SCRIPT = re.compile(
    r"<script(?![^>]*\ssrc=)[^>]*>|<[a-z][^>]*\son[a-z]+\s*=|javascript:", re.IGNORECASE
)
REMOTE = re.compile(r"""(?:src|href|action)\s*=\s*["'](?:https?:)?//""", re.IGNORECASE)


def hits(pattern: re.Pattern[str], files: Iterator[Path]) -> list[str]:
    """`path:line: text` of every line that matches."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]


def test_walls_between_rooms_stand() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_starting_the_server_or_a_worker_loads_no_library_that_few_requests_need() -> None:
    """`import scipy` loads its parts when they are first used."""
    done = subprocess.run(
        [sys.executable, "-c", STARTED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert set(LOADED_LATE) & set(done.stdout.split()) == set()


def test_no_folder_of_the_product_holds_more_modules_than_one_reads_at_a_glance() -> None:
    folders = Counter(str(path.relative_to(ROOT).parent) for path in rooms(".py", ".js"))
    assert {folder: count for folder, count in folders.items() if count > MAX_MODULES + 1} == {}


def test_test_modules_do_not_import_from_another() -> None:
    pattern = re.compile(r"^\s*from \S*\btest_\w+ import|^\s*from tests(\.\w+)* import test_")
    assert hits(pattern, (path for path in tracked(".py") if path.name.startswith("test_"))) == []


def test_migrations_are_named_by_hand() -> None:
    names = [path.name for path in (ROOT / "annotation" / "migrations").glob("0*.py")]
    assert names
    assert [name for name in names if "_auto_" in name] == []


def rooms(*suffixes: str) -> Iterator[Path]:
    """The files of the product itself, tests and fixtures apart."""
    for path in tracked(*suffixes):
        if path.relative_to(ROOT).parts[0] in {"annotation", "api", "frontend", "config"}:
            yield path


def test_escaping_the_csrf_check_and_the_policy_have_no_hole() -> None:
    assert hits(UNSAFE, rooms(".py", ".js", ".html")) == []
    strict = (path for path in rooms(".py") if str(path.relative_to(ROOT)) not in MAY_MARK_SAFE)
    assert hits(SAID_SAFE, strict) == []


def test_templates_carry_no_inline_style_or_script() -> None:
    assert hits(INLINE_STYLE, rooms(".html")) == []
    assert hits(INLINE_SCRIPT, rooms(".html")) == []


def test_pages_name_no_other_host() -> None:
    assert hits(REMOTE, rooms(".html", ".css", ".js")) == []


def test_tables_are_the_domains_only() -> None:
    from django.apps import apps

    ours = [app.label for app in apps.get_app_configs() if app.name in {"annotation", "api", "frontend"}]
    assert sorted(ours) == ["annotation", "api", "frontend"]
    assert [label for label in ("api", "frontend") if list(apps.get_app_config(label).get_models())] == []


def test_code_listens_to_no_signal_of_the_database() -> None:
    pattern = re.compile(r"@receiver|(?:pre|post)_(?:save|delete)\b|m2m_changed")
    assert hits(pattern, rooms(".py")) == []


def test_locks_have_hashes_and_no_address() -> None:
    for name in ("requirements.lock", "requirements-dev.lock", "requirements-uv.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        pinned = re.findall(r"^[a-z0-9._-]+==.*$", text, re.MULTILINE)
        assert pinned
        assert [line for line in pinned if not line.endswith("\\")] == []
        assert "://" not in text
    assert "resolved" not in (ROOT / "package-lock.json").read_text(encoding="utf-8")
