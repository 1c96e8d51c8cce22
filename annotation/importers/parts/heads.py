"""What the first bytes of a file show of its records: for telling formats apart."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

from annotation.core.json_layout import Layout, outline
from annotation.core.jsonlines import BadJson, parse_bytes
from annotation.core.splitting import RawRecord, Source, split_elements, split_lines

__all__ = ["messages_in", "samples", "strings"]

RECORDS_LOOKED_AT: Final = 40
MAX_LIST_DEPTH: Final = 2


@lru_cache(maxsize=8)
def samples(head: bytes) -> tuple[dict[str, Any], ...]:
    """The first objects of a file that `head` holds whole: its records, or the elements of its lists.

    A record that is cut off by the end of the head is not among them. At most 40; nothing is changed in them.
    """
    return tuple(_objects(head, 0))[:RECORDS_LOOKED_AT]


def _objects(head: bytes, depth: int) -> Iterator[dict[str, Any]]:
    source = Source(io.BytesIO(head))
    in_list = source.head.lstrip(b" \t\r\n").startswith(b"[")
    lines = not in_list and outline(source.head).layout is Layout.LINES
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
        try:
            value = parse_bytes(piece.raw)
        except BadJson:
            continue
        items = value[:RECORDS_LOOKED_AT] if isinstance(value, list) else [value]
        yield from (item for item in items if isinstance(item, dict))


def messages_in(record: Any) -> list[dict[str, Any]]:
    """The objects in the `messages` of a record; none when it has no such list."""
    held = record.get("messages") if isinstance(record, dict) else None
    return [item for item in held if isinstance(item, dict)] if isinstance(held, list) else []


def strings(values: Iterable[Any]) -> set[str]:
    """Those of `values` that are text; the others may be anything, also what cannot be in a set."""
    return {value for value in values if isinstance(value, str)}
