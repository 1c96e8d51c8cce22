"""gunicorn's threaded worker with time limits: a thread gets a request only when the whole of it is there.

gthread gives a connection to a thread at its first byte, and the thread waits for the rest as long as the
visitor likes; a few slow visitors hold every thread. Here the main loop, which waits for all connections at
once, collects each head and each small body, and gives up on those that take too long. What a thread may
still wait for (a large body that was let in, a large answer) it waits for at a least rate. Decision 23.
"""

from __future__ import annotations

import contextlib
import errno
import re
import selectors
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from gunicorn.workers.gthread import TConn, ThreadWorker

from config.env import Env

_env = Env()
# Seconds for a head, from its first byte; for a small body after it; for a visitor to take the last answer.
HEAD_SECONDS = _env.number("TRISTEP_HEAD_SECONDS", 10, minimum=1)
BODY_SECONDS = _env.number("TRISTEP_BODY_SECONDS", 20, minimum=1)
LINGER_SECONDS = 5
HEAD_BYTES = 32 * 1024
# The largest body that is collected before a thread sees the request: all that anonymous visitors may send.
SMALL_BODY = 64 * 1024
LINGER_BYTES = 8 * 1024**2
# What a thread may spend on moving bytes: this long, and a second more for each `RATE` bytes.
GRACE_SECONDS = 20.0
RATE = 8 * 1024
DRAIN_SECONDS = 0.05
# What a visitor has not read yet waits in the kernel, and this much of it here: no thread waits for them.
SEND_BUFFER = 512 * 1024
KEPT = 512 * 1024
SOCKET_READ_BYTES = 64 * 1024

END_OF_HEAD = b"\r\n\r\n"
CONTENT_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
EXPECTS = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*\r\n", re.IGNORECASE)
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
REFUSAL = "HTTP/1.1 {}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
TOO_SLOW = REFUSAL.format("408 Request Timeout").encode()
TOO_LONG = REFUSAL.format("431 Request Header Fields Too Large").encode()


