"""Find the records of a JSON file by their bytes, in bounded memory and linear time, without recursion.

Nothing here judges JSON: a piece may still be broken. Each is at most `limit` bytes; a longer one is
passed over, byte by byte as it streams by, and reported as a flaw.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final, NamedTuple

from annotation.core.i18n import translatable

from .json_bytes import IN_STRING, TO_STRUCTURE
from .json_layout import BOM, HEAD_BYTES

CHUNK_BYTES: Final = 256 * 1024

TOO_LARGE: Final = translatable("is larger than {limit}, the limit for one record")
MORE_AFTER_LIST: Final = translatable("the file continues after the end of its list; the rest was not read")
LIST_NOT_CLOSED: Final = translatable("the file is cut off: it ends before its list is closed")

_TO_STRUCTURE_OR_END: Final = re.compile(rb'[^"\[\]{},\n]*+')
_GAP: Final = re.compile(rb"[ \t\r\n]*")
_GAP_OR_COMMA: Final = re.compile(rb"[ \t\r\n,]*")


class RawRecord(NamedTuple):
    """The exact bytes of one record, the line it begins on (from 1) and its offset in the file."""

    raw: bytes
    line: int
    offset: int


@dataclass(frozen=True, slots=True)
class SplitError:
    """A record that could not be taken out of the file. `reason` may hold `{limit}`."""

    line: int
    reason: str


class PeekedStream:
    """A stream whose beginning (`head`) has been looked at, without its byte order mark.

    The stream needs `read` and `readline` with a limit, and need not be seekable.
    """

    def __init__(self, stream: BinaryIO) -> None:
        head = b""
        while len(head) < HEAD_BYTES and (more := stream.read(HEAD_BYTES - len(head))):
            head += more
        self.offset = len(BOM) if head.startswith(BOM) else 0
        self.head = head[self.offset :]
        self._stream = stream
        self._position = 0

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; `b""` at the end."""
        if self._position < len(self.head):
            taken = self.head[self._position : self._position + size]
            self._position += len(taken)
            return taken
        return self._stream.read(size)

    def readline(self, limit: int) -> bytes:
        """Up to `limit` bytes, through the next line feed; `b""` at the end."""
        if self._position >= len(self.head):
            return self._stream.readline(limit)
        end = self.head.find(b"\n", self._position, self._position + limit) + 1
        taken = self.head[self._position : end or self._position + limit]
        self._position += len(taken)
        if not end and len(taken) < limit:
            taken += self._stream.readline(limit - len(taken))
        return taken


def split_lines(source: PeekedStream, *, limit: int) -> Iterator[RawRecord | SplitError]:
    """One record a line; blank lines are passed over."""
    line, offset = 0, source.offset
    while raw := source.readline(limit + 2):
        line += 1
        size = len(raw)
        body = raw.removesuffix(b"\n").removesuffix(b"\r")
        if len(body) > limit:
            while not raw.endswith(b"\n") and (raw := source.readline(CHUNK_BYTES)):
                size += len(raw)
            yield SplitError(line, TOO_LARGE)
        elif body and not body.isspace():
            yield RawRecord(body, line, offset)
        offset += size


def split_elements(
    source: PeekedStream, *, limit: int, within_list: bool
) -> Iterator[RawRecord | SplitError]:
    """Records as the elements of one list (`within_list`), or as values with white space between them.

    Commas between elements are passed over, not counted.
    """
    scanner = _Scanner(limit=limit, within_list=within_list, offset=source.offset)
    while not scanner.finished and (chunk := source.read(CHUNK_BYTES)):
        yield from scanner.feed(chunk)
    yield from scanner.end()


@dataclass(slots=True)
class _Scanner:
    """The state between two chunks: where in a value the file was cut."""

    limit: int
    within_list: bool
    offset: int
    line: int = 1
    depth: int = 0
    in_string: bool = False
    escaped: bool = False
    opened: bool = False
    closed: bool = False
    finished: bool = False
    started: bool = False
    scalar: bool = False
    too_large: bool = False
    start_line: int = 0
    start_offset: int = 0
    buffer: bytearray = field(default_factory=bytearray)

    def feed(self, chunk: bytes) -> Iterator[RawRecord | SplitError]:
        position = counted = mark = 0
        while position < len(chunk):
            if self.in_string:
                position = self._pass_string(chunk, position)
                continue
            if not self.started:
                position = self._gap(chunk, position)
                if position >= len(chunk):
                    break
                self.line += chunk.count(b"\n", counted, position)
                counted = position
                if self._opens_or_closes(chunk[position]):
                    position += 1
                    continue
                if self.closed:
                    self.finished = True
                    yield SplitError(self.line, MORE_AFTER_LIST)
                    return
                self.started, self.depth, self.scalar = True, 0, chunk[position] not in b"[{"
                self.start_line, self.start_offset = self.line, self.offset + position
                mark = position
            position, ended = self._pass_structure(chunk, position)
            if ended:
                yield self._take(chunk[mark:position])
        if self.started:
            self._keep(chunk[mark:])
        self.line += chunk.count(b"\n", counted)
        self.offset += len(chunk)

    def end(self) -> Iterator[RawRecord | SplitError]:
        if self.started:
            yield self._take(b"")
        elif self.within_list and self.opened and not self.closed:
            yield SplitError(self.line, LIST_NOT_CLOSED)

    def _gap(self, chunk: bytes, position: int) -> int:
        commas = self.within_list and self.opened and not self.closed
        gap = (_GAP_OR_COMMA if commas else _GAP).match(chunk, position)
        return gap.end() if gap else position

    def _opens_or_closes(self, byte: int) -> bool:
        """Whether `byte` is a bracket of the list around all records."""
        if not self.within_list or self.closed:
            return False
        if not self.opened:
            self.opened = byte == 0x5B
            return self.opened
        self.closed = byte == 0x5D
        return self.closed

    def _pass_string(self, chunk: bytes, position: int) -> int:
        if self.escaped:
            self.escaped = False
            return position + 1
        match = IN_STRING.match(chunk, position)
        position = match.end() if match else position
        if position < len(chunk):
            if chunk[position] == 0x22:
                self.in_string = False
            else:  # a backslash at the very end of the chunk
                self.escaped = True
            position += 1
        return position

    def _pass_structure(self, chunk: bytes, position: int) -> tuple[int, bool]:
        """On to the next byte that matters: the position after it, and whether the value ends there."""
        at_end = self.scalar and self.depth == 0
        match = (_TO_STRUCTURE_OR_END if at_end else TO_STRUCTURE).match(chunk, position)
        position = match.end() if match else position
        if position >= len(chunk):
            return position, False
        byte = chunk[position]
        if byte == 0x22:
            self.in_string = True
        elif byte in b"[{":
            self.depth += 1
        elif byte == 0x0A or (self.within_list and self.depth == 0 and byte in b",]"):
            return position, True
        elif byte == 0x2C:
            pass
        else:
            self.depth -= 1
            return position + 1, self.depth <= 0
        return position + 1, False

    def _keep(self, part: bytes) -> None:
        if not self.too_large:
            self.buffer += part
            if len(self.buffer) > self.limit:
                self.too_large = True
                self.buffer = bytearray()

    def _take(self, part: bytes) -> RawRecord | SplitError:
        self._keep(part)
        raw, too_large = bytes(self.buffer), self.too_large
        self.buffer, self.too_large, self.started, self.in_string = bytearray(), False, False, False
        if too_large:
            return SplitError(self.start_line, TOO_LARGE)
        return RawRecord(raw, self.start_line, self.start_offset)
