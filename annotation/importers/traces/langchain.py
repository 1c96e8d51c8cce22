"""Messages of LangChain, states of LangGraph threads, runs of LangSmith.

A record is a list of messages, an object with `messages`, or a state (`values.messages`, also the checkpoint
savers' `channel_values.messages`). The states of one thread repeat one another: the last one is taken. The
runs of one trace are one trajectory; an answer of LangSmith's query (`runs`) holds those of whole traces.
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
from ..parts.content_blocks import as_json
from ..parts.conversation_builder import ConversationBuilder
from ..parts.sessions import sessions
from ..parts.sniffing import messages_in, samples
from ..parts.unknown_fields import keep_rest
from ..records import RecordProblems
from .langchain_messages import add_messages, is_message, models_of
from .langsmith import by_trace, is_run, runs_in, trace_conversation, trace_of

CONVERTER: Final = 2
REPEATED: Final = translatable("states of a thread that another repeats")

_FIELDS: Final = frozenset({"id", "messages", "values", "channel_values", "metadata", "tasks", "tools"})
_HOLDERS: Final = ("values", "channel_values")


class LangChain:
    """See the module; `Importer` states what each member promises."""

    name = "langchain"
    title = translatable("LangChain messages, LangGraph states and LangSmith runs (JSON or JSON Lines)")
    recognised_by = translatable(
        "messages with “lc” and “kwargs”, or of the types “human” and “ai”; “run_type” with “dotted_order”"
    )

    def sniff(self, head: bytes) -> float:
        if any(is_run(record) or runs_in(record) for record in samples(head)):
            return 0.95
        messages = [message for record in samples(head) for message in (record, *_messages(record))]
        return max((_certainty(message) for message in messages if isinstance(message, dict)), default=0.0)

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        groups = sessions(stream, context, _session_of)
        return read_conversations(groups, context, _convert, format=self.name, converter=CONVERTER)


def _certainty(message: dict[str, Any]) -> float:
    if not is_message(message):
        return 0.0
    if message.get("type") == "constructor":
        return 0.95 if message.get("lc") == 1 else 0.0
    if isinstance(message.get("data"), dict):
        return 0.9 if "content" in message["data"] else 0.0
    kinds = ("human", "ai", "AIMessageChunk")
    return 0.85 if message.get("type") in kinds and not {"uuid", "sessionId"} & message.keys() else 0.0


def _holder(record: dict[str, Any]) -> dict[str, Any] | None:
    """The dictionary with the messages of a state; `None` for a record that is no state."""
    held = next((record[key] for key in _HOLDERS if isinstance(record.get(key), dict)), None)
    return held if held is not None and isinstance(held.get("messages"), list) else None


def _messages(record: dict[str, Any]) -> list[Any]:
    return messages_in(_holder(record) or record)


def _session_of(record: dict[str, Any]) -> str | None:
    if is_run(record):
        return f"trace {trace_of(record)}"
    if is_message(record):
        return ""
    return f"state {_thread_of(record)}" if _holder(record) is not None else None


def _thread_of(state: dict[str, Any]) -> str:
    """The thread of a state, wherever it says so."""
    config = state.get("config")
    places = [state, state.get("metadata"), state.get("checkpoint")]
    places += [config.get("configurable")] if isinstance(config, dict) else []
    return next(
        (as_json(item["thread_id"]) for item in places if isinstance(item, dict) and "thread_id" in item), ""
    )


def _convert(piece: Any, problems: RecordProblems) -> Iterator[Conversation]:
    value = piece.value
    states = (
        [run for run in value if isinstance(run, dict) and _holder(run)] if isinstance(value, list) else []
    )
    if isinstance(value, dict) and is_run(value):
        value = [value]
    runs = runs_in(value) if isinstance(value, dict) else runs_in({"runs": value})
    if runs:
        yield from (trace_conversation(of_trace) for of_trace in by_trace(runs))
    elif states:
        last = max(states, key=_progress)
        conversation = _of_record(last, problems)
        conversation.notes[REPEATED] += len(states) - 1
        conversation.notes = +conversation.notes
        yield conversation
    elif isinstance(value, list):
        yield _of_record({"messages": value}, problems)
    elif isinstance(value, dict):
        yield _of_record(value, problems)
    else:
        problems.add("", translatable("is neither an object with messages nor a list of messages"))


def _progress(state: dict[str, Any]) -> tuple[str, int]:
    """The age of a state of a thread: one program writes states newest first, another oldest first."""
    return as_json(state.get("created_at") or state.get("ts")), len(_messages(state))


def _of_record(record: dict[str, Any], problems: RecordProblems) -> Conversation:
    """A list of messages, or a state, as a conversation."""
    held = (_holder(record) or record).get("messages")
    if not isinstance(held, list):
        problems.add("messages", translatable("must be a list of messages"))
        held = []
    conversation = Conversation(record_id=_thread_of(record) or as_json(record.get("id")))
    add_messages(ConversationBuilder(conversation), held, "messages")
    models = models_of(held)
    conversation.policy_model = models[0] if models else ""
    if len(models) > 1:
        conversation.hints["models"] = models
    keep_rest(conversation, record, _FIELDS)
    if isinstance(record.get("tools"), list):
        conversation.tools = record["tools"]
    return conversation
