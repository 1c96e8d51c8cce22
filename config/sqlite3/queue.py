"""A fair queue for the one writer that SQLite allows, between the threads and processes of one machine.

SQLite lets whoever waits for its write lock sleep and try again, longer each time: with eight writers some
wait for seconds while others come and go. Here threads of a process wait in the order in which they came. The
first of each process stands at two locks of a file beside the database (byte ranges, which the kernel frees
when a process dies): `NEXT`, which one process has at a time, and `TURN`, which only the holder of `NEXT`
asks for. So whoever has just written cannot have the next turn as well while another process is waiting.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections import deque
from pathlib import Path

TURN, NEXT = 0, 1
FIRST_PAUSE, LONGEST_PAUSE = 0.0002, 0.002
LOOK_AGAIN = 1.0


class QueueTimeout(Exception):
    """The turn did not come in time."""


class WriteQueue:
    """The queue before one database file, as one process sees it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        # a lost turn ends when its connection is collected, at any moment: the thread may be in here already
        self._guard = threading.RLock()
        self._busy = False
        self._waiting: deque[threading.Lock] = deque()

    def acquire(self, seconds: float) -> None:
        """Wait for the turn; `release` ends it, in any thread. Raises QueueTimeout."""
        deadline = time.monotonic() + seconds
        self._come_first(deadline)
        try:
            self._wait_for(NEXT, deadline)
            try:
                self._wait_for(TURN, deadline)
            finally:
                self._unlock(NEXT)
        except BaseException:
            self._go_on()
            raise

    def release(self) -> None:
        """End the turn: the next one's comes."""
        self._unlock(TURN)
        self._go_on()

    # ── Among the threads of this process ──
    def _come_first(self, deadline: float) -> None:
        ticket = threading.Lock()
        ticket.acquire()
        with self._guard:
            if not self._busy:
                self._busy = True
                return
            self._waiting.append(ticket)
        while not ticket.acquire(timeout=max(0.0, min(LOOK_AGAIN, deadline - time.monotonic()))):
            with self._guard:
                if ticket not in self._waiting:
                    return  # it came just now
                if not self._busy:
                    self._waiting.remove(ticket)
                    self._busy = True
                    return
                if time.monotonic() >= deadline:
                    self._waiting.remove(ticket)
                    raise QueueTimeout

    def _go_on(self) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._busy = False

    # ── Among processes ───────────────────
    def _wait_for(self, byte: int, deadline: float) -> None:
        pause = FIRST_PAUSE
        while not self._lock(byte):
            if time.monotonic() >= deadline:
                raise QueueTimeout
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _lock(self, byte: int) -> bool:
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except BlockingIOError:
            return False
        return True

    def _unlock(self, byte: int) -> None:
        if self._file is not None:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, byte)


_queues: dict[tuple[int, str], WriteQueue] = {}
_guard = threading.Lock()


def queue_before(database: str) -> WriteQueue:
    """The one queue of this process before a database file; a forked process begins with its own."""
    key = (os.getpid(), os.path.realpath(database))
    with _guard:
        if key not in _queues:
            _queues[key] = WriteQueue(Path(f"{key[1]}-queue"))
        return _queues[key]


class WriteTurn:
    """A turn that ends once: when its transaction does, or its connection is lost with its thread."""

    def __init__(self, queue: WriteQueue, seconds: float) -> None:
        queue.acquire(seconds)
        self._queue: WriteQueue | None = queue
        self._process = os.getpid()

    def end(self) -> None:
        """Let the next one in; repeating it does nothing."""
        queue, self._queue = self._queue, None
        if queue is not None and self._process == os.getpid():
            queue.release()

    def __del__(self) -> None:
        if getattr(self, "_queue", None) is not None:
            self.end()
