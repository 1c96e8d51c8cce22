"""What the nouns of the client are made of.

A noun is a place of the API: `client.projects["apb"].releases["1.0"]` has sent nothing yet. Its methods send
one request each and return the parsed answer. `list()` of a collection goes through all its pages.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, cast, overload
from urllib.parse import quote

from .connection import Connection, Progress, Source
from .errors import StillGoing, WorkFailed
from .frames import frame

Row = TypeVar("Row", covariant=True)
Found = TypeVar("Found")
Key = int | str | Mapping[str, Any]
"""An id, slug, version or name, or an answer of the API that has it."""

PAGE = 200


def quoted(key: int | str) -> str:
    """A key as a part of an address."""
    return quote(str(key), safe="")


class Pages(Generic[Row]):
    """A list of the API: each `for` over it fetches page after page."""

    def __init__(self, page: Callable[[int, int], Mapping[str, Any]]) -> None:
        self._page = page

    def __iter__(self) -> Iterator[Row]:
        number = 1
        while True:
            page = self._page(number, PAGE)
            yield from page["results"]
            if not page.get("next") or not page["results"]:
                return
            number += 1

    def count(self) -> int:
        """How many there are, without fetching them."""
        return int(self._page(1, 1)["count"])

    def first(self) -> Row | None:
        """The first, or None where there is none."""
        found: list[Row] = self._page(1, 1)["results"]
        return found[0] if found else None

    def frame(self) -> Any:
        """All of them as a pandas frame, one a row. Raises MissingPackage without pandas."""
        return frame(cast("Iterator[Mapping[str, Any]]", iter(self)))


class Noun:
    """A place of the API."""

    def __init__(self, connection: Connection, path: str = "") -> None:
        self._connection = connection
        self._path = path

    def _get(self, path: str = "", query: Mapping[str, Any] | None = None) -> Any:
        return self._connection.json("GET", self._path + path, query or {})

    def _post(self, path: str = "", fields: Mapping[str, Any] | None = None) -> Any:
        return self._connection.json("POST", self._path + path, {}, fields)

    def _patch(self, path: str, fields: Mapping[str, Any]) -> Any:
        return self._connection.json("PATCH", self._path + path, {}, fields)

    def _delete(self, path: str = "") -> None:
        self._connection.json("DELETE", self._path + path, {})

    def _list(self, path: str = "", query: Mapping[str, Any] | None = None) -> Pages[Any]:
        def page(number: int, size: int) -> Mapping[str, Any]:
            return cast(
                "Mapping[str, Any]", self._get(path, {**(query or {}), "page": number, "page_size": size})
            )

        return Pages(page)

    def _upload(self, path: str, file: Source, options: Mapping[str, Any], progress: Progress | None) -> Any:
        return self._connection.upload(self._path + path, file, options, progress)

    def _bytes(self, path: str, query: Mapping[str, Any] | None = None) -> bytes:
        with self._connection.stream(self._path + path, query or {}) as answer:
            return answer.read()

    def _lines(self, path: str) -> Iterator[dict[str, Any]]:
        with self._connection.stream(self._path + path, {}) as answer:
            for line in answer.iter_lines():
                if line.strip():
                    yield json.loads(line)

    def _save(
        self, path: str, target: Path | str, query: Mapping[str, Any], progress: Progress | None
    ) -> Path:
        """Store what is downloaded, under its last name when `target` is a folder. Nothing half is left."""
        place = Path(target)
        place = place / path.rpartition("/")[2] if place.is_dir() else place
        unfinished = place.with_name(f"{place.name}.part")
        try:
            with self._connection.stream(self._path + path, query) as answer, unfinished.open("wb") as file:
                total, done = int(answer.headers.get("Content-Length", 0)), 0
                for piece in answer.iter_bytes():
                    file.write(piece)
                    done += len(piece)
                    if progress is not None:
                        progress(done, max(total, done) if total else 0)
            unfinished.replace(place)
        finally:
            unfinished.unlink(missing_ok=True)
        return place


Inner = TypeVar("Inner", bound=Noun)


class Part(Generic[Inner]):
    """A noun below another: `releases = Part(Releases, "releases/")`."""

    def __init__(self, noun: type[Inner], path: str) -> None:
        self.noun = noun
        self.path = path

    @overload
    def __get__(self, owner: None, kind: type | None = None) -> Part[Inner]: ...
    @overload
    def __get__(self, owner: Noun, kind: type | None = None) -> Inner: ...
    def __get__(self, owner: Noun | None, kind: type | None = None) -> Part[Inner] | Inner:
        return self if owner is None else self.noun(owner._connection, owner._path + self.path)


class Items(Noun, Generic[Inner]):
    """Nouns by their key: an id, or what `_key` names. An answer that has it will do: `runs[run].wait()`."""

    _item: type[Inner]
    _key: ClassVar[str] = "id"

    def __getitem__(self, key: Key) -> Inner:
        found = key[self._key] if isinstance(key, Mapping) else key
        return self._item(self._connection, f"{self._path}{quoted(found)}/")


class Work(Noun, Generic[Found]):
    """Long work that the server does in the background."""

    _going: ClassVar[frozenset[str]] = frozenset({"queued", "running"})
    _done: ClassVar[frozenset[str]]

    def get(self) -> Found:
        """How far it is."""
        return cast("Found", self._get())

    def wait(self, timeout: float = 3600, progress: Progress | None = None) -> Found:
        """Wait until it is over, and return how it ended.

        Raises WorkFailed when it ended otherwise than it should (failed, cancelled, stopped, paused), and
        StillGoing after `timeout` seconds.
        """
        end, pause = time.monotonic() + timeout, 0.1
        while True:
            found = self.get()
            answer = cast("Mapping[str, Any]", found)
            if progress is not None:
                progress(answer["progress"]["done"], answer["progress"]["total"])
            if answer["state"] in self._done:
                return found
            if answer["state"] not in self._going:
                said = answer.get("error") or answer.get("stop_reason") or f"It is {answer['state']}."
                raise WorkFailed(str(said), answer)
            if time.monotonic() > end:
                raise StillGoing(f"It is still {answer['state']} after {timeout:.0f} seconds.")
            time.sleep(pause)
            pause = min(2.0, pause * 1.5)
