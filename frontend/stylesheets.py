"""The stylesheets that pages load, put together from `frontend/css`, where every component has its file.

A browser asks for three or four files that way and not for sixty, and the order of the cascade stands here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

from frontend.scripts import without_comments

COMPONENTS: Final = Path(__file__).resolve().parent / "css"
STYLESHEETS: Final[dict[str, str]] = {
    "site": """
        tokens base header page navigation layout card prose button icon key stats facts badge mark progress
        chart strip alert empty tabs pagination menu dialog fold section-fold form filters values copy diff
        steps-list palette
    """,
    "tables": "table bulk views heat plot scatter trend verdict",
    "transcript": "message text structure message-menu source call result suggestions run-strip",
    "workbench": """
        desk save panel tool find pin step controls reasons rail closing-reason feedback keys mobile-bar
    """,
    "review": "task annotator-labels case",
    "judges": "judge",
    "corrections": "correction",
    "reference": "reference",
    "print": "print",
}
"""The components of each stylesheet, in the order of the cascade; a page names `frontend/css/<name>.css`."""

# Of the process: Django makes a finder for each thread that asks at the same time, and keeps one.
_FOLDER: Final = tempfile.TemporaryDirectory(prefix="tristep-css-")


def stylesheet(name: str) -> str:
    """The text of one stylesheet."""
    return "\n".join(
        (COMPONENTS / f"{component}.css").read_text(encoding="utf-8")
        for component in STYLESHEETS[name].split()
    )


def light_files() -> Iterator[tuple[str, str]]:
    """Every stylesheet, as the name of its static file and its text without comments."""
    for name in STYLESHEETS:
        yield f"frontend/css/{name}.css", without_comments(stylesheet(name))


class StylesheetFinder(BaseFinder):
    """Finds the stylesheets for `collectstatic`, and for the servers of development and tests."""

    def __init__(self, app_names: Iterable[str] | None = None) -> None:
        self.storage = FileSystemStorage(location=_FOLDER.name)

    def check(self, **kwargs: Any) -> list[Any]:
        """Return no errors: nothing about it can be configured."""
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        """The path of the stylesheet just written for `path`, or nothing."""
        written = [str(self._write(name)) for name in STYLESHEETS if path == f"frontend/css/{name}.css"]
        return written if find_all or not written else written[0]

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        """Every stylesheet, freshly written."""
        for name in STYLESHEETS:
            yield self._write(name).relative_to(_FOLDER.name).as_posix(), self.storage

    def _write(self, name: str) -> Path:
        path = Path(_FOLDER.name, "frontend", "css", f"{name}.css")
        path.parent.mkdir(parents=True, exist_ok=True)
        # another thread may be reading it: it is there whole, or not yet
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as written:
            written.write(stylesheet(name))
        return Path(written.name).replace(path)
