"""Write a release as a data set: Parquet files, their card, Croissant, and signed checksums of all of it."""

import hashlib
import io
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import IO, Any, Protocol

from django.conf import settings

from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import sha256_hex
from annotation.core.jsonio.plain_text import json_text
from annotation.core.releases.exports import ExportOptions
from annotation.core.releases.exports.card import card
from annotation.core.releases.exports.checksums import checksums
from annotation.core.releases.exports.croissant import croissant
from annotation.core.releases.exports.formats.columns import Row
from annotation.core.releases.exports.layout import (
    CHECKSUMS,
    CHECKSUMS_SIGNATURE,
    CROISSANT,
    EXPORT_KEY,
    README,
    DataFile,
    data_files,
)
from annotation.core.releases.exports.split import TEST, TRAIN, task_of, test_tasks
from annotation.core.text import unescape
from annotation.models import Release, ReleaseRecord

from .documents import documents
from .keys import signing_key
from .parquet import ParquetFile, writer_version
from .verify import bodies, decompressed

EXPORTED_AT_ONCE = 100


class ExportTarget(Protocol):
    """The destination of an export's files."""

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """A new file, of which there is one at a time."""


class _Counted(io.RawIOBase):
    """Passes on what is written, and knows its SHA-256 and size."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out, self.digest, self.size = out, hashlib.sha256(), 0

    def writable(self) -> bool:
        """pyarrow asks."""
        return True

    def write(self, data: Any) -> int:
        content = bytes(data)
        self.out.write(content)
        self.digest.update(content)
        self.size += len(content)
        return len(content)

    def tell(self) -> int:
        return self.size


class JsonLines(AbstractContextManager["JsonLines"]):
    """A file of JSON Lines that is written row by row to `sink`, which is left open."""

    def __init__(self, sink: IO[bytes] | io.RawIOBase) -> None:
        self._sink = sink

    def __exit__(self, *_error: object) -> None:
        """Leave the sink open."""

    def add(self, row: Row) -> None:
        """Write one row."""
        self._sink.write(json_text(row).encode() + b"\n")


@dataclass(frozen=True, slots=True)
class DatasetExport:
    """An export that has been looked through and can be written: `ordinals` by subset and split."""

    release: Release
    options: ExportOptions
    manifest: dict[str, Any]
    ordinals: dict[tuple[str, str], list[int]]


def prepare_export(release: Release, options: ExportOptions) -> DatasetExport:
    """Hold the records against the digest of the release, and divide them into splits.

    Raises Conflict when it is damaged or the key that signs cannot be read.
    """
    manifest = release.parsed_manifest()
    signing_key()
    digest = hashlib.sha256()
    tasks: dict[str, set[str]] = defaultdict(set)
    places: list[tuple[str, int, str]] = []
    for row, body in bodies(release):
        if body is None or sha256_hex(body) != row.sha256:
            raise damaged(row.record_id)
        digest.update(body + b"\n")
        task = task_of(json.loads(body)) if options.split is not None else ""
        tasks[row.subset].add(task)
        places.append((row.subset, row.ordinal, task))
    if digest.hexdigest() != manifest["digest"]:
        raise Conflict(translatable("The release does not match its checksums; verify it."), code="damaged")
    chosen = test_tasks(tasks, options.split, options.seed) if options.split is not None else set()
    ordinals: dict[tuple[str, str], list[int]] = defaultdict(list)
    for subset, ordinal, task in places:
        side = "" if options.split is None else TEST if task in chosen else TRAIN
        ordinals[subset, side].append(ordinal)
    return DatasetExport(release, options, manifest, dict(ordinals))


def damaged(record_id: str) -> Conflict:
    """A record of a release cannot be read, or is not what was frozen."""
    return Conflict(
        translatable(
            "Record {record_id} of this release is damaged; verify the release.",
            record_id=unescape(record_id),
        ),
        code="damaged",
    )


def write_dataset(export: DatasetExport, target: ExportTarget) -> Iterator[None]:
    """Write all files of an export, data first; memory is that of one row group. Yields after each record, so
    that what was written can be sent on."""
    files = data_files(sorted(export.manifest["subsets"]), export.options, export.release.project.of_kind)
    written: dict[str, tuple[str, int]] = {}
    for file in files:
        with target.open(file.path) as out:
            sink = _Counted(out)
            yield from _write_rows(export, file, sink)
        file.sha256, file.size = sink.digest.hexdigest(), sink.size
        written[file.path] = (file.sha256, file.size)
    withdrawal = getattr(export.release, "withdrawal", None)
    withdrawn = unescape(withdrawal.reason) if withdrawal is not None else None
    beside = {
        README: card(export.manifest, export.options, files, withdrawn),
        CROISSANT: croissant(export.manifest, export.options, files),
        **documents(export.release),
    }
    written |= {name: (sha256_hex(content), len(content)) for name, content in beside.items()}
    software = {"tristep": settings.TRISTEP_VERSION, "parquet": writer_version()}
    key, sums = signing_key(), checksums(export.manifest, export.options, software, written)
    for name, content in (
        beside | {CHECKSUMS: sums, CHECKSUMS_SIGNATURE: key.sign(sums), EXPORT_KEY: key.public.pem}
    ).items():
        with target.open(name) as out:
            out.write(content)
        yield


def _write_rows(export: DatasetExport, file: DataFile, sink: _Counted) -> Iterator[None]:
    side = "" if export.options.split is None else file.split
    with JsonLines(sink) if file.table.lines else ParquetFile(sink, file.table.columns) as table:
        for record in _records(export.release, export.ordinals.get((file.subset, side), [])):
            for row in file.rows_of(record, export.options):
                table.add(row)
            yield


def _records(release: Release, ordinals: Sequence[int]) -> Iterator[dict[str, Any]]:
    for at in range(0, len(ordinals), EXPORTED_AT_ONCE):
        rows = ReleaseRecord.objects.filter(release=release, ordinal__in=ordinals[at : at + EXPORTED_AT_ONCE])
        for record_id, compressed in rows.order_by("ordinal").values_list("record_id", "body"):
            body = decompressed(bytes(compressed))
            if body is None:
                raise damaged(record_id)
            yield json.loads(body)
