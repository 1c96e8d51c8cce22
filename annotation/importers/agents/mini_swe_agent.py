"""Trajectories of mini-SWE-agent (`.traj.json`): of format 1.1, with `info.mini_version`, or bare messages.

Where the model writes its command into the text, what the command gave is the next user message; it stays
one, because that is what the model was given. What a response holds twice (`extra.response`) is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import RecordError, read_records
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..conversion import Conversation
from ..drafts import read_conversations
from ..parts.content_blocks import as_json, parts_of, text_of
from ..parts.conversation_builder import ConversationBuilder
from ..parts.response_items import add_item, kind_of
from ..parts.sniffing import messages_in, samples
from ..parts.unknown_fields import keep_rest
from ..records import RecordProblems

CONVERTER: Final = 1
MARK: Final = "mini-swe-agent"
MAJOR: Final = "mini-swe-agent-1"
RAW: Final = translatable("the raw answer of the model’s server, which repeats the message")

_FIELDS: Final = frozenset({"info", "instance_id", "messages", "trajectory_format"})
_COMMANDS: Final = ("```mswea_bash_command", "```bash", "mswea_bash_command")


class MiniSweAgent:
    """See the module; `Importer` states what each member promises."""

    name = "mini_swe_agent"
    title = translatable("mini-SWE-agent trajectory (.traj.json)")
    recognised_by = translatable(
        "“trajectory_format” or “mini_version”, or messages with one bash block each"
    )

    def sniff(self, head: bytes) -> float:
        if b'"mini-swe-agent-' in head and "trajectory_format" in json_head(head).keys:
            return 1.0
        records = samples(head)
        info = records[0].get("info") if records else None
        if isinstance(info, dict) and "mini_version" in info:
            return 0.95
        return 0.75 if _acts_in_bash(records) else 0.0

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        records = read_records(stream, filename=context.filename, max_record_bytes=context.max_record_bytes)
        return read_conversations(records, context, _convert, format=self.name, converter=CONVERTER)


def _acts_in_bash(messages: tuple[dict[str, Any], ...]) -> bool:
    """Whether each bare response has one command, and the user its output."""
    if not messages or any(
        not message.keys().isdisjoint(("tool_calls", "id", "type")) for message in messages
    ):
        return False
    responses = [message for message in messages if message.get("role") == "assistant"]
    users = [message for message in messages[2:] if message.get("role") == "user"]
    outputs = [text for message in users if (text := as_json(message.get("content")))]
    return (
        bool(responses and outputs)
        and all(any(mark in as_json(response.get("content")) for mark in _COMMANDS) for response in responses)
        and any("<returncode>" in text for text in outputs)
    )


def _convert(piece: Any, problems: RecordProblems) -> Iterator[Conversation]:
    value = {"messages": piece.value} if isinstance(piece.value, list) else piece.value
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        problems.add("messages", translatable("must be a list of messages"))
        return
    version = as_json(value.get("trajectory_format"))
    if version.startswith(MARK) and not version.startswith(MAJOR):
        problems.add(
            "trajectory_format",
            translatable("is {version}; Tristep reads mini-swe-agent-1.x", version=version[:40]),
        )
        return
    yield trajectory(value, version)


def trajectory(value: dict[str, Any], version: str) -> Conversation:
    """One run as a conversation."""
    info = value["info"] if isinstance(value.get("info"), dict) else {}
    name = as_json(value.get("instance_id"))
    conversation = Conversation(
        format_version=version or as_json(info.get("mini_version")), task_key=name, policy_model=_model(info)
    )
    thread = ConversationBuilder(conversation)
    for index, message in enumerate(value["messages"]):
        if isinstance(message, dict):
            _add(thread, message, f"messages[{index}]")
        else:
            thread.add("user", message)
    for key in ("exit_status", "submission", "mini_version"):
        if info.get(key):
            conversation.hints[key] = info[key]
    keep_rest(conversation, value, _FIELDS)
    users = (message for message in messages_in(value) if message.get("role") == "user")
    conversation.question = text_of(parts_of(next(users, {}).get("content")))
    return conversation


def _add(thread: ConversationBuilder, message: dict[str, Any], place: str) -> None:
    role = as_json(message.get("role"))
    extra = message["extra"] if isinstance(message.get("extra"), dict) else {}
    if "response" in extra:
        thread.conversation.left_out.add(RAW)
        thread.conversation.policy_model = thread.conversation.policy_model or _answered_by(extra["response"])
    if message.get("object") == "response" and isinstance(message.get("output"), list):
        thread.close()
        for number, item in enumerate(message["output"]):
            if isinstance(item, dict):
                add_item(thread, item, f"{place}.output[{number}]", key=place)
    elif not role and kind_of(message):
        add_item(thread, message, place)
    elif role == "assistant":
        thread.close()
        response = thread.respond(place)
        response.say(message.get("content"))
        response.think(message.get("reasoning_content"))
        for call in message["tool_calls"] if isinstance(message.get("tool_calls"), list) else []:
            function = call.get("function") if isinstance(call, dict) else None
            spec = function if isinstance(function, dict) else {}
            response.call(
                call.get("id") if isinstance(call, dict) else None, spec.get("name"), spec.get("arguments")
            )
    elif role == "tool":
        failed = type(extra.get("returncode")) is int and extra["returncode"] != 0
        thread.result(message.get("tool_call_id"), message.get("content"), failed=failed)
    else:
        thread.add("user" if role in ("", "exit") else role, message.get("content"))


def _answered_by(response: Any) -> str:
    model = response.get("model") if isinstance(response, dict) else None
    return model if isinstance(model, str) else ""


def _model(info: dict[str, Any]) -> str:
    value: Any = info
    for key in ("config", "model", "model_name"):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""
