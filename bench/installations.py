"""Throw-away databases, and the server that `make run` starts, on one of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg2

from bench.records import ROOT
from config.children import spawn, stop
from config.env import database as settings_of
from tests.servers import ServerMissing, free_port, server_environment, start_postgres, wait_for

READY_SECONDS = 120.0
# What is measured is the work, not the limit that stops a runaway program.
NO_LIMIT = "100000000/min"


class Failed(RuntimeError):
    """Something the bench started did not do its work; the message says what it said."""


@dataclass
class Installation:
    """One database and the data folder that goes with it."""

    name: str
    folder: Path
    database: str
    settings: dict[str, str] = field(default_factory=dict)  # of this installation alone

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a process that works here."""
        return server_environment(
            database=self.database,
            data=self.folder,
            TRISTEP_THROTTLE_USER=NO_LIMIT,
            TRISTEP_THROTTLE_ANON=NO_LIMIT,
            TRISTEP_THROTTLE_COSTLY=NO_LIMIT,
            TRISTEP_LOG_LEVEL="WARNING",
            **self.settings,
        )

    def inside(self, work: Callable[..., dict[str, Any]], *arguments: str | Path) -> dict[str, Any]:
        """Have a function of the bench work in a process of its own here; its answer. Raises Failed."""
        place = f"{work.__module__}:{work.__name__}"
        answer: dict[str, Any] = json.loads(self.run("-m", "bench.inside", place, *arguments))
        return answer

    def migrate(self) -> None:
        """Make the tables. Raises Failed."""
        self.run("manage.py", "migrate", "--verbosity", "0")

    def run(self, *arguments: str | Path) -> bytes:
        """The output of a Python process with these arguments here. Raises Failed."""
        command = [sys.executable, *map(str, arguments)]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, check=False)
        if done.returncode:
            words = done.stderr.decode(errors="replace")[-2000:]
            raise Failed(f"{' '.join(map(str, arguments[:4]))} failed in {self.name}: {words}")
        return done.stdout


@dataclass
class Stock:
    """All databases of one kind, copies of one that has been migrated once."""

    kind: str
    folder: Path
    address: str = ""
    note: str = ""
    first: Installation | None = None
    finish: Callable[[], None] | None = None
    made: list[Installation] = field(default_factory=list)
    count: int = 0

    def installation(self, name: str) -> Installation:
        """A fresh, migrated database."""
        if self.first is None:
            self.first = self._empty("first")
            self.first.migrate()
        self.count += 1
        self.made.append(self._empty(f"{name}_{self.count}", self.first))
        return self.made[-1]

    def untouched(self, name: str) -> Installation:
        """An empty database without tables, as before the first start."""
        self.count += 1
        self.made.append(self._empty(f"{name}_{self.count}"))
        return self.made[-1]

    def _empty(self, name: str, template: Installation | None = None) -> Installation:
        folder = self.folder / f"{self.kind}-{name}"
        folder.mkdir(mode=0o700)
        if self.kind == "sqlite":
            path = folder / "db.sqlite3"
            if template is not None:
                shutil.copy(template.folder / "db.sqlite3", path)
            return Installation(name, folder, f"sqlite:///{path}")
        database = f"bench_{os.getpid()}_{name}".replace("-", "_")
        like = f" TEMPLATE {urlsplit(template.database).path[1:]}" if template is not None else ""
        self.sql(f"CREATE DATABASE {database}{like}")
        parts = urlsplit(self.address)
        return Installation(name, folder, urlunsplit(parts._replace(path=f"/{database}")))

    def sql(self, statement: str) -> None:
        """One statement outside any transaction, on PostgreSQL."""
        connection = connect(self.address)
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statement)
        connection.close()

    def clear(self) -> None:
        """Delete the databases that were made, and their folders."""
        for installation in self.made:
            if self.kind == "postgres":
                self.sql(f"DROP DATABASE IF EXISTS {urlsplit(installation.database).path[1:]} WITH (FORCE)")
            shutil.rmtree(installation.folder)
        self.made.clear()

    def close(self) -> None:
        """Delete all databases, and stop a server of our own."""
        if self.first is not None:
            self.made.append(self.first)
        self.clear()
        if self.finish is not None:
            self.finish()


def connect(address: str) -> Any:
    """A bare connection to PostgreSQL."""
    found = settings_of(address, base=ROOT)
    known = {
        "dbname": found["NAME"],
        "user": found["USER"],
        "password": found["PASSWORD"],
        "host": found["HOST"],
        "port": found["PORT"],
    }
    return psycopg2.connect(**{key: value for key, value in known.items() if value})


def stock(kind: str, folder: Path) -> Stock:
    """A stock of databases; PostgreSQL is the one that TEST_DATABASE_URL names, else one of our own."""
    if kind == "sqlite":
        return Stock(kind, folder, note="SQLite: WAL, synchronous=FULL")
    if named := os.environ.get("TEST_DATABASE_URL"):
        return Stock(kind, folder, address=named, note="PostgreSQL: the server of TEST_DATABASE_URL")
    server = start_postgres()
    return Stock(
        kind, folder, address=server.url, finish=server.stop, note="PostgreSQL: throw-away server, fsync off"
    )


class Served:
    """The server of one installation, as `make run` starts it: the web server's address is `host:port`."""

    def __init__(self, installation: Installation, *options: str, python: str = sys.executable) -> None:
        self.installation = installation
        self.port = free_port()
        self.log = installation.folder / "serve.log"
        with self.log.open("wb") as output:
            self.process = spawn(
                [python, "-m", "config.serve", "--port", str(self.port), *options],
                env=installation.environment,
                cwd=ROOT,
                output=output,
            )
        try:
            wait_for(self._up, "the server to start", seconds=READY_SECONDS)
        except TimeoutError as error:
            self.stop()
            raise Failed(f"{error} {self.words()}") from None
        if self.process.poll() is not None:
            raise Failed(f"The server of {installation.name} did not start: {self.words()}")

    def _up(self) -> bool:
        return self.process.poll() is not None or "Tristep is at" in self.words()

    def words(self) -> str:
        """The end of what it has said."""
        return self.log.read_text(errors="replace")[-2000:]

    def stop(self) -> None:
        """Stop all of it."""
        stop(self.process, grace=60)


def scratch() -> Path:
    """A folder for everything the bench makes, on the disk that the system uses for such things."""
    return Path(tempfile.mkdtemp(prefix="tristep-bench-"))


__all__ = ["Failed", "Installation", "Served", "ServerMissing", "Stock", "connect", "scratch", "stock"]
