"""Releases on SQLite are staged: records in short turns, invisible until the release's own row is there.

Staged are records and labels whose release has no row. Nothing reads those: every way to them begins at a
release. SQLite checks foreign keys for each connection, so they are written with the check off;
PostgreSQL checks them at each commit, and nobody waits for its one transaction. What a kill leaves is taken
up by the next freeze, as far as the records are the same, or deleted after an hour.
"""

import fcntl
import os
import pickle
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Self

from django.conf import settings
from django.db import connection
from django.db.models import Exists, OuterRef

from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.models import Release, ReleaseLabel, ReleaseRecord

from ..batched_writes import in_blocks
from . import contents
from .contents import PreparedRecord, Progress

RECORDS_AT_ONCE = 25
BYTES_AT_ONCE = 1 << 17
DELETED_AT_ONCE = 200
PATIENCE_SECONDS = 60.0
FORGOTTEN_SECONDS = 3_600
DIGEST = 32
CACHE = -2_000  # negative: in KiB


def _lock_file() -> Path:
    return Path(settings.DATA_DIR) / "freezing.lock"


@contextmanager
def alone() -> Iterator[None]:
    """One freeze at a time on this machine; the kernel ends the lock of a process that dies. Raises Conflict
    after a minute. The file holds a word as long as the freeze has not come to its end."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    with _lock_file().open("a+b") as file:
        while not _locked(file):
            if time.monotonic() > deadline:
                raise Conflict(
                    translatable("Another release is being frozen right now; try again."), code="busy"
                )
            time.sleep(0.05)
        file.write(b"begun")
        file.flush()
        yield
        file.truncate(0)


@contextmanager
def small_cache() -> Iterator[None]:
    """Let SQLite keep few pages: a freeze reads each once, and the cache would grow with the release."""
    with connection.cursor() as cursor:
        (before,) = cursor.execute("PRAGMA cache_size").fetchone()
        cursor.execute(f"PRAGMA cache_size={CACHE}")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA cache_size={int(before)}")


def _locked(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class RecordSpool:
    """Prepared records in a file, between reading them in one snapshot and writing them in short turns."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(dir=settings.DATA_DIR, prefix=".release-")  # noqa: SIM115
        self._digests = bytearray()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, record: PreparedRecord) -> None:
        """Keep one more."""
        pickle.dump(record, self._file)
        self._digests += bytes.fromhex(record.sha256)

    def __len__(self) -> int:
        return len(self._digests) // DIGEST

    def begins_with(self, digests: Iterable[str]) -> int | None:
        """The number of these checksums, when the first records have just them; else None."""
        stored = bytearray().join(bytes.fromhex(digest) for digest in digests)
        return len(stored) // DIGEST if self._digests.startswith(stored) else None

    def after(self, done: int) -> Iterator[list[PreparedRecord]]:
        """All but the first `done`, a few at a time."""
        self._file.seek(0)
        few: list[PreparedRecord] = []
        size = 0
        for number in range(len(self)):
            record: PreparedRecord = pickle.load(self._file)
            if number >= done:
                few.append(record)
                size += len(record.body)
            if len(few) == RECORDS_AT_ONCE or size >= BYTES_AT_ONCE:
                yield few
                few, size = [], 0
        if few:
            yield few


def stage(spool: RecordSpool, progress: Progress) -> uuid.UUID:
    """Stage the records in short transactions; the id of the release that they will be. `progress(done,
    total)` says that somebody is still at work: all of them were counted when they were read."""
    total = len(spool)

    def write(records: list[PreparedRecord]) -> None:
        contents.write(release_id, records)
        progress(total, total)

    with _without_foreign_keys():
        release_id, done = _begun(spool)
        in_blocks(spool.after(done), write)
    return release_id


@contextmanager
def _without_foreign_keys() -> Iterator[None]:
    connection.disable_constraint_checking()
    try:
        yield
    finally:
        connection.enable_constraint_checking()


def _staged() -> list[uuid.UUID]:
    """The ids of releases that have records and no row."""
    released = Release.objects.filter(pk=OuterRef("release_id"))
    rows = ReleaseRecord.objects.filter(~Exists(released)).order_by()
    return list(rows.values_list("release_id", flat=True).distinct())


def _begun(spool: RecordSpool) -> tuple[uuid.UUID, int]:
    """The id and length of staged records, left by a kill, that begin with the same records; else a new id.
    The rest is deleted: there is one freeze at a time."""
    begun: tuple[uuid.UUID, int] | None = None
    for release_id in _staged():
        rows = ReleaseRecord.objects.filter(release=release_id).order_by("ordinal")
        same = spool.begins_with(rows.values_list("sha256", flat=True).iterator())
        if begun is None and same is not None:
            begun = release_id, same
        else:
            _delete(release_id)
    return begun or (uuid.uuid4(), 0)


def _delete(release_id: uuid.UUID) -> None:
    def delete(pks: list[int]) -> None:
        for rows in (
            ReleaseLabel.objects.filter(record__in=pks),
            ReleaseRecord.objects.filter(pk__in=pks),
        ):
            rows._raw_delete(rows.db)

    # not in the model's order, which would join the release that there is not
    pks = list(ReleaseRecord.objects.filter(release=release_id).order_by("pk").values_list("pk", flat=True))
    in_blocks((pks[at : at + DELETED_AT_ONCE] for at in range(0, len(pks), DELETED_AT_ONCE)), delete)


def sweep_staged() -> int:
    """Delete what a freeze left that was killed an hour ago, and not begun again; how many releases."""
    path = _lock_file()
    if connection.vendor != "sqlite" or not path.exists():
        return 0
    with path.open("r+b") as file:
        state = os.fstat(file.fileno())
        if not state.st_size or time.time() - state.st_mtime < FORGOTTEN_SECONDS or not _locked(file):
            return 0
        left = _staged()
        for release_id in left:
            _delete(release_id)
        file.truncate(0)
    return len(left)
