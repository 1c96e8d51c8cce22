"""A proxy for tests that gives each connection to the next server, and to another when that one refuses.

It looks at no byte: it stands for any proxy in front of several web servers.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import Counter
from collections.abc import Sequence
from itertools import cycle
from typing import Self

BLOCK = 64 * 1024


class SpreadingProxy:
    """See above. `given` counts the connections by the port of their server."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._count, self._turns = len(ports), cycle(ports)
        self.given: Counter[int] = Counter()
        self.port = 0

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(started)), daemon=True)
        self._thread.start()
        assert started.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(10)

    async def _serve(self, started: threading.Event) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._visit, "127.0.0.1", 0, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await self._stopping.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _visit(self, visitor: asyncio.StreamReader, answer: asyncio.StreamWriter) -> None:
        with contextlib.closing(answer), contextlib.suppress(OSError, asyncio.CancelledError):
            for _try in range(self._count):
                port = next(self._turns)
                try:
                    server, ask = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    continue
                self.given[port] += 1
                with contextlib.closing(ask):
                    there, back = _pass_on(visitor, ask), _pass_on(server, answer)
                    await asyncio.gather(there, back)
                return


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while block := await source.read(BLOCK):
        target.write(block)
        await target.drain()
    # the end of one direction is the end of both: HTTP has no half-open requests
    target.close()