class PacedSocket(socket.socket):
    """A socket whose blocking calls together take `grace` seconds, and one more for each `RATE` bytes.

    A call that would take longer raises ConnectionResetError. Time between the calls does not count.
    """

    def begin(self, grace: float = GRACE_SECONDS) -> None:
        """Count from here."""
        self._grace = grace
        self._spent = 0.0
        self._moved = 0

    # what was given to `sendall`, and the visitor has not taken
    unsent = b""

    def _paced(self, call: Callable[[], Any]) -> Any:
        left = self._grace + self._moved / RATE - self._spent
        started = time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            self.settimeout(left)
            return call()
        except TimeoutError:
            raise ConnectionResetError(errno.ECONNRESET, "The visitor is too slow") from None
        finally:
            self._spent += time.monotonic() - started

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Receive bytes as a socket does, in time."""
        data: bytes = self._paced(lambda: super(PacedSocket, self).recv(size, flags))
        self._moved += len(data)
        return data

    def send(self, data: Any, flags: int = 0) -> int:
        """Send bytes as a socket does, in time."""
        sent: int = self._paced(lambda: super(PacedSocket, self).send(data, flags))
        self._moved += sent
        return sent

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Send, or keep up to `KEPT` bytes for `flush_now`; wait, in time, only while there are more."""
        self.unsent += bytes(data)
        self.flush_now()
        while len(self.unsent) > KEPT:
            self.unsent = self.unsent[self.send(self.unsent[:SOCKET_READ_BYTES]) :]

    def recv_now(self) -> bytes | None:
        """The bytes that have come, empty at the end, None when there are none: for the main loop, never
        waiting."""
        self.setblocking(False)
        try:
            return super().recv(SOCKET_READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return None

    def flush_now(self) -> bool:
        """Send what the visitor takes at once; whether that was all."""
        self.setblocking(False)
        sent = 0
        with contextlib.suppress(BlockingIOError, InterruptedError):
            while sent < len(self.unsent):
                sent += super().send(memoryview(self.unsent)[sent : sent + SOCKET_READ_BYTES])
        self.unsent = self.unsent[sent:]
        return not self.unsent

    def send_now(self, data: bytes) -> None:
        """Send a few bytes if they can be sent."""
        self.setblocking(False)
        with contextlib.suppress(OSError):
            super().send(data)


class Connection(TConn):
    """A connection, and what has come of its next request while no thread has it."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.deadline = 0.0
        self.arrived = bytearray()
        # length of head and body, once the head is there
        self.expected: int | None = None
        self.drained = 0


def expected_length(arrived: bytearray) -> int | None:
    """The bytes of a request that must be there before a thread gets it; None while its head is incomplete.

    It only decides when to begin: the framing of the request is for gunicorn's own parser. A body that is
    large, or of unknown length, is not waited for: the application refuses or reads it.
    """
    end = arrived.find(END_OF_HEAD)
    if end < 0:
        return None
    head = end + len(END_OF_HEAD)
    match = CONTENT_LENGTH.search(arrived, 0, end + 2)
    length = int(match.group(1)) if match else 0
    return head + length if length <= SMALL_BODY else head


class Worker(ThreadWorker):
    """One process: the main loop collects requests, threads answer them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Connections that no thread has, in the order in which they began to wait.
        self.waiting: dict[Connection, None] = {}

    # ── Waiting ───────────────────────────
    def wait(
        self,
        conn: Connection,
        seconds: float,
        ready: Callable[[Connection], None],
        event: int = selectors.EVENT_READ,
    ) -> None:
        """Give a connection to the main loop, which calls `ready` when bytes have come, or can go."""
        conn.sock.setblocking(False)
        conn.deadline = time.monotonic() + seconds
        self.waiting[conn] = None
        self.poller.register(conn.sock, event, lambda _file: self._happened(conn, ready))

    def _happened(self, conn: Connection, ready: Callable[[Connection], None]) -> None:
        # it may have been closed since the loop was told of it
        if conn in self.waiting:
            try:
                ready(conn)
            except OSError:
                self.drop(conn)

    def unwait(self, conn: Connection) -> None:
        """Take a connection back from the main loop."""
        self.waiting.pop(conn, None)
        with contextlib.suppress(OSError, KeyError, ValueError):
            self.poller.unregister(conn.sock)

    def drop(self, conn: Connection, last_words: bytes = b"") -> None:
        """Close a connection that no thread has."""
        self.unwait(conn)
        if last_words:
            conn.sock.send_now(last_words)
        self.nr_conns -= 1
        conn.close()

    def evict(self) -> None:
        """Make room: close the connection that has waited longest. A request is with a thread long before."""
        if oldest := next(iter(self.waiting), None):
            self.drop(oldest)

    def murder_keepalived(self, force: bool = False) -> None:
        """Close what has waited too long; gunicorn calls it at least once a second."""
        now = time.monotonic()
        for conn in [conn for conn in self.waiting if force or conn.deadline <= now]:
            self.drop(conn, TOO_SLOW if conn.arrived else b"")

    def _cap_keepalive(self, deadline: float) -> None:
        for conn in self.waiting:
            if not conn.arrived:
                conn.deadline = min(conn.deadline, deadline)

    # ── The life of a connection ──────────
    def accept(self, listener: socket.socket) -> None:
        """Let a visitor in."""
        try:
            plain, peer = listener.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                self.evict()
            elif error.errno not in (errno.EAGAIN, errno.ECONNABORTED, errno.EWOULDBLOCK):
                raise
            return
        sock = PacedSocket(fileno=plain.detach())
        sock.begin()
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self.nr_conns += 1
        if self.nr_conns >= self.worker_connections:
            self.evict()
        self.wait(Connection(self.cfg, sock, peer, listener.getsockname()), HEAD_SECONDS, self.collect)

    def collect(self, conn: Connection) -> None:
        """Take in what has come, and hand the request to a thread when it is whole."""
        data = conn.sock.recv_now()
        if data is None:
            return
        if not data:
            self.drop(conn)
            return
        if not conn.arrived:
            conn.deadline = time.monotonic() + HEAD_SECONDS
        conn.arrived += data
        self.consider(conn)

    def consider(self, conn: Connection) -> None:
        """Hand the request to a thread if it is whole, refuse it if its head has no end, else wait on."""
        if conn.expected is None:
            # empty lines before a request are ignored, as gunicorn's parser does
            conn.arrived[:] = conn.arrived.lstrip(b"\r\n")
            conn.expected = expected_length(conn.arrived)
            if conn.expected is None:
                if len(conn.arrived) > HEAD_BYTES:
                    self.drop(conn, TOO_LONG)
                return
            if len(conn.arrived) < conn.expected:
                conn.deadline = time.monotonic() + BODY_SECONDS
                if EXPECTS.search(conn.arrived):
                    conn.sock.send_now(CONTINUE)
        if len(conn.arrived) < conn.expected:
            return
        self.unwait(conn)
        conn.init()
        conn.parser.unreader.unread(bytes(conn.arrived))
        conn.arrived.clear()
        conn.expected = None
        conn.data_ready = True
        conn.sock.begin()
        self.enqueue_req(conn)

    def _keepalive_after(self, conn: Connection, keepalive: bool) -> bool:
        """Whether the connection can carry another request: not while an unread body is on its way."""
        conn.sock.begin(DRAIN_SECONDS)
        return bool(keepalive and conn.parser.finish_body(deadline=time.monotonic() + DRAIN_SECONDS))

    def finish_request(self, conn: Connection, fs: Future[Any]) -> None:
        """Back from a thread: send the rest of the answer, then wait for the next request or say goodbye."""
        keep = not fs.cancelled() and fs.exception() is None and bool(fs.result())
        if conn.sock.fileno() < 0 or not conn.sock.unsent:
            self.answered(conn, keep)
            return
        seconds = GRACE_SECONDS + len(conn.sock.unsent) / RATE

        def flush(conn: Connection) -> None:
            if conn.sock.flush_now():
                self.unwait(conn)
                self.answered(conn, keep)

        self.wait(conn, seconds, flush, selectors.EVENT_WRITE)

    def answered(self, conn: Connection, keep: bool) -> None:
        """The answer is out: wait for the next request, or say goodbye."""
        if not keep:
            self.linger(conn)
            return
        conn.arrived += conn.parser.unreader.take_buffered()
        seconds = HEAD_SECONDS if conn.arrived else self.cfg.keepalive
        self.wait(conn, seconds if self.alive else min(seconds, 2.0), self.collect)
        if conn.arrived:
            self.consider(conn)

    def linger(self, conn: Connection) -> None:
        """Close so that the visitor can read the answer: a reset would take it away from them."""
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self.drop(conn)
            return
        self.wait(conn, LINGER_SECONDS, self.discard)

    def discard(self, conn: Connection) -> None:
        """Throw away what still comes, until the visitor closes."""
        data = conn.sock.recv_now()
        if data is None:
            return
        conn.drained += len(data)
        if not data or conn.drained > LINGER_BYTES:
            self.drop(conn)
