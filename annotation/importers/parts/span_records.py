"""One span as a program of tracing writes it, as a `Span`: OTLP, Phoenix's REST, an SDK's own dump."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from typing import Any, Final

from .message_parts import as_text
from .span_tree import Span

__all__ = ["attributes_of", "read_span", "time_of", "trace_of", "unindexed"]

_ERRORS: Final = frozenset({"2", "ERROR", "STATUS_CODE_ERROR"})
_PLAIN: Final = ("stringValue", "string_value", "boolValue", "bool_value", "doubleValue", "double_value")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def any_value(value: Any) -> Any:
    """An OTLP `AnyValue` as a plain value; `None` for one that is empty."""
    if not isinstance(value, dict):
        return value
    for key in _PLAIN:
        if value.get(key) is not None:
            return value[key]
    for key in ("intValue", "int_value"):
        if value.get(key) is not None:
            return _whole_number(value[key])
    for key in ("arrayValue", "array_value"):
        if isinstance(value.get(key), dict):
            return [any_value(item) for item in _listed(value[key].get("values"))]
    for key in ("kvlistValue", "kvlist_value"):
        if isinstance(value.get(key), dict):
            return attributes_of(value[key].get("values"))
    return next((value[key] for key in ("bytesValue", "bytes_value") if value.get(key) is not None), None)


def attributes_of(source: Any) -> dict[str, Any]:
    """Attributes, whether they came as an object or as OTLP's list of keys and values."""
    if isinstance(source, dict):
        return source
    pairs = [pair for pair in _listed(source) if isinstance(pair, dict)]
    return {as_text(pair.get("key")): any_value(pair.get("value")) for pair in pairs}


def trace_of(record: dict[str, Any]) -> str:
    """The id of the trace that a span belongs to, or `""`."""
    context = _context(record)
    return _identity(_first(record, "traceId", "trace_id") or _first(context, "traceId", "trace_id"))


def read_span(record: dict[str, Any], order: int) -> Span:
    """The span in `record`. A record without a span's keys is taken for the attributes of one."""
    if not any(key in record for key in ("attributes", "context", "spanContext", "spanId", "span_id")):
        return Span("", "", "", "", 0, 0, record, order=order)
    context = _context(record)
    attributes = attributes_of(record.get("attributes"))
    kind = record.get("span_kind")
    if isinstance(kind, str) and "openinference.span.kind" not in attributes:
        attributes = {**attributes, "openinference.span.kind": kind}
    parent = _first(record, "parentSpanId", "parent_span_id", "parent_id", "parentId")
    held = record.get("parentSpanContext")
    if not parent and isinstance(held, dict):
        parent = _first(held, "spanId", "span_id")
    events = [
        (as_text(event.get("name")), attributes_of(event.get("attributes")))
        for event in _listed(record.get("events"))
        if isinstance(event, dict)
    ]
    return Span(
        trace_id=trace_of(record),
        span_id=_identity(_first(record, "spanId", "span_id") or _first(context, "spanId", "span_id")),
        parent_id=_identity(parent),
        name=as_text(record.get("name")),
        start=time_of(_first(record, "startTimeUnixNano", "start_time_unix_nano", "startTime", "start_time")),
        end=time_of(_first(record, "endTimeUnixNano", "end_time_unix_nano", "endTime", "end_time")),
        attributes=attributes,
        error=_error_of(record, events),
        events=events,
        order=order,
    )


def _error_of(record: dict[str, Any], events: list[tuple[str, dict[str, Any]]]) -> str:
    """The message of a failed status, else the exception's; empty without a failure."""
    status = record.get("status")
    status = status if isinstance(status, dict) else {}
    code = as_text(record.get("status_code") or status.get("code") or status.get("status_code")).upper()
    if code.rpartition(".")[2] not in _ERRORS:
        return ""
    message = record.get("status_message") or status.get("message") or status.get("description")
    if message:
        return as_text(message)
    for name, attributes in events:
        if name == "exception":
            kind, text = (as_text(attributes.get(f"exception.{key}")) for key in ("type", "message"))
            return f"{kind}: {text}" if kind and text else kind or text
    return "the span has the status ERROR"


def _identity(value: Any) -> str:
    """An id in one spelling: protobuf's JSON has base64 where OTLP's has hexadecimal digits."""
    text = as_text(value)
    if len(text) in (12, 24) and text.endswith("="):
        try:
            return base64.b64decode(text, validate=True).hex()
        except (binascii.Error, ValueError):
            return text
    return "" if text.strip("0") == "" else text


def time_of(value: Any) -> int:
    """Nanoseconds since 1970 of a number, a pair of seconds and nanoseconds, or ISO 8601 text; else 0."""
    if isinstance(value, list) and len(value) == 2:
        seconds, rest = (_whole_number(item) for item in value)
        return seconds * 1_000_000_000 + rest if isinstance(seconds, int) and isinstance(rest, int) else 0
    number = _whole_number(value)
    if isinstance(number, int):
        return number
    if not isinstance(value, str):
        return 0
    try:
        moment = datetime.fromisoformat(value)
        return round((moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH).total_seconds() * 1e9)
    except (ValueError, OverflowError):
        return 0


def _whole_number(value: Any) -> Any:
    """A whole number, also from its digits; anything else as it is."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and len(value) <= 20 and value.lstrip("-").isdecimal():
        try:
            return int(value)
        except ValueError:
            return value
    return value


def unindexed(attributes: dict[str, Any], prefix: str) -> list[Any]:
    """The list that lies flattened as `prefix.0.…`, `prefix.1.…`, by number and at any depth."""
    tree: dict[str, Any] = {}
    start = prefix + "."
    for key, value in attributes.items():
        if not key.startswith(start):
            continue
        at = tree
        *path, last = key[len(start) :].split(".")[:40]
        for step in path:
            below = at.get(step)
            if not isinstance(below, dict):
                below = at[step] = {}
            at = below
        at.setdefault(last, value)
    return listed if isinstance(listed := _relisted(tree), list) else []


def _relisted(tree: Any) -> Any:
    if not isinstance(tree, dict) or not tree:
        return tree
    if all(key.isdecimal() and key.isascii() and len(key) < 10 for key in tree):
        return [_relisted(tree[key]) for key in sorted(tree, key=int)]
    return {key: _relisted(value) for key, value in tree.items()}


def _context(record: dict[str, Any]) -> dict[str, Any]:
    context = record.get("context") or record.get("spanContext")
    return context if isinstance(context, dict) else {}


def _first(record: dict[str, Any], *keys: str) -> Any:
    return next((record[key] for key in keys if record.get(key) is not None), None)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
