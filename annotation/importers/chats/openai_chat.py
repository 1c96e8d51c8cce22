"""Plain OpenAI-style chats: JSON Lines, one JSON list of records, or a single JSON record.

A record is an object with `messages`, or a bare list of messages. Its identity is `id`, else the SHA-256
of its content; its task is `task_id`, else the first user message. `question`, `reference_answer` (or
`ground_truth`), `answer_text` (or `answer`), `tools` (also as a string of JSON), `policy_model` (or `model`)
and labels are understood where they stand; every other key is kept. A record of one request (LiteLLM's logs)
has the last step in `response`, as the API answered it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import sha256_hex
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import Record, RecordError
from annotation.core.text import escape
from annotation.core.trajectories.trajectory import TrajectoryDraft, content_digest

from ..base import ReadContext
from ..benchmarks.agentprocessbench import MAX_DATA_SOURCE, MAX_POLICY_MODEL, own_policy_model
from ..parts.dialects import parse_json
from ..records import (
    LABEL_KEYS,
    RecordIdentities,
    RecordProblems,
    as_text,
    first_text,
    labels_of,
    messages_of,
    read_drafts,
    short_text,
    tools_of,
)

MAX_RECORD_ID: Final = 255
MAX_TASK_KEY: Final = 255
UNKNOWN_MODEL: Final = "unknown"

_FIELDS: Final = LABEL_KEYS | {
    "answer",
    "answer_text",
    "data_source",
    "ground_truth",
    "id",
    "messages",
    "question",
    "reference_answer",
    "task_description",
    "task_id",
    "tools",
}  # fmt: skip


class OpenAIChat:
    """See the module; `Importer` states what each member promises."""

    name = "openai_chat"
    title = translatable("OpenAI-style chat (JSON Lines or JSON)")
    recognised_by = translatable("“messages” with roles, or a bare list of messages")

    def sniff(self, head: bytes) -> float:
        layout = json_head(head)
        return 0.5 if layout.bare or "messages" in layout.keys else 0.0

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        seen = RecordIdentities()

        def draft_of(record: Record, problems: RecordProblems) -> TrajectoryDraft | None:
            draft = _draft(record, context, problems)
            if draft is not None and not problems:
                seen.check(draft.record_id, record.line, "id", problems)
            return draft

        return read_drafts(stream, context, draft_of)


def _draft(record: Record, context: ReadContext, problems: RecordProblems) -> TrajectoryDraft | None:
    value = {"messages": record.value} if isinstance(record.value, list) else record.value
    if not isinstance(value, dict):
        problems.add("", translatable("is neither an object with messages nor a list of messages"))
        return None
    messages = messages_of(_with_answer(value), problems)
    question = as_text(value.get("question")) or first_text(messages, "user")
    answered_by = as_text(_response(value).get("model"))
    policy_model = own_policy_model(value) or answered_by or context.policy_models.get(0) or UNKNOWN_MODEL
    draft = TrajectoryDraft(
        record_id=_identity(value, "id", MAX_RECORD_ID, problems),
        task_key=_identity(value, "task_id", MAX_TASK_KEY, problems) or _key_of(question, messages),
        question=question,
        data_source=short_text(as_text(value.get("data_source")), "data_source", MAX_DATA_SOURCE, problems),
        query_index=None,
        sample_index=None,
        policy_model=short_text(policy_model, "policy_model", MAX_POLICY_MODEL, problems),
        messages=messages,
        tools=tools_of(parse_json(value.get("tools")), problems),
        reference_answer=value.get("reference_answer", value.get("ground_truth")),
        task_description=value.get("task_description"),
        answer_text=_first_given(value, "answer_text", "answer"),
        hints=_hints(value),
        labels=labels_of(value, messages, problems),
        raw=record.raw,
        line=record.line,
    )
    return draft if draft.record_id or problems else replace(draft, record_id=content_digest(draft))


def _response(value: dict[str, Any]) -> dict[str, Any]:
    """The answer of the API that a record holds: an object with `choices`; else an empty one."""
    response = value.get("response")
    return response if isinstance(response, dict) and isinstance(response.get("choices"), list) else {}


def _with_answer(value: dict[str, Any]) -> Any:
    """The messages, and after those of a request what was answered, unless it is the last of them already."""
    messages = value.get("messages")
    first = next(iter(_response(value).get("choices", [])), None)
    answer = first.get("message") if isinstance(first, dict) else None
    if not isinstance(messages, list) or not isinstance(answer, dict) or answer.get("role") != "assistant":
        return messages
    last = messages[-1] if messages else None
    if isinstance(last, dict) and last.get("role") == "assistant" and _said(last) == _said(answer):
        return messages
    return [*messages, answer]


def _hints(value: dict[str, Any]) -> dict[str, Any]:
    """Every other key; of an answer that is among the messages, what stands beside it."""
    kept = {key: item for key, item in value.items() if key not in _FIELDS}
    if response := _response(value):
        kept["response"] = {key: item for key, item in response.items() if key != "choices"}
    return kept


def _said(message: dict[str, Any]) -> tuple[Any, Any]:
    return message.get("content"), message.get("tool_calls")


def _identity(value: dict[str, Any], key: str, limit: int, problems: RecordProblems) -> str:
    """A record's own identity as text, or `""` when it has none."""
    identity = value.get(key)
    if identity is None:
        return ""
    if type(identity) is int:
        return str(identity)
    if not isinstance(identity, str) or not identity:
        problems.add(key, translatable("must be a non-empty string or a whole number"))
        return ""
    if len(escape(identity)) > limit:
        problems.add(key, translatable("is longer than {limit} characters", limit=limit))
    return identity


def _key_of(question: str, messages: list[dict[str, Any]]) -> str:
    """A task's key from its first user message; a chat in which no user speaks is a task of its own."""
    text = first_text(messages, "user") or question or as_text(messages)
    return sha256_hex(text.encode("utf-8", "surrogatepass"))


def _first_given(value: dict[str, Any], *keys: str) -> str | None:
    first = next((value[key] for key in keys if value.get(key) is not None), None)
    return None if first is None else as_text(first)
