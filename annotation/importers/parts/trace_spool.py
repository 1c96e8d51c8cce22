"""Spans by their traces in bounded memory: what comes interleaved is laid aside on disk.

An exporter writes spans as they end, so that those of one trace lie anywhere in a file, between those of
others. Each span's bytes go into a temporary file; in memory stays one number for each span, and a name for
each trace.
"""

from __future__ import annotations

import struct
import tempfile
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.jsonlines import RecordError
from annotation.importers.base import ReadContext

__all__ = ["BEGINNING", "SpooledTrace", "TraceSpool", "too_large"]

BEGINNING: Final = translatable("long file, of which only the beginning was gathered")
IN_MEMORY: Final = 8 * 1024 * 1024
_HEADER: Final = struct.Struct("<QII")  # length of the span, number of its surroundings, its line


@dataclass(frozen=True, slots=True)
class SpooledTrace:
    """The spans of one trace: their bytes in the order of the file, each with the number of what stood
    around it and its line. `spans` is empty when the trace is `too_large`."""

    trace_id: str
    line: int
    spans: list[tuple[bytes, int, int]]
    too_large: bool


class TraceSpool:
    """A context manager that takes spans one by one and gives them back trace by trace, in the order in
    which the traces first appeared."""

    def __init__(self, context: ReadContext) -> None:
        self._limit = context.max_record_bytes
        self._context = context
        self._places: dict[str, array[int]] = {}
        self._sizes: dict[str, int] = {}
        self._end = 0

    def __enter__(self) -> TraceSpool:
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY, dir=self._context.scratch)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def full(self) -> bool:
        """Whether it holds as much as is wanted of a file that is only looked at; said in the notes then."""
        full = self._context.gather_bytes is not None and self._end >= self._context.gather_bytes
        if full:
            self._context.notes[BEGINNING] += 1
        return full

    def add(self, trace_id: str, raw: bytes, surroundings: int, line: int) -> None:
        """Lay a span aside. Of a trace over the limit only its first span is kept, for its line."""
        size = self._sizes.get(trace_id, 0) + len(raw)
        self._sizes[trace_id] = size
        places = self._places.setdefault(trace_id, array("Q"))
        if places and size > self._limit:
            return
        places.append(self._end)
        self._file.write(_HEADER.pack(len(raw), surroundings, min(line, 0xFFFFFFFF)))
        self._file.write(raw)
        self._end += _HEADER.size + len(raw)

    def traces(self) -> Iterator[SpooledTrace]:
        """Every trace; to be called once all spans are in."""
        for trace_id, places in self._places.items():
            too_large = self._sizes[trace_id] > self._limit
            spans, first_line = [], 0
            for place in places[:1] if too_large else places:
                self._file.seek(place)
                length, surroundings, line = _HEADER.unpack(self._file.read(_HEADER.size))
                first_line = first_line or line
                if not too_large:
                    spans.append((self._file.read(length), surroundings, line))
            yield SpooledTrace(trace_id, first_line, spans, too_large)


def too_large(trace: SpooledTrace, context: ReadContext) -> RecordError:
    """The finding about a trace over the limit."""
    megabytes = f"{context.max_record_bytes / (1024 * 1024):,.0f}"
    reason = translatable("the trace is larger than {limit} MB, the limit for one record", limit=megabytes)
    return RecordError(context.filename, trace.line, "", reason)
