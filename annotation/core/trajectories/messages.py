"""Normalise messages for display: text, parts, tool calls, and which result belongs to which call.

Nothing here refuses anything: what a log contains is shown as it is. `raw` always keeps the original.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..jsonio.jsonlines import BadJson, parse_text
from .images import SHOWN_TYPES, sniff_data_uri

TEXT_CALL_OPEN: Final = "<tool_call>"
TEXT_CALL_CLOSE: Final = "</tool_call>"
THOUGHT_OPEN: Final = "<think>"
THOUGHT_CLOSE: Final = "</think>"
RESULT_ROLES: Final = frozenset({"tool", "function"})
EARLIER: Final = "earlier assistant"
"""The role of a response that is shown and is no step: one that a log only repeats, or of a decision's
history."""
RESPONSES: Final = frozenset({"assistant", EARLIER})

_NAME_IN_BROKEN_CALL: Final = re.compile(r'"name"\s*:\s*"([^"\\]{1,200})"')


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call. `arguments_raw` is the text as it came (an object is serialised); `arguments` is what it
    parses to when `parsed`, else `None`. `origin` is `text` for a call written inside the content."""

    id: str | None
    name: str
    arguments_raw: str
    arguments: Any
    parsed: bool
    origin: Literal["tool_calls", "text"]


@dataclass(frozen=True, slots=True)
class ContentPart:
    """A piece of content. An `image` has a `media_type` and its whole data URI in `data` and is served
    by us through `core.trajectories.images.decode_data_uri`; `other` is shown as the JSON in `text`."""

    kind: Literal["text", "image", "other"]
    text: str
    media_type: str | None = None
    data: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `content` is all its text, parts joined by newlines; `index` its place in the file.

    What the model thought first (`reasoning_content`, as OpenAI-compatible servers write it) is the first
    part of a step, between `<think>` and `</think>`. `failed`: a tool result of which the log itself says so.
    """

    index: int
    role: str
    content: str
    parts: tuple[ContentPart, ...]
    tool_calls: tuple[ToolCall, ...]
    tool_call_id: str | None
    name: str | None
    raw: dict[str, Any]

    @property
    def thought(self) -> str:
        """The thoughts of the model before its answer, which are then the first part; `""` without any."""
        return _thought(self.role, self.raw)

    @property
    def failed(self) -> bool:
        """Whether this is a tool result that the log marks as an error (`is_error`)."""
        return self.role in RESULT_ROLES and self.raw.get("is_error") is True


def as_earlier(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Raw messages with every response in the role `earlier assistant`, so that none of them is a step."""
    return [
        {**message, "role": EARLIER} if message.get("role") == "assistant" else message
        for message in messages
    ]


