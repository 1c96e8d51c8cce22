"""All files of a release as one ZIP file, made while it is sent."""

import io
import zipfile
from collections.abc import Iterator
from datetime import UTC
from itertools import groupby
from operator import itemgetter

from annotation.core.release_format import file_name
from annotation.models import Release
from annotation.policies import Actor

from .export import documents, export_lines

BLOCK = 1 << 16
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


def export_zip(*, actor: Actor, release: Release) -> Iterator[bytes]:
    """The manifest, its signature, the public key and every subset's file, in a folder named after project
    and version, as `export_release` writes them; `verify_release --path` checks the unpacked folder.

    Permission is asked and the exposure noted at once (`export_lines`). Memory is that of one block. The same
    release gives the same bytes each time, as long as the same zlib compresses them: files carry the time of
    the freezing. Raises Conflict on a damaged record, which leaves the ZIP file without its end.
    """
    return _written(release, export_lines(actor=actor, release=release))


def _written(release: Release, lines: Iterator[tuple[str, bytes]]) -> Iterator[bytes]:
    sink = _Sink()
    folder = f"{release.project.slug}-{release.version}"
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in documents(release).items():
            archive.writestr(_entry(release, f"{folder}/{name}"), content)
        for subset, of_it in groupby(lines, key=itemgetter(0)):
            entry = _entry(release, f"{folder}/{file_name(subset)}")
            with archive.open(entry, "w", force_zip64=True) as file:
                for _subset, line in of_it:
                    file.write(line)
                    if sink.size >= BLOCK:
                        yield sink.taken()
    yield sink.taken()


def _entry(release: Release, name: str) -> zipfile.ZipInfo:
    frozen = release.created_at.astimezone(UTC)
    entry = zipfile.ZipInfo(name, frozen.timetuple()[:6])
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system, entry.external_attr = UNIX, READABLE
    return entry
