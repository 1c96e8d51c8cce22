"""Gather the events of sessions, which lie one a line or in one list, into records that are trajectories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.json_layout import Layout, json_head
from annotation.core.jsonio.jsonlines import BadJson, RecordError, describe_not_text, parse_bytes
from annotation.core.jsonio.splitting import PeekedStream, RawRecord, SplitError, split_elements, split_lines
from annotation.importers.base import ReadContext

__all__ = ["BROKEN_LINES", "Session", "SessionOf", "sessions"]

BROKEN_LINES = translatable("lines that are no JSON objects, passed over")
MOST_SESSIONS_BYTES: Final = 4
"""So many times the limit of one record may the sessions of one file have together."""

SessionOf = Callable[[dict[str, Any]], str | None]
"""The session of an event: its name, `""` for the one before it, `None` for what is no event."""


@dataclass(frozen=True, slots=True)
class Session:
    """The value of a record: a list of events, or what a single record holds. `raw` are its bytes."""

    value: Any
    raw: bytes
    line: int
    name: str = ""


@dataclass(slots=True)
class _Gathered:
    """The events of one session, as bytes: parsed they would take many times the memory."""

    line: int
    size: int = 0
    raws: list[bytes] = field(default_factory=list)


def sessions(
    stream: BinaryIO, context: ReadContext, session_of: SessionOf, *, lenient: bool = False
) -> Iterator[Session | RecordError]:
    """The sessions of a file, in the order in which they begin.

    Records that are no events are sessions of their own. In a `lenient` file lines that are no JSON objects
    are counted in the notes and passed over, because programs that are killed leave such lines behind. A
    session may have `context.max_record_bytes`; all those of a file are held as bytes, up to four times that.
    """
    source = PeekedStream(stream)
    if reason := describe_not_text(source.head):
        yield RecordError(context.filename, 0, "", reason)
        return
    layout = json_head(source.head).layout
    limit = context.max_record_bytes
    pieces = (
        split_lines(source, limit=limit)
        if layout is Layout.LINES
        else split_elements(source, limit=limit, within_list=layout is Layout.LIST)
    )
    gathering = _Gathering(context, session_of, lenient)
    for piece in pieces:
        yield from gathering.take(piece)
    yield from gathering.sessions(in_list=layout is Layout.LIST)


class _Gathering:
    """The sessions that have begun, by name; the events before the first name are the first session's."""

    def __init__(self, context: ReadContext, session_of: SessionOf, lenient: bool) -> None:
        self._context = context
        self._session_of = session_of
        self._lenient = lenient
        self._found: dict[str, _Gathered] = {}
        self._now = ""
        self._size = 0
        self._nothing = True

    def take(self, piece: RawRecord | SplitError) -> Iterator[Session | RecordError]:
        """One piece of the file: kept with its session, or handed on when it is no event."""
        self._nothing = False
        if isinstance(piece, SplitError):
            yield self._error(piece.line, piece.reason)
            return
        try:
            value = parse_bytes(piece.raw, piece=piece)
        except BadJson as bad:
            if self._lenient:
                self._context.notes[BROKEN_LINES] += 1
            else:
                yield RecordError(self._context.filename, piece.line, "", bad.args[0])
            return
        name = self._session_of(value) if isinstance(value, dict) else None
        if name is not None:
            self._keep(name, piece)
        elif self._lenient and not _holds_objects(value):
            self._context.notes[BROKEN_LINES] += 1
        else:
            yield Session(value, piece.raw, piece.line)

    def _keep(self, name: str, piece: RawRecord) -> None:
        if name and not self._now and "" in self._found:
            self._found[name] = self._found.pop("")
        self._now = name or self._now
        session = self._found.setdefault(self._now, _Gathered(piece.line))
        size = len(piece.raw) + 1
        session.size += size
        self._size += size
        if max(session.size, self._size // MOST_SESSIONS_BYTES) > self._context.max_record_bytes:
            self._size -= session.size
            session.raws.clear()
            session.size = self._context.max_record_bytes + 1
        else:
            session.raws.append(piece.raw)

    def sessions(self, *, in_list: bool) -> Iterator[Session | RecordError]:
        """The gathered sessions; errors for a session that is too large and for a file without a record."""
        if self._nothing:
            yield RecordError(self._context.filename, 0, "", translatable("the file is empty"))
        while self._found:
            name = next(iter(self._found))
            session = self._found.pop(name)
            if not session.raws:
                yield self._error(
                    session.line, translatable("is a session larger than {limit}, the limit for one record")
                )
                continue
            whole = b"[" + b",\n".join(session.raws) + b"]"
            raw = whole if in_list else b"\n".join(session.raws)
            yield Session([parse_bytes(line) for line in session.raws], raw, session.line, name)

    def _error(self, line: int, reason: str) -> RecordError:
        limit = self._context.max_record_bytes
        size = f"{limit // (1024 * 1024)} MB" if limit >= 1024 * 1024 else f"{limit:,} bytes"
        return RecordError(self._context.filename, line, "", translatable(reason, limit=size))


def _holds_objects(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(item, dict) for item in value)
    )
