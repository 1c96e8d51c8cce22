"""All files of a release as one ZIP file, made while it is sent."""

import io
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC
from typing import IO

from annotation.core.releases.exports import PLAIN, ExportOptions
from annotation.models import Release
from annotation.policies import Actor

from .. import audit
from .export import admit, writer
from .export_dataset import ExportTarget

ZIP_READ_BYTES = 1 << 16
READABLE = 0o100644 << 16
UNIX = 3


class _Sink(io.RawIOBase):
    """Takes what a ZipFile writes, and gives it away block by block; it cannot go back."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.parts.append(bytes(data))
        self.size += len(data)
        return len(data)

    def taken(self) -> bytes:
        whole, self.parts, self.size = b"".join(self.parts), [], 0
        return whole


def export_zip(*, actor: Actor, release: Release, options: ExportOptions = PLAIN) -> Iterator[bytes]:
    """An export in a folder named after project and version, as `export_release` writes it; `verify_release
    --path` checks the unpacked folder.

    Permission is asked and the exposure noted at once (`admit`), and a data set is held against its digest
    before anything is sent. Memory is that of one block, or row group. The same release gives the same bytes
    each time, as long as the same zlib and pyarrow write them: files carry the time of the freezing. Raises
    Conflict on a damaged record, which may leave the ZIP file without its end.
    """
    admit(actor=actor, release=release, options=options)
    write = writer(release, options)
    if options.blind_labels:
        audit.record(
            actor=actor, verb="release.export", project=release.project, obj=release, **options.as_json()
        )
    return _zipped(release, write)


class _Zip:
    """Writes the files of an export into a ZIP file that is sent while it is made."""

    def __init__(self, release: Release) -> None:
        self.sink = _Sink()
        self.archive = zipfile.ZipFile(self.sink, "w")
        self.folder = f"{release.project.slug}-{release.version}"
        self.frozen = release.created_at.astimezone(UTC).timetuple()[:6]

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """A new file."""
        entry = zipfile.ZipInfo(f"{self.folder}/{name}", self.frozen)
        entry.compress_type = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
        entry.create_system, entry.external_attr = UNIX, READABLE
        with self.archive.open(entry, "w", force_zip64=True) as file:
            yield file


def _zipped(release: Release, write: Callable[[ExportTarget], Iterator[None]]) -> Iterator[bytes]:
    made = _Zip(release)
    with made.archive:
        for _ in write(made):
            if made.sink.size >= ZIP_READ_BYTES:
                yield made.sink.taken()
    yield made.sink.taken()
