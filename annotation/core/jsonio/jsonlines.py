"""Read JSON from outside record by record, in bounded memory; every error becomes a finding.

A file is JSON Lines, a JSON list of records, or records laid out over several lines. Each record is found by
its bytes alone (`splitting`), so that one over the limit is refused by its line without ever being held.

What is accepted on purpose, because real logs contain it: a byte order mark, blank lines, Windows line
endings, `NaN`, `Infinity` and `1e999`, lone surrogate escapes, `\\u0000`, and keys that occur twice
(the last one counts, as in every common JSON reader; the raw bytes keep both). What is refused, record by
record: broken or cut-off JSON, text that is not UTF-8, more than `MAX_DEPTH` levels of nesting or
`MAX_CONTAINERS` lists and objects (tiny ones take thirty times their size in memory), integers of more than
4,300 digits (Python's own limit), records over the size limit. What ends the reading: a file that is
compressed or in UTF-16.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, BinaryIO, Final, NamedTuple

from annotation.core.i18n import translatable

from .json_bytes import STRING
from .json_layout import HEAD_BYTES, Layout, json_head
from .splitting import PeekedStream, RawRecord, SplitError, split_elements, split_lines

MAX_RECORD_BYTES: Final = 16 * 1024 * 1024
MAX_DEPTH: Final = 200
MAX_CONTAINERS: Final = 500_000

_LEVELS: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NOT_STRUCTURE: Final = bytes(set(range(256)) - set(b"[]{}"))
_SPACES: Final = re.compile(r"\s*\Z")


class BadJson(ValueError):
    """A fault of a piece of JSON, as the end of a sentence that its place begins."""


@dataclass(frozen=True, slots=True)
class RecordError:
    """One finding about one record: shown to people, stored as JSON, and never an exception.

    `line` counts from 1; 0 means the file as a whole. `field` is a path such as `messages[3].role`, or
    empty when the whole record is meant. `reason` is the end of the sentence.
    """

    file: str
    line: int
    field: str
    reason: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.field}: {self.reason}" if self.field else f"{place}: {self.reason}"

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, without the file's name: `{"line", "field", "reason"}`."""
        return {"line": self.line, "field": self.field, "reason": self.reason}


class Record(NamedTuple):
    """One JSON value of a file, parsed, with the exact bytes it was read from and the line it begins on."""

    value: Any
    raw: bytes
    line: int


