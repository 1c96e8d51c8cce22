"""Requests: one place that sends them, waits where the server asks for it, and reads refusals."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from .errors import Unreachable, api_error

Source = str | os.PathLike[str] | bytes
"""A file to send: its path, or its bytes."""
Progress = Callable[[int, int], None]
"""Called with how much is done and how much there is (0: nobody knows), in bytes or records."""

CHUNK = 256 * 1024
ATTEMPTS = 4
LONGEST_WAIT = 30.0
TIMEOUT = httpx.Timeout(120.0, connect=10.0)


class Connection:
    """One server, spoken to as one person. It follows no redirects: they would carry the token elsewhere."""

    def __init__(self, url: str, token: str, transport: httpx.BaseTransport | None = None) -> None:
        if not url.startswith(("https://", "http://")):
            raise Unreachable(f"{url} is no address of a server: it begins with https:// or http://.")
        self.url = url.rstrip("/")
        headers = {"User-Agent": "tristep-client", "Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._http = httpx.Client(
            base_url=f"{self.url}/api/v1/", headers=headers, timeout=TIMEOUT, transport=transport
        )

    def close(self) -> None:
        """Close the connections to the server."""
        self._http.close()

    def json(self, method: str, path: str, query: Mapping[str, Any], body: Any = None) -> Any:
        """The parsed answer; None where there is none. `body` is sent as JSON unless it is None."""
        headers = {} if body is None else {"Content-Type": "application/json"}
        content = None if body is None else (lambda: json.dumps(body).encode())
        with self._answer(method, path, query, headers, content) as answer:
            answer.read()
            return self._parsed(answer) if answer.content else None

    def upload(
        self, path: str, file: Source, query: Mapping[str, Any], progress: Progress | None = None
    ) -> Any:
        """Send a file as the whole body, piece by piece, and read the answer."""
        size = len(file) if isinstance(file, bytes) else Path(file).stat().st_size
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
        named = {} if isinstance(file, bytes) else {"filename": Path(file).name}
        content = lambda: _pieces(file, size, progress)  # noqa: E731
        with self._answer("POST", path, {**named, **query}, headers, content) as answer:
            answer.read()
            return self._parsed(answer)

    @contextmanager
    def stream(self, path: str, query: Mapping[str, Any]) -> Iterator[httpx.Response]:
        """An answer that is read while it comes."""
        with self._answer("GET", path, query, {}, None) as answer:
            yield answer

    @contextmanager
    def _answer(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any],
        headers: Mapping[str, str],
        content: Callable[[], bytes | Iterator[bytes]] | None,
    ) -> Iterator[httpx.Response]:
        """The answer to a request, once it is no refusal.

        Requests that the server puts off (429, and 503 where nothing is written) are sent again after the
        time that it names, at most three times.
        """
        asked = {name: value for name, value in query.items() if value is not None}
        for attempt in range(1, ATTEMPTS + 1):
            request = self._http.build_request(
                method, path, params=asked, headers=headers, content=content() if content else None
            )
            try:
                answer = self._http.send(request, stream=True)
            except httpx.HTTPError as error:
                raise Unreachable(f"{self.url} does not answer: {error or type(error).__name__}.") from error
            try:
                if answer.is_success:
                    yield answer
                    return
                wait = _asked_to_wait(answer)
                put_off = answer.status_code == 429 or (answer.status_code == 503 and method == "GET")
                if wait is None or not put_off or attempt == ATTEMPTS:
                    raise self._refusal(answer)
            except httpx.HTTPError as error:
                raise Unreachable(f"{self.url} broke off its answer: {error}.") from error
            finally:
                answer.close()
            time.sleep(wait)

    def _refusal(self, answer: httpx.Response) -> Exception:
        if answer.is_redirect:
            there = answer.headers.get("Location", "")
            return Unreachable(f"{self.url} sends requests on to {there}: use the address it should be.")
        answer.read()
        try:
            body = answer.json()
        except ValueError:
            body = None
        return api_error(answer.status_code, body)

    def _parsed(self, answer: httpx.Response) -> Any:
        try:
            return answer.json()
        except ValueError as error:
            raise Unreachable(f"{self.url} answered with something that is not JSON.") from error


def _asked_to_wait(answer: httpx.Response) -> float | None:
    """The seconds of Retry-After, if they are few enough to wait for."""
    try:
        seconds = float(answer.headers.get("Retry-After", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds <= LONGEST_WAIT else None


def _pieces(file: Source, size: int, progress: Progress | None) -> Iterator[bytes]:
    """A file in pieces, telling how far it is."""
    told = progress or (lambda done, total: None)
    if isinstance(file, bytes):
        yield file
        told(size, size)
        return
    done = 0
    with Path(file).open("rb") as opened:
        while piece := opened.read(CHUNK):
            yield piece
            done += len(piece)
            told(done, size)
