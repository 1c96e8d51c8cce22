"""Elements of a list that lies within one large JSON object, one at a time, in bounded memory.

Many programs write one file as one object: `{"eval": …, "samples": […]}`, `{"resourceSpans": [{"scopeSpans":
[{"spans": […]}]}]}`. `records_at` follows a path of keys to the list and hands over its elements as records;
what stands beside the path (`eval`, a span's `resource`) is kept for them as far as it has been read.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.json_bytes import IN_STRING, STRING, TO_STRUCTURE
from annotation.core.jsonio.jsonlines import (
    MAX_CONTAINERS,
    MAX_DEPTH,
    BadJson,
    RecordError,
    describe_not_text,
    parse_bytes,
)
from annotation.core.jsonio.splitting import CHUNK_BYTES, TOO_LARGE, PeekedStream, RawRecord, SplitError

MAX_SIBLING_BYTES: Final = 4 * 1024 * 1024
MAX_KEY_BYTES: Final = 64 * 1024

NOT_OBJECTS: Final = translatable("is not valid JSON here: an object, a list or a key was expected")
OTHER_OBJECTS: Final = translatable("objects of another kind in the file, left out")
CUT_OFF: Final = translatable("the file is cut off: it ends in the middle of its JSON")
KEY_TOO_LONG: Final = translatable("has a key of more than 64 KB")

_GAP: Final = re.compile(rb"[ \t\r\n,:]*")
_SCALAR: Final = re.compile(rb"[^,\]}\[{\" \t\r\n]*")

Siblings = dict[str, bytes]
_Taken = tuple[RawRecord, tuple[Siblings, ...], bool]
"""An element, what stands around it, and whether it keeps to the limits of depth and containers."""


@dataclass(frozen=True, slots=True)
class Element:
    """One element: its record, and the members beside the path in each object on the way to it.

    `around[0]` belongs to the outermost object. The members fill up as the file is read: those that stand
    after the path's key are there only once the reading has passed them.
    """

    value: Any
    raw: bytes
    line: int
    around: tuple[Siblings, ...]

    def beside(self, level: int, key: str) -> Any:
        """The member `key` of the object at that level, parsed; `None` when it is missing or broken."""
        raw = self.around[level].get(key) if level < len(self.around) else None
        if raw is None:
            return None
        try:
            return parse_bytes(raw)
        except BadJson:
            return None


def records_at(
    stream: BinaryIO,
    path: tuple[str, ...],
    *,
    filename: str,
    max_record_bytes: int,
    glance: Callable[[bytes], Any] = lambda raw: None,
    others: Counter[str] | None = None,
) -> Iterator[Element | RecordError]:
    """The elements of the lists at `path` in every object of the file, or what is wrong with them.

    Each key of `path` names a list, whose elements are followed, or an object. The file is one object, a
    list of objects, or objects one after the other. Needs memory for one record and its siblings, of which
    none is kept beyond 4 MiB. A file without the path gives nothing. What `glance` says of the bytes of an
    element stands for its value, which is not parsed then, and may be broken; `None`: it is parsed. `others`
    counts the outermost objects that have nothing at the path, under `OTHER_OBJECTS`.
    """
    source = PeekedStream(stream)
    if reason := describe_not_text(source.head):
        yield RecordError(filename, 0, "", reason)
        return
    scanner = _PathScanner(path, max_record_bytes, source.offset)
    while not scanner.finished and (chunk := source.read(CHUNK_BYTES)):
        for piece in scanner.feed(chunk):
            yield _parsed(piece, filename, max_record_bytes, glance)
    for piece in scanner.end():
        yield _parsed(piece, filename, max_record_bytes, glance)
    if others is not None and scanner.others:
        others[OTHER_OBJECTS] += scanner.others


def _parsed(
    taken: _Taken | SplitError, filename: str, limit: int, glance: Callable[[bytes], Any]
) -> Element | RecordError:
    if isinstance(taken, SplitError):
        size = f"{limit // (1024 * 1024)} MB" if limit >= 1024 * 1024 else f"{limit:,} bytes"
        return RecordError(filename, taken.line, "", translatable(taken.reason, limit=size))
    piece, around, small = taken
    if small and piece.raw.isascii() and (seen := glance(piece.raw)) is not None:
        return Element(seen, piece.raw, piece.line, around)
    try:
        return Element(parse_bytes(piece.raw, piece=piece, small=small), piece.raw, piece.line, around)
    except BadJson as bad:
        return RecordError(filename, piece.line, "", bad.args[0])


@dataclass(slots=True)
class _Frame:
    """A container on the way to the elements. `level`: how many keys of the path lie behind it."""

    is_object: bool
    level: int
    key: str | None = None
    siblings: Siblings = field(default_factory=dict)


@dataclass(slots=True)
class _Value:
    """A value that is passed over or taken. `limit` 0: passed over."""

    line: int
    offset: int
    limit: int
    element: bool
    kind: int = 0
    depth: int = 0
    deepest: int = 0
    containers: int = 0
    in_string: bool = False
    escaped: bool = False
    too_large: bool = False
    size: int = 0
    parts: list[bytes] = field(default_factory=list)

    def keep(self, part: bytes) -> None:
        if self.limit and not self.too_large:
            self.size += len(part)
            self.parts.append(part)
            if self.size > self.limit:
                self.too_large, self.parts = True, []


Found = Iterator[_Taken | SplitError]


class _PathScanner:
    """The state between two chunks. Judges no JSON beyond what it needs to find its way."""

    def __init__(self, path: tuple[str, ...], limit: int, offset: int) -> None:
        self.finished = False
        self.others = 0
        self._on_path = False
        self._path = path
        self._limit = limit
        self._frames: list[_Frame] = []
        self._value: _Value | None = None
        self._rest = b""
        self._line = 1
        self._offset = offset

    def feed(self, chunk: bytes) -> Found:
        data, self._rest = self._rest + chunk, b""
        position = counted = 0
        while position < len(data) and not self.finished:
            if self._value is not None:
                start = position
                position, ended = self._pass(self._value, data, position)
                self._value.keep(data[start:position])
                if ended:
                    yield from self._take()
                continue
            gap = _GAP.match(data, position)
            position = gap.end() if gap else position
            self._line += data.count(b"\n", counted, position)
            counted = position
            if position >= len(data):
                break
            after, problem = self._structure(data, position)
            if problem:
                self.finished = True
                yield SplitError(self._line, problem)
                return
            if after is None:  # a key that the data do not hold to its end
                self._rest = data[position:]
                break
            position = after
        consumed = len(data) - len(self._rest)
        self._line += data.count(b"\n", counted, consumed)
        self._offset += consumed

    def end(self) -> Found:
        """Errors and elements left at the end of the file."""
        if not self.finished and (self._frames or self._value is not None or self._rest):
            yield SplitError(self._line, CUT_OFF)

    def _structure(self, data: bytes, position: int) -> tuple[int | None, str]:
        """One token between values: (the position after it, what is wrong); None when it is not whole."""
        byte = data[position]
        frame = self._frames[-1] if self._frames else None
        if byte in b"]}":
            if frame is None or frame.is_object is not (byte == 0x7D):
                return position, NOT_OBJECTS
            self._frames.pop()
            if frame.is_object and frame.level == 0:
                self.others += not self._on_path
                self._on_path = False
            return position + 1, ""
        if frame is not None and frame.is_object and frame.key is None:
            return self._key(frame, data, position)
        return self._begin(frame, data, position)

    def _key(self, frame: _Frame, data: bytes, position: int) -> tuple[int | None, str]:
        if data[position] != 0x22:
            return position, NOT_OBJECTS
        string = STRING.match(data, position)
        if string is None:
            too_long = len(data) - position > MAX_KEY_BYTES
            return (position, KEY_TOO_LONG) if too_long else (None, "")
        try:
            frame.key = str(json.loads(string.group()))
        except ValueError:
            frame.key = ""
        return string.end(), ""

    def _begin(self, frame: _Frame | None, data: bytes, position: int) -> tuple[int | None, str]:
        """A value begins: follow it, take it as an element or as a sibling, or pass over it."""
        byte = data[position]
        opens, is_object = byte in b"[{", byte == 0x7B
        level = frame.level if frame else 0
        if frame is None:
            if not opens:
                return position, NOT_OBJECTS
            self._frames.append(_Frame(is_object, 0))
            return position + 1, ""
        if frame.is_object:
            on_path = frame.key == self._path[level]
            self._on_path = self._on_path or (on_path and opens)
            if on_path and opens and (not is_object or level + 1 < len(self._path)):
                frame.key = None
                self._frames.append(_Frame(is_object, level + 1))
                return position + 1, ""
            limit = self._limit if on_path and opens else MAX_SIBLING_BYTES
            self._value = self._new(position, limit, element=on_path and opens)
        elif level == len(self._path):
            self._value = self._new(position, self._limit, element=True)
        elif is_object:
            self._frames.append(_Frame(True, level))
            return position + 1, ""
        else:
            self._value = self._new(position, 0, element=False)
        self._value.kind = byte if opens or byte == 0x22 else 0
        return position, ""

    def _new(self, position: int, limit: int, *, element: bool) -> _Value:
        return _Value(self._line, self._offset + position, limit, element)

    def _pass(self, value: _Value, data: bytes, position: int) -> tuple[int, bool]:
        """On through a value: (the position reached, whether the value ends there)."""
        if value.kind == 0:
            match = _SCALAR.match(data, position)
            end = match.end() if match else position
            return end, end < len(data)
        while position < len(data):
            if value.in_string:
                position = _pass_string(value, data, position)
                if value.kind == 0x22 and not value.in_string:
                    return position, True
                continue
            match = TO_STRUCTURE.match(data, position) if value.kind != 0x22 else None
            position = match.end() if match else position
            if position >= len(data):
                break
            byte = data[position]
            position += 1
            if byte == 0x22:
                value.in_string = True
            else:
                if byte in b"[{":
                    value.depth += 1
                    value.containers += 1
                    value.deepest = max(value.deepest, value.depth)
                else:
                    value.depth -= 1
                if value.depth <= 0:
                    return position, True
        return position, False

    def _take(self) -> Found:
        value, self._value = self._value, None
        assert value is not None
        frame = self._frames[-1] if self._frames else None
        raw = value.parts[0] if len(value.parts) == 1 else b"".join(value.parts)
        if value.element:
            if value.too_large:
                yield SplitError(value.line, TOO_LARGE)
            else:
                around = tuple(frame.siblings for frame in self._frames if frame.is_object)
                small = value.deepest <= MAX_DEPTH and value.containers <= MAX_CONTAINERS
                yield RawRecord(raw, value.line, value.offset), around, small
        elif frame is not None and frame.is_object and frame.key is not None and not value.too_large:
            frame.siblings[frame.key] = raw
        if frame is not None and frame.is_object:
            frame.key = None


def _pass_string(value: _Value, data: bytes, position: int) -> int:
    if value.escaped:
        value.escaped = False
        return position + 1
    match = IN_STRING.match(data, position)
    position = match.end() if match else position
    if position >= len(data):
        return position
    if data[position] == 0x22:
        value.in_string = False
    else:  # a backslash at the very end: what it escapes comes with the next chunk
        value.escaped = True
    return position + 1
