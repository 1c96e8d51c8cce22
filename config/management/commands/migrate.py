"""migrate, one at a time: a second one waits for the first, and then finds its work done."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from django.core.management.commands import migrate
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

KEY = 0x7472697374657000
"""Of PostgreSQL's advisory lock: "tristep" in ASCII."""


@contextmanager
def _alone_on_postgresql(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Hold the database's advisory lock, of this session: the server ends it with the connection."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [KEY])
    try:
        yield
    finally:
        if connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [KEY])


@contextmanager
def _alone_on_sqlite(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Hold a lock beside the database file; the kernel ends it with the process."""
    with Path(f"{connection.settings_dict['NAME']}-migrate").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Command(migrate.Command):
    """Django's command, alone with its database."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Wait for the turn, then migrate."""
        connection: Any = connections[options.get("database") or DEFAULT_DB_ALIAS]
        connection.prepare_database()
        if connection.vendor == "postgresql":
            lock: Any = _alone_on_postgresql(connection)
        elif connection.vendor == "sqlite" and not connection.is_in_memory_db():
            lock = _alone_on_sqlite(connection)
        else:
            lock = nullcontext()
        with lock:
            super().handle(*args, **options)
