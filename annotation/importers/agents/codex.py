"""Sessions of Codex (JSON Lines: `timestamp`, `type`, `payload`), and the older ones of bare items.

Only `response_item` lines are the conversation; `event_msg` lines repeat it. A session that was forked from
another, or that a sub-agent ran, begins with a copy of that other session's lines and its `session_meta`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..conversion import Conversation
from ..drafts import read_conversations
from ..parts.content_blocks import as_json, parts_of, text_of
from ..parts.conversation_builder import ConversationBuilder
from ..parts.response_items import COMPACTIONS, ITEM_TYPES, add_item, kind_of
from ..parts.sessions import sessions
from ..parts.sniffing import samples
from ..records import RecordProblems

CONVERTER: Final = 1
COPIED = translatable("sessions that were copied into another, read as its beginning")

_LINE_TYPES: Final = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_ORIGINS: Final = ("forked_from_id", "parent_thread_id")
_NOT_ASKED: Final = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md",
    "<permissions",
    "<turn_aborted>",
)


class Codex:
    """See the module; `Importer` states what each member promises."""

    name = "codex"
    title = translatable("Codex session (JSON Lines)")
    recognised_by = translatable("lines with “timestamp”, “type” and “payload”, such as “session_meta”")

    def sniff(self, head: bytes) -> float:
        records = samples(head)
        if any(_is_line(record) for record in records):
            return 0.95
        is_old = records and _is_old_head(records[0]) and any(_is_old_item(item) for item in records[1:])
        return 0.92 if is_old else 0.0

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        groups = sessions(stream, context, _SessionOf(), lenient=True)
        return read_conversations(groups, context, _convert, format=self.name, converter=CONVERTER)


def _is_line(record: dict[str, Any]) -> bool:
    return isinstance(record.get("payload"), dict) and record.get("type") in tuple(_LINE_TYPES)


def _is_old_head(record: dict[str, Any]) -> bool:
    return {"id", "timestamp"} <= record.keys() and "instructions" in record and "type" not in record


def _is_old_item(record: dict[str, Any]) -> bool:
    return kind_of(record) in ITEM_TYPES | {"message"} or record.get("record_type") == "state"


class _SessionOf:
    """The session of each line: that of the last `session_meta` which is not a copied one."""

    def __init__(self) -> None:
        self._origins: set[str] = set()
        self._begun = False

    def __call__(self, record: dict[str, Any]) -> str | None:
        meta = _meta(record)
        if meta is None:
            return ""
        name = as_json(meta.get("id"))
        if name in self._origins:
            return ""
        self._origins.update(as_json(meta[key]) for key in _ORIGINS if meta.get(key))
        return name


def _meta(record: dict[str, Any]) -> dict[str, Any] | None:
    payload = record.get("payload")
    if record.get("type") == "session_meta" and isinstance(payload, dict):
        return payload
    return record if _is_old_head(record) else None


def _convert(piece: Any, problems: RecordProblems) -> Iterator[Conversation]:
    if not isinstance(piece.value, list):
        problems.add("", translatable("is not a line of a session"))
        return
    yield session([line for line in piece.value if isinstance(line, dict)])


def session(lines: list[dict[str, Any]]) -> Conversation:
    """The lines of one session as a conversation."""
    metas = [meta for meta in map(_meta, lines) if meta is not None]
    conversation = _conversation(metas)
    thread = ConversationBuilder(conversation)
    if metas and (instructions := _instructions(metas[0])):
        thread.add("system", instructions)
    models: dict[str, None] = {}
    for number, line in enumerate(lines):
        payload = line.get("payload")
        kind = line.get("type")
        if kind == "turn_context" and isinstance(payload, dict) and isinstance(payload.get("model"), str):
            models.setdefault(payload["model"])
        elif kind == "compacted" and isinstance(payload, dict):
            conversation.notes[COMPACTIONS] += 1
            if payload.get("message"):
                thread.note("system", payload["message"])
        elif kind == "event_msg" and isinstance(payload, dict):
            if payload.get("type") == "user_message" and not conversation.question:
                conversation.question = as_json(payload.get("message"))
        elif kind == "response_item" and isinstance(payload, dict):
            add_item(thread, payload, f"line {number + 1}")
        elif payload is None and _is_old_item(line) and "record_type" not in line:
            add_item(thread, line, f"line {number + 1}")
    conversation.question = conversation.question or _asked(conversation.messages)
    conversation.policy_model = next(iter(models), "")
    if len(models) > 1:
        conversation.hints["models"] = list(models)
    return conversation


def _conversation(metas: list[dict[str, Any]]) -> Conversation:
    if not metas:
        return Conversation()
    meta = metas[0]
    conversation = Conversation(
        record_id=as_json(meta.get("id")), format_version=as_json(meta.get("cli_version"))
    )
    for key in ("cwd", "git", "source", "model_provider"):
        if meta.get(key):
            conversation.hints[key] = meta[key]
    for key, hint in zip(_ORIGINS, ("forked_from", "sub_agent_of"), strict=True):
        if meta.get(key):
            conversation.hints[hint] = meta[key]
    copied = {as_json(other.get("id")) for other in metas[1:]} - {conversation.record_id}
    if copied:
        conversation.notes[COPIED] += len(copied)
    return conversation


def _instructions(meta: dict[str, Any]) -> str:
    instructions = meta.get("instructions") or meta.get("base_instructions")
    if isinstance(instructions, dict):
        instructions = instructions.get("text")
    return instructions if isinstance(instructions, str) else ""


def _asked(messages: list[dict[str, Any]]) -> str:
    """The first user message that the program did not write itself."""
    users = (text_of(parts_of(message["content"])) for message in messages if message["role"] == "user")
    return next((text for text in users if text and not text.lstrip().startswith(_NOT_ASKED)), "")
