"""The files of the repository."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.servers import ROOT


def tracked(*suffixes: str) -> Iterator[Path]:
    """The files of the repository with these suffixes, or all (of the folder, where there is no git)."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
    else:
        skip = {".venv", "node_modules", "var", ".git"}
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file() and not skip & set(p.parts)]
    for name in names:
        path = ROOT / name
        if (not suffixes or path.suffix in suffixes) and path.is_file():
            yield path
