"""The test databases: migrated once, copied for every process, emptied quickly after a test that commits.

Migrating takes as long as ten tests, and Django's own flush as long as one. So a migrated template is
kept, named after everything that it depends on: on SQLite a file in `.pytest_cache`, on PostgreSQL a database
beside those of the processes. `pytest --create-db` makes it anew.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from os import getpid
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler

from annotation.models import frozen
from config import env
from tests.servers import ROOT
from tests.shared import locked

CACHE = ROOT / ".pytest_cache" / "databases"
# What a migrated database depends on: tables, triggers, the rows that migrating leaves, and their libraries.
SOURCES = (
    "annotation/migrations/*.py",
    "annotation/models/**/*.py",
    "config/settings/*.py",
    "tests/databases.py",
)
LOCKS = ("requirements-dev.lock",)
RESET_SECONDS = 120.0
DEFINITIONS = {
    "sqlite": "SELECT tbl_name, name, sql FROM sqlite_master WHERE sql IS NOT NULL",
    "postgresql": """
        SELECT table_name, column_name, concat_ws(' ', data_type, is_nullable, column_default)
        FROM information_schema.columns WHERE table_schema = 'public'
        UNION ALL SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace
        UNION ALL SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
    """,
}
CASTS = re.compile(r"::[a-z ]+|[()\[\]\s]")


def prepare(connection: BaseDatabaseWrapper, *, anew: bool = False) -> Callable[[], None]:
    """Point `connection` at a migrated database of this process's own; returns what removes it.

    `anew` makes the template again.
    """
    if connection.vendor != "postgresql":
        return _sqlite(connection, anew)
    remove = _postgresql(connection, anew)
    # rows that migrating leaves (content types, permissions) stay when a test's rows go
    _Baseline.of(connection)
    return remove


def copy_migrated(to: Path) -> None:
    """Copy SQLite's template, for a process with a database of its own; `prepare` has made it."""
    with locked(CACHE / "lock", shared=True):
        shutil.copyfile(CACHE / f"{fingerprint()}.sqlite3", to)


def reset(connection: BaseDatabaseWrapper) -> None:
    """Take everything away that a test has committed."""
    if connection.vendor == "postgresql":
        _Baseline.of(connection).restore(connection)
    else:
        _restore_sqlite(connection)


def fingerprint() -> str:
    """Names the template: equal for equal tables."""
    digest = hashlib.sha256(sqlite3.sqlite_version.encode())
    for path in sorted(path for pattern in SOURCES for path in ROOT.glob(pattern)):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def described(connection: BaseDatabaseWrapper) -> list[Any]:
    """The parts of each table in order, for SQLite keeps them as they were added, and without brackets and
    casts, which PostgreSQL writes otherwise after a dump."""
    with connection.cursor() as cursor:
        cursor.execute(DEFINITIONS[connection.vendor])
        return sorted(
            [table, name, sorted(CASTS.sub("", sql).split(","))] for table, name, sql in cursor.fetchall()
        )


def next_ids(connection: BaseDatabaseWrapper) -> dict[str, int]:
    """What PostgreSQL numbers rows from: it does not take back a number with its row, as SQLite does."""
    if connection.vendor != "postgresql":
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_Baseline.of(connection).ask_ids)
        return dict(cursor.fetchall())


def number_from(connection: BaseDatabaseWrapper, ids: dict[str, int] | None = None) -> None:
    """Number rows from there, as `next_ids` gave it; as in a migrated database where nothing is said."""
    if connection.vendor == "postgresql":
        set_all = ", ".join(
            f"setval('{name}', {number}, false)"
            for name, number in (_Baseline.of(connection).ids if ids is None else ids).items()
        )
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {set_all}")


def _use(connection: BaseDatabaseWrapper, name: str) -> None:
    connection.close()
    settings.DATABASES[connection.alias]["NAME"] = name
    connection.settings_dict["NAME"] = name


def _migrate(connection: BaseDatabaseWrapper, name: str) -> None:
    _use(connection, name)
    call_command("migrate", verbosity=0, interactive=False, database=connection.alias, run_syncdb=True)
    connection.close()


# ── SQLite ────────────────────────────────
_empty: dict[str, sqlite3.Connection] = {}
"""By the name of a test database: what it looks like without a test's rows, in memory."""


def _sqlite(connection: BaseDatabaseWrapper, anew: bool) -> Callable[[], None]:
    template = CACHE / f"{fingerprint()}.sqlite3"
    name = str(connection.settings_dict["TEST"]["NAME"])
    with locked(CACHE / "lock"):
        if anew or not template.exists():
            for old in CACHE.glob("*.sqlite3"):
                old.unlink()
            with tempfile.TemporaryDirectory(dir=CACHE) as folder:
                fresh = Path(folder) / "fresh.sqlite3"
                _migrate(connection, str(fresh))
                with closing(sqlite3.connect(fresh)) as raw:
                    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                fresh.replace(template)
        shutil.copyfile(template, name)
    memory = sqlite3.connect(":memory:", check_same_thread=False)
    with closing(sqlite3.connect(name)) as raw:
        raw.backup(memory)
    _empty[name] = memory
    _use(connection, name)

    def remove() -> None:
        connection.close()
        _empty.pop(name).close()
        for path in Path(name).parent.glob(f"{Path(name).name}*"):
            path.unlink()

    return remove


