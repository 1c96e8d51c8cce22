"""Logs of Inspect AI: `.json` (one object with `samples`) and `.eval` (a zip with a member per sample).

A sample in an epoch is a trajectory, an assistant message a step. `messages` is what the sample ended with:
after a compaction or a handoff, earlier steps stand only in the events, which are not read.

A log of version 3 holds a sample in many members (`inspect_chunks`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final
from zipfile import ZipInfo

from annotation.core.i18n import translatable
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import BadJson, Record, RecordError, parse_bytes
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..drafts import SourceRecord, read_conversations
from ..parts.archive import Archive, BadArchive, is_zip, names_in
from ..parts.json_array_stream import Element, records_at
from .inspect_chunks import ChunkedSample, chunked_samples, read_chunked
from .inspect_messages import conversation_of

CONVERTER: Final = 1
LAST_VERSION: Final = 3

_SAMPLE: Final = re.compile(r"samples/[^/]+_epoch_\d+\.json")
_HEADERS: Final = ("header.json", "_journal/start.json")
_NO_SAMPLES: Final = translatable("the log has no samples; it may be a header, or of a run that never began")


class InspectLog:
    """See the module; `Importer` states what each member promises."""

    name = "inspect"
    title = translatable("Inspect log (.json or .eval)")
    recognised_by = translatable("“version” and “eval” at the top, or the members of an .eval archive")

    def sniff(self, head: bytes) -> float:
        if is_zip(head):
            names = names_in(head)
            return 1.0 if any(name in _HEADERS or _SAMPLE.fullmatch(name) for name in names) else 0.0
        keys = json_head(head).keys
        if keys >= {"version", "eval"} and keys & {"samples", "results", "plan", "status"}:
            return 1.0
        return 0.8 if keys >= {"version", "samples"} and b'"epoch"' in head else 0.0

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        zipped = is_zip(stream.read(4))
        stream.seek(0)
        log = _Log()
        pieces = _members(stream, context, log) if zipped else _elements(stream, context, log)
        return read_conversations(
            pieces,
            context,
            lambda piece, problems: conversation_of(piece.value, log.header, problems),
            format=self.name,
            converter=CONVERTER,
        )


class _Log:
    """The header that all samples of a log share: `version`, `status`, `eval`."""

    def __init__(self) -> None:
        self.header: dict[str, Any] = {}

    def problem(self) -> str:
        """The reason why a log with this header is not read, or `""`."""
        version = self.header.get("version")
        if not isinstance(self.header.get("eval"), dict):
            return translatable("the log has no “eval”, which says what was run")
        if isinstance(version, int) and not isinstance(version, bool) and version <= LAST_VERSION:
            return ""
        return translatable(
            "version {version} of Inspect’s logs is not known; those up to {last} are read",
            version=str(version)[:20],
            last=LAST_VERSION,
        )


def _elements(stream: BinaryIO, context: ReadContext, log: _Log) -> Iterator[SourceRecord | RecordError]:
    seen: object = None
    late: list[dict[str, Any]] | None = None
    logs = 0
    has_events = False
    for piece in _samples_in(stream, context):
        has_events = True
        if isinstance(piece, Element) and piece.around[0] is not seen:
            seen = piece.around[0]
            log.header = _header(piece)
            if late is None and log.header["eval"] is None:
                late = _late_headers(stream, context)
            if late is not None:
                log.header = late[logs] if logs < len(late) else {}
            logs += 1
            if problem := log.problem():
                yield RecordError(context.filename, 0, "", problem)
                return
        yield piece
    if not has_events:
        yield RecordError(context.filename, 0, "", _NO_SAMPLES)


def _samples_in(
    stream: BinaryIO, context: ReadContext, glance: Callable[[bytes], Any] = lambda raw: None
) -> Iterator[Element | RecordError]:
    return records_at(
        stream,
        ("samples",),
        filename=context.filename,
        max_record_bytes=context.max_record_bytes,
        glance=glance,
    )


def _header(piece: Element) -> dict[str, Any]:
    return {key: piece.beside(0, key) for key in ("version", "status", "eval")}


def _late_headers(stream: BinaryIO, context: ReadContext) -> list[dict[str, Any]]:
    """The header of each log in the file, which is read to its end for that: JSON written by others than
    Inspect may have `eval` after `samples`. The stream stands where it stood before."""
    place = stream.tell()
    stream.seek(0)
    headers: list[dict[str, Any]] = []
    last: Element | None = None
    for piece in _samples_in(stream, context, glance=lambda raw: True):
        if isinstance(piece, Element):
            if last is not None and piece.around[0] is not last.around[0]:
                headers.append(_header(last))  # at once: what else stands beside the samples is not kept
            last = piece
    stream.seek(place)
    return headers if last is None else [*headers, _header(last)]


def _members(stream: BinaryIO, context: ReadContext, log: _Log) -> Iterator[SourceRecord | RecordError]:
    try:
        archive = Archive(stream)
        members = (archive.named(name) for name in _HEADERS)
        header = next((member for member in members if member is not None), None)
        value = parse_bytes(archive.read(header, context.max_record_bytes)) if header is not None else {}
    except (BadArchive, BadJson) as bad:
        yield RecordError(context.filename, 0, "", bad.args[0])
        return
    log.header = value if isinstance(value, dict) else {}
    whole = [member for member in archive.members if _SAMPLE.fullmatch(member.filename)]
    chunked = chunked_samples(archive)
    if problem := log.problem() or ("" if whole or chunked else _NO_SAMPLES):
        yield RecordError(context.filename, 0, "", problem)
        return
    # a sample's “line” is its place in the archive
    samples: list[ZipInfo | ChunkedSample] = [*whole, *chunked]
    for number, sample in enumerate(samples, start=1):
        name = sample.prefix if isinstance(sample, ChunkedSample) else sample.filename
        try:
            if isinstance(sample, ChunkedSample):
                raw = read_chunked(archive, sample, context.max_record_bytes)
            else:
                raw = archive.read(sample, context.max_record_bytes)
            yield Record(parse_bytes(raw), raw, number)
        except (BadArchive, BadJson) as bad:
            yield RecordError(context.filename, number, name[:200], bad.args[0])
