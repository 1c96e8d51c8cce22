"""Samples of an Inspect log of version 3, each in many members of its archive, put together to one.

    samples/<id>_epoch_<epoch>/sample.json               everything small, and `message_refs`
                               metadata.json             when there is any
                               messages/<start>.json     a list; <start> is the number of its first item
                               attachments/<start>.json  likewise, of texts
                               events/<start>.json       likewise

`message_refs` are ranges (first, end) of messages, in the order of the conversation; `attachment://7` names
the eighth attachment. What comes out has the form of a sample of version 2, with the messages and attachments
that the conversation needs. Of the events it keeps the kinds, and the tools that a model was offered, as far
as their chunks fit into the limit of a record. Source: the design of large samples in
inspect_ai (July 2026).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.jsonlines import BadJson, parse_bytes

from ..parts.archive import Archive, BadArchive, too_large

_SHELL: Final = re.compile(r"(samples/.+_epoch_\d+)/sample\.json", re.DOTALL)
_CHUNK: Final = re.compile(r"(samples/.+_epoch_\d+)/(messages|attachments|events)/(\d+)\.json", re.DOTALL)
_ATTACHMENT: Final = re.compile(rb"attachment://(\d+)")


@dataclass(frozen=True)
class ChunkedSample:
    """The places of a sample's chunks: by sequence and number of the first item, the member's name."""

    prefix: str
    chunks: dict[str, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))


def chunked_samples(archive: Archive) -> list[ChunkedSample]:
    """An archive's chunked samples, in its order."""
    shells = (_SHELL.fullmatch(member.filename) for member in archive.members)
    samples = {shell[1]: ChunkedSample(shell[1]) for shell in shells if shell}
    for member in archive.members:
        if (chunk := _CHUNK.fullmatch(member.filename)) and chunk[1] in samples:
            samples[chunk[1]].chunks[chunk[2]][int(chunk[3])] = member.filename
    return list(samples.values())


def read_chunked(archive: Archive, chunked: ChunkedSample, limit: int) -> bytes:
    """A chunked sample as one JSON object of version 2, of at most `limit` bytes.

    Raises `BadArchive` for members that are missing, broken or too large, `BadJson` for what is not JSON.
    """
    budget = _Budget(archive, limit)
    sample = budget.json(f"{chunked.prefix}/sample.json")
    if not isinstance(sample, dict):
        raise BadJson(translatable("is not a JSON object"))
    if archive.named(metadata := f"{chunked.prefix}/metadata.json"):
        sample["metadata"] = budget.json(metadata)
    messages, attachments, events = (
        _Sequence(budget, chunked.chunks[name]) for name in ("messages", "attachments", "events")
    )
    sample["messages"] = [messages[index] for index in _indexes(sample.pop("message_refs", None), limit)]
    sample["events"] = list(_outlines(events))
    named = {int(number) for number in _ATTACHMENT.findall(json.dumps(sample).encode())}
    sample["attachments"] = {
        str(index): attachments[index] for index in sorted(named) if attachments.holds(index)
    }
    raw = json.dumps(sample, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if len(raw) > limit:
        raise BadArchive(too_large(limit))
    return raw


class _Budget:
    """Members of one sample, read until they come to the limit of a record."""

    def __init__(self, archive: Archive, limit: int) -> None:
        self.archive = archive
        self._limit = self._left = limit

    def fits(self, name: str) -> bool:
        """Whether the member `name` can still be read."""
        member = self.archive.named(name)
        return member is not None and member.file_size <= self._left

    def json(self, name: str) -> Any:
        """The value of the member `name`."""
        member = self.archive.named(name)
        if member is None:
            raise BadArchive(translatable("the archive lacks {name}", name=name[-100:]))
        if not self.fits(name):
            raise BadArchive(too_large(self._limit))
        self._left -= member.file_size
        return parse_bytes(self.archive.read(member, self._limit))


class _Sequence:
    """The items of one sequence of a sample; its chunks are read when an item of theirs is asked for."""

    def __init__(self, budget: _Budget, names: dict[int, str]) -> None:
        self._budget = budget
        self._names = names
        self._starts = sorted(names)
        self._read: dict[int, list[Any]] = {}

    def chunk(self, start: int) -> list[Any]:
        """The items from `start` on, up to those of the next chunk."""
        if start not in self._read:
            value = self._budget.json(self._names[start])
            self._read[start] = value if isinstance(value, list) else []
        return self._read[start]

    def chunks_that_fit(self) -> Iterator[list[Any]]:
        """The chunks in their order, up to the first that is too large for what is left of the budget."""
        for start in self._starts:
            if not self._budget.fits(self._names[start]):
                return
            yield self.chunk(start)

    def holds(self, index: int) -> bool:
        """Whether there is an item of that number."""
        place = bisect_right(self._starts, index) - 1
        return place >= 0 and index - self._starts[place] < len(self.chunk(self._starts[place]))

    def __getitem__(self, index: int) -> Any:
        if not self.holds(index):
            raise BadArchive(translatable("the archive lacks message {index} of a sample", index=index))
        start = self._starts[bisect_right(self._starts, index) - 1]
        return self.chunk(start)[index - start]


def _indexes(references: Any, limit: int) -> Iterable[int]:
    """The numbers that the ranges of `message_refs` come to. A message takes more than a byte, so more than
    `limit` of them are not read."""
    total = 0
    for reference in references if isinstance(references, list) else []:
        match reference:
            case [int(first), int(end)] if 0 <= first <= end:
                total += end - first
                if total > limit:
                    raise BadArchive(too_large(limit))
                yield from range(first, end)
            case _:
                raise BadJson(translatable("has “message_refs” that are no ranges"))


def _outlines(events: _Sequence) -> Iterator[dict[str, Any]]:
    """The kind of each event, with the tools that a call of a model was the first to be offered."""
    offered: list[Any] = []
    for chunk in events.chunks_that_fit():
        for event in chunk:
            if not isinstance(event, dict):
                continue
            outline = {"event": event.get("event")}
            if (tools := event.get("tools")) and tools not in offered:
                offered.append(tools)
                outline["tools"] = tools
            yield outline
