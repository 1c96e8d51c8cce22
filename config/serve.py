"""`make run`: everything Tristep needs on one machine, as children of one process.

It prepares the data folder and the database, starts the embedded broker when REDIS_URL is unset, gunicorn and
a Celery worker, and stops all of them together: on Ctrl-C or SIGTERM (0), or when one of them dies (1).
A broker or a worker that dies is started again, a few times: what is queued lies in the broker's file, and
jobs are rows of the database. A worker that dies because the broker cannot write to a full disk is started
again once there is room.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import ipaddress
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from config.broker import Broker, BrokerMissing
from config.children import die_with_parent, spawn, stop
from config.env import MIN_FREE_BYTES, BadEnvironment, Env, of_public_demo
from config.probe import DIRECT

ROOT = Path(__file__).resolve().parents[1]
READY_SECONDS = 120.0
WEB_GRACE = 25.0
WORKER_GRACE = 30.0
# so many new starts of the broker or the worker within so many seconds, and no more
STARTS = 3
STARTS_SECONDS = 60.0


def default_data() -> Path:
    """The data folder, unless `--data` names one."""
    return Env().path("TRISTEP_DATA_DIR", ROOT / "var", base=ROOT)


class CannotServe(RuntimeError):
    """The server cannot start, or had to stop; the message is one sentence for the person at the terminal."""


@dataclass
class Child:
    """One part of the server, whose output goes to `log`; `waits`: it has ended, and the disk is full."""

    name: str
    command: list[str]
    environment: Mapping[str, str]
    log: Path
    grace: float
    process: subprocess.Popen[bytes] = field(init=False)
    waits: bool = False

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Start it; the log of the run before stays beside the new one."""
        if self.log.exists():
            self.log.replace(self.log.with_suffix(".previous.log"))
        with self.log.open("wb") as output:
            command = [sys.executable, *self.command]
            self.process = spawn(command, env=self.environment, cwd=ROOT, output=output)


