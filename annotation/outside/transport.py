"""httpx over a pool of connections on which no read or write outlasts the call's deadline.

The time-outs of httpx hold for one read: a server that sends a byte now and then, in its headers or its body,
is never timed out by them. Here every read of a call gets what is left of the whole call's time.
"""

from __future__ import annotations

import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import httpcore
import httpx

from .networks import resolved

# At their chattiest these two print headers, in which a server may repeat the key.
for _name in ("httpcore.http11", "httpcore.connection", "httpx"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class Deadline(threading.local):
    """The moment by which this thread's call must be over; none outside `within`."""

    at: float | None = None

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Give what happens inside so many seconds."""
        self.at = self._clock() + seconds
        try:
            yield
        finally:
            self.at = None

    def left(self, timeout: float | None) -> float | None:
        """`timeout`, or what is left when that is less. Raises httpcore's time-out when nothing is."""
        if self.at is None:
            return timeout
        left = self.at - self._clock()
        if left <= 0:
            raise httpcore.ReadTimeout("The time for the whole call is over.")
        return left if timeout is None else min(timeout, left)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        secure = self._stream.start_tls(ssl_context, server_hostname, self._deadline.left(timeout))
        return _Stream(secure, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    def __init__(self, deadline: Deadline, networks: Sequence[str]) -> None:
        self._plain = httpcore.SyncBackend()
        self._deadline = deadline
        self._networks = networks

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        try:
            addresses = resolved(host, port, self._networks)
        except socket.gaierror as error:
            raise httpcore.ConnectError(str(error)) from error
        options = list(socket_options) if socket_options is not None else None
        failed = httpcore.ConnectError("The name has no address.")
        for address in addresses:
            try:
                left = self._deadline.left(timeout)
                stream = self._plain.connect_tcp(address, port, left, local_address, options)
                return _Stream(stream, self._deadline)
            except httpcore.ConnectError as error:
                failed = error
        raise failed


class _Body(httpx.SyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    def close(self) -> None:
        self._stream.close()


@cache
def _trusted() -> ssl.SSLContext:
    """The certificates that are trusted; reading them takes longer than a call, so once for all servers."""
    return httpx.create_ssl_context(trust_env=False)


class Transport(httpx.BaseTransport):
    """One connection for each thread that calls, kept alive. Raises httpcore's exceptions as they are.

    A pool for all of them would look through every connection as each call begins and ends, under one lock:
    with 32 threads that took as long as everything else about a call.
    """

    def __init__(self, deadline: Deadline, networks: Sequence[str]) -> None:
        self._backend = _Backend(deadline, networks)
        self._own = threading.local()
        self._pools: list[httpcore.ConnectionPool] = []

    def _pool(self) -> httpcore.ConnectionPool:
        pool: httpcore.ConnectionPool | None = getattr(self._own, "pool", None)
        if pool is None:
            pool = self._own.pool = httpcore.ConnectionPool(
                ssl_context=_trusted(),
                max_connections=1,
                max_keepalive_connections=1,
                keepalive_expiry=20.0,
                network_backend=self._backend,
            )
            self._pools.append(pool)
        return pool

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One request, its body not yet read."""
        reply = self._pool().handle_request(
            httpcore.Request(
                method=request.method,
                url=httpcore.URL(
                    scheme=request.url.raw_scheme,
                    host=request.url.raw_host,
                    port=request.url.port,
                    target=request.url.raw_path,
                ),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx.Response(reply.status, headers=reply.headers, stream=_Body(reply.stream))

    def close(self) -> None:
        """Close every connection, whichever thread's it is."""
        for pool in self._pools:
            pool.close()
