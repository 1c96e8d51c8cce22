"""Write a trajectory out for a judge, in blocks whose marks its text cannot forge."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from annotation.core.trajectories.messages import EARLIER, RESULT_ROLES, Message, normalise, pair_results

from .judge_input import JudgeInput

_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_UNSENDABLE: Final = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Block:
    """One block of the record. `index` is the message's, `None` for what is not a message.

    The `body` of a `clippable` one (a tool's output) may be shortened.
    """

    title: str
    body: str
    index: int | None = None
    clippable: bool = False

    def written(self, mark: str, body: str) -> str:
        """The block as it stands in the prompt, with `body` in place of its own."""
        return f"<<<{mark} {self.title}>>>\n{body}\n<<<{mark} end>>>\n\n"


def blocks_of(material: JudgeInput, *, tell_errors: bool) -> tuple[list[Block], list[str]]:
    """The record's blocks in order, and a sentence for everything that could not be put into words.

    `tell_errors`: the titles of tool results say where the log marks them as errors.
    """
    messages = normalise(material.messages)
    blocks = [*_about_the_task(material, messages), Block("tools", _tools(material.tools))]
    notes: list[str] = []
    pairs = pair_results(messages)
    for message in messages:
        failed = tell_errors and message.failed
        blocks.append(_message(message, pairs.get(message.index), notes, failed=failed))
    return [_checked(block, notes) for block in blocks], notes


def decision_blocks(material: JudgeInput, order: Sequence[int]) -> tuple[list[Block], list[str]]:
    """The blocks of a decision: its history, then the options of these message indexes as action 1, 2 …"""
    return _with_options(material, [(f"action {number}", index) for number, index in enumerate(order, 1)])


def question_blocks(material: JudgeInput, right: Sequence[int]) -> tuple[list[Block], list[str]]:
    """The same of a question whose key is known: its history, then its right options, and its wrong ones."""
    wrong = [index for index in material.steps if index not in right]
    titled = [("right action", index) for index in right]
    titled += [(f"wrong action {number}", index) for number, index in enumerate(wrong, 1)]
    return _with_options(material, titled)


def _with_options(material: JudgeInput, titled: Sequence[tuple[str, int]]) -> tuple[list[Block], list[str]]:
    messages = normalise(material.messages)
    history = [message for message in messages if message.index not in material.steps]
    blocks = [*_about_the_task(material, history), Block("tools", _tools(material.tools))]
    notes: list[str] = []
    pairs = pair_results(history)
    for message in history:
        in_order = replace(message, role="assistant") if message.role == EARLIER else message
        answers = pairs.get(message.index)
        blocks.append(_message(in_order, answers, notes, failed=message.failed, step=False))
    for title, index in titled:
        body = _body(messages[index], notes, title)
        blocks.append(Block(title, "\n".join(body) or "(empty)"))
    return [_checked(block, notes) for block in blocks], notes


def mark_for(blocks: Sequence[Block]) -> str:
    """Eight hex digits, made from the blocks alone, that occur in none of them, in small or capital letters.

    Nobody can write a text that holds its own mark: one that occurs is passed over for the next.
    """
    text = "\n".join(part for block in blocks for part in (block.title, block.body))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    attempt = 0
    while True:
        digest.update(attempt.to_bytes(4, "big"))
        mark = digest.hexdigest()[:8]
        if mark not in text and mark.upper() not in text:
            return mark
        attempt += 1


def _about_the_task(material: JudgeInput, messages: Sequence[Message]) -> Iterator[Block]:
    question = material.question.strip()
    if question:
        place = next((message.index for message in messages if question in message.content), None)
        yield Block("task", question if place is None else f"(as it stands in message {place})")
    about = material.task_description
    if about not in (None, "", material.question):
        yield Block("task description", about if isinstance(about, str) else _as_json(about))
    reference = material.reference_answer
    if reference is not None:
        text = reference if isinstance(reference, str) else _as_json(reference)
        yield Block("reference answer, which the agent did not see; only for the outcome", text)


def _tools(tools: Sequence[Any]) -> str:
    if not tools:
        return "(none are listed; if there are any, a system message describes them)"
    return "\n".join(tool if isinstance(tool, str) else _as_json(tool) for tool in tools)


def _message(
    message: Message,
    answers: tuple[int, int] | None,
    notes: list[str],
    *,
    failed: bool,
    step: bool = True,
) -> Block:
    index = message.index
    title = f"message {index} · {message.role if message.role in _ROLES else 'of another role'}"
    if step and message.role == "assistant":
        title += " · step"
    if answers is not None:
        title += f" · result of call {answers[0]}.{answers[1] + 1}"
    if failed:
        title += " · marked as an error"
    body = "\n".join(_body(message, notes, str(index)))
    return Block(title, body or "(empty)", index, message.role in RESULT_ROLES)


def _body(message: Message, notes: list[str], place: str) -> Iterator[str]:
    """The lines of a message; `place` is what its calls are numbered by."""
    if message.role not in _ROLES:
        yield f"role: {message.role}"
    if message.name and message.role not in RESULT_ROLES:
        yield f"name: {message.name}"
    for part in message.parts:
        if part.kind == "image":
            yield f"[an image, {part.media_type}, that is not shown to you]"
            notes.append(f"Message {message.index}: an image was left out.")
        else:
            yield part.text
    for position, call in enumerate(message.tool_calls, 1):
        yield f"[call {place}.{position}] {call.name or '(without a name)'}"
        yield call.arguments_raw or "(no arguments)"


def sendable(text: str) -> tuple[str, int]:
    """`text` without NUL and lone surrogates, which many servers refuse, and how many were replaced."""
    if text.isascii() and "\x00" not in text:
        return text, 0
    return _UNSENDABLE.subn("\ufffd", text)


def _checked(block: Block, notes: list[str]) -> Block:
    body, count = sendable(block.body)
    if not count:
        return block
    place = block.title if block.index is None else f"message {block.index}"
    notes.append(f"{place.capitalize()}: {count:,} characters that cannot be sent were replaced.")
    return Block(block.title, body, block.index, block.clippable)


def _as_json(value: Any) -> str:
    plain = dict(value) if isinstance(value, Mapping) else value
    return json.dumps(plain, ensure_ascii=False)
