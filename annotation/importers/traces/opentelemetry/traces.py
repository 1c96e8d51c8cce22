"""The spans of a file gathered into traces, whichever way they lie in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import BadJson, Record, RecordError, parse_bytes, read_records
from annotation.core.jsonio.splitting import RawRecord
from annotation.importers.base import ReadContext
from annotation.importers.parts.json_array_stream import Element, records_at
from annotation.importers.parts.peekable_stream import rewound
from annotation.importers.parts.span_records import trace_of
from annotation.importers.parts.trace_spool import SpooledTrace, TraceSpool, too_large

__all__ = ["Trace", "read_traces"]

MAX_SURROUNDINGS: Final = 10_000
_BEGINS_WITH_TRACE: Final = re.compile(rb'\{\s*"traceId"\s*:\s*"([0-9A-Za-z+/=]+)"')
NOT_A_SPAN: Final = translatable("is not a span: an object was expected")

Surroundings = tuple[bytes, bytes]
"""The surroundings of the spans of OTLP, as bytes: the resource, and the scope that recorded them."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace as a record: `value` are its spans; `raw` is a file of the same shape with no other trace."""

    value: list[Any]
    raw: bytes
    line: int
    trace_id: str
    schema: str = ""


def read_traces(stream: BinaryIO, context: ReadContext) -> Iterator[Trace | RecordError]:
    """Every trace of a file, or what is wrong with it; a trace may have `context.max_record_bytes`."""
    head, rest = rewound(stream)
    path = _path(json_head(head).keys, head)
    indexes: dict[Surroundings, int] = {}
    with TraceSpool(context) as spool:
        number = 0
        for span in _spans(rest, path, context):
            if isinstance(span, RecordError):
                yield span
                continue
            if not isinstance(span.value, dict | _Unread):
                yield RecordError(context.filename, span.line, "", NOT_A_SPAN)
                continue
            number += 1
            trace_id = span.value.trace_id if isinstance(span.value, _Unread) else trace_of(span.value)
            around = _around(span) if path and len(path) > 1 else (b"", b"")
            if len(indexes) < MAX_SURROUNDINGS:
                indexes.setdefault(around, len(indexes))
            # spans without a trace are each one of their own
            spool.add(trace_id or f"\0{number}", span.raw, indexes.get(around, 0), span.line)
            if spool.full():
                break
        surroundings = list(indexes)
        for trace in spool.traces():
            yield from _trace(trace, surroundings, path, context)


@dataclass(frozen=True, slots=True)
class _Unread:
    """A span of which only the trace is known so far."""

    trace_id: str


def _unread(raw: bytes) -> _Unread | None:
    """The span in `raw` unread, if it begins with its trace and says nothing else of traces."""
    match = _BEGINS_WITH_TRACE.match(raw)
    if match is None or raw.count(b'"traceId"') != 1:
        return None
    return _Unread(trace_of({"traceId": match[1].decode()}))


def _path(keys: frozenset[str], head: bytes) -> tuple[str, ...]:
    if "resource_spans" in keys:
        return ("resource_spans", "scope_spans", "spans")
    if "resourceSpans" in keys:
        old = b'"instrumentationLibrarySpans"' in head
        return ("resourceSpans", "instrumentationLibrarySpans" if old else "scopeSpans", "spans")
    return ("data",) if "data" in keys else ("spans",) if "spans" in keys else ()


def _spans(
    stream: BinaryIO, path: tuple[str, ...], context: ReadContext
) -> Iterator[Element | Record | RecordError]:
    limit = context.max_record_bytes
    if path:
        return records_at(
            stream,
            path,
            filename=context.filename,
            max_record_bytes=limit,
            glance=_unread,
            others=context.notes,
        )
    return read_records(stream, filename=context.filename, max_record_bytes=limit)


def _around(record: Element | Record) -> Surroundings:
    if not isinstance(record, Element):
        return (b"", b"")
    resource = record.around[1].get("resource", b"") if len(record.around) > 1 else b""
    scope = record.around[2].get("scope", b"") if len(record.around) > 2 else b""
    return (resource, scope)


def _trace(
    trace: SpooledTrace, surroundings: list[Surroundings], path: tuple[str, ...], context: ReadContext
) -> Iterator[Trace | RecordError]:
    """A trace of the spool, or what is wrong with its spans."""
    if trace.too_large:
        yield too_large(trace, context)
        return
    value, broken = [], []
    for raw, _, line in trace.spans:
        try:
            value.append(parse_bytes(raw, piece=RawRecord(raw, line, 0), small=True))
        except BadJson as bad:
            broken.append(RecordError(context.filename, line, "", bad.args[0]))
    if broken:
        yield from broken
        return
    trace_id = "" if trace.trace_id.startswith("\0") else trace.trace_id
    scopes = (surroundings[number][1] for _, number, _ in trace.spans)
    schema = next((_scope_of(scope) for scope in scopes if scope), "")
    yield Trace(value, _raw(trace, surroundings, path), trace.line, trace_id, schema)


def _scope_of(scope: bytes) -> str:
    try:
        value = parse_bytes(scope)
    except BadJson:
        return ""
    if not isinstance(value, dict):
        return ""
    return " ".join(str(value[key]) for key in ("name", "version") if isinstance(value.get(key), str))


def _raw(trace: SpooledTrace, surroundings: list[Surroundings], path: tuple[str, ...]) -> bytes:
    """The bytes of the spans, untouched, in the shape of the file that they came from."""
    if len(path) < 3:
        spans = [raw for raw, _, _ in trace.spans]
        if len(spans) == 1 and not path:
            return spans[0]
        opening, closing = (b'{"%s":[' % path[0].encode(), b"]}") if path else (b"[", b"]")
        return b"".join((opening, *_with_commas(spans), closing))
    groups: list[bytes] = []
    for number, members in groupby(trace.spans, key=lambda span: span[1]):
        resource, scope = (
            b'"%s":%s,' % (name, held) if held else b""
            for name, held in zip((b"resource", b"scope"), surroundings[number], strict=True)
        )
        outer, inner = (b'"%s":[{' % path[1].encode(), b'"%s":[' % path[2].encode())
        spans = [raw for raw, _, _ in members]
        groups += [b",{" if groups else b"{", resource, outer, scope, inner, *_with_commas(spans), b"]}]}"]
    # put together once: a trace may be large, and every step between would be a copy of it
    return b"".join((b'{"%s":[' % path[0].encode(), *groups, b"]}"))


def _with_commas(pieces: list[bytes]) -> Iterator[bytes]:
    for number, piece in enumerate(pieces):
        if number:
            yield b","
        yield piece