@dataclass
class Server:
    """The data folder, the address, and the children, in the order in which they are stopped."""

    data: Path
    host: str
    port: int
    demo: bool = True
    public_demo: bool = False
    children: list[Child] = field(default_factory=list)
    broker: Broker | None = None
    starts: dict[str, list[float]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The address to open in a browser on this machine."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def bind(self) -> str:
        """The address as gunicorn takes it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def is_loopback(host: str) -> bool:
    """Can only this machine reach a server bound to `host`?"""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_private(host: str, environment: Mapping[str, str]) -> bool:
    """Is this a server for the person in front of it? Not when a proxy may stand before it."""
    env = Env(environment)
    names = {name.strip("[]") for name in env.words("TRISTEP_ALLOWED_HOSTS")}
    proxied = env.flag("TRISTEP_HTTPS") or env.number("TRISTEP_PROXY_HOPS", 0) > 0
    return is_loopback(host) and not proxied and all(is_loopback(name) for name in names)


def allowed_hosts(host: str) -> str:
    """The names under which a server bound to `host` may be asked for, when the environment names none."""
    names = ["localhost", "127.0.0.1", "[::1]"]
    if not is_loopback(host):
        name = socket.gethostname()
        names += [name, socket.getfqdn()]
        if host not in {"0.0.0.0", "::"}:
            names.append(f"[{host}]" if ":" in host else host)
        else:
            with contextlib.suppress(OSError):
                names += socket.gethostbyname_ex(name)[2]
    return ",".join(dict.fromkeys(names))


def check_port(host: str, port: int) -> None:
    """CannotServe when nobody could listen on this address."""
    if not 1 <= port <= 65535:
        raise CannotServe(f"Port {port} does not exist; choose one from 1 to 65535.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, OverflowError) as error:
        raise CannotServe(
            f"Port {port} on {host} cannot be used ({getattr(error, 'strerror', None) or error}); "
            f"choose another one, such as {port + 1}."
        ) from None


@contextlib.contextmanager
def only_one(data: Path, url: str) -> Iterator[None]:
    """Hold the data folder's lock; CannotServe when another server holds it. A crash frees it."""
    with (data / "run.lock").open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            who = lock.read().strip() or "another process"
            raise CannotServe(
                f"Tristep already serves {data} ({who}); stop it, or choose another folder (--data)."
            ) from None
        lock.truncate(0)
        lock.write(f"process {os.getpid()}, {url}\n")
        lock.flush()
        yield
        lock.truncate(0)


def prepare(
    environment: Mapping[str, str], *, known_passwords: bool, demo: bool = True, fit: bool = False
) -> list[dict[str, str]]:
    """Run `config.prepare`; return the accounts it made."""
    command = [sys.executable, "-m", "config.prepare"]
    if known_passwords:
        command.append("--known-passwords")
    if not demo:
        command.append("--no-demo")
    if fit:
        command.append("--fit")
    # in a session of its own: a Ctrl-C must not tear a migration apart
    done = subprocess.run(
        command, env=dict(environment), cwd=ROOT, stdout=subprocess.PIPE, check=False, start_new_session=True
    )
    if done.returncode:
        raise CannotServe("The database could not be prepared; the reason stands above.")
    accounts: list[dict[str, str]] = json.loads(done.stdout)["accounts"]
    return accounts


WORKER_FLAGS = ("--loglevel", "INFO", "--without-gossip", "--without-mingle", "--without-heartbeat")


def start(server: Server, environment: Mapping[str, str]) -> None:
    """Start gunicorn and the worker; their output goes to the log folder."""
    logs = server.data / "logs"
    logs.mkdir(exist_ok=True, mode=0o700)
    parts: list[tuple[str, list[str], float]] = [
        ("web server", ["gunicorn", "--config", "python:config.gunicorn", "--bind", server.bind], WEB_GRACE),
        ("worker", ["celery", "-A", "config", "worker", *WORKER_FLAGS], WORKER_GRACE),
    ]
    # nothing that visitors of a public demo may do needs a worker
    for name, command, grace in parts[: 1 if server.public_demo else None]:
        log = logs / f"{name.split()[0]}.log"
        server.children.append(Child(name, ["-m", *command], environment, log, grace))


def clear_public_demo(data: Path) -> None:
    """Throw away the database and the visits of the run before."""
    for path in data.glob("db.sqlite3*"):
        path.unlink()
    shutil.rmtree(data / "visits", ignore_errors=True)


def seal(database: Path) -> None:
    """Make a database one file that can be copied, and is not written to any more."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode=DELETE")
    database.chmod(0o400)


def dead(server: Server) -> str | None:
    """A sentence about the first child that is no longer there."""
    for child in server.children:
        if (status := child.process.poll()) is not None:
            if revived(server, child):
                continue
            last = child.log.read_text(encoding="utf-8", errors="replace").splitlines()[-8:]
            words = "".join(f"\n  {line[:400]}" for line in last)
            return f"The {child.name} stopped (status {status}); everything else is stopped too.{words}"
    return dead_broker(server)


def revived(server: Server, child: Child) -> bool:
    """Whether the server goes on although this child has ended: a worker, which is started again; while the
    disk is full, which /healthz says meanwhile, once there is room."""
    if child.name != "worker":
        return False
    least = Env().number("TRISTEP_MIN_FREE_BYTES", MIN_FREE_BYTES, minimum=0)
    full = shutil.disk_usage(server.data).free < least
    if full and not child.waits:
        print("The worker stopped: the disk is full. It is started again when there is room.", flush=True)
    elif child.waits and not full:
        child.start()
        print("There is room on the disk again: the worker was started again.", flush=True)
    elif not full:
        if not may_start(server, child.name):
            return False
        status = child.process.poll()
        child.start()
        print(f"The worker stopped (status {status}), and was started again.", flush=True)
    child.waits = full
    return True


def may_start(server: Server, name: str) -> bool:
    """Whether a part that has ended may be started once more."""
    now = time.monotonic()
    starts = server.starts[name] = [at for at in server.starts.get(name, ()) if now - at < STARTS_SECONDS]
    if len(starts) == STARTS:
        return False
    starts.append(now)
    return True


def dead_broker(server: Server) -> str | None:
    """Start a broker that is no longer there again; a sentence when it has ended too often."""
    if server.broker is None or (status := server.broker.process.poll()) is None:
        return None
    if not may_start(server, "broker"):
        return f"The embedded broker stopped (status {status}) again; everything else is stopped too."
    server.broker.restart()
    print(f"The embedded broker stopped (status {status}), and was started again.", flush=True)
    return None


def wait_until_ready(server: Server, stop_event: threading.Event) -> None:
    """Wait for /healthz; CannotServe when a child dies or time runs out."""
    deadline = time.monotonic() + READY_SECONDS
    request = urllib.request.Request(f"{server.url}/healthz", headers={"Host": "localhost"})
    if names := Env().words("TRISTEP_ALLOWED_HOSTS"):
        request.add_header("Host", names[0].lstrip(".*") or "localhost")
    while not stop_event.is_set():
        if sentence := dead(server):
            raise CannotServe(sentence)
        with contextlib.suppress(OSError, urllib.error.URLError), DIRECT.open(request, timeout=2):
            return
        if time.monotonic() > deadline:
            raise CannotServe(
                f"The web server did not answer within {READY_SECONDS:.0f} s; see {server.data}/logs."
            )
        stop_event.wait(0.1)


def stop_all(server: Server) -> None:
    """Web server first, then the worker (which finishes what it holds), then the broker."""
    for child in server.children:
        if child.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                child.process.send_signal(signal.SIGTERM)
    for child in server.children:
        stop(child.process, grace=child.grace)
    if server.broker is not None:
        server.broker.stop()


def banner(server: Server, accounts: list[dict[str, str]]) -> None:
    """The address, and who can sign in."""
    print(f"\nTristep is at {server.url}")
    if not is_loopback(server.host):
        print("It can be reached from other machines, without HTTPS: see docs/operations.md.")
    show(server, accounts)
    print(f"\nData: {server.data}   Logs: {server.data / 'logs'}\nCtrl-C stops it.\n", flush=True)


def show(server: Server, accounts: list[dict[str, str]]) -> None:
    """Print the accounts that can sign in."""
    if accounts:
        print("\nAccounts:")
        width = max(len(account["username"]) for account in accounts)
        for account in accounts:
            who = f"   {account['who']}" if account.get("who") else ""
            print(f"  {account['username']:<{width}}   {account['password']}{who}")
    if not server.demo and accounts:
        print("\nThe password is shown this once. Sign in with it, change it, and start a project.")


def serve(server: Server, environment: dict[str, str], stop_event: threading.Event) -> None:
    """Run until somebody asks to stop; CannotServe when a part dies."""
    untold: list[dict[str, str]] = []
    try:
        if server.public_demo:
            clear_public_demo(server.data)
        elif not Env(environment).text("REDIS_URL"):
            server.broker = Broker(server.data / "broker")
            environment["REDIS_URL"] = server.broker.url
        private = is_private(server.host, environment)
        untold = prepare(environment, known_passwords=private, demo=server.demo, fit=server.public_demo)
        if server.public_demo:
            # one enters by a click: nobody has a password
            untold = []
            seal(server.data / "db.sqlite3")
            environment["TRISTEP_PUBLIC_DEMO"] = "1"
        if stop_event.is_set():
            return
        print(f"Starting the web server{'' if server.public_demo else ' and the worker'}", flush=True)
        start(server, environment)
        wait_until_ready(server, stop_event)
        if not stop_event.is_set():
            banner(server, untold)
            untold = []
        while not stop_event.wait(0.5):
            if sentence := dead(server):
                raise CannotServe(sentence)
        print("\nStopping …", flush=True)
    except BrokerMissing as error:
        raise CannotServe(str(error)) from None
    finally:
        # passwords that were made just now, and that nobody could ever learn otherwise
        show(server, untold)
        stop_all(server)


def main(arguments: Sequence[str] | None = None, prog: str = "python -m config.serve") -> int:
    """Serve until somebody asks to stop; returns the exit code. `prog` is what the command is called."""
    parser = argparse.ArgumentParser(prog=prog, description="Serve Tristep on this machine.")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: this machine only)"
    )
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help=f"where data are kept (default: {default_data()})"
    )
    parser.add_argument("--no-demo", action="store_true", help="no demo project in an empty database")
    parser.add_argument(
        "--demo-only",
        action="store_true",
        help="a public demo: everybody may look and try, in a copy of the demo project, and nothing is kept",
    )
    options = parser.parse_args(arguments)

    os.umask(0o077)
    stop_event = threading.Event()

    def ask(_number: int, _frame: FrameType | None) -> None:
        stop_event.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ask)
    if "MAKELEVEL" in os.environ and (follow := die_with_parent(signal.SIGTERM)):
        follow()

    try:
        data = options.data.expanduser().resolve() if options.data else default_data()
        public_demo = options.demo_only or Env().flag("TRISTEP_PUBLIC_DEMO")
        if public_demo and options.no_demo:
            raise CannotServe("A public demo has the demo project: leave out --no-demo.")
        # beside other data, which it neither shows nor touches
        data = data / "public-demo" if public_demo else data
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        server = Server(
            data=data,
            host=options.host,
            port=options.port,
            demo=not options.no_demo,
            public_demo=public_demo,
        )
        environment = of_public_demo(os.environ) if public_demo else dict(os.environ)
        environment.pop("TRISTEP_PUBLIC_DEMO", None)
        environment |= {"TRISTEP_DATA_DIR": str(data), "PYTHONUNBUFFERED": "1"}
        environment.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.base")
        if not Env(environment).text("TRISTEP_ALLOWED_HOSTS"):
            environment["TRISTEP_ALLOWED_HOSTS"] = allowed_hosts(options.host)
        with only_one(data, server.url):
            check_port(options.host, options.port)
            serve(server, environment, stop_event)
    except (CannotServe, BadEnvironment, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print("Stopped." if public_demo else "Stopped; your data are kept.", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
