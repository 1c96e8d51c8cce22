"""Trajectories of SWE-agent (`.traj`).

`history` is what is read. `trajectory` says the same again, with the whole prompt of every step. Of a run
with several attempts the history is that of the attempt that was taken; the others stay in `attempts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.jsonlines import BadJson, Record, RecordError, parse_text, read_records
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..conversion import Conversation
from ..drafts import read_conversations
from ..parts.content_blocks import as_json, parts_of, text_of
from ..parts.conversation_builder import ConversationBuilder
from ..parts.sniffing import samples
from ..records import RecordProblems

CONVERTER: Final = 1
DEMONSTRATIONS: Final = translatable("messages of a demonstration, which are no steps")
ATTEMPTS: Final = translatable("other attempts of the same run")
IN_TEXT: Final = translatable("commands that a response has in its text, not as a call")
PROMPTS: Final = translatable("the prompt of every step, which repeats the history")

_MARKS: Final = frozenset({"trajectory", "info", "environment", "replay_config"})
_ENTRY_MARKS: Final = frozenset({"message_type", "is_demo", "thought", "action", "agent"})
_STEP_MARKS: Final = frozenset({"action", "observation", "response"})
_OTHERS: Final = frozenset({"mistake_agent", "mistake_step"})
_KEPT: Final = ("exit_status", "submission", "model_stats")


class SweAgent:
    """See the module; `Importer` states what each member promises."""

    name = "swe_agent"
    title = translatable("SWE-agent trajectory (.traj)")
    recognised_by = translatable("“history” beside “trajectory”, “info”, “environment” or “replay_config”")

    def sniff(self, head: bytes) -> float:
        records = samples(head)
        return _certainty(records[0]) if records else 0.0

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        records = read_records(stream, filename=context.filename, max_record_bytes=context.max_record_bytes)
        task = context.filename.rsplit("/", 1)[-1].removesuffix(".json").removesuffix(".traj")

        def convert(piece: Any, problems: RecordProblems) -> Iterator[Conversation]:
            yield from trajectory(piece, task, problems)

        return read_conversations(records, context, convert, format=self.name, converter=CONVERTER)


def _certainty(record: dict[str, Any]) -> float:
    history = record.get("history")
    steps = record.get("trajectory")
    if history is None and isinstance(steps, list):  # which a long file begins with
        return 0.9 if any(isinstance(step, dict) and step.keys() >= _STEP_MARKS for step in steps) else 0.0
    if not isinstance(history, list) or _OTHERS & record.keys():
        return 0.0
    marked = any(
        isinstance(entry, dict) and "role" in entry and _ENTRY_MARKS & entry.keys() for entry in history
    )
    return 0.9 if marked else 0.8 if _MARKS & record.keys() and history else 0.0


def trajectory(piece: Record, task: str, problems: RecordProblems) -> Iterator[Conversation]:
    """One run as a conversation. `task` is the name of its file, which is that of the task."""
    value = piece.value
    history = value.get("history") if isinstance(value, dict) else None
    if not isinstance(history, list):
        problems.add("history", translatable("must be a list of messages"))
        return
    info = value["info"] if isinstance(value.get("info"), dict) else {}
    conversation = Conversation(
        format_version=as_json(info.get("swe_agent_version")),
        task_key=as_json(value.get("instance_id")) or task,
        policy_model=_model(value.get("replay_config")),
    )
    thread = ConversationBuilder(conversation)
    for index, entry in enumerate(history):
        if isinstance(entry, dict):
            _add(thread, entry, index)
        else:
            problems.add(f"history[{index}]", translatable("must be an object with a role"))
    conversation.hints.update({key: info[key] for key in _KEPT if key in info})
    for key in ("environment", "problem_statement"):
        if value.get(key):
            conversation.hints[key] = value[key]
    attempts = value.get("attempts")
    if isinstance(attempts, list) and len(attempts) > 1:
        conversation.notes[ATTEMPTS] += len(attempts) - 1
    if value.get("trajectory"):
        conversation.left_out.add(PROMPTS)
    conversation.notes = +conversation.notes
    yield conversation


def _add(thread: ConversationBuilder, entry: dict[str, Any], index: int) -> None:
    role, content = entry.get("role"), entry.get("content")
    conversation = thread.conversation
    if entry.get("is_demo") is True and role in ("assistant", "tool", "user"):
        conversation.notes[DEMONSTRATIONS] += 1
        text = text_of(parts_of(content))
        thread.add("system", f"[{role}, in a demonstration]\n{text}")
    elif role == "assistant":
        thread.close()
        response = thread.respond(f"history[{index}]")
        response.say(content)
        response.think(entry.get("reasoning_content"))
        calls = entry["tool_calls"] if isinstance(entry.get("tool_calls"), list) else []
        conversation.notes[IN_TEXT] += bool(entry.get("action")) and not calls
        for call in calls:
            function = call.get("function") if isinstance(call, dict) else None
            spec = function if isinstance(function, dict) else {}
            response.call(
                call.get("id") if isinstance(call, dict) else None, spec.get("name"), spec.get("arguments")
            )
    elif role == "tool":
        ids = entry.get("tool_call_ids")
        call_id = ids[0] if isinstance(ids, list) and ids else entry.get("tool_call_id")
        thread.result(call_id, content)
    else:
        thread.add(as_json(role) or "user", content)
        if role == "user" and not conversation.question and entry.get("message_type") != "demonstration":
            conversation.question = text_of(parts_of(content))


def _model(config: Any) -> str:
    """The model that the configuration for a replay names; it may be JSON within a text."""
    for key in ("", "agent", "model", "name"):
        if isinstance(config, str) and key:
            try:
                config = parse_text(config)
            except BadJson:
                return ""
        if key:
            config = config.get(key) if isinstance(config, dict) else None
    return config if isinstance(config, str) else ""
