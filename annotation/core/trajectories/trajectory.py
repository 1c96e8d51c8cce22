"""A trajectory as an importer hands it over, before it has an owner or a database row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..jsonio.canonical import canonical_json, sha256_hex
from .messages import ContentPart, Message, ToolCall, message_text, normalise, pair_results

__all__ = [
    "ContentPart",
    "FileLabels",
    "Message",
    "SourceLabel",
    "ToolCall",
    "TrajectoryDraft",
    "content_digest",
    "content_json",
    "message_text",
    "normalise",
    "pair_results",
    "step_indexes",
]


@dataclass(frozen=True, slots=True)
class FileLabels:
    """Labels that stood inside a trajectory file: never ours, never shown, never in the content digest.

    `step_labels`: message index to −1, 0, 1 or `None` (null in the file); `final_label`: the outcome.
    """

    step_labels: dict[int, int | None]
    final_label: int | None


@dataclass(frozen=True, slots=True)
class SourceLabel:
    """A label, score or verdict that stood in the file: never a person's, never shown to a blind annotator.

    `message` is the index of the message that it is about, or `None` for the whole trajectory; `name` is the
    source's own (`mistake_step`, a score's name); `value` is as it stood; `reason` is the source's text.
    """

    message: int | None
    name: str
    value: Any
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TrajectoryDraft:
    """One record of a trajectory file, checked: at least one message, at least one step.

    `record_id` is its identity within a subset and `task_key` that of its task. Texts are as in the
    file (they may hold NUL or lone surrogates: `core.text.escape` before a text column). `hints` holds
    every key of the record that has no field here (`terminated`, `reward_info`, `total_index` …).
    `raw` is the exact bytes of the record, without the line ending; `line` counts from 1. `source_labels`
    are the labels of a foreign format, like `labels` no part of the content. `original_with`: the record id
    of the trajectory that keeps the bytes of a record in which there are many; `raw` says only that then.
    `decision`: of a question, what it asks for (core.decisions.record.Asked).
    """

    record_id: str
    task_key: str
    question: str
    data_source: str
    query_index: int | None
    sample_index: int | None
    policy_model: str
    messages: list[dict[str, Any]]
    tools: list[Any]
    reference_answer: Any
    task_description: Any
    answer_text: str | None
    hints: dict[str, Any]
    labels: FileLabels | None
    raw: bytes
    line: int
    source_labels: tuple[SourceLabel, ...] = ()
    original_with: str = ""
    decision: Mapping[str, str] | None = None

    def content(self) -> dict[str, Any]:
        """The content behind the content digest, stored to be shown (see `canonical`)."""
        return ({} if self.decision is None else {"decision": dict(self.decision)}) | {
            "answer_text": self.answer_text,
            "data_source": self.data_source,
            "hints": self.hints,
            "messages": self.messages,
            "query_index": self.query_index,
            "question": self.question,
            "reference_answer": self.reference_answer,
            "sample_index": self.sample_index,
            "task_description": self.task_description,
            "task_key": self.task_key,
            "tools": self.tools,
        }


def step_indexes(messages: Iterable[Mapping[str, Any] | Message]) -> list[int]:
    """The indexes of the steps: messages whose role is `assistant`, raw as in the file or normalised."""
    return [
        index
        for index, message in enumerate(messages)
        if (message.role if isinstance(message, Message) else message.get("role")) == "assistant"
    ]


def content_json(draft: TrajectoryDraft) -> bytes:
    """Canonical JSON of everything an imported record says, its labels and its line apart.

    An object with the keys `answer_text`, `data_source`, `hints`, `messages`, `query_index`,
    `question`, `reference_answer`, `sample_index`, `task_description`, `task_key`, `tools`; of a question
    also `decision`.
    The policy model is not part of it: its name may come from an option of the import.
    """
    return canonical_json(draft.content())


def content_digest(draft: TrajectoryDraft) -> str:
    """SHA-256 of `content_json`: equal exactly when two imports of a record say the same."""
    return sha256_hex(content_json(draft))
