"""A real HTTP server that receives webhooks, and misbehaves as it is told.

with WebhookReceiver() as receiver:
    receiver.behave("http_500", "hang", "ok")  # the nth request; the last one stays
    … url=receiver.url …
    assert receiver.taken(secret) == [{"type": "webhook.test", …}]
"""

from __future__ import annotations

import contextlib
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from standardwebhooks.webhooks import Webhook


@dataclass
class Received:
    """One request: what came, and how it was answered."""

    path: str
    headers: dict[str, str]
    body: bytes
    answered: str


@dataclass
class WebhookReceiver:
    """See above. `port` stays the same when it goes away (`stop`) and comes back (`start`)."""

    port: int = 0
    seen: list[Received] = field(default_factory=list)
    script: tuple[str, ...] = ("ok",)
    _over: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        """Where it receives."""
        return f"http://127.0.0.1:{self.port}/hooks"

    def behave(self, *behaviours: str) -> None:
        """Set what the next requests meet; the last behaviour holds from there on."""
        self.script = behaviours

    def next(self) -> str:
        """The behaviour that the present request meets."""
        now, *rest = self.script
        self.script = tuple(rest) or (now,)
        return now

    def verified(self, *secrets: str) -> list[Any]:
        """What every request says, its signature and its time checked with each of these secrets."""
        found = []
        for request in self.seen:
            said = [Webhook(secret).verify(request.body, request.headers) for secret in secrets]
            assert all(one == said[0] for one in said)
            found.append(said[0])
        return found

    def taken(self, secret: str) -> list[Any]:
        """What was answered with 2xx, checked like this; of repetitions the first."""
        said, ids = [], set()
        for request in self.seen:
            if request.answered == "ok" and (name := request.headers["webhook-id"]) not in ids:
                ids.add(name)
                said.append(Webhook(secret).verify(request.body, request.headers))
        return said

    # ── life ──
    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Listen."""
        receiver = self
        self._over.clear()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                how = receiver.next()
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.seen.append(Received(self.path, headers, body, how))
                with contextlib.suppress(OSError):
                    receiver.answer(self, how)

            def log_message(self, *_: object) -> None:
                """Tell nobody."""

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Go away; whoever asks finds nobody."""
        self._over.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler, how: str) -> None:
        """Answer a request."""
        request.close_connection = True
        if how == "reset":
            request.connection.shutdown(socket.SHUT_RDWR)
            return
        if how == "hang":
            self._over.wait(60)
            return
        status = {"ok": 200, "redirect": 302, "endless": 200, "drip": 200}.get(how) or int(how[-3:])
        request.send_response(status)
        if how == "redirect":
            request.send_header("location", f"http://127.0.0.1:{self.port}/elsewhere")
        if how == "http_503":
            request.send_header("retry-after", "1234")
        request.end_headers()
        while how in ("endless", "drip") and not self._over.is_set():
            request.wfile.write(b"a" * 65_536 if how == "endless" else b"a")
            self._over.wait(0 if how == "endless" else 0.05)
        if how not in ("endless", "drip"):
            request.wfile.write(f"said {how}".encode())
