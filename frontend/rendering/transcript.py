"""Lay messages out for reading: texts, calls, the results that belong to them, and what folds.

Everything in here comes from outside and is hostile until shown as text (`escape_control_chars`). A result
that is JSON is read as structure; its exact form is one request away (`pages.messages`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from annotation.core.trajectories import tool_schema
from annotation.core.trajectories.messages import EARLIER
from annotation.core.trajectories.trajectory import Message, ToolCall
from annotation.models import Step
from annotation.reports.shared.transcripts import Transcript
from frontend.rendering import structure
from frontend.rendering.blocks import (
    Block,
    PictureBlock,
    StructureBlock,
    TextBlock,
    facts,
    hints_and_source,
    laid_out,
    result_block,
    value_block,
)
from frontend.rendering.control_chars import escape_control_chars
from frontend.rendering.schema_problems import in_words

__all__ = [
    "Block",
    "StructureBlock",
    "TextBlock",
    "escape_control_chars",
    "facts",
    "hints_and_source",
    "lay_out",
    "result_block",
    "tools",
]


@dataclass(frozen=True, slots=True)
class Twin:
    """An earlier call that was exactly the same: its message, and the number of its step (0: not a step)."""

    message_index: int
    step: int


@dataclass(slots=True)
class Call:
    """A tool call: arguments by name when they are an object, as structure when they parse, else as written.

    `problems`: how the arguments break the tool's schema, in words. `elsewhere`: the messages with results
    that do not stand under the call.
    """

    name: str
    position: int
    arguments: list[tuple[str, TextBlock | StructureBlock]]
    body: TextBlock | StructureBlock | None
    broken: bool
    in_text: bool
    problems: list[str]
    twin: Twin | None = None
    results: list[RenderedMessage] = field(default_factory=list)
    elsewhere: list[int] = field(default_factory=list)

    @property
    def result_indexes(self) -> list[int]:
        """The messages with its results, those under it first."""
        return [*(result.index for result in self.results), *self.elsewhere]


@dataclass(slots=True)
class RenderedMessage:
    """One message. `kind`: step, user, system, result or other. `answers`: the call a result belongs to.

    `by`: whose call a result answers, "assistant" or "user". `leading`: it stands before anybody has spoken.
    `failed`: a result that says so.
    """

    index: int
    kind: str
    role: str
    name: str
    blocks: list[Block]
    calls: list[Call]
    step: Step | None = None
    answers: AnsweredCall | None = None
    by: str = "assistant"
    empty: bool = False
    leading: bool = False
    failed: bool = False

    @property
    def earlier(self) -> bool:
        """Whether it is a response that the log only repeats, and therefore no step."""
        return self.role == EARLIER

    @property
    def peek(self) -> str:
        """The text it begins with; "" without one."""
        first = self.blocks[0] if self.blocks else None
        return first.text if isinstance(first, TextBlock) else ""

    @property
    def tool_error(self) -> bool:
        """Whether one of the results under its calls says that the call failed."""
        return any(result.failed for call in self.calls for result in call.results)

    @property
    def size(self) -> int:
        """The number of characters in its texts."""
        return sum(block.size for block in self.blocks if not isinstance(block, PictureBlock))


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """The call that a result answers: its name, and the message that made it."""

    call: str
    message_index: int


MESSAGE_KINDS: Final = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "tool": "result",
    "function": "result",
}


def lay_out(transcript: Transcript, steps: Sequence[Step]) -> list[RenderedMessage]:
    """The messages in order; results that directly follow their call's message stand under the call."""
    step_at = {step.message_index: step for step in steps}
    offered = _tools(transcript)
    laid: dict[int, RenderedMessage] = {}
    top: list[RenderedMessage] = []
    seen: dict[tuple[str, str, str], Twin] = {}
    caller, leading = -1, True
    for message in transcript.messages:
        one = _message(message, step_at.get(message.index), offered)
        laid[message.index] = one
        leading = one.leading = leading and one.kind == "system"
        _find_twins(one, message.tool_calls, seen)
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
        one.answers = AnsweredCall(call.name, owner.index)
        if place[0] == caller:
            call.results.append(one)
        else:
            call.elsewhere.append(one.index)
            top.append(one)
    return top


