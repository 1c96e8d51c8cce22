"""Lay messages out for reading: texts, calls, the results that belong to them, and what folds.

Everything in here comes from outside and is hostile until shown as text (`escape_control_chars`). A result
that is JSON is read as structure; its exact form is one request away (`pages.messages`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from annotation.core.decisions.differences import call_differences, differing_part
from annotation.core.kinds import STEPS, Feature, ProjectKind
from annotation.core.trajectories import tool_schema
from annotation.core.trajectories.messages import EARLIER
from annotation.core.trajectories.step_costs import cost_of
from annotation.core.trajectories.trajectory import Message, ToolCall
from annotation.language import translated
from annotation.models import Step
from annotation.reports.shared.transcripts import Transcript
from frontend.rendering import structure
from frontend.rendering.allowance import MESSAGE_BYTES, PER_TEXT, Allowance, bytes_of
from frontend.rendering.blocks import (
    Block,
    PictureBlock,
    StructureBlock,
    TextBlock,
    result_block,
    value_block,
)
from frontend.rendering.control_chars import escape_control_chars
from frontend.rendering.run_parts import PER_CALL, RunParts, parts_of
from frontend.rendering.step_costs import cost_text
from frontend.rendering.step_names import step_inside, step_title

MOST_LINKS: Final = 20
"""So many results of one call are linked from it."""
MOST_LEADING: Final = 20
MOST_OF_NAME: Final = 200
MOST_OF_PROBLEM: Final = 500


@dataclass(frozen=True, slots=True)
class Twin:
    """An earlier call that was exactly the same: its message, and the name of its step ("": not a step)."""

    message_index: int
    step: str
    address: str


@dataclass(slots=True)
class Call:
    """A tool call: arguments by name when they are an object, as structure when they parse, else as written.

    `differs`: the other of two alternatives calls another tool here, or none; `differing`: the names of
    arguments that are other there.
    `problems`: how the arguments break the tool's schema, in words. `results` stand under the call; `links`
    are the messages with its results and their addresses, those under it first; `more` are not linked.
    """

    name: str
    position: int
    arguments: list[tuple[str, TextBlock | StructureBlock]]
    body: TextBlock | StructureBlock | None
    broken: bool
    in_text: bool
    problems: list[str]
    twin: Twin | None = None
    differs: bool = False
    differing: frozenset[str] = frozenset()
    results: list[RenderedMessage] = field(default_factory=list)
    links: list[tuple[int, str]] = field(default_factory=list)
    more: int = 0

    def link(self, index: int, address: str) -> None:
        """Note a message with a result."""
        if len(self.links) < MOST_LINKS:
            self.links.append((index, address))
        else:
            self.more += 1


@dataclass(slots=True)
class RenderedMessage:
    """One message. `kind`: step, user, system, result or other. `answers`: the call a result belongs to.

    `title`: what its step is called. `alternative`: a step that follows no other, and has no result.
    `repeated`: a response that the log only repeats, and therefore no step. `leading`: it stands before
    anybody has spoken. `failed`: a result that says so. `cut`: it is too large to be drawn whole. `cost`:
    what the log says that a step took, in words.
    """

    index: int
    kind: str
    role: str
    name: str
    blocks: list[Block]
    calls: list[Call]
    step: Step | None = None
    title: str = ""
    alternative: bool = False
    repeated: bool = False
    answers: AnsweredCall | None = None
    empty: bool = False
    leading: bool = False
    failed: bool = False
    cut: bool = False
    cost: str = ""

    @property
    def earlier(self) -> bool:
        """Whether it is a response that is no step."""
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
    address: str


MESSAGE_KINDS: Final = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "tool": "result",
    "function": "result",
}


def lay_out(
    transcript: Transcript,
    steps: Sequence[Step],
    parts: RunParts | None = None,
    *,
    kind: ProjectKind = STEPS,
) -> list[RenderedMessage]:
    """The messages of a part in order; results that directly follow their call's message stand under it. Of
    two alternatives it is said what differs in their calls."""
    return _Layout(transcript, steps, parts or parts_of(transcript), kind=kind).run()


def leading(transcript: Transcript, parts: RunParts) -> list[RenderedMessage]:
    """The messages before anybody has spoken, whichever part is drawn: what the agent was told."""
    return _Layout(transcript, (), replace(parts, here=parts.parts[0]), only_leading=True).run()


def each_message(transcript: Transcript, steps: Sequence[Step]) -> Iterator[RenderedMessage]:
    """Every message of a run by itself, one at a time: its texts and calls, tied to nothing."""
    layout = _Layout(transcript, steps, parts_of(transcript))
    layout.offered = ()
    for message in transcript.messages:
        yield layout.message(message, layout.kind(message))


class _Layout:
    """One part of a run being laid out."""

    def __init__(
        self,
        transcript: Transcript,
        steps: Sequence[Step],
        parts: RunParts,
        *,
        kind: ProjectKind = STEPS,
        only_leading: bool = False,
    ) -> None:
        self.of_kind = kind
        self.has_alternatives = kind.has(Feature.PAIRS)
        self.transcript = transcript
        self.parts = parts
        self.offered = transcript.offered_tools()
        self.step_at = {step.message_index: step for step in steps}
        self.laid: dict[int, RenderedMessage] = {}
        self.seen: dict[tuple[str, str, str], Twin] = {}
        self.only_leading = only_leading

    def run(self) -> list[RenderedMessage]:
        """The messages of the part, in order."""
        here, top = self.parts.here, []
        alternatives = sorted(self.step_at) if self.has_alternatives else ()
        self.differences = call_differences(self.transcript.messages, alternatives)
        caller, count = -1, 0
        for message in self.transcript.messages[: here.stop]:
            kind = self.kind(message)
            is_leading = kind == "system" and message.index == count < MOST_LEADING
            count += is_leading
            if self.only_leading and not is_leading:
                break
            twins = self._twins(kind, message)
            if kind != "result":
                caller = message.index
            if message.index not in here:
                continue
            shown = self.message(message, kind)
            shown.leading = is_leading
            for call, twin in zip(shown.calls, twins, strict=False):
                call.twin = twin
            for call, differences in zip(shown.calls, self.differences.get(message.index, ()), strict=False):
                call.differs, call.differing = (
                    differences[0],
                    frozenset(map(escape_control_chars, differences[1])),
                )
            self.laid[message.index] = shown
            if kind != "result" or not self._is_under(shown, caller):
                top.append(shown)
        self._mark_parts()
        self._link_results()
        return top

    def _mark_parts(self) -> None:
        """Mark in each text that is an argument of both alternatives which part of it is other."""
        if not self.differences.keys() <= self.laid.keys():
            return
        both = [self.laid[index].calls for index in self.differences]
        for pair in zip(*both, strict=False):
            names = [dict(call.arguments) for call in pair]
            for call, mine, theirs in zip(pair, names, reversed(names), strict=True):
                call.arguments = [
                    (name, _held_against(block, theirs.get(name)) if name in call.differing else block)
                    for name, block in mine.items()
                ]

    def kind(self, message: Message) -> str:
        """The kind of a message (`RenderedMessage.kind`)."""
        return "step" if message.index in self.step_at else MESSAGE_KINDS.get(message.role, "other")

    def _is_under(self, result: RenderedMessage, caller: int) -> bool:
        """Say which call a result answers; whether it stands under it."""
        place = self.transcript.results.get(result.index)
        if place is None:
            return False
        index, position = place
        name = _short(self.transcript.messages[index].tool_calls[position].name)
        result.answers = AnsweredCall(name, index, self.parts.address(index))
        owner = self.laid.get(index)
        if index != caller or owner is None or position >= len(owner.calls):
            return False
        owner.calls[position].results.append(result)
        return True

    def _link_results(self) -> None:
        """Tell each call where its results are, those under it first."""
        under = set()
        for message in self.laid.values():
            for call in message.calls:
                for result in call.results:
                    call.link(result.index, self.parts.address(result.index))
                    under.add(result.index)
        for index, (caller, position) in self.transcript.results.items():
            owner = self.laid.get(caller)
            if owner is not None and index not in under and position < len(owner.calls):
                owner.calls[position].link(index, self.parts.address(index))

    def _twins(self, kind: str, message: Message) -> list[Twin | None]:
        """Of each call an earlier one that was the same."""
        step = self.step_at.get(message.index)
        alternative = step is not None and self.has_alternatives
        twins = []
        for call in message.tool_calls:
            written = json.dumps(call.arguments, sort_keys=True) if call.parsed else call.arguments_raw
            key = (kind, call.name, written)
            twins.append(self.seen.get(key))
            if key not in self.seen and not alternative:  # what is only proposed has not been done before
                name = step_inside(step.ordinal + 1, self.of_kind) if step else ""
                self.seen[key] = Twin(message.index, name, self.parts.address(message.index))
        return twins

    def message(self, message: Message, kind: str) -> RenderedMessage:
        """One message, as much of it as may be drawn."""
        allowance = Allowance(MESSAGE_BYTES)
        blocks: list[Block] = []
        for number, part in enumerate(message.parts):
            if part.kind == "image":
                block: Block | None = (
                    PictureBlock(message.index, number) if allowance.spend(PER_TEXT) else None
                )
            elif part.text:
                block = allowance.block(_block(message, number, kind))
            else:
                continue
            if block is None:
                break
            blocks.append(block)
        calls = []
        for position, call in enumerate(message.tool_calls):
            if not allowance.spend(PER_CALL):
                break
            calls.append(_call(call, position, self.offered if kind == "step" else (), allowance))
        step = self.step_at.get(message.index)
        return RenderedMessage(
            index=message.index,
            kind=kind,
            role=_short(message.role),
            name=_short(message.name or ""),
            blocks=blocks,
            calls=calls,
            step=step,
            alternative=kind == "step" and self.has_alternatives,
            repeated=message.role == EARLIER and not self.has_alternatives,
            title=step_title(step.ordinal + 1, self.of_kind) if step else "",
            empty=not blocks and not message.tool_calls and not allowance.cut,
            failed=kind == "result" and (message.failed or structure.tells_error(message.content)),
            cut=allowance.cut,
            cost=cost_text(cost_of(message.raw)) if kind == "step" else "",
        )


def _held_against(
    block: TextBlock | StructureBlock, other: TextBlock | StructureBlock | None
) -> TextBlock | StructureBlock:
    if not isinstance(block, TextBlock) or not isinstance(other, TextBlock):
        return block
    return replace(block, marked=differing_part(block.text, other.text))


def _short(text: str, most: int = MOST_OF_NAME) -> str:
    """A name, or a sentence, for a line of its own."""
    return escape_control_chars(text if len(text) <= most else f"{text[:most]}…")


def _block(message: Message, number: int, kind: str) -> TextBlock | StructureBlock:
    part = message.parts[number]
    if number == 0 and message.thought:
        return TextBlock(escape_control_chars(message.thought), foldable=True, kind="reasoning")
    if part.kind == "other":
        return TextBlock(escape_control_chars(part.text), code=True, foldable=True)
    if kind == "result":
        return result_block(part.text)
    if kind == "step" and (node := structure.read(part.text)) is not None:
        return StructureBlock(node, part.text)
    return TextBlock(escape_control_chars(part.text.rstrip()), foldable=kind != "step")


def _call(call: ToolCall, position: int, offered: Sequence[tool_schema.Tool], allowance: Allowance) -> Call:
    arguments: list[tuple[str, TextBlock | StructureBlock]] = []
    body: TextBlock | StructureBlock | None = None
    if call.parsed and isinstance(call.arguments, dict):
        for name, value in call.arguments.items():
            block = allowance.block(value_block(value)) if allowance.spend(bytes_of(name)) else None
            if block is None:
                break
            arguments.append((escape_control_chars(name), block))
    elif call.parsed:
        body = allowance.block(value_block(call.arguments))
    elif call.arguments_raw:
        body = allowance.text(TextBlock(escape_control_chars(call.arguments_raw), code=True, foldable=True))
    checked = call.parsed and call.arguments is not None
    problems = tool_schema.problems(offered, call.name, call.arguments) if checked else ()
    return Call(
        name=_short(call.name),
        position=position,
        arguments=arguments,
        body=body,
        broken=not call.parsed and bool(call.arguments_raw),
        in_text=call.origin == "text",
        problems=[
            _short(escape_control_chars(translated(problem.sentence)), MOST_OF_PROBLEM)
            for problem in problems
        ],
    )
