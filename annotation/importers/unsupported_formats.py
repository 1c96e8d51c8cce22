"""Logs of programs whose formats are not read, so that they can be refused by name.

Several of them have a list `messages` and would be taken for a chat, whose messages then lack their roles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from annotation.core.i18n import translatable

from .parts.sniffing import messages_in, samples, strings

__all__ = ["kind_not_read"]

Record = dict[str, Any]

_AUTOGEN_MODEL: Final = frozenset(
    {"SystemMessage", "UserMessage", "AssistantMessage", "FunctionExecutionResultMessage"}
)
_AUTOGEN_TEAM: Final = frozenset(
    {
        "HandoffMessage",
        "MultiModalMessage",
        "TextMessage",
        "ThoughtEvent",
        "ToolCallExecutionEvent",
        "ToolCallRequestEvent",
        "ToolCallSummaryMessage",
    }
)


def _gemini_cli(record: Record) -> bool:
    return "projectHash" in record and "sessionId" in record


def _gemini(record: Record) -> bool:
    contents = record.get("contents", [record])
    return isinstance(contents, list) and any(
        isinstance(it, dict) and it.get("role") in ("user", "model") and isinstance(it.get("parts"), list)
        for it in contents
    )


def _adk(record: Record) -> bool:
    events = record.get("events")
    if isinstance(events, list) and any(isinstance(event, dict) and "author" in event for event in events):
        return True
    return "eval_set_id" in record and "eval_cases" in record


def _autogen(record: Record) -> bool:
    inner = strings(message.get("type") for message in messages_in(record) if "role" not in message)
    own = strings([record.get("type")]) if "source" in record else set()
    return bool(inner & (_AUTOGEN_MODEL | _AUTOGEN_TEAM) or own & _AUTOGEN_TEAM)


def _smolagents(record: Record) -> bool:
    return {"step_number", "model_output"} <= record.keys() or {
        "step_number",
        "observations",
    } <= record.keys()


def _pydantic_ai(record: Record) -> bool:
    parts = record.get("parts")
    return record.get("kind") in ("request", "response") and isinstance(parts, list)


def _tooltalk(record: Record) -> bool:
    return {"conversation", "apis_used"} <= record.keys()


def _bfcl(record: Record) -> bool:
    keys = record.keys()
    results = "result" in keys and bool({"inference_log", "latency"} & keys)
    return "id" in keys and (results or {"question", "initial_config"} <= keys)


def _rewards(record: Record) -> bool:
    return {"goal", "steps", "summary_info"} <= record.keys()


def _weave(record: Record) -> bool:
    return "raw_logging_results" in record or {"op_name", "trace_id", "inputs"} <= record.keys()


_KINDS: Final[tuple[tuple[Callable[[Record], bool], str], ...]] = (
    (_gemini_cli, translatable("a session of Gemini CLI")),
    (_adk, translatable("a session or an evaluation of Google’s ADK")),
    (_gemini, translatable("a request of the Gemini API")),
    (_autogen, translatable("a log of AutoGen")),
    (_smolagents, translatable("the memory of a smolagents agent")),
    (_pydantic_ai, translatable("a history of Pydantic AI")),
    (_tooltalk, translatable("a conversation of ToolTalk")),
    (_bfcl, translatable("a file of BFCL")),
    (_rewards, translatable("a trajectory of AgentRewardBench")),
    (_weave, translatable("a log of Weave")),
)


def kind_not_read(head: bytes) -> str | None:
    """The name of the known but unread format of a file that begins with `head`, if it has one."""
    for record in samples(head):
        for is_one, name in _KINDS:
            if is_one(record):
                return name
    return None