def _find_twins(
    one: RenderedMessage, calls: Sequence[ToolCall], seen: dict[tuple[str, str, str], Twin]
) -> None:
    number = one.step.ordinal + 1 if one.step else 0
    for shown_call, call in zip(one.calls, calls, strict=True):
        written = json.dumps(call.arguments, sort_keys=True) if call.parsed else call.arguments_raw
        key = (one.kind, call.name, written)
        shown_call.twin = seen.get(key)
        seen.setdefault(key, Twin(one.index, number))


def _message(message: Message, step: Step | None, offered: Sequence[tool_schema.Tool]) -> RenderedMessage:
    kind = "step" if step is not None else MESSAGE_KINDS.get(message.role, "other")
    blocks: list[Block] = []
    for number, part in enumerate(message.parts):
        if number == 0 and message.thought:
            blocks.append(TextBlock(escape_control_chars(message.thought), foldable=True, kind="reasoning"))
        elif part.kind == "image":
            blocks.append(PictureBlock(message.index, number))
        elif part.kind == "other":
            blocks.append(TextBlock(escape_control_chars(part.text), code=True, foldable=True))
        elif part.text:
            blocks.append(_block(part.text, kind))
    return RenderedMessage(
        index=message.index,
        kind=kind,
        role=escape_control_chars(message.role),
        name=escape_control_chars(message.name or ""),
        blocks=blocks,
        calls=[
            _call(call, position, offered if kind == "step" else ())
            for position, call in enumerate(message.tool_calls)
        ],
        step=step,
        empty=not blocks and not message.tool_calls,
        failed=kind == "result" and (message.failed or structure.tells_error(message.content)),
    )


def _block(text: str, kind: str) -> TextBlock | StructureBlock:
    if kind == "result":
        return result_block(text)
    if kind == "step" and (node := structure.read(text)) is not None:
        return StructureBlock(node, len(text))
    return TextBlock(escape_control_chars(text.rstrip()), foldable=kind != "step")


def _call(call: ToolCall, position: int, offered: Sequence[tool_schema.Tool]) -> Call:
    arguments: list[tuple[str, TextBlock | StructureBlock]] = []
    body: TextBlock | StructureBlock | None = None
    if call.parsed and isinstance(call.arguments, dict):
        arguments = [
            (escape_control_chars(str(name)), value_block(value)) for name, value in call.arguments.items()
        ]
    elif call.parsed:
        body = value_block(call.arguments)
    elif call.arguments_raw:
        body = TextBlock(escape_control_chars(call.arguments_raw), code=True, foldable=True)
    checked = call.parsed and call.arguments is not None
    found = tool_schema.problems(offered, call.name, call.arguments) if checked else ()
    return Call(
        name=escape_control_chars(call.name),
        position=position,
        arguments=arguments,
        body=body,
        broken=not call.parsed and bool(call.arguments_raw),
        in_text=call.origin == "text",
        problems=[in_words(problem) for problem in found],
    )


def _tools(transcript: Transcript) -> tuple[tool_schema.Tool, ...]:
    first = transcript.messages[0] if transcript.messages else None
    prompt = first.content if first is not None and MESSAGE_KINDS.get(first.role) == "system" else ""
    return tool_schema.read_tools(transcript.tools, prompt)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool the agent had. `raw`: the entry laid out, when it has no parameters to be shown by name."""

    name: str
    description: str
    parameters: tuple[tool_schema.Parameter, ...]
    raw: str


def tools(transcript: Transcript) -> list[Tool]:
    """The tools of a trajectory, from its record or else from its system prompt."""
    return [
        Tool(
            name=escape_control_chars(tool.name),
            description=escape_control_chars(tool.description),
            parameters=tool.parameters,
            raw="" if tool.parameters or isinstance(tool.spec, str) else laid_out(tool.schema or tool.spec),
        )
        for tool in _tools(transcript)
    ]
