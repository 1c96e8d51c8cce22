"""Signs of a format in the first bytes of a file."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

from annotation.core.jsonio.json_layout import Layout, json_head
from annotation.core.jsonio.jsonlines import MAX_DEPTH, BadJson, parse_bytes
from annotation.core.jsonio.splitting import PeekedStream, RawRecord, split_elements, split_lines

__all__ = ["closed", "messages_in", "samples", "strings"]

RECORDS_LOOKED_AT: Final = 40
MAX_LIST_DEPTH: Final = 2
_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},"]', re.DOTALL)


@lru_cache(maxsize=8)
def samples(head: bytes) -> tuple[dict[str, Any], ...]:
    """The first objects of a file: its records, or the elements of its lists. At most 40.

    The record that the end of the head cuts off is the last of them, as far as it goes: a file may be one
    large object.
    """
    return tuple(_objects(head, 0))[:RECORDS_LOOKED_AT]


def _objects(head: bytes, depth: int) -> Iterator[dict[str, Any]]:
    source = PeekedStream(io.BytesIO(head))
    in_list = source.head.lstrip(b" \t\r\n").startswith(b"[")
    lines = not in_list and json_head(source.head).layout is Layout.LINES
    limit = len(head) + 1
    pieces = (
        split_lines(source, limit=limit)
        if lines
        else split_elements(source, limit=limit, within_list=in_list)
    )
    for number, piece in enumerate(pieces):
        if number >= RECORDS_LOOKED_AT or not isinstance(piece, RawRecord):
            return
        if in_list and piece.raw.startswith(b"[") and depth < MAX_LIST_DEPTH:
            yield from _objects(piece.raw, depth + 1)
            continue
        value = _value(piece, len(head))
        items = value[:RECORDS_LOOKED_AT] if isinstance(value, list) else [value]
        yield from (item for item in items if isinstance(item, dict))


def _value(piece: RawRecord, size: int) -> Any:
    """The value of a piece; of one that the end of the head cuts off, what can be read of it."""
    at_end = piece.offset + len(piece.raw) + 2 >= size
    for raw in (piece.raw, closed(piece.raw) if at_end else b""):
        try:
            return parse_bytes(raw)
        except BadJson:
            continue
    return None


def closed(raw: bytes) -> bytes:
    """JSON that is cut off, ended before the value that it breaks off in."""
    open_brackets = bytearray()
    end, closing = 0, b""
    for match in _TOKEN.finditer(raw):
        token = match.group()
        if token == b'"' or len(open_brackets) > MAX_DEPTH:  # a string that does not end, or no record at all
            break
        if token in b"[{":
            open_brackets += b"]" if token == b"[" else b"}"
            end, closing = match.end(), bytes(reversed(open_brackets))
        elif token in b"]}":
            if not open_brackets:
                break
            open_brackets.pop()
            end, closing = match.end(), bytes(reversed(open_brackets))
        elif token == b",":
            end, closing = match.start(), bytes(reversed(open_brackets))
    return raw[:end] + closing


def messages_in(record: Any) -> list[dict[str, Any]]:
    """The objects in the `messages` of a record; none when it has no such list."""
    held = record.get("messages") if isinstance(record, dict) else None
    return [item for item in held if isinstance(item, dict)] if isinstance(held, list) else []


def strings(values: Iterable[Any]) -> set[str]:
    """The texts among `values`; the others may be anything, also what cannot be in a set."""
    return {value for value in values if isinstance(value, str)}