def as_in_chat(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Raw messages with every response in the role that it has in a chat: the inverse of `as_earlier`."""
    return [
        {**message, "role": "assistant"} if message.get("role") == EARLIER else message
        for message in messages
    ]


def normalise(messages: Sequence[Any]) -> tuple[Message, ...]:
    """The messages of a record, in order, as they are to be shown. Never raises, whatever JSON holds."""
    return tuple(_message(index, raw) for index, raw in enumerate(messages))


def message_text(raw: Any) -> str:
    """All text of one message as it stands in the file (text calls included), parts joined by newlines."""
    return _joined(_parts(raw.get("content"))) if isinstance(raw, dict) else _as_json(raw)


def message_beginning(raw: Any, most: int) -> str:
    """The beginning of one message in at most `most` characters: its text, and after it what it calls."""
    (message,) = normalise([raw])
    calls = (
        f"{call.name}({call.arguments_raw})" for call in message.tool_calls if call.origin == "tool_calls"
    )
    text = "\n".join(filter(None, (message.content.strip(), *calls)))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def pair_results(messages: Sequence[Message]) -> dict[int, tuple[int, int]]:
    """Tool results tied to their calls: result's message index → (calling message's index, call's position).

    First by id: the latest turn’s first call of that id without a result, else the call last answered.
    What is left pairs by adjacency: the results that directly follow a message take its unanswered calls in
    order. A result with an id takes only a call without one. What finds no call is not in the answer.
    """
    pairs: dict[int, tuple[int, int]] = {}
    answered: set[tuple[int, int]] = set()
    open_calls: dict[str, list[deque[tuple[int, int]]]] = {}  # ids are reused across turns in real logs
    last_answered: dict[str, tuple[int, int]] = {}
    for message in messages:
        call_id = message.tool_call_id
        if call_id and message.role in RESULT_ROLES:
            turns = open_calls.get(call_id)
            if turns:
                last_answered[call_id] = turns[-1].popleft()
                answered.add(last_answered[call_id])
                if not turns[-1]:
                    turns.pop()
            if call_id in last_answered:
                pairs[message.index] = last_answered[call_id]
        for position, call in enumerate(message.tool_calls):
            if call.id:
                turns = open_calls.setdefault(call.id, [])
                if not turns or turns[-1][-1][0] != message.index:
                    turns.append(deque())
                turns[-1].append((message.index, position))
    _pair_neighbours(messages, pairs, answered)
    return pairs


def _pair_neighbours(
    messages: Sequence[Message], pairs: dict[int, tuple[int, int]], answered: set[tuple[int, int]]
) -> None:
    with_id: deque[tuple[int, int]] = deque()
    without_id: deque[tuple[int, int]] = deque()
    for message in messages:
        if message.role not in RESULT_ROLES:
            with_id, without_id = deque(), deque()
            for position, call in enumerate(message.tool_calls):
                place = (message.index, position)
                if not call.id:
                    without_id.append(place)
                elif place not in answered:
                    with_id.append(place)
        elif message.index not in pairs:
            candidates = (without_id,) if message.tool_call_id else (without_id, with_id)
            queues = [queue for queue in candidates if queue]
            if queues:
                first = min(queues, key=lambda queue: queue[0])
                pairs[message.index] = first.popleft()


def _message(index: int, raw: Any) -> Message:
    if not isinstance(raw, dict):
        text = _as_json(raw)
        return Message(index, "", text, (ContentPart("other", text),), (), None, None, {})
    role = raw.get("role")
    role = role if isinstance(role, str) else _as_json(role)
    calls = tuple(_structured_calls(raw))
    content = raw.get("content")
    if role in RESPONSES and not calls and isinstance(content, str) and TEXT_CALL_OPEN in content:
        content, calls = _text_calls(content)
    parts = _parts(content)
    refusal = raw.get("refusal")
    if not parts and isinstance(refusal, str) and refusal:
        parts = (ContentPart("text", refusal),)
    thought = _thought(role, raw)
    if thought:
        parts = (ContentPart("text", f"{THOUGHT_OPEN}\n{thought}\n{THOUGHT_CLOSE}"), *parts)
    return Message(
        index=index,
        role=role,
        content=_joined(parts),
        parts=parts,
        tool_calls=calls,
        tool_call_id=_text_or_none(raw.get("tool_call_id")),
        name=_text_or_none(raw.get("name")),
        raw=raw,
    )


def _thought(role: str, raw: dict[str, Any]) -> str:
    reasoning = raw.get("reasoning_content") if role in RESPONSES else None
    return reasoning.strip() if isinstance(reasoning, str) else ""


def _parts(content: Any) -> tuple[ContentPart, ...]:
    if content is None or content == "":
        return ()
    if isinstance(content, str):
        return (ContentPart("text", content),)
    if isinstance(content, list):
        return tuple(_part(item) for item in content)
    return (ContentPart("other", _as_json(content)),)


def _part(item: Any) -> ContentPart:
    if isinstance(item, str):
        return ContentPart("text", item)
    if isinstance(item, dict):
        kind = item.get("type")
        if isinstance(item.get("text"), str) and kind in ("text", "input_text", "output_text", None):
            return ContentPart("text", item["text"])
        if kind == "refusal" and isinstance(item.get("refusal"), str):
            return ContentPart("text", item["refusal"])
        if kind in ("image_url", "input_image", "image"):
            return _image(item)
    return ContentPart("other", _as_json(item))


def _image(item: dict[str, Any]) -> ContentPart:
    """An image we can serve; a remote address as text, never to be fetched; anything else as its JSON."""
    address = item.get("image_url", item.get("image"))
    if isinstance(address, dict):
        address = address.get("url")
    source = item.get("source")
    if address is None and isinstance(source, dict):
        address = source.get("url")
        if source.get("type") == "base64" and isinstance(source.get("data"), str):
            address = f"data:{source.get('media_type')};base64,{source['data']}"
    if isinstance(address, str):
        if address[:5].lower() != "data:":
            return ContentPart("text", address)
        media_type = sniff_data_uri(address)
        if media_type in SHOWN_TYPES:
            return ContentPart("image", "", media_type, address)
    return ContentPart("other", _as_json(item))


def _structured_calls(raw: dict[str, Any]) -> Iterator[ToolCall]:
    calls = raw.get("tool_calls")
    if isinstance(calls, dict):
        calls = [calls]
    if isinstance(calls, list):
        for call in calls:
            yield _structured_call(call)
    elif calls:
        yield _structured_call(calls)
    legacy = raw.get("function_call")
    if not calls and isinstance(legacy, dict):
        yield _call(None, legacy, "tool_calls")


def _structured_call(call: Any) -> ToolCall:
    if not isinstance(call, dict):
        return ToolCall(None, "", _as_json(call), None, False, "tool_calls")
    function = call.get("function")
    spec = function if isinstance(function, dict) else call
    return _call(_text_or_none(call.get("id")), spec, "tool_calls")


def _call(call_id: str | None, spec: dict[str, Any], origin: Literal["tool_calls", "text"]) -> ToolCall:
    name = spec.get("name")
    name = name if isinstance(name, str) else "" if name is None else _as_json(name)
    arguments = next((spec[key] for key in ("arguments", "parameters", "args", "input") if key in spec), None)
    if arguments is None:
        return ToolCall(call_id, name, "", None, False, origin)
    if not isinstance(arguments, str):
        return ToolCall(call_id, name, _as_json(arguments), arguments, True, origin)
    try:
        return ToolCall(call_id, name, arguments, parse_text(arguments), True, origin)
    except BadJson:
        return ToolCall(call_id, name, arguments, None, False, origin)


def _text_calls(content: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Calls written as `<tool_call>{…}</tool_call>` and the text around them.

    Only a block that holds an object (or a list of them) is a call, broken JSON included; prose between the
    tags, and a block that is never closed, stay text.
    """
    kept: list[str] = []
    calls: list[ToolCall] = []
    position = 0
    while (start := content.find(TEXT_CALL_OPEN, position)) >= 0:
        inside = start + len(TEXT_CALL_OPEN)
        end = content.find(TEXT_CALL_CLOSE, inside)
        if end < 0:
            break
        payload = content[inside:end].strip()
        after = end + len(TEXT_CALL_CLOSE)
        if payload[:1] in ("{", "["):
            kept.append(content[position:start])
            calls.extend(_calls_in(payload))
        else:
            kept.append(content[position:after])
        position = after
    kept.append(content[position:])
    text = "".join(kept)
    return (text if text.strip() else "", tuple(calls)) if calls else (content, ())


def _calls_in(payload: str) -> list[ToolCall]:
    try:
        value = parse_text(payload)
    except BadJson:
        value = None
    specs = value if isinstance(value, list) else [value]
    if specs and all(isinstance(spec, dict) for spec in specs):
        return [_call(_text_or_none(spec.get("id")), spec, "text") for spec in specs]
    name = _NAME_IN_BROKEN_CALL.search(payload)
    return [ToolCall(None, name.group(1) if name else "", payload, None, False, "text")]


def _joined(parts: Sequence[ContentPart]) -> str:
    texts = [part.text for part in parts if part.kind == "text"]
    return "\n".join(texts or [part.text for part in parts if part.kind == "other"])


def _text_or_none(value: Any) -> str | None:
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else _as_json(value)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
