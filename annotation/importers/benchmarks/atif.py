"""ATIF 1.x (Agent Trajectory Interchange Format): Harbor, Terminal-Bench 2 and others.

A step with the source `agent` is a step, with two exceptions that no model call of this trajectory wrote:
context copied from another trajectory, and dispatches (`llm_call_count` 0). Embedded sub-agents are
trajectories of their own. A document that Tristep wrote gives back the record it was made from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO, Final

from annotation.core.bounds import MAX_INT
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import RecordError, read_records
from annotation.core.trajectories.atif import CONTEXT_ROLE, own_label, own_record, step_messages
from annotation.core.trajectories.trajectory import SourceLabel, TrajectoryDraft

from ..base import ReadContext
from ..conversion import Conversation
from ..drafts import SourceRecord, read_conversations
from ..records import RecordProblems, as_text

CONVERTER: Final = 2
LAST_MINOR: Final = 7

_MARK: Final = re.compile(rb'"schema_version"\s*:\s*"ATIF-v\d+\.\d+"')
_VERSION: Final = re.compile(r"ATIF-v(\d+)\.(\d+)")
_VERDICTS: Final = frozenset({"verdict", "reward", "score", "passed", "success", "resolved", "is_correct"})

_COPIED: Final = translatable("copied turns, not steps")
_DISPATCHES: Final = translatable("dispatches without a model call, not steps")
_NEWER: Final = translatable("trajectories of a later version of ATIF than is known here")
_CONTINUED: Final = translatable("trajectories continued in another file")
_SUB_AGENTS: Final = translatable("sub-agents, imported as trajectories of their own")
_OTHER_MODELS: Final = translatable("steps by another model than the agent’s")
_KEPT_METRICS: Final = frozenset({"prompt_tokens", "completion_tokens", "cost_usd"})
_METRICS: Final = translatable("metrics other than tokens and costs, token ids and times")


class Atif:
    """See the module; `Importer` states what each member promises."""

    name = "atif"
    title = translatable("ATIF (Agent Trajectory Interchange Format)")
    recognised_by = translatable("“schema_version” that begins with “ATIF-v”")

    def sniff(self, head: bytes) -> float:
        if _MARK.search(head) is None:
            return 0.0
        keys = json_head(head).keys
        return 1.0 if "schema_version" in keys else 0.0 if "messages" in keys else 0.9

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        records = read_records(stream, filename=context.filename, max_record_bytes=context.max_record_bytes)
        drafts = read_conversations(records, context, _conversations, format=self.name, converter=CONVERTER)
        return (_restored(item) if isinstance(item, TrajectoryDraft) else item for item in drafts)


def _conversations(piece: SourceRecord, problems: RecordProblems) -> Iterator[Conversation]:
    value = piece.value
    named = isinstance(value, dict) and "schema_version" not in value and value
    for document in value.values() if named else [value]:
        if not isinstance(document, dict):
            problems.add("", translatable("is not a JSON object"))
            return
        own = canonical_json(document) if named else None
        yield from _trajectory(document, "", own, problems)


def _trajectory(
    document: dict[str, Any], parent: str, raw: bytes | None, problems: RecordProblems
) -> Iterator[Conversation]:
    """The conversation of a document, and those of the sub-agents in it."""
    conversation = Conversation(raw=raw)
    if not _check_version(document, conversation, problems):
        return
    agent = document.get("agent")
    agent = agent if isinstance(agent, dict) else {}
    own_id = as_text(document.get("trajectory_id") or document.get("session_id"))
    conversation.record_id = f"{parent}/{own_id}" if parent and own_id else own_id
    conversation.policy_model = as_text(agent.get("model_name"))
    tools = agent.get("tool_definitions")
    conversation.tools = tools if isinstance(tools, list) else []
    conversation.hints = _hints(document, agent, parent)
    conversation.labels = list(_verdicts(document))
    steps = document.get("steps")
    if not isinstance(steps, list):
        problems.add("steps", translatable("must be a list"))
        return
    for number, step in enumerate(steps):
        if isinstance(step, dict):
            _add_step(conversation, step, number)
        else:
            problems.add(f"steps[{number}]", translatable("must be an object"))
    conversation.notes[_CONTINUED] += bool(document.get("continued_trajectory_ref"))
    children = document.get("subagent_trajectories")
    children = [child for child in children if isinstance(child, dict)] if isinstance(children, list) else []
    conversation.notes[_SUB_AGENTS] += len(children)
    conversation.notes = +conversation.notes
    yield conversation
    for child in children:
        yield from _trajectory(child, conversation.record_id or "parent", canonical_json(child), problems)


def _check_version(document: dict[str, Any], conversation: Conversation, problems: RecordProblems) -> bool:
    version = document.get("schema_version")
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if match is None or match[1] != "1":
        shown_version = as_text(version)[:40]
        problems.add(
            "schema_version",
            translatable("“{version}” is not known; ATIF-v1.0 to ATIF-v1.7 are read", version=shown_version),
        )
        return False
    conversation.format_version = match[0]
    conversation.notes[_NEWER] += int(match[2]) > LAST_MINOR
    return True


def _add_step(conversation: Conversation, step: dict[str, Any], number: int) -> None:
    start = len(conversation.messages)
    messages = step_messages(step)
    conversation.messages += messages
    role = messages[0].get("role") if messages else ""
    if role == CONTEXT_ROLE:
        conversation.notes[_COPIED if step.get("is_copied_context") else _DISPATCHES] += 1
    metrics = step.get("metrics")
    if metrics and not (isinstance(metrics, dict) and metrics.keys() <= _KEPT_METRICS):
        conversation.left_out.add(_METRICS)
    if role != "assistant":
        return
    model = step.get("model_name")
    if isinstance(model, str) and conversation.policy_model and model != conversation.policy_model:
        conversation.notes[_OTHER_MODELS] += 1
    conversation.source_steps[start] = as_text(step.get("step_id")) or f"steps/{number}"
    if label := own_label(step):
        kind = as_text(label.get("kind"))
        conversation.labels.append(SourceLabel(start, "tristep", label.get("value"), kind))


def _hints(document: dict[str, Any], agent: dict[str, Any], parent: str) -> dict[str, Any]:
    kept = {key: document[key] for key in ("notes", "continued_trajectory_ref") if document.get(key)}
    extra = document.get("extra")
    if isinstance(extra, dict) and (rest := {key: extra[key] for key in extra if key not in _VERDICTS}):
        kept["extra"] = rest
    described = {key: agent[key] for key in ("name", "version", "extra") if agent.get(key)}
    if described:
        kept["agent"] = described
    if parent:
        kept["sub_agent_of"] = parent
    return kept


def _verdicts(document: dict[str, Any]) -> Iterator[SourceLabel]:
    """Verdicts of the file on the outcome."""
    metrics = document.get("final_metrics")
    for holder in (document.get("extra"), metrics.get("extra") if isinstance(metrics, dict) else None):
        for name, value in holder.items() if isinstance(holder, dict) else ():
            if name in _VERDICTS:
                yield SourceLabel(None, name, value)


def _restored(draft: TrajectoryDraft) -> TrajectoryDraft:
    """The draft that a document of ours was written from; any other is left as it is."""
    extra = draft.hints.get("extra")
    ours = own_record({"extra": extra}) if isinstance(extra, dict) else None
    if ours is None:
        return draft
    texts = {
        key: ours[key] for key in ("task_key", "question", "data_source") if isinstance(ours.get(key), str)
    }
    numbers = {
        key: ours[key]
        for key in ("query_index", "sample_index")
        if type(ours.get(key)) is int and 0 <= ours[key] <= MAX_INT
    }
    answer = ours.get("answer_text")
    labels = draft.source_labels
    if isinstance(ours.get("outcome"), dict):
        outcome = ours["outcome"]
        labels += (SourceLabel(None, "tristep", outcome.get("value"), as_text(outcome.get("kind"))),)
    return replace(
        draft,
        **texts,
        **numbers,
        reference_answer=ours.get("reference_answer"),
        task_description=ours.get("task_description"),
        answer_text=answer if isinstance(answer, str) else None,
        hints=ours["hints"],
        tools=ours["tools"] if isinstance(ours.get("tools"), list) else draft.tools,
        source_labels=labels,
    )
