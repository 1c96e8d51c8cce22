"""Rows of training sets: ShareGPT's `conversations`, and the `messages` of LLaMA-Factory and TRL.

A row's identity is its `id`, else the SHA-256 of its content. Images are paths outside the file, and stay
names. `chosen` and `rejected` are two trajectories of one task.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import RecordError, read_records
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..conversion import Conversation
from ..drafts import SourceRecord, read_conversations
from ..parts.dialects import parse_json, read_tools
from ..parts.message_parts import MessageParts, as_text
from ..records import RecordProblems

CONVERTER: Final = 1

IMAGES: Final = translatable("images that lie outside the file")
REPEATED: Final = translatable("rows that repeat an earlier one")

_ROLES: Final = {
    "human": "user",
    "gpt": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "chatgpt": "assistant",
    "function_call": "assistant",
    "observation": "tool",
    "function_response": "tool",
}
_FIELDS: Final = frozenset(
    {
        "conversations",
        "messages",
        "tools",
        "system",
        "id",
        "images",
        "chosen",
        "rejected",
        "prompt",
        "question",
    }
)


_TYPED_PART: Final = re.compile(rb'"type"\s*:\s*"(?:text|reasoning|tool_call|image_url)"\s*,\s*"value"\s*:')
"""A part of LLaMA-Factory's content."""


class ShareGPT:
    """See the module; `Importer` states what each member promises."""

    name = "sharegpt"
    title = translatable("ShareGPT, LLaMA-Factory and TRL rows")
    recognised_by = translatable(
        "“conversations” with “from” and “value”, or columns of training sets beside “messages”"
    )

    def sniff(self, head: bytes) -> float:
        keys = json_head(head).keys
        if "conversations" in keys:
            return 0.9
        if {"chosen", "rejected"} <= keys:
            return 0.9
        if "messages" not in keys:
            return 0.0
        # these columns and parts are of training sets; other chats have none of them
        return 0.7 if keys & {"images", "videos", "audios"} or _TYPED_PART.search(head) else 0.0

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        records = read_records(stream, filename=context.filename, max_record_bytes=context.max_record_bytes)
        rows = _Rows()
        return read_conversations(records, context, rows.convert, format=self.name, converter=CONVERTER)


class _Rows:
    """The rows met in a file: training sets repeat rows to weigh them, and most rows have no id."""

    def __init__(self) -> None:
        self._met: Counter[bytes] = Counter()

    def convert(self, piece: SourceRecord, problems: RecordProblems) -> list[Conversation]:
        """The conversations of a row; the second of equal rows has an identity that ends in `:2`."""
        conversations = _convert(piece, problems)
        if any(not conversation.record_id for conversation in conversations):
            row = hashlib.blake2b(piece.raw, digest_size=16).digest()
            self._met[row] += 1
            if (number := self._met[row]) > 1:
                for part, conversation in enumerate(conversations):
                    conversation.record_id = f"{row.hex()}:{part}:{number}"
                    conversation.notes[REPEATED] += 1
        return conversations


def _convert(piece: SourceRecord, problems: RecordProblems) -> list[Conversation]:
    value = piece.value
    if not isinstance(value, dict):
        problems.add("", translatable("is not a JSON object"))
        return []
    if isinstance(value.get("chosen"), list) and isinstance(value.get("rejected"), list):
        pair = [
            _conversation(value, [*_listed(value.get("prompt")), *value[key]])
            for key in ("chosen", "rejected")
        ]
        for conversation, key in zip(pair, ("chosen", "rejected"), strict=True):
            conversation.hints["preference"] = key
            conversation.record_id = f"{conversation.record_id}:{key}" if conversation.record_id else ""
        return pair
    turns = next(
        (value[key] for key in ("conversations", "messages") if isinstance(value.get(key), list)), None
    )
    if turns is None:
        problems.add("conversations", translatable("must be a list of messages"))
        return []
    return [_conversation(value, turns)]


def _conversation(value: dict[str, Any], turns: list[Any]) -> Conversation:
    conversation = Conversation(
        record_id=as_text(value.get("id")),
        question=as_text(value.get("question")),
        tools=read_tools(value.get("tools")),
        hints={key: held for key, held in value.items() if key not in _FIELDS},
    )
    if value.get("system"):
        conversation.messages.append({"role": "system", "content": as_text(value["system"])})
    images = [as_text(image) for image in _listed(value.get("images"))]
    for place, turn in enumerate(turns):
        for message in _messages(turn):
            if message["role"] == "assistant":
                conversation.source_steps[len(conversation.messages)] = str(place)
            conversation.messages.append(message)
    if images:
        conversation.hints["images"] = images
        conversation.left_out.add(IMAGES)
    return conversation


def _messages(turn: Any) -> list[dict[str, Any]]:
    """One turn as messages; a turn with several results is one message for each."""
    if not isinstance(turn, dict):
        return [{"role": "user", "content": as_text(turn)}]
    speaker = as_text(turn.get("from") or turn.get("role"))
    role = _ROLES.get(speaker.lower(), speaker) or "user"
    content = turn.get("value") if "value" in turn else turn.get("content")
    parts = MessageParts()
    if speaker == "function_call":
        _add_calls(parts, content)
    else:
        for piece in content if isinstance(content, list) else [content] if content not in (None, "") else []:
            _add(parts, piece)
    for call in _listed(turn.get("tool_calls")):
        parts.add_call(_without_nulls(call))
    for key in ("thinking", "reasoning_content", "reasoning"):
        if isinstance(turn.get(key), str):
            parts.add_reasoning(turn[key])
            break
    return parts.messages(role, call_id=turn.get("tool_call_id"), name=turn.get("name"))


def _add_calls(parts: MessageParts, content: Any) -> None:
    """The calls of a turn: an object, a list of them, or what was meant to be one."""
    calls = parse_json(content)
    if isinstance(calls, dict | list):
        for call in calls if isinstance(calls, list) else [calls]:
            parts.add_call(call)
    else:
        parts.add_text(as_text(content))


def _add(parts: MessageParts, piece: Any) -> None:
    """A piece of LLaMA-Factory's content has its content in `value`."""
    if not isinstance(piece, dict) or "value" not in piece or "text" in piece:
        parts.add(piece)
        return
    kind, value = piece.get("type"), piece["value"]
    if kind == "tool_call":
        _add_calls(parts, value)
    elif kind == "reasoning":
        parts.add_reasoning(as_text(value))
    elif kind in ("image_url", "image", "video_url", "audio_url"):
        parts.content.append({"type": "image_url", "image_url": {"url": as_text(value)}})
    else:
        parts.add_text(as_text(value))


def _without_nulls(call: Any) -> Any:
    """A call as it was before a table of Parquet gave all its rows the same keys."""
    if not isinstance(call, dict) or not isinstance(call.get("function"), dict):
        return call
    arguments = call["function"].get("arguments")
    if not isinstance(arguments, dict):
        return call
    kept = {key: held for key, held in arguments.items() if held is not None}
    return {**call, "function": {**call["function"], "arguments": kept}}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
