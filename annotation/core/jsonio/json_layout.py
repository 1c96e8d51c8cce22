"""Tell the layout of a JSON file, and the keys of its first record, from its first bytes."""

from __future__ import annotations

import enum
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

HEAD_BYTES: Final = 256 * 1024
BOM: Final = b"\xef\xbb\xbf"

_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}:"]', re.DOTALL)
_MESSAGE_KEYS: Final = frozenset({"content", "tool_calls"})


class Layout(enum.Enum):
    """The layout of records in a file: one a line, elements of one list, or values over several lines
    each."""

    LINES = enum.auto()
    LIST = enum.auto()
    VALUES = enum.auto()


@dataclass(frozen=True, slots=True)
class JsonHead:
    """The head of a file: its layout and the keys of its first record.

    `bare`: the first record is a list of messages; `keys` are then those of the first message.
    """

    layout: Layout
    keys: frozenset[str]
    bare: bool


# every sniffer asks it about the same head
@lru_cache(maxsize=4)
def json_head(head: bytes) -> JsonHead:
    """The layout of a file and the keys of its first record, from its first bytes.

    `HEAD_BYTES` of them are best; a shorter head only makes the answer less sure.
    """
    head = head.removeprefix(BOM).lstrip(b" \t\r\n")
    keys, end = _first_keys(head)
    opening = head[:1]
    if opening == b"[":
        bare = "messages" not in keys and ("role" in keys or (end is None and bool(keys & _MESSAGE_KEYS)))
        if bare and head[1:].lstrip(b" \t\r\n")[:1] == b"{":
            return JsonHead(_lines_or_values(head, end), keys, True)
        odd_first_line = end is not None and "messages" not in keys and head[end:].strip()
        return JsonHead(Layout.LINES if odd_first_line else Layout.LIST, keys, bare)
    if opening == b"{":
        return JsonHead(_lines_or_values(head, end), keys, False)
    return JsonHead(Layout.LINES, frozenset(), False)


def _lines_or_values(head: bytes, end: int | None) -> Layout:
    """Whether a record that begins `head` and ends at `end` (unknown: `None`) is laid out over lines.

    A first line that is merely cut off must not swallow the lines after it.
    """
    break_at = head.find(b"\n")
    if break_at < 0 or (end is not None and end <= break_at):
        return Layout.LINES
    if end is not None and _parses(head[:end]):
        return Layout.VALUES
    first, rest = head[:break_at].rstrip(), head[break_at:].lstrip()
    whole = first.endswith((b"{", b"[", b",")) or rest[:1] not in (b"{", b"[", b"")
    return Layout.VALUES if whole else Layout.LINES


def _parses(value: bytes) -> bool:
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return False
    return True


def _first_keys(head: bytes) -> tuple[frozenset[str], int | None]:
    """The keys of the first object (itself the first value, or within its list), and where the value ends."""
    keys: set[str] = set()
    depth, level, last = 0, 0, b""
    for match in _TOKEN.finditer(head):
        token = match.group()
        if token == b'"':  # a string that the head does not hold to its end
            break
        if token in b"[{":
            depth += 1
            if token == b"{" and not level:
                level = depth
        elif token in b"]}":
            depth -= 1
            if depth < level:
                level = -1  # the first object is over: later ones are not asked for their keys
            if depth <= 0:
                return frozenset(keys), match.end()
        elif token == b":" and depth == level:
            keys.add(_key(last))
        last = token
    return frozenset(keys), None


def _key(token: bytes) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return ""
