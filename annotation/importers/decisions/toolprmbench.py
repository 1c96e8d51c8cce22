"""Pairs of actions as ToolPRMBench publishes them: a history, the action that was chosen and one that was
rejected.

A JSON list or JSON Lines, whatever the file is called. An action is text, one call in any of the spellings of
calls, a list of calls, or a whole message; it is kept as it stands, so that the release's files can be read
again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from annotation.core.decisions.record import Decision, Option, shown_message
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json, sha256_hex
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..parts.dialects import parse_json
from ..records import RecordProblems, as_text, first_text, short_text
from .reading import category_of, check_history, read_decisions, task_of

CHOSEN: Final = "action_chosen"
REJECTED: Final = "action_rejected"
MAX_DATA_SOURCE: Final = 200

_TASK: Final = ("sample_id", "task", "index")
_FIELDS: Final = frozenset({CHOSEN, REJECTED, "history", "functions", "question", "data_source", *_TASK})
_NAMES: Final = ("name", "api_name")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input")


class ToolPrmBench:
    """See the module; `Importer` states what each member promises."""

    name = "toolprmbench"
    title = translatable("ToolPRMBench (pairs of actions)")
    recognised_by = translatable("“history” beside “action_chosen” and “action_rejected”")
    kind = "decisions"

    def sniff(self, head: bytes) -> float:
        keys = json_head(head).keys
        if {CHOSEN, REJECTED} & keys:
            return 1.0
        # a long history may hide what stands after it
        return 0.8 if "history" in keys and b'"action_chosen"' in head else 0.0

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        return read_decisions(stream, context, _convert)


def _convert(value: dict[str, Any], problems: RecordProblems) -> Decision | None:
    history = check_history(value.get("history"), "history", problems)
    chosen = _action(value, CHOSEN, problems)
    rejected = _action(value, REJECTED, problems)
    if chosen and rejected and canonical_json(chosen) == canonical_json(rejected):
        problems.add(REJECTED, translatable("is the same action as {other}", other=CHOSEN))
    tools = _tools(value.get("functions"), problems)
    task = task_of(value, _TASK, problems)
    data_source = short_text(as_text(value.get("data_source")), "data_source", MAX_DATA_SOURCE, problems)
    if problems:
        return None
    question = as_text(value.get("question")) or first_text(history, "user")
    return Decision(
        question=question,
        tools=tools,
        history=history,
        options=(Option(chosen, 1), Option(rejected, -1)),
        task_key=task or sha256_hex((question or as_text(history)).encode("utf-8", "surrogatepass")),
        data_source=data_source,
        category=category_of(value),
        about={key: held for key, held in value.items() if key not in _FIELDS},
    )


def _action(value: dict[str, Any], name: str, problems: RecordProblems) -> dict[str, Any]:
    """The action in a field as a response; empty, with a problem noted, when there is none."""
    action = value.get(name)
    if action is None or action in ("", {}, []):
        problems.add(name, translatable("is missing") if action is None else translatable("is empty"))
        return {}
    if isinstance(action, str):
        return shown_message({"content": action})
    if isinstance(action, dict) and (
        action.get("tool_calls") or isinstance(action.get("content"), str | list)
    ):
        return shown_message(action)
    calls = [_call(call) for call in (action if isinstance(action, list) else [action])]
    if not all(calls):
        problems.add(name, translatable("must be text, or a call with a name"))
        return {}
    return shown_message({"tool_calls": calls})


def _call(call: Any) -> dict[str, Any] | None:
    """A call in the spelling of this house, from any other; None for what is none."""
    if not isinstance(call, dict):
        return None
    spec = call["function"] if isinstance(call.get("function"), dict) else call
    name = next((spec[key] for key in (*_NAMES, "function") if isinstance(spec.get(key), str)), "")
    if not name:
        return None
    given = next((key for key in _ARGUMENTS if key in spec), None)
    arguments = {} if given is None else {"arguments": spec[given]}
    return {"type": "function", "function": {"name": name, **arguments}}


def _tools(value: Any, problems: RecordProblems) -> list[Any]:
    """The functions that the agent had: a list, one, or an object of them by name."""
    value = parse_json(value)
    if value is None:
        return []
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        problems.add("functions", translatable("must be a list or an object"))
        return []
    if isinstance(value.get("name"), str) or "function" in value:
        return [value]
    return [
        {"name": name, **spec} if isinstance(spec, dict) else {"name": name} for name, spec in value.items()
    ]
