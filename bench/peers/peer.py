"""What each peer can be asked for, and what all of them share: environments, servers, memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.error import URLError
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

from bench.installations import Failed
from bench.records import ROOT
from config.children import spawn, stop
from tests.servers import descendants

INSTALLED: Final = Path(os.environ.get("PEERS", ROOT / "var" / "peers"))
PASSWORD: Final = "believable-horse-battery-9"
READY_SECONDS: Final = 300.0
UV: Final = ROOT / ".venv" / "bin" / "uv"


@dataclass
class Moved:
    """How many records went in or out, in how many seconds, and the peak of the process that did it in bytes
    (0 where it was not looked at)."""

    records: int
    seconds: float
    peak: int = 0


class Person(Protocol):
    """Somebody who has signed in, with an item open. All times are seconds until the last byte."""

    labels: int  # how many the open item takes: one for each step, and one for the outcome

    def open_next(self) -> float:
        """Take the next item and get all that shows it."""

    def save(self, which: int, value: int) -> float:
        """Send what the page sends when one label is given: +1, 0 or −1; the outcome is the last."""

    def submit(self) -> float:
        """Say that the item is done; 0 where there is no such act."""

    def close(self) -> None:
        """Hang up."""


class Peer(Protocol):
    """A platform in an environment of its own, driven over HTTP."""

    name: str
    settings: str  # version and way to run, for people

    def install(self) -> tuple[float, int]:
        """Make the environment from the packages in uv's cache: seconds, and its bytes."""

    def start(self) -> None:
        """From nothing to a first page that answers."""

    def add(self, path: Path, count: int) -> Moved:
        """Import so many records, a file of AgentProcessBench lines."""

    def person(self, number: int) -> Person:
        """Sign somebody up and in."""

    def export(self) -> Moved:
        """Write down what was labelled, as the peer does it for who trains on it."""

    def roots(self) -> list[int]:
        """The processes that all others of it descend from, its database's too."""

    def stop(self) -> None:
        """Stop all of it."""


# ── Environments ──────────────────────────
def install(folder: Path, *arguments: str | Path) -> tuple[float, int]:
    """Make `folder` an environment with `uv pip …`, from uv's cache, without the network: seconds, bytes.

    Raises Failed where a package is not there.
    """
    began = time.perf_counter()
    _uv("venv", "--clear", "--python", ROOT / ".venv" / "bin" / "python", folder)
    _uv("pip", *arguments, "--offline", "--link-mode", "copy", environment=folder)
    return time.perf_counter() - began, weight(folder)


def same_as(name: str, folder: Path, scratch: Path) -> tuple[float, int]:
    """Install once more what the Makefile has installed as `name`; as `install`."""
    if not (INSTALLED / name).is_dir():
        raise Failed(f"{name} is not installed: `make bench-peers` does it")
    frozen = scratch / f"{name}.txt"
    frozen.write_bytes(_uv("pip", "freeze", environment=INSTALLED / name))
    return install(folder, "install", "--no-deps", "-r", frozen)


def version(python: Path, package: str) -> str:
    """The version of a package in an environment."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def weight(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


def _uv(*arguments: str | Path, environment: Path | None = None) -> bytes:
    env = {**os.environ, **({"VIRTUAL_ENV": str(environment)} if environment else {})}
    done = subprocess.run([UV, "--quiet", *arguments], env=env, capture_output=True, check=False)
    if done.returncode:
        raise Failed(f"uv {arguments[0]} failed: {done.stderr.decode(errors='replace')[-2000:]}")
    return done.stdout


# ── Servers ───────────────────────────────
@dataclass
class Server:
    """A child process that answers at a port; what it says is in `folder`/server.log."""

    command: Sequence[str | Path]
    folder: Path
    environment: Mapping[str, str]
    ready: str  # the address that answers once it is up
    log: Path = field(init=False)
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.log = self.folder / "server.log"
        with self.log.open("ab") as output:
            self.process = spawn(self.command, env=self.environment, cwd=self.folder, output=output)
        deadline = time.monotonic() + READY_SECONDS
        while not answers(self.ready):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise Failed(f"{self.command[0]} did not start: {self.log.read_text()[-2000:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Ask it to stop, then make it."""
        stop(self.process, grace=30)


def answers(url: str) -> bool:
    """Whether an address answers 200."""
    try:
        with urlopen(url, timeout=10) as answer:
            return bool(answer.read()) and answer.status == 200
    except (URLError, OSError):
        return False


def plain_environment(**more: str) -> dict[str, str]:
    """What a process of a peer gets: nothing of Tristep's or Django's."""
    dropped = ("TRISTEP_", "DJANGO_", "PYTHON", "VIRTUAL_ENV")
    return {key: value for key, value in os.environ.items() if not key.startswith(dropped)} | more


def postmaster(address: str) -> int:
    """The first process of a throw-away PostgreSQL."""
    home = parse_qs(urlsplit(address).query)["host"][0]
    return int(Path(home, "data", "postmaster.pid").read_text().split()[0])


# ── Memory ────────────────────────────────
def everything(roots: Sequence[int]) -> list[int]:
    """These processes and all that they have started, grandchildren too."""
    return [*roots, *(pid for root in roots for pid in descendants(root))]


def resting(roots: Sequence[int]) -> int:
    """Bytes that all processes hold together (PSS: what several share counts once)."""
    return sum(_figure(pid, "smaps_rollup", "Pss:") for pid in everything(roots))


def peak(roots: Sequence[int]) -> int:
    """The largest resident set that any one of the processes ever had, in bytes."""
    return max(_figure(pid, "status", "VmHWM:") for pid in everything(roots))


def _figure(pid: int, file: str, name: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/{file}").read_text().splitlines()
    except OSError:  # it has ended meanwhile
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(name)), 0)


# ── Records ───────────────────────────────
@dataclass
class Turn:
    """One step of a record: what the agent said and called, and what came back."""

    said: str
    calls: list[dict[str, Any]]  # name and arguments, as the record has them
    results: list[str]


def turns(record: Mapping[str, Any]) -> tuple[str, list[Turn]]:
    """The text before the first step, and the steps, of a record; no message is left out."""
    before, found = [], list[Turn]()
    for message in record["messages"]:
        content = message.get("content") or ""
        if message["role"] == "assistant":
            called = [call["function"] for call in message.get("tool_calls") or ()]
            found.append(Turn(content, called, []))
        elif found:
            found[-1].results.append(content)
        else:
            before.append(content)
    return "\n\n".join(before), found


def name_of(record: Mapping[str, Any]) -> str:
    """A key that no other record has."""
    return f"{record['query_index']}-{record['sample_index']}"


def timed(work: Callable[[], Any]) -> float:
    """Seconds of the work, by the clock."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def emptied(folder: Path) -> Path:
    """The folder, made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
