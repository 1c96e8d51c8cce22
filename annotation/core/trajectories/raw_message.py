"""One message exactly as it stands in its record, letter by letter where the record's bytes allow it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_LABELS: Final = frozenset(
    {
        "label",
        "labels",
        "step_label",
        "step_labels",
        "final_label",
        "annotation",
        "annotations",
        "explanation",
    }
)
_HINTS: Final = frozenset({"reward", "rewards", "reward_info", "score", "scores", "rating", "correct"})


@dataclass(frozen=True, slots=True)
class MessageJson:
    """A message as JSON. `exact`: letter by letter as in the record; `withheld`: some of it is left out."""

    text: str
    exact: bool
    withheld: bool


def message_json(record: bytes, message: dict[str, Any], index: int, *, hints: bool) -> MessageJson:
    """Message `index` as JSON.

    A message that carries labels (or, without the right to see `hints`, rewards) is written anew without
    them: labels that stand in a file are never shown to an annotator (docs/design.md, "Commands and
    environment").
    """
    withheld = _LABELS if hints else _LABELS | _HINTS
    kept = {key: value for key, value in message.items() if key.lower() not in withheld}
    if len(kept) == len(message):
        exact = _slice(record, index)
        if exact is not None and _same(exact, message):
            return MessageJson(exact, True, False)
    return MessageJson(json.dumps(kept, ensure_ascii=False, indent=2), False, len(kept) < len(message))


def _same(text: str, message: dict[str, Any]) -> bool:
    # as text, because NaN is not equal to itself; sorted, because that is how contents are stored
    return json.dumps(json.loads(text), sort_keys=True) == json.dumps(message, sort_keys=True)


def _slice(record: bytes, index: int) -> str | None:
    """The letters of element `index` of the record's messages, or None when it is laid out otherwise."""
    try:
        text = record.decode("utf-8").removeprefix("\ufeff")
        start = _past(text, 0)
        if text[start] == "[":
            return _element(text, start, index)
        at = _messages(text, start)
        return None if at is None else _element(text, at, index)
    except (ValueError, IndexError, RecursionError):
        return None


def _past(text: str, position: int) -> int:
    gap = _SPACE.match(text, position)
    return gap.end() if gap else position


def _messages(text: str, start: int) -> int | None:
    """The start of the list of messages: the last key of that name counts, as in every JSON reader."""
    at, position = None, _past(text, start + 1)
    while text[position] != "}":
        key, position = _DECODER.raw_decode(text, position)
        position = _past(text, _past(text, position) + 1)
        if key == "messages" and text[position] == "[":
            at = position
        _, position = _DECODER.raw_decode(text, position)
        position = _past(text, position)
        if text[position] == ",":
            position = _past(text, position + 1)
    return at


def _element(text: str, start: int, index: int) -> str | None:
    position = _past(text, start + 1)
    for number in range(index + 1):
        if text[position] == "]":
            return None
        _, end = _DECODER.raw_decode(text, position)
        if number == index:
            return text[position:end]
        position = _past(text, _past(text, end) + 1)
    return None
