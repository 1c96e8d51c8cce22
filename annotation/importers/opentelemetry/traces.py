"""The spans of a file gathered into traces, whichever way they lie in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.json_layout import outline
from annotation.core.jsonlines import BadJson, Record, RecordError, parse_bytes, read_records
from annotation.importers.base import ReadContext
from annotation.importers.parts.elements import Element, records_at
from annotation.importers.parts.rewound import rewound
from annotation.importers.parts.span_records import trace_of
from annotation.importers.parts.spool import Spool, SpooledTrace, too_large

__all__ = ["Trace", "read_traces"]

MAX_SURROUNDINGS: Final = 10_000
NOT_A_SPAN: Final = translatable("is not a span: an object was expected")

Surroundings = tuple[bytes, bytes]
"""What stands around the spans of OTLP, as bytes: the resource, and the scope that recorded them."""


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
    path = _path(outline(head).keys, head)
    known: dict[Surroundings, int] = {}
    with Spool(context) as spool:
        number = 0
        for found in _spans(rest, path, context):
            if isinstance(found, RecordError):
                yield found
                continue
            if not isinstance(found.value, dict):
                yield RecordError(context.filename, found.line, "", NOT_A_SPAN)
                continue
            number += 1
            trace_id = trace_of(found.value)
            around = _around(found) if path and len(path) > 1 else (b"", b"")
            if len(known) < MAX_SURROUNDINGS:
                known.setdefault(around, len(known))
            # spans without a trace are each one of their own
            spool.add(trace_id or f"\0{number}", found.raw, known.get(around, 0), found.line)
            if spool.full():
                break
        surroundings = list(known)
        for trace in spool.traces():
            yield _trace(trace, surroundings, path, context)


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
        return records_at(stream, path, filename=context.filename, max_record_bytes=limit)
    return read_records(stream, filename=context.filename, max_record_bytes=limit)


def _around(found: Element | Record) -> Surroundings:
    if not isinstance(found, Element):
        return (b"", b"")
    resource = found.around[1].get("resource", b"") if len(found.around) > 1 else b""
    scope = found.around[2].get("scope", b"") if len(found.around) > 2 else b""
    return (resource, scope)


def _trace(
    trace: SpooledTrace, surroundings: list[Surroundings], path: tuple[str, ...], context: ReadContext
) -> Trace | RecordError:
    if trace.too_large:
        return too_large(trace, context)
    value = [json.loads(raw) for raw, _ in trace.spans]  # each has been parsed, and checked, before
    trace_id = "" if trace.trace_id.startswith("\0") else trace.trace_id
    scopes = (surroundings[number][1] for _, number in trace.spans)
    schema = next((_scope_of(scope) for scope in scopes if scope), "")
    return Trace(value, _raw(trace, surroundings, path), trace.line, trace_id, schema)


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
        spans = b",".join(raw for raw, _ in trace.spans)
        if len(trace.spans) == 1 and not path:
            return spans
        return b'{"%s":[%s]}' % (path[0].encode(), spans) if path else b"[%s]" % spans
    groups = []
    for number, members in groupby(trace.spans, key=lambda span: span[1]):
        resource, scope = surroundings[number]
        inner = b'"%s":[%s]' % (path[2].encode(), b",".join(raw for raw, _ in members))
        scoped = b'{"scope":%s,%s}' % (scope, inner) if scope else b"{%s}" % inner
        outer = b'"%s":[%s]' % (path[1].encode(), scoped)
        groups.append(b'{"resource":%s,%s}' % (resource, outer) if resource else b"{%s}" % outer)
    return b'{"%s":[%s]}' % (path[0].encode(), b",".join(groups))
