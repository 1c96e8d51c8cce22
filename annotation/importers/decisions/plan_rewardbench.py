"""Pairs of whole runs as Plan-RewardBench publishes them, reduced to the first act in which they differ.

An act is a response of the agent: its text and the calls that follow it directly (`tool_call`, each a Python
literal), as they are written: another order of arguments is another act. Where the runs part at something
else than an act, a tool's result for the most part, their histories differ, and there is no decision.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from annotation.core.decisions.record import Decision, Option, shown_message
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json, sha256_hex
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.label_files import excerpt
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..records import RecordProblems, as_text, first_text, tools_of
from .reading import category_of, check_history, read_decisions

CHOSEN: Final = "chosen"
REJECTED: Final = "reject"
BUCKET: Final = "_lcp_bucket"

_FIELDS: Final = frozenset({"query", "tools", CHOSEN, REJECTED, BUCKET})
_ROLES: Final = {"tool_response": "tool"}
_MAX_LITERAL: Final = 1_000_000


class PlanRewardBench:
    """See the module; `Importer` states what each member promises."""

    name = "plan_rewardbench"
    title = translatable("Plan-RewardBench (pairs of runs)")
    recognised_by = translatable("“query” beside “chosen” and “reject”")
    kind = "decisions"

    def sniff(self, head: bytes) -> float:
        keys = json_head(head).keys
        if {"query", CHOSEN, REJECTED} <= keys:
            return 1.0
        # a long run may hide the other
        return 0.8 if {"query", CHOSEN} <= keys and b'"messages"' in head else 0.0

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        return read_decisions(stream, context, _convert)


def _convert(value: dict[str, Any], problems: RecordProblems) -> Decision | None:
    chosen, rejected = (_run(value.get(side), side, problems) for side in (CHOSEN, REJECTED))
    tools = tools_of(value.get("tools"), problems)
    if problems:
        return None
    at = _parting(chosen, rejected)
    if at is None:
        problems.add(REJECTED, translatable("is the same run as {other}", other=CHOSEN))
        return None
    if at in (len(chosen), len(rejected)):
        side = CHOSEN if at == len(chosen) else REJECTED
        problems.add(f"{side}.messages", translatable("ends where the other run goes on"))
        return None
    if any(run[at]["role"] != "assistant" for run in (chosen, rejected)):
        return None
    history = check_history(chosen[:at], f"{CHOSEN}.messages", problems)
    question = as_text(value.get("query")) or first_text(history, "user")
    return Decision(
        question=question,
        tools=tools,
        history=history,
        options=(Option(chosen[at], 1), Option(rejected[at], -1)),
        task_key=sha256_hex(question.encode("utf-8", "surrogatepass")),
        category=category_of(value) or as_text(value.get(BUCKET)),
        about={key: held for key, held in value.items() if key not in _FIELDS},
    )


def _parting(chosen: list[dict[str, Any]], rejected: list[dict[str, Any]]) -> int | None:
    """The first place at which two runs differ; None when they do not."""
    for index, (one, other) in enumerate(zip(chosen, rejected, strict=False)):
        if canonical_json(one) != canonical_json(other):
            return index
    return None if len(chosen) == len(rejected) else min(len(chosen), len(rejected))


def _run(side: Any, name: str, problems: RecordProblems) -> list[dict[str, Any]]:
    """The messages of one run in the roles of a chat, the calls in the response that they belong to."""
    messages = side.get("messages") if isinstance(side, dict) else None
    if not isinstance(messages, list) or not messages:
        missing = side is None or (isinstance(side, dict) and messages is None)
        where = f"{name}.messages" if isinstance(side, dict) else name
        problems.add(
            where,
            translatable("is missing") if missing else translatable("must be a list of messages, not empty"),
        )
        return []
    run: list[dict[str, Any]] = []
    for index, message in enumerate(messages):
        where = f"{name}.messages[{index}]"
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(role, str) or not role:
            problems.add(where, translatable("must be an object with a role"))
        elif role == "tool_call":
            call = _call(message.get("content"), f"{where}.content", problems)
            if not run or run[-1]["role"] != "assistant":
                run.append({"role": "assistant", "content": ""})
            run[-1].setdefault("tool_calls", []).append({"type": "function", "function": call})
        else:
            run.append(_message(_ROLES.get(role, role), message))
    return run


def _message(role: str, message: dict[str, Any]) -> dict[str, Any]:
    if role == "assistant":
        return shown_message(message)
    name = {"name": message["name"]} if "name" in message else {}
    return {"role": role, "content": message.get("content"), **name}


def _call(content: Any, where: str, problems: RecordProblems) -> Any:
    """The call that a Python literal writes: an object with a name."""
    try:
        if not isinstance(content, str) or len(content) > _MAX_LITERAL:
            raise ValueError
        call = ast.literal_eval(content)
        canonical_json(call)  # a set, bytes or a complex number is no JSON
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        problems.add(where, translatable("is no Python literal of a call: {found}", found=excerpt(content)))
        return {}
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        problems.add(where, translatable("must be a call with a name, not {found}", found=excerpt(content)))
        return {}
    return call
