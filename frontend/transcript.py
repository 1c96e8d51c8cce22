"""Messages laid out for reading: what is text, what is a call, which result belongs to which, and what folds.

Everything in here comes from outside and is hostile until shown as text. `shown` makes characters visible
that would vanish or could not be sent at all; nothing else about a text is changed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final

from annotation.core.trajectory import Message, ToolCall
from annotation.models import Step
from annotation.reports.transcripts import Transcript

FOLD_LINES: Final = 12
"""A long output is clamped to about so many lines; one that is a little longer is not worth a fold."""
FOLD_FROM_LINES: Final = 16
FOLD_FROM_CHARACTERS: Final = 1800
LAY_OUT_UP_TO: Final = 200_000

_INVISIBLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text: str) -> str:
    """The text with control characters as their symbols (␀); lone surrogates, and the marks that turn the
    direction of writing round and could make a text look like another, as \\uXXXX."""
    return _INVISIBLE.sub(_symbol, text) if _INVISIBLE.search(text) else text


def _symbol(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code > 0x7F:
        return f"\\u{code:04x}"
    return "\u2421" if code == 0x7F else chr(0x2400 + code)


def laid_out(value: Any) -> str:
    """A parsed JSON value with line breaks and indents."""
    return shown(json.dumps(value, indent=2, ensure_ascii=False))


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text. `code`: written by a machine for a machine. `raw`: its exact form, when laid out."""

    text: str
    code: bool = False
    raw: str = ""
    foldable: bool = False
    kind: str = "text"

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.text.count("\n") + 1

    @property
    def folds(self) -> bool:
        """Whether it is long enough to be clamped."""
        return self.foldable and (self.lines > FOLD_FROM_LINES or len(self.text) > FOLD_FROM_CHARACTERS)


@dataclass(frozen=True, slots=True)
class Picture:
    """An image inside a message, served by us."""

    message_index: int
    part_index: int
    kind: str = "image"


@dataclass(slots=True)
class Call:
    """A tool call: arguments by name when they are an object, laid out when they parse, else as they came."""

    name: str
    position: int
    arguments: list[tuple[str, Text]]
    body: Text | None
    broken: bool
    in_text: bool
    results: list[Shown] = field(default_factory=list)


@dataclass(slots=True)
class Shown:
    """One message. `kind`: step, user, system, result or other. `answers`: the call a result belongs to.

    `by`: whose call a result answers, "assistant" or "user".
    """

    index: int
    kind: str
    role: str
    name: str
    blocks: list[Text | Picture]
    calls: list[Call]
    step: Step | None = None
    answers: Answered | None = None
    by: str = "assistant"
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """Which call a result answers: its name, and the message that made it."""

    call: str
    message_index: int


KINDS: Final = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "tool": "result",
    "function": "result",
}


def lay_out(transcript: Transcript, steps: list[Step]) -> list[Shown]:
    """The messages in order; results that directly follow their call's message stand under the call."""
    step_at = {step.message_index: step for step in steps}
    laid: dict[int, Shown] = {}
    top: list[Shown] = []
    caller = -1
    for message in transcript.messages:
        one = _message(message, step_at.get(message.index))
        laid[message.index] = one
        if one.kind != "result":
            caller = message.index
            top.append(one)
            continue
        place = transcript.results.get(message.index)
        if place is None:
            top.append(one)
            continue
        owner = laid[place[0]]
        call = owner.calls[place[1]]
        one.by = "user" if owner.kind == "user" else "assistant"
        one.answers = Answered(call.name, owner.index)
        if place[0] == caller:
            call.results.append(one)
        else:
            top.append(one)
    return top


def _message(message: Message, step: Step | None) -> Shown:
    kind = "step" if step is not None else KINDS.get(message.role, "other")
    blocks: list[Text | Picture] = []
    for number, part in enumerate(message.parts):
        if part.kind == "image":
            blocks.append(Picture(message.index, number))
        elif part.kind == "other":
            blocks.append(Text(shown(part.text), code=True, foldable=True))
        elif part.text:
            blocks.append(
                result_text(part.text)
                if kind == "result"
                else Text(shown(part.text), foldable=kind != "step")
            )
    return Shown(
        index=message.index,
        kind=kind,
        role=shown(message.role),
        name=shown(message.name or ""),
        blocks=blocks,
        calls=[_call(call, position) for position, call in enumerate(message.tool_calls)],
        step=step,
        empty=not blocks and not message.tool_calls,
    )


def result_text(text: str) -> Text:
    """A tool's output: laid out, its exact form beside it, when it is a JSON object or list on one line."""
    stripped = text.strip()
    if stripped[:1] in ("{", "[") and "\n" not in stripped and len(text) <= LAY_OUT_UP_TO:
        try:
            value = json.loads(stripped)
        except (ValueError, RecursionError):
            value = None
        if value:
            return Text(laid_out(value), code=True, raw=shown(text), foldable=True)
    return Text(shown(text), code=True, foldable=True)


def _call(call: ToolCall, position: int) -> Call:
    arguments: list[tuple[str, Text]] = []
    body: Text | None = None
    if call.parsed and isinstance(call.arguments, dict):
        arguments = [(shown(str(name)), argument_text(value)) for name, value in call.arguments.items()]
    elif call.parsed:
        body = Text(laid_out(call.arguments), code=True, raw=shown(call.arguments_raw), foldable=True)
    elif call.arguments_raw:
        body = Text(shown(call.arguments_raw), code=True, foldable=True)
    return Call(
        name=shown(call.name),
        position=position,
        arguments=arguments,
        body=body,
        broken=not call.parsed and bool(call.arguments_raw),
        in_text=call.origin == "text",
    )


def argument_text(value: Any) -> Text:
    """One argument: a string as its own text, anything else as JSON."""
    if isinstance(value, str):
        return Text(shown(value), foldable=True)
    compact = shown(json.dumps(value, ensure_ascii=False))
    return Text(compact if len(compact) <= 80 else laid_out(value), code=True, foldable=True)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool the agent had: its name, what it says of itself, and its schema."""

    name: str
    description: str
    schema: str


def tools(listed: list[Any]) -> list[Tool]:
    """The tools of a record, whatever shape they have."""
    found = []
    for entry in listed:
        spec = entry.get("function", entry) if isinstance(entry, dict) else entry
        if not isinstance(spec, dict):
            found.append(Tool("", "", laid_out(spec)))
            continue
        schema = next((spec[key] for key in ("parameters", "input_schema") if spec.get(key)), None)
        known = isinstance(spec.get("name"), str)
        found.append(
            Tool(
                name=shown(spec["name"]) if known else "",
                description=shown(str(spec.get("description") or "")),
                schema=laid_out(schema if schema is not None and known else spec),
            )
        )
    return found


def facts(value: Any) -> list[tuple[str, Text]]:
    """Something from the record (reference answer, hints …) as named texts; a single one has no name."""
    if isinstance(value, dict):
        return [
            (shown(str(name)), _fact(one)) for name, one in value.items() if one not in (None, "", [], {})
        ]
    return [] if value in (None, "", []) else [("", _fact(value))]


def _fact(value: Any) -> Text:
    if isinstance(value, str):
        return Text(shown(value), foldable=True)
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return Text("\n".join(shown(one) for one in value), foldable=True)
    compact = shown(json.dumps(value, ensure_ascii=False))
    return Text(compact if len(compact) <= 60 else laid_out(value), code=True, foldable=True)
