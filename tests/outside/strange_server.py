"""A local HTTP server that answers as it is told, well or badly: for whatever calls outside servers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Seen:
    """A call that came in."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: Any


Answer = Callable[[Seen], tuple[int, Any]]


@dataclass
class StrangeServer:
    """`answer` says status and JSON to a call; `misbehave` what the next calls get instead, in order: a
    status, a body of 200, "endless", "slow", "huge", "redirect", "html" or "reset"."""

    answer: Answer
    port: int = 0
    seen: list[Seen] = field(default_factory=list)
    misbehave: list[int | str | bytes] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def strange_server(answer: Answer) -> Iterator[StrangeServer]:
    """A server that runs as long as the block."""
    strange = StrangeServer(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # head and body go out at once: the second would wait 40 ms for the first to be acknowledged
        disable_nagle_algorithm = True

        def _handle(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            raw = self.rfile.read(length)
            parts = urlsplit(self.path)
            seen = Seen(
                self.command,
                parts.path,
                parse_qs(parts.query),
                {name.lower(): value for name, value in self.headers.items()},
                json.loads(raw) if raw else None,
            )
            strange.seen.append(seen)
            ill = strange.misbehave.pop(0) if strange.misbehave else None
            if ill is None:
                status, value = strange.answer(seen)
                self._say(status, json.dumps(value).encode())
            elif isinstance(ill, bytes):
                self._say(200, ill)
            elif isinstance(ill, int):
                self._say(ill, b'{"error": "as told"}')
            else:
                getattr(self, f"_{ill}")()

        do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _handle

        def _say(self, status: int, body: bytes, **more: str) -> None:
            self.send_response(status)
            for name, value in {**strange.headers, **more}.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _redirect(self) -> None:
            self._say(302, b"", Location="http://127.0.0.1:9/elsewhere")

        def _html(self) -> None:
            self._say(200, b"<html>Sign in</html>")

        def _reset(self) -> None:
            self.close_connection = True
            self.connection.close()

        def _endless(self) -> None:
            self._pour(b'"' + b"x" * 65_536, 0.0)

        def _huge(self) -> None:
            self._say(200, b'"' + b"x" * (9 * 1024 * 1024) + b'"')

        def _slow(self) -> None:
            self._pour(b" ", 0.05)

        def _pour(self, piece: bytes, pause: float) -> None:
            self.send_response(200)
            self.end_headers()
            self.close_connection = True
            while True:
                self.wfile.write(piece)
                time.sleep(pause)

        def log_message(self, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A caller that hung up."""

    server = Server(("127.0.0.1", 0), Handler)
    strange.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield strange
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
