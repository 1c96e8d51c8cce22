"""AgentProcessBench JSON Lines (arXiv 2603.14465), in its published and its development shape.

A record's identity is (`data_source`, `query_index`, `sample_index`); its task is the first two of
them; `sample_index` stands for the policy model, whose name the release leaves out. Labels in the file
are checked and handed over apart; they are never part of the content.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import Record, RecordError
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..records import (
    LABEL_KEYS,
    RecordIdentities,
    RecordProblems,
    as_text,
    first_text,
    index_of,
    labels_of,
    messages_of,
    read_drafts,
    short_text,
    tools_of,
)

MAX_DATA_SOURCE: Final = 200
MAX_POLICY_MODEL: Final = 120

_IDENTITY_KEYS: Final = frozenset({"data_source", "query_index", "sample_index"})
_FIELDS: Final = LABEL_KEYS | _IDENTITY_KEYS | {
    "answer_text",
    "ground_truth",
    "messages",
    "question",
    "task_description",
    "tools",
}  # fmt: skip


class AgentProcessBench:
    """See the module; `Importer` states what each member promises."""

    name = "agentprocessbench"
    title = translatable("AgentProcessBench (JSON Lines)")
    recognised_by = translatable("“data_source”, “query_index” and “sample_index” beside “messages”")

    def sniff(self, head: bytes) -> float:
        keys = json_head(head).keys
        if "messages" in keys and keys >= _IDENTITY_KEYS:
            return 1.0
        # a long record may show only some of its keys in the head
        likely = len(keys & (_IDENTITY_KEYS | {"total_index"})) >= 2 and "step_labels" not in keys
        return 0.8 if likely else 0.0

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        seen = RecordIdentities()
        return read_drafts(stream, context, lambda record, problems: _draft(record, context, seen, problems))


def _draft(
    record: Record, context: ReadContext, seen: RecordIdentities, problems: RecordProblems
) -> TrajectoryDraft | None:
    value = record.value
    if not isinstance(value, dict):
        problems.add("", translatable("is not a JSON object"))
        return None
    data_source = value.get("data_source")
    if not isinstance(data_source, str) or not data_source:
        missing = data_source is None
        problems.add(
            "data_source",
            translatable("is missing") if missing else translatable("must be a non-empty string"),
        )
        data_source = ""
    short_text(data_source, "data_source", MAX_DATA_SOURCE, problems)
    query_index = index_of(value, "query_index", problems)
    sample_index = index_of(value, "sample_index", problems)
    record_id = f"{data_source}:{query_index}:{sample_index}"
    if not problems:
        seen.check(record_id, record.line, "record_id", problems)
    messages = messages_of(value.get("messages"), problems)
    question = value.get("question")
    policy_model = own_policy_model(value) or context.policy_models.get(sample_index)
    policy_model = policy_model or f"sample-{sample_index}"
    return TrajectoryDraft(
        record_id=record_id,
        task_key=f"{data_source}:{query_index}",
        question=first_text(messages, "user") if question is None else as_text(question),
        data_source=data_source,
        query_index=query_index,
        sample_index=sample_index,
        policy_model=short_text(policy_model, "policy_model", MAX_POLICY_MODEL, problems),
        messages=messages,
        tools=tools_of(value.get("tools"), problems),
        reference_answer=value.get("ground_truth"),
        task_description=value.get("task_description"),
        answer_text=None if value.get("answer_text") is None else as_text(value["answer_text"]),
        hints={key: item for key, item in value.items() if key not in _FIELDS},
        labels=labels_of(value, messages, problems),
        raw=record.raw,
        line=record.line,
    )


def own_policy_model(value: dict[str, Any]) -> str:
    """The policy model that a record itself names (`policy_model`, else `model`), or `""`."""
    for key in ("policy_model", "model"):
        name = value.get(key)
        if isinstance(name, str) and name.strip():
            return name.strip()
    return ""
