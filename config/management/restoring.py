"""Fill an empty database from the tables of a backup.

On PostgreSQL this is one transaction. On SQLite, where nobody else could write for as long, the rows go in by
short turns, with the check of foreign keys off on this connection. The last turn brings the accounts, without
which nobody can sign in and see any of it, the audit log, and the releases, which freeze what was there
before. A restore that was killed is completed by the same file again, and undone by another one.
"""

import fcntl
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core import serializers
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.management.color import no_style
from django.core.serializers.base import DeserializationError
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import Model

from annotation.models import AuditEvent, AuditLink, Project, Release, ReleaseWithdrawal, User
from annotation.services.batched_writes import in_blocks

BATCH = 50
# The longest row that is taken in, in bytes.
MAX_LINE = 256 << 20
LAST = (AuditEvent, AuditLink, User, ReleaseWithdrawal, Release)
"""Tables restored last: they make others visible, or can never be emptied again."""

Files = Mapping[type[Model], tuple[Path, int]]
"""For each table, in the order of loading: its JSON Lines, and how many there should be."""


def _mark() -> Path:
    """A file that is there while a restore is under way, or was killed: it names the archive."""
    return Path(settings.DATA_DIR) / "restoring"


def _name(archive: Path) -> str:
    with archive.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def alone() -> Iterator[None]:
    """One restore at a time on this machine; the kernel ends the lock of a process that dies. Raises
    CommandError when there is another."""
    with (Path(settings.DATA_DIR) / "restoring.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CommandError("Another restore is under way.") from None
        yield


def was_killed() -> bool:
    """Is there nothing in the database but what a killed restore left? Accounts come last, so that where
    somebody has one it has ended, or people have begun anew."""
    return connection.vendor == "sqlite" and _mark().exists() and not User.objects.exists()


def refuse_others() -> None:
    """Raise CommandError for a database that holds anything else than what a killed restore left."""
    # a row of the audit log stays: on a new database only an operator's command can have written one
    if AuditEvent.objects.exists() or (
        not was_killed() and (User.objects.exists() or Project.objects.exists())
    ):
        raise CommandError(
            "This database is not empty; restore into a new one (DATABASE_URL or TRISTEP_DATA_DIR)."
        )


def refuse_half_restored() -> None:
    """Raise CommandError, before anybody gets an account, where a killed restore left half of the rows."""
    if was_killed() and Project.objects.exists():
        raise CommandError("A restore was interrupted: run `manage.py restore` with the same file again.")


def fill(archive: Path, files: Files) -> None:
    """All rows of all tables, or none. Raises CommandError with one clear sentence."""
    try:
        if connection.vendor == "sqlite" and not connection.in_atomic_block:
            _in_turns(archive, files)
        else:
            with transaction.atomic():
                for model, (path, rows) in files.items():
                    _load(model, path, rows)
                _reset_sequences(list(files))
    except IntegrityError as error:
        raise CommandError(f"{archive} is damaged: its rows do not fit each other.") from error


def _reset_sequences(models: list[type[Model]]) -> None:
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)


def _in_turns(archive: Path, files: Files) -> None:
    mark, name = _mark(), _name(archive)
    with _without_foreign_keys():
        if mark.exists() and mark.read_text() != name:
            _empty(list(files))
        mark.write_text(name)
        try:
            for model, (path, rows) in files.items():
                if model not in LAST:
                    _load(model, path, rows, done=model._base_manager.count())
            with transaction.atomic():
                for model in LAST:
                    _load(model, *files[model])
                connection.check_constraints()
                _reset_sequences(list(files))
        except (CommandError, IntegrityError):
            _empty(list(files))
            mark.unlink()
            raise
    mark.unlink()


def _empty(models: list[type[Model]]) -> None:
    """Take everything away again, a few rows at a time."""
    for model in reversed(models):
        if model in LAST:  # rolled back with the last turn
            continue
        pks = list(model._base_manager.order_by("pk").values_list("pk", flat=True))

        def delete(part: list[object], model: type[Model] = model) -> None:
            rows = model._base_manager.filter(pk__in=part)
            rows._raw_delete(rows.db)

        in_blocks((pks[at : at + BATCH] for at in range(0, len(pks), BATCH)), delete)


@contextmanager
def _without_foreign_keys() -> Iterator[None]:
    connection.disable_constraint_checking()
    try:
        yield
    finally:
        connection.enable_constraint_checking()


@contextmanager
def _times_as_they_were(model: type[Model]) -> Iterator[None]:
    """Times that a model of allauth would set to the present are stored as they are."""
    kept = [
        (field, name)
        for field in model._meta.local_fields
        for name in ("auto_now", "auto_now_add")
        if getattr(field, name, False)
    ]
    try:
        for field, name in kept:
            setattr(field, name, False)
        yield
    finally:
        for field, name in kept:
            setattr(field, name, True)


def _load(model: type[Model], path: Path, expected: int, *, done: int = 0) -> None:
    """Fill one table, but for its first `done` rows. Raises CommandError for rows that the database or the
    model refuses."""
    loaded = 0

    def batches() -> Iterator[list[Model]]:
        nonlocal loaded
        with path.open("rb") as file:
            rows = serializers.deserialize("jsonl", _lines(file))
            while batch := [row.object for row in islice(rows, BATCH)]:
                if any(type(row) is not model for row in batch):
                    raise ValueError("a row of another table")
                fresh = batch[max(0, done - loaded) :]
                loaded += len(batch)
                if fresh:
                    yield fresh

    def store(batch: list[Model]) -> None:
        with _times_as_they_were(model):
            model._default_manager.bulk_create(batch)

    try:
        in_blocks(batches(), store)
    except (
        DeserializationError,
        DatabaseError,
        ValidationError,
        ValueError,
        TypeError,
        RecursionError,
    ) as error:
        kind = type(error).__name__
        raise CommandError(
            f"The backup is damaged: {path.name} holds a row that is none ({kind})."
        ) from error
    if loaded != expected:
        raise CommandError(
            f"The backup is damaged: {path.name} has {loaded} rows, and should have {expected}."
        )


def _lines(file: IO[bytes]) -> Iterator[str]:
    """The lines of a table, of a length that fits into memory. Raises ValueError."""
    while line := file.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            raise ValueError("a line is too long")
        yield line.decode("utf-8")
