"""Scripts and style sheets for the live server of browser tests, joined and without comments as
`collectstatic` makes them: what is tested is what people run. Names stay without hashes."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from django.contrib.staticfiles.finders import BaseFinder
from django.contrib.staticfiles.storage import StaticFilesStorage

from frontend import scripts, stylesheets

_FOLDER: Final = tempfile.TemporaryDirectory(prefix="tristep-joined-")
# a browser asks for several files at once: no thread may be given one that another is still writing
_WRITING: Final = threading.Lock()


@cache
def written() -> dict[str, str]:
    """Name of a static file → path of what is served for it."""
    found = {}
    for name, text in (*scripts.joined_files(), *stylesheets.light_files()):
        path = Path(_FOLDER.name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        found[name] = str(path)
    return found


class JoinedStorage(StaticFilesStorage):
    """Tells pages that their modules are one file."""

    joins_modules = True


class JoinedFinder(BaseFinder):
    """Finds them for the live server; `collectstatic` makes its own."""

    def __init__(self, app_names: Iterable[str] | None = None) -> None:
        pass

    def check(self, **kwargs: Any) -> list[Any]:
        """Return no errors: nothing about it can be configured."""
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        """The path of the file for `path`, or nothing."""
        with _WRITING:
            file = written().get(path)
        return ([file] if file else []) if find_all or not file else file

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[Any]:
        """Nothing to collect."""
        return iter(())
