"""Results of τ²-bench: one object with the settings, the tasks, and all simulations.

Simulations are read one by one; what stands before them (settings and tasks) is kept. The system prompt is
the domain's policy, which the messages do not repeat. Calls and results of the simulated user's own tools are
the user's. The step's address is its `turn_idx`, else its place among the messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.trajectories.step_costs import cost_in
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..conversion import Conversation, SourceLabel
from ..drafts import read_conversations
from ..parts.dialects import read_tools
from ..parts.json_array_stream import Element, records_at
from ..parts.message_parts import MessageParts, as_object, as_text
from ..parts.trace_conversations import TIMES
from ..records import RecordProblems

CONVERTER: Final = 2

VOICE: Final = translatable("is a simulation of speech in both directions (ticks), which has no steps")
APART: Final = translatable(
    "has no list of simulations; when they stand in files of their own, put “results.json” and the folder "
    "“simulations” into a zip archive, and import that"
)
RAW_ANSWERS: Final = translatable("the answers of the model’s interface")
_HINTS: Final = ("trial", "seed", "termination_reason")


class Tau2Bench:
    """See the module; `Importer` states what each member promises."""

    name = "tau2_bench"
    title = translatable("τ²-bench results")
    recognised_by = translatable("“simulations” beside “info” and “tasks”")

    def sniff(self, head: bytes) -> float:
        keys = json_head(head).keys
        if {"info", "tasks"} <= keys and (
            "simulations" in keys or b'"agent_info"' in head or b'"environment_info"' in head
        ):
            return 0.9
        alone = {"task_id", "messages"} <= keys and keys & {"termination_reason", "reward_info"}
        return 0.9 if "simulations" in keys and "info" in keys else 0.7 if alone else 0.0

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        pieces = records_at(
            stream, ("simulations",), filename=context.filename, max_record_bytes=context.max_record_bytes
        )
        settings = _Settings()
        return read_conversations(
            _given(pieces, context),
            context,
            lambda piece, problems: _convert(piece, settings, problems),
            format=self.name,
            converter=CONVERTER,
        )


def _given(pieces: Iterator[Element | RecordError], context: ReadContext) -> Iterator[Element | RecordError]:
    first = next(pieces, None)
    if first is None:
        yield RecordError(context.filename, 0, "", APART)
        return
    yield first
    yield from pieces


class _Settings:
    """Settings before the simulations, read once for all of them."""

    def __init__(self) -> None:
        self._of: Mapping[str, bytes] | None = None
        self.info: dict[str, Any] = {}
        self.tasks: dict[str, dict[str, Any]] = {}

    def read(self, element: Element) -> None:
        around = element.around[0] if element.around else {}
        if around is self._of:
            return
        self._of = around
        info, tasks = element.beside(0, "info"), element.beside(0, "tasks")
        self.info = info if isinstance(info, dict) else {}
        listed = tasks if isinstance(tasks, list) else []
        self.tasks = {as_text(task.get("id")): task for task in listed if isinstance(task, dict)}

    def part(self, name: str) -> dict[str, Any]:
        held = self.info.get(name)
        return held if isinstance(held, dict) else {}


def _convert(piece: Any, settings: _Settings, problems: RecordProblems) -> list[Conversation]:
    value = piece.value
    settings.read(piece)
    if not isinstance(value, dict):
        problems.add("", translatable("is not a JSON object"))
        return []
    listed = value.get("messages")
    if not isinstance(listed, list) or (not listed and value.get("ticks")):
        problems.add("messages", VOICE if value.get("ticks") else translatable("must be a list of messages"))
        return []
    environment = settings.part("environment_info")
    conversation = Conversation(
        record_id=as_text(value.get("id")) or _numbered(value),
        task_key=as_text(value.get("task_id")),
        data_source=as_text(environment.get("domain_name")),
        policy_model=as_text(settings.part("agent_info").get("llm")),
        tools=read_tools(environment.get("tool_defs")),
        hints={key: value[key] for key in _HINTS if value.get(key) is not None},
        left_out={TIMES, RAW_ANSWERS},
    )
    if environment.get("policy"):
        conversation.messages.append({"role": "system", "content": as_text(environment["policy"])})
    turns = _add_messages(listed, conversation)
    _add_task(settings.tasks.get(conversation.task_key, {}), conversation)
    _take_labels(value, turns, conversation)
    return [conversation]


def _numbered(value: dict[str, Any]) -> str:
    return f"{as_text(value.get('task_id'))}:{as_text(value.get('trial'))}" if "task_id" in value else ""


def _add_messages(listed: list[Any], conversation: Conversation) -> dict[str, int]:
    """The messages, several results in one taken apart: the step at each turn index."""
    turns: dict[str, int] = {}
    for place, entry in enumerate(listed):
        if not isinstance(entry, dict):
            conversation.messages.append({"role": "user", "content": as_text(entry)})
            continue
        held = entry.get("tool_messages")
        for message in held if isinstance(held, list) and entry.get("role") == "tool" else [entry]:
            if isinstance(message, dict):
                conversation.messages.append(_message(message))
        if entry.get("role") == "assistant":
            turn = entry.get("turn_idx")
            address = as_text(turn if turn is not None else place)
            turns[address] = len(conversation.messages) - 1
            conversation.source_steps[len(conversation.messages) - 1] = address
    return turns


def _message(source: dict[str, Any]) -> dict[str, Any]:
    """One message in OpenAI's shape: calls are flat here, and a result has the call's id as its own."""
    role = as_text(source.get("role")) or "user"
    parts = MessageParts()
    content = source.get("content")
    for piece in content if isinstance(content, list) else [content] if content else []:
        parts.add(piece)
    calls = source.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        parts.add_call(call)
    message = parts.messages(role, call_id=source.get("id"))[-1]
    if role == "assistant":
        usage = source.get("usage")
        cost = cost_in(usage if isinstance(usage, dict) else {}, source)
        if cost:
            message["usage"] = cost.as_json()
    if role == "tool":
        if source.get("requestor") == "user":
            message["name"] = "user"
        if source.get("error") is True:
            message["is_error"] = True
    return message


def _add_task(task: dict[str, Any], conversation: Conversation) -> None:
    scenario = as_object(task.get("user_scenario"))
    instructions = scenario.get("instructions")
    if isinstance(instructions, dict):
        sections = [as_text(instructions.get(key)) for key in ("reason_for_call", "task_instructions")]
        conversation.question = "\n\n".join(text for text in sections if text)
    else:
        conversation.question = as_text(instructions)
    criteria = task.get("evaluation_criteria")
    if isinstance(criteria, dict):
        conversation.reference_answer = {key: held for key, held in criteria.items() if held is not None}


def _take_labels(value: dict[str, Any], turns: dict[str, int], conversation: Conversation) -> None:
    reward = value.get("reward_info")
    if isinstance(reward, dict) and isinstance(reward.get("reward"), int | float):
        conversation.labels.append(SourceLabel(None, "reward", reward["reward"]))
    for key in ("user_only_review", "notes"):
        if value.get(key):
            conversation.labels.append(SourceLabel(None, key, value[key]))
    review = value.get("review")
    errors = review.get("errors") if isinstance(review, dict) else None
    for error in errors if isinstance(errors, list) else []:
        at = turns.get(as_text(error.get("turn_idx"))) if isinstance(error, dict) else None
        if at is not None and error.get("source") in (None, "agent", "assistant"):
            tags = error.get("error_tags")
            named = [as_text(tag) for tag in tags] if isinstance(tags, list) else []
            name = " ".join(["review", *named])
            reason = as_text(error.get("reasoning"))
            conversation.labels.append(SourceLabel(at, name, error.get("severity"), reason))