def _restore_sqlite(connection: BaseDatabaseWrapper) -> None:
    """Copy the empty database over what is there, page by page; ids begin again, too."""
    name = str(connection.settings_dict["NAME"])
    deadline = time.monotonic() + RESET_SECONDS

    def in_time(_status: int, _remaining: int, _total: int) -> None:
        if time.monotonic() > deadline:
            raise TimeoutError("A connection that a test has left open holds the database.")

    connection.close()
    with closing(sqlite3.connect(name, timeout=RESET_SECONDS)) as raw:
        raw.execute("PRAGMA synchronous = OFF")
        _empty[name].backup(raw, progress=in_time, sleep=0.01)


# ── PostgreSQL ────────────────────────────
def _postgresql(connection: BaseDatabaseWrapper, anew: bool) -> Callable[[], None]:
    template, name = f"tristep_template_{fingerprint()}", f"tristep_test_{getpid()}"
    server = hashlib.sha256(repr(sorted(connection.settings_dict.items(), key=str)).encode()).hexdigest()[:16]
    with locked(Path(tempfile.gettempdir()) / f"tristep-{server}.lock"), connection._nodb_cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE starts_with(datname, 'tristep_template_')")
        found = {row[0] for row in cursor.fetchall()}
        if anew or template not in found:
            for old in found:
                cursor.execute(f'DROP DATABASE "{old}" WITH (FORCE)')
            fresh = f"tristep_fresh_{getpid()}"
            cursor.execute(f'CREATE DATABASE "{fresh}"')
            _migrate(connection, fresh)
            cursor.execute(f'ALTER DATABASE "{fresh}" RENAME TO "{template}"')
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    _use(connection, name)

    def remove() -> None:
        connection.close()
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    return remove


class _Baseline:
    """The number of rows of each table after migrating, and what rows are numbered from."""

    _known: dict[str, _Baseline] = {}

    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        with connection.cursor() as cursor:
            self.tables = sorted(connection.introspection.table_names(cursor))
            counts = " UNION ALL ".join(
                f"SELECT '{table}', (SELECT count(*) FROM \"{table}\")" for table in self.tables
            )
            self.question = counts
            self.rows = self._count(cursor)
            cursor.execute("SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'")
            self.ask_ids = " UNION ALL ".join(
                f"SELECT '{name}', last_value + is_called::int FROM \"{name}\"" for (name,) in cursor
            )
            cursor.execute(self.ask_ids)
            self.ids: dict[str, int] = dict(cursor.fetchall())

    @classmethod
    def of(cls, connection: BaseDatabaseWrapper) -> _Baseline:
        name = str(connection.settings_dict["NAME"])
        if name not in cls._known:
            cls._known[name] = cls(connection)
        return cls._known[name]

    def _count(self, cursor: object) -> dict[str, int]:
        cursor.execute(self.question)  # type: ignore[attr-defined]
        return dict(cursor.fetchall())  # type: ignore[attr-defined]

    def restore(self, connection: BaseDatabaseWrapper) -> None:
        """Delete from the tables that have rows; few rows are deleted faster than a table is truncated."""
        with connection.cursor() as cursor:
            now = self._count(cursor)
            wrong = [table for table in self.tables if self.rows[table] and now[table] != self.rows[table]]
            assert not wrong, f"a test has changed what migrating leaves in {wrong}"
            filled = [table for table in self.tables if now[table] and not self.rows[table]]
            if not filled:
                return
            # neither foreign keys nor the triggers that guard tables: all end up empty together
            guarded = [table for table in frozen.TABLES if table in filled]
            awake = [
                f"ALTER TABLE {trigger.table} ENABLE ALWAYS TRIGGER {trigger.name}"
                for trigger in frozen.triggers(connection.vendor, guarded)
            ]
            cursor.execute(
                "; ".join(
                    [
                        "SET session_replication_role = replica",
                        *(f"ALTER TABLE {table} DISABLE TRIGGER USER" for table in guarded),
                        *(f'DELETE FROM "{table}"' for table in filled),
                        *awake,
                        "SET session_replication_role = DEFAULT",
                    ]
                )
            )


@contextmanager
def lifted() -> Iterator[None]:
    """Without the triggers that keep releases and the audit log as they are."""
    frozen.lift(connection)
    yield
    frozen.install(connection)


@contextmanager
def elsewhere(url: str) -> Iterator[None]:
    """With the database of that DATABASE_URL in this thread: one that is away, or empty."""
    ours = connections[DEFAULT_DB_ALIAS]
    theirs = ConnectionHandler({DEFAULT_DB_ALIAS: env.database(url, base=ROOT)})
    connections[DEFAULT_DB_ALIAS] = theirs[DEFAULT_DB_ALIAS]
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS].close()
        connections[DEFAULT_DB_ALIAS] = ours


def empty_everything() -> None:
    """Empty the database as a new one is, releases and audit log included."""
    with lifted():
        call_command("flush", interactive=False, verbosity=0)
