"""Corrections: what would have been right in the place of a first error, as a person or a judge says it.

What is typed becomes a message that stands in a record as any response does, and each call of it is held
against the schema of its tool, as calls of runs are where they are shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from ..i18n import translatable
from ..jsonio.jsonlines import BadJson, parse_text
from ..trajectories.messages import ToolCall, message_text, normalise
from ..trajectories.tool_schema import SchemaProblem, Tool, check
from .record import Option

MAX_CHARACTERS: Final = 200_000
"""So many characters at most have the text and the arguments of an action that somebody writes, each."""
MAX_CALLS: Final = 16
MAX_NAME: Final = 255


class CorrectionAnswer(StrEnum):
    """The answer of a correction: a right action, or that nothing was wrong here, or that no action would
    have been right."""

    ACTION = "action"
    NOTHING_WRONG = "nothing_wrong"
    NO_RIGHT_ACTION = "no_right_action"


class CorrectionOrigin(StrEnum):
    """The origin of a right action: another run took it, the wrong one was edited, it was written anew, or a
    judge proposed it."""

    SIBLING = "sibling"
    EDITED = "edited"
    WRITTEN = "written"
    JUDGE = "judge"


class ErrorClass(StrEnum):
    """The error of the wrong action, held against the right one."""

    WRONG_TOOL = "wrong_tool"
    WRONG_PARAMETERS = "wrong_parameters"
    SHOULD_HAVE_ANSWERED = "should_have_answered"
    SHOULD_HAVE_CALLED = "should_have_called"


@dataclass(frozen=True, slots=True)
class Corrected:
    """A correction as deriving reads it; `option` is None without an action."""

    answer: CorrectionAnswer
    option: Option | None = None


def error_class_of(wrong: Mapping[str, Any], right: Mapping[str, Any]) -> ErrorClass | None:
    """The class of an error, from the calls of the two actions; None where neither calls a tool."""
    called, needed = (tuple(call.name for call in normalise([one])[0].tool_calls) for one in (wrong, right))
    if called and not needed:
        return ErrorClass.SHOULD_HAVE_ANSWERED
    if needed and not called:
        return ErrorClass.SHOULD_HAVE_CALLED
    if not called:
        return None
    return ErrorClass.WRONG_PARAMETERS if sorted(called) == sorted(needed) else ErrorClass.WRONG_TOOL


@dataclass(frozen=True, slots=True)
class TypedCall:
    """A call as it is typed: the name of the tool, and the arguments as JSON."""

    name: str
    arguments: str


def typed(message: Mapping[str, Any]) -> tuple[str, list[TypedCall]]:
    """A response as one would type it: its text, and its calls. Calls that stand in the text stay there."""
    (read,) = normalise([message])
    calls = [
        TypedCall(call.name, _pretty(call.arguments) if call.parsed else call.arguments_raw)
        for call in read.tool_calls
        if call.origin == "tool_calls"
    ]
    return message_text(message), calls


def _pretty(arguments: Any) -> str:
    return json.dumps(arguments, ensure_ascii=False, indent=2)


def action(text: str, calls: Sequence[TypedCall]) -> dict[str, Any]:
    """The typed action, as the message of a response."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"type": "function", "function": {"name": call.name, "arguments": call.arguments.strip()}}
            for call in calls
        ]
    return message


@dataclass(slots=True)
class ActionCheck:
    """The faults of an action that somebody wrote. `fields` are sentences by the field (`text`,
    `calls[0].name`, `calls[0].arguments`); `schema` are the faults of each call against its tool, by its
    number among all calls; `unchecked` are the tools whose schema says nothing that can be checked."""

    fields: dict[str, str] = field(default_factory=dict)
    schema: dict[int, tuple[SchemaProblem, ...]] = field(default_factory=dict)
    unchecked: list[str] = field(default_factory=list)


def check_action(tools: Sequence[Tool], text: str, calls: Sequence[TypedCall]) -> ActionCheck:
    """Hold what was typed against the limits and the schemas of its tools."""
    check = ActionCheck()
    sentence = translatable("Keep it under {limit} characters.", limit=f"{MAX_CHARACTERS:,}")
    if len(text) > MAX_CHARACTERS:
        check.fields["text"] = sentence
    elif not text.strip() and not calls:
        check.fields["text"] = translatable("Write a text, a call, or both.")
    if len(calls) > MAX_CALLS:
        check.fields["calls"] = translatable("At most {n} calls.", n=MAX_CALLS)
        return check
    for at, call in enumerate(calls):
        name, arguments = f"calls[{at}].name", f"calls[{at}].arguments"
        if not call.name.strip():
            check.fields[name] = translatable("Name the tool.")
        elif len(call.name) > MAX_NAME:
            check.fields[name] = translatable("Keep it under {limit} characters.", limit=f"{MAX_NAME:,}")
        if len(call.arguments) > MAX_CHARACTERS:
            check.fields[arguments] = sentence
        elif problem := _of_arguments(call.arguments):
            check.fields[arguments] = problem
    if not calls and "text" not in check.fields:
        _check_schemas(tools, enumerate(normalise([action(text, [])])[0].tool_calls), check)
    fit = [
        at for at in range(len(calls)) if not any(name.startswith(f"calls[{at}]") for name in check.fields)
    ]
    made = normalise([action("", [calls[at] for at in fit])])[0].tool_calls
    _check_schemas(tools, zip(fit, made, strict=True), check)
    return check


def _of_arguments(typed_: str) -> str:
    """The fault of the JSON of arguments, as a sentence; "" without one."""
    try:
        value = parse_text(typed_)
        # what reads as JSON elsewhere only
        json.dumps(value, allow_nan=False)
    except BadJson as bad:
        return translatable("The arguments cannot be read: {reason}.", reason=bad.args[0])
    except ValueError:
        return translatable("The arguments hold a number that JSON has no word for.")
    return "" if isinstance(value, dict) else translatable("The arguments must be a JSON object.")


def _check_schemas(tools: Sequence[Tool], calls: Iterable[tuple[int, ToolCall]], faults: ActionCheck) -> None:
    for at, call in calls:
        if not call.parsed:
            # it stands in the text
            faults.fields["text"] = translatable("A call in the text cannot be read.")
            continue
        checked = check(tools, call.name, call.arguments)
        if checked is None:
            faults.unchecked.append(call.name)
        elif checked:
            faults.schema[at] = checked
