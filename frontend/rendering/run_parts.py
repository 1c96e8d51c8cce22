"""The parts in which a long run is drawn: a page shows one, and fetches others as they come in sight.

Where a run is cut depends on its messages alone, so that every page and every viewer has the same parts. A
run of at most 200 messages and of ordinary length is a single part, and is drawn whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from annotation.core.trajectories.messages import RESULT_ROLES
from annotation.core.trajectories.trajectory import Message
from annotation.reports.shared.transcripts import Transcript
from frontend.rendering.allowance import MESSAGE_BYTES, PER_TEXT, PER_VALUE, bytes_of
from frontend.rendering.blocks import SHOWN_CHARACTERS
from frontend.rendering.structure import MAX_NODES

PART_MESSAGES: Final = 200
PART_BYTES: Final = 600_000
"""About how much HTML a part becomes at most."""
PER_MESSAGE: Final = 1_200
PER_CALL: Final = 900

_JSON: Final = re.compile(r"\s*[\[{]")


@dataclass(frozen=True, slots=True)
class RunPart:
    """Messages `start` to before `stop` of a run.

    `first_step` and `last_step` are the numbers of its steps, 0 when it has none, and `entry` is the message
    of the first; `user` is the user's last message before it, "" without one.
    """

    start: int
    stop: int
    first_step: int = 0
    last_step: int = 0
    entry: int = 0
    user: int | str = ""

    @property
    def last(self) -> int:
        """Its last message."""
        return self.stop - 1

    def __contains__(self, index: int) -> bool:
        return self.start <= index < self.stop


@dataclass(frozen=True, slots=True)
class RunParts:
    """All parts of a run, and the one that is drawn `here`."""

    parts: tuple[RunPart, ...]
    here: RunPart

    @property
    def several(self) -> bool:
        """Whether the run is drawn in parts at all."""
        return len(self.parts) > 1

    def address(self, index: int) -> str:
        """The address of a message: on this page, or on the same page with another part."""
        return f"#m{index}" if index in self.here else place_of(index)


def place_of(index: int | None, words: str = "") -> str:
    """The part of an address, behind that of a page that shows a run, that leads to a message, or with None
    to the outcome; there `words` are marked."""
    asked = f"words={quote(words)}" if words else ""
    if index is None:
        return f"?{asked}#outcome" if asked else "#outcome"
    return f"?at={index}{'&' if asked else ''}{asked}#m{index}"


def parts_of(transcript: Transcript, at: int | None = None) -> RunParts:
    """The parts of a run, and the one with message `at` (the first without one; the last beyond the end)."""
    parts = tuple(_parts(transcript.messages, transcript.results)) or (RunPart(0, 0),)
    here = next((part for part in parts if (at or 0) < part.stop), parts[-1])
    return RunParts(parts, here)


def _parts(messages: Sequence[Message], results: Mapping[int, tuple[int, int]]) -> Iterator[RunPart]:
    start = size = steps = 0
    user: int | str = ""
    for first, stop, weight in [*_pieces(messages, results), (len(messages), 0, PART_BYTES)]:
        if first > start and (stop - start > PART_MESSAGES or size + weight > PART_BYTES):
            roles = [message.role for message in messages[start:first]]
            own = roles.count("assistant")
            numbers = (steps + 1, steps + own, start + roles.index("assistant")) if own else (0, 0, start)
            yield RunPart(start, first, *numbers, user)
            if "user" in roles:
                user = first - 1 - roles[::-1].index("user")
            start, size, steps = first, 0, steps + own
        size += weight


def _pieces(
    messages: Sequence[Message], results: Mapping[int, tuple[int, int]]
) -> Iterator[tuple[int, int, int]]:
    """Blocks that are not cut where that can be helped: a message with the results that stand under its
    calls, as (first message, message after the last, bytes). One that would be a part too large is cut all
    the same."""
    start = size = 0
    caller = -1
    for index, message in enumerate(messages):
        weight = weight_of(message)
        under = index in results and results[index][0] == caller
        if index > start and (not under or index - start >= PART_MESSAGES or size + weight > PART_BYTES):
            yield start, index, size
            start, size = index, 0
        size += weight
        if message.role not in RESULT_ROLES:
            caller = index
    if messages:
        yield start, len(messages), size


def weight_of(message: Message) -> int:
    """About how many bytes of HTML a message becomes: rather too many than too few."""
    size = PER_MESSAGE + sum(_weight_of_text(part.text) for part in message.parts)
    for call in message.tool_calls:
        size += PER_CALL + _weight_of_text(call.arguments_raw) + PER_TEXT * _entries(call.arguments)
    return min(size, PER_MESSAGE + MESSAGE_BYTES)


def _entries(arguments: object) -> int:
    return len(arguments) if isinstance(arguments, dict) else 1


def _weight_of_text(text: str) -> int:
    if len(text) > SHOWN_CHARACTERS:
        text = text[:SHOWN_CHARACTERS]
    size = PER_TEXT + bytes_of(text)
    if _JSON.match(text) is None:
        return size
    values = 1 + sum(map(text.count, ",[{"))
    # what is too much for a structure is laid out, with a line for each value
    return size + PER_VALUE * values if values <= 2 * MAX_NODES else min(4 * size, 2 * SHOWN_CHARACTERS)
