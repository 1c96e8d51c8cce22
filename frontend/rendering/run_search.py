"""Search a whole run as its page does what it has drawn: in every text, whatever the case of the letters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from annotation.models import Step
from annotation.reports.shared.transcripts import Transcript
from frontend.rendering import structure
from frontend.rendering.blocks import StructureBlock, TextBlock
from frontend.rendering.control_chars import escape_control_chars
from frontend.rendering.transcript import RenderedMessage, each_message

MOST: Final = 2_000
"""More than so many finds are not counted (frontend/static/frontend/js/lib/search.js)."""


def search(transcript: Transcript, steps: Sequence[Step], query: str) -> list[tuple[int, int]]:
    """The messages in which `query` stands, each with how often; white space stands for any."""
    words = query.split()
    if not words:
        return []
    pattern = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
    places, left = [], MOST
    for message in each_message(transcript, steps):
        count = min(left, sum(len(pattern.findall(text)) for text in _texts(message)))
        if count:
            places.append((message.index, count))
            left -= count
        if not left:
            break
    return places


def _texts(message: RenderedMessage) -> Iterator[str]:
    """The texts of a message, as they stand on the page one by one."""
    for block in message.blocks:
        yield from _texts_of(block)
    for call in message.calls:
        yield call.name
        for name, block in call.arguments:
            yield name
            yield from _texts_of(block)
        yield from _texts_of(call.body)


def _texts_of(block: object) -> Iterator[str]:
    if isinstance(block, TextBlock):
        yield block.text
    elif isinstance(block, StructureBlock):
        yield from map(escape_control_chars, structure.texts(block.node))
