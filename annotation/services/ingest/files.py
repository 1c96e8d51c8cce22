"""The bytes of imports until they have ended, in the storage of the settings: a folder, or a bucket that all
machines share."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, BinaryIO, cast

from django.core.files.storage import default_storage

from annotation.core.errors import Conflict, Unavailable
from annotation.core.i18n import translatable
from annotation.importers import HEAD_BYTES

log = logging.getLogger(__name__)

SUFFIX = ".import"
READ_BYTES = 1024 * 1024


def unused_name() -> str:
    """A name for the bytes of an import that no other has."""
    return f"{uuid.uuid4().hex}{SUFFIX}"


class Arriving:
    """Chunks as a storage takes a file: read once, in order, and counted and checksummed meanwhile."""

    closed = False

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._digest = hashlib.sha256()
        self._left = b""
        self.head = b""
        """The first `HEAD_BYTES`."""
        self.size = 0
        """In bytes, of what has been read."""

    @property
    def sha256(self) -> str:
        """Of what has been read, in hexadecimal digits."""
        return self._digest.hexdigest()

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """The chunks as they come."""
        for chunk in self._chunks:
            self._digest.update(chunk)
            self.size += len(chunk)
            if len(self.head) < HEAD_BYTES:
                self.head += chunk[: HEAD_BYTES - len(self.head)]
            yield chunk

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, all when it is negative; fewer only at the end."""
        parts, length = [self._left], len(self._left)
        counted = self.chunks()
        while (size < 0 or length < size) and (chunk := next(counted, b"")):
            parts.append(chunk)
            length += len(chunk)
        whole = b"".join(parts)
        end = length if size < 0 else min(size, length)
        self._left = whole[end:]
        return whole[:end]

    def seekable(self) -> bool:
        """False: nobody has the chunks any more."""
        return False

    def close(self) -> None:
        """Nothing is held open."""


def save(name: str, chunks: Iterable[bytes]) -> Arriving:
    """Store bytes under a name that is free: what was told of them. Raises Unavailable."""
    arriving = Arriving(chunks)
    default_storage.save(name, cast(Any, arriving))
    return arriving


@contextmanager
def opened(name: str, *, sha256: str = "") -> Iterator[BinaryIO]:
    """The stored bytes, in a file of this machine that can be read to and fro. Raises FileNotFoundError,
    Unavailable, and Conflict (`file_damaged`) when they have another checksum than the one given."""
    with default_storage.open(name, "rb") as file:
        stream = cast(BinaryIO, file.file)
        if sha256:
            if hashlib.file_digest(stream, "sha256").hexdigest() != sha256:  # type: ignore[arg-type]
                raise Conflict(
                    translatable("The uploaded file was damaged in the store; upload it again."),
                    code="file_damaged",
                )
            stream.seek(0)
        yield stream


def discard(name: str) -> None:
    """Delete bytes, if they are there. What a store keeps that cannot be reached the reaper deletes later."""
    try:
        default_storage.delete(name)
    except Unavailable as away:
        log.warning("a file stays for now", extra={"stored_as": name, "why": away.message})


def older_than(limit: datetime, needed: frozenset[str]) -> list[str]:
    """The names of imports' bytes, but for those needed, that nobody has written to since. Raises
    Unavailable."""
    old = []
    _folders, names = default_storage.listdir("")
    for name in names:
        if not name.endswith(SUFFIX) or name in needed:
            continue
        # another process may have been quicker
        with contextlib.suppress(FileNotFoundError):
            if default_storage.get_modified_time(name) < limit:
                old.append(name)
    return old
