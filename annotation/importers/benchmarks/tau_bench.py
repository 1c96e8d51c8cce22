"""Results of τ-bench (v1): a list of runs, each with its task, its reward and the messages of the agent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import RecordError, read_records
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..conversion import Conversation, SourceLabel
from ..drafts import SourceRecord, read_conversations
from ..parts.message_parts import as_object, as_text
from ..records import RecordProblems

CONVERTER: Final = 1

_FIELDS: Final = frozenset({"traj", "task_id", "trial", "info", "reward"})
_EMPTY: Final = ("function_call", "tool_calls", "audio", "refusal", "annotations")


class TauBench:
    """See the module; `Importer` states what each member promises."""

    name = "tau_bench"
    title = translatable("τ-bench results")
    recognised_by = translatable("“task_id” and “traj”, with “reward” and “info”")

    def sniff(self, head: bytes) -> float:
        keys = json_head(head).keys
        if {"task_id", "traj"} <= keys:
            return 0.9
        # `traj` comes last, after a task that may be long
        return 0.7 if {"task_id", "reward", "info"} <= keys and b'"user_id"' in head else 0.0

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        records = read_records(stream, filename=context.filename, max_record_bytes=context.max_record_bytes)
        return read_conversations(records, context, _convert, format=self.name, converter=CONVERTER)


def _convert(piece: SourceRecord, problems: RecordProblems) -> list[Conversation]:
    value = piece.value
    if not isinstance(value, dict) or not isinstance(value.get("traj"), list):
        problems.add("traj", translatable("must be a list of messages"))
        return []
    info = as_object(value.get("info"))
    task = as_object(info.get("task"))
    messages = [_message(message) for message in value["traj"]]
    task_id = as_text(value.get("task_id"))
    trial = as_text(value.get("trial"))
    conversation = Conversation(
        messages=messages,
        source_steps={
            index: str(index)
            for index, message in enumerate(messages)
            if isinstance(message, dict) and message.get("role") == "assistant"
        },
        record_id=f"{task_id}:{trial}" if task_id and trial else task_id,
        task_key=task_id,
        question=as_text(task.get("instruction")),
        reference_answer={key: task[key] for key in ("actions", "outputs") if key in task} or None,
        hints={
            **{key: held for key, held in value.items() if key not in _FIELDS},
            **{key: held for key, held in info.items() if key not in ("task", "reward_info")},
        },
    )
    if isinstance(value.get("reward"), int | float):
        conversation.labels.append(SourceLabel(None, "reward", value["reward"]))
    return [conversation]


def _message(message: Any) -> Any:
    """A message without the fields that OpenAI's library writes when they are empty."""
    if not isinstance(message, dict):
        return message
    return {key: held for key, held in message.items() if key not in _EMPTY or held}