def read_records(
    stream: BinaryIO,
    *,
    filename: str,
    max_record_bytes: int = MAX_RECORD_BYTES,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Iterator[Record | RecordError]:
    """Every record of `stream`, or what is wrong with it, in the order of the file.

    A list of messages (objects with a `role`) is one record; any other top-level list is a list of records.
    Goes on after a bad record; needs no more memory than a few times `max_record_bytes`. An empty file is
    one error.
    """
    source = PeekedStream(stream)
    if reason := describe_not_text(source.head):
        yield RecordError(filename, 0, "", reason)
        return
    layout = json_head(source.head).layout
    pieces = (
        split_lines(source, limit=max_record_bytes)
        if layout is Layout.LINES
        else split_elements(source, limit=max_record_bytes, within_list=layout is Layout.LIST)
    )
    nothing = True
    for piece in pieces:
        nothing = False
        yield _read(piece, filename, max_record_bytes, object_pairs_hook)
    if nothing:
        reason = (
            translatable("the file contains no records") if source.head else translatable("the file is empty")
        )
        yield RecordError(filename, 0, "", reason)


def _read(
    piece: RawRecord | SplitError,
    filename: str,
    limit: int,
    hook: Callable[[list[tuple[str, Any]]], Any] | None,
) -> Record | RecordError:
    if isinstance(piece, SplitError):
        return RecordError(filename, piece.line, "", translatable(piece.reason, limit=_megabytes(limit)))
    try:
        return Record(parse_bytes(piece.raw, piece=piece, object_pairs_hook=hook), piece.raw, piece.line)
    except BadJson as bad:
        return RecordError(filename, piece.line, "", bad.args[0])


def parse_bytes(
    raw: bytes,
    *,
    piece: RawRecord | None = None,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
    small: bool = False,
) -> Any:
    """The JSON value in `raw` (strict UTF-8). Raises `BadJson`; never `RecursionError` or another.

    `small`: whoever found the value has seen that it keeps to `MAX_DEPTH` and `MAX_CONTAINERS`.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start + (piece.offset if piece else 0)
        raise BadJson(
            translatable(
                "is not UTF-8 text: byte 0x{byte} at byte {offset} of the file; save the file as UTF-8",
                byte=f"{raw[error.start]:02X}",
                offset=offset + 1,
            )
        ) from None
    line = piece.line if piece else 1
    if small:
        return _loads(text, line, object_pairs_hook)
    opening = raw.count(b"[") + raw.count(b"{")
    if opening > MAX_CONTAINERS or (opening > MAX_DEPTH and object_pairs_hook):
        _check_structure(raw)
    return _shallow(_loads(text, line, object_pairs_hook), opening)


def parse_text(text: str) -> Any:
    """The JSON value in `text`, under the same rules as a record. Raises `BadJson` and nothing else."""
    opening = text.count("[") + text.count("{")
    if opening > MAX_CONTAINERS:
        _check_structure(text.encode("utf-8", "surrogatepass"))
    return _shallow(_loads(text, 1, None), opening)


def _shallow(value: Any, opening: int) -> Any:
    """`value`, whose JSON has so many opening brackets, unless it is nested too deeply. Raises `BadJson`.

    The parser has a limit of recursion of its own, so that looking at what it made is safe, and takes a third
    of the time that telling the brackets of its bytes from those in strings does.
    """
    level = [value] if opening > MAX_DEPTH and isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return value
        members = (held.values() if isinstance(held, dict) else held for held in level)
        level = [value for some in members for value in some if isinstance(value, dict | list)]
    if not level:
        return value
    raise BadJson(translatable("is nested deeper than {n} levels", n=MAX_DEPTH))


def depth_of(raw: bytes) -> int:
    """The nesting depth of brackets in `raw`, those inside strings apart, without parsing or recursion."""
    return max(accumulate(map(_LEVELS.__getitem__, _brackets(raw))), default=0)


def _check_structure(raw: bytes) -> None:
    """Refuse what would cost the parser its stack, or many times the record's size in memory."""
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return
    if len(_brackets(raw)) > 2 * MAX_CONTAINERS:
        raise BadJson(translatable("contains more than {n} lists and objects", n=f"{MAX_CONTAINERS:,}"))
    if depth_of(raw) > MAX_DEPTH:
        raise BadJson(translatable("is nested deeper than {n} levels", n=MAX_DEPTH))


def _brackets(raw: bytes) -> bytes:
    """The brackets of `raw` that do not stand inside strings."""
    # one pass over whole strings: JSON inside JSON has so many escapes that replacing them takes longer
    return STRING.sub(b"", raw).partition(b'"')[0].translate(None, _NOT_STRUCTURE)


def describe_not_text(head: bytes) -> str | None:
    """The reason why a file beginning with `head` is no UTF-8 text, as the end of a sentence, or `None`."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        return translatable("the file is in UTF-16 or UTF-32; save it as UTF-8")
    if head.startswith((b"\x1f\x8b", b"PK\x03\x04", b"PK\x05\x06", b"(\xb5/\xfd", b"\xfd7zXZ", b"BZh")):
        return translatable("the file is compressed; unpack it first")
    if b"\x00" in head[:64]:
        return translatable("the file is not UTF-8 text (UTF-16 or binary)")
    return None


_DECODER: Final[dict[str, str]] = {
    sentence: sentence
    for sentence in (
        translatable("Expecting value"),
        translatable("Expecting ',' delimiter"),
        translatable("Expecting ':' delimiter"),
        translatable("Expecting property name enclosed in double quotes"),
        translatable("Illegal trailing comma before end of object"),
        translatable("Illegal trailing comma before end of array"),
        translatable("Invalid control character"),
        translatable("Invalid \\escape"),
        translatable("Invalid \\uXXXX escape"),
        translatable("Extra data"),
    )
}
"""The errors of Python's decoder, for pages in other languages."""


def _loads(text: str, line: int, hook: Callable[[list[tuple[str, Any]]], Any] | None) -> Any:
    try:
        return _decoder(hook).decode(text)
    except json.JSONDecodeError as error:
        raise BadJson(_describe(error, line)) from None
    except RecursionError:
        raise BadJson(translatable("is nested deeper than {n} levels", n=MAX_DEPTH)) from None
    except ValueError:
        raise BadJson(translatable("contains an integer of more than 4,300 digits")) from None


@lru_cache
def _decoder(hook: Callable[[list[tuple[str, Any]]], Any] | None) -> json.JSONDecoder:
    """The decoder with this hook: `json.loads` would make one for every record."""
    return json.JSONDecoder(object_pairs_hook=hook)


def _describe(error: json.JSONDecodeError, line: int) -> str:
    cut = error.msg.startswith("Unterminated string") or _SPACES.match(error.doc, error.pos) is not None
    if cut and error.doc.strip():
        return translatable("is cut off: the record ends in the middle of its JSON")
    message = error.msg.removesuffix(" at")
    what, column = _DECODER.get(message, message), error.colno
    if error.lineno == 1:
        return translatable("is not valid JSON: {what} at column {column}", what=what, column=column)
    return translatable(
        "is not valid JSON: {what} at line {line}, column {column}",
        what=what,
        line=line + error.lineno - 1,
        column=column,
    )


def _megabytes(count: int) -> str:
    return f"{count // (1024 * 1024)} MB" if count >= 1024 * 1024 else f"{count:,} bytes"


__all__ = [
    "HEAD_BYTES",
    "MAX_CONTAINERS",
    "MAX_DEPTH",
    "MAX_RECORD_BYTES",
    "BadJson",
    "Record",
    "RecordError",
    "depth_of",
    "describe_not_text",
    "parse_bytes",
    "parse_text",
    "read_records",
]
