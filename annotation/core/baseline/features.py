"""Features of a step for the baseline: cheap figures of the messages up to and including its own results.

No hindsight: the messages are gone through once, from the start; a step sees those before it, itself, and
the results that directly follow it, and nothing of what comes after. Figures that are counts or lengths are
log(1 + n). Which task, which policy model, which benchmark it is: none of the figures says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from annotation.core.trajectories.messages import RESULT_ROLES, Message, ToolCall, normalise
from annotation.core.trajectories.tool_schema import Tool, problems, read_tools

from ..judging.judge_input import JudgeInput
from .text_features import (
    ANSWER,
    GIVES_UP,
    MAX_TEXT,
    READS,
    SEARCHES,
    WRITES,
    alike,
    is_empty,
    is_error,
    log,
    names_of,
    numbers_of,
    share_inside,
    share_outside,
    words_of,
)

VERSION: Final = "1"
"""Changes with every change of what the figures are."""

FEATURES: Final[tuple[str, ...]] = (
    "ordinal",
    "first",
    "after_user_turn",
    "user_turns",
    "text_length",
    "text_empty",
    "no_call",
    "answers",
    "answer_length",
    "answer_unseen",
    "asks_user",
    "gives_up",
    "unseen_numbers",
    "unseen_names",
    "names",
    "text_on_question",
    "calls",
    "parallel",
    "broken_call",
    "call_problems",
    "repeated_call",
    "similar_call",
    "same_tool",
    "searches",
    "reads",
    "writes",
    "call_length",
    "call_on_question",
    "call_unseen",
    "no_result",
    "result_error",
    "result_empty",
    "result_length",
    "result_seen",
    "result_on_question",
    "result_on_call",
    "result_new_names",
    "errors_before",
    "error_just_before",
    "calls_before",
    "repeats_before",
    "similar_before",
    "question_covered",
)

Floats = npt.NDArray[np.float64]


def step_features(material: JudgeInput) -> Floats:
    """The figures of every step, in order: shape (n_steps, n_features), columns as in `FEATURES`.

    Never raises, whatever the record holds. Row k depends on the messages up to the last of the results that
    directly follow step k, on the tools, and on which of the question's words a user has said by then.
    """
    rows = [[row[name] for name in FEATURES] for row in _walk(material)]
    return np.array(rows, dtype=np.float64).reshape(-1, len(FEATURES))


def run_features(steps: Floats) -> Floats:
    """The figures of a whole trajectory, for its outcome, from those of its steps (n_steps, n_features).

    Shape (2 · n_features,): those of the last step, then the means over all steps.
    """
    return np.concatenate([steps[-1], steps.mean(axis=0)])


@dataclass(slots=True)
class _Past:
    """Features of the trajectory so far."""

    words: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    calls: list[tuple[str, str, frozenset[str]]] = field(default_factory=list)
    results: set[str] = field(default_factory=set)
    steps: int = 0
    user_turns: int = 0
    errors: int = 0
    repeats: int = 0
    similar: float = 0.0
    found: set[str] = field(default_factory=set)
    error_just_before: bool = False
    after_user_turn: bool = False

    def read(self, text: str) -> None:
        text = text[:MAX_TEXT]
        self.words |= words_of(text)
        self.names |= names_of(text)
        self.numbers |= numbers_of(text)


def _walk(material: JudgeInput) -> Iterator[dict[str, float]]:
    messages = normalise(material.messages)
    tools = read_tools(list(material.tools), messages[0].content if messages else "")
    task = words_of(material.question)
    past = _Past()
    for place, message in enumerate(messages):
        if message.role == "assistant":
            results = _own_results(messages, place)
            # the text of a task may tell what the user says only later
            question = (task & past.asked) or past.asked
            yield _step(message, results, past, question, tools)
            _remember(message, results, past)
            continue
        past.read(message.content)
        if message.role == "user":
            past.asked |= words_of(message.content)
            past.user_turns += past.steps > 0
            past.after_user_turn = past.steps > 0


def _own_results(messages: Sequence[Message], place: int) -> list[Message]:
    results: list[Message] = []
    for message in messages[place + 1 :]:
        if message.role not in RESULT_ROLES:
            break
        results.append(message)
    return results


def _step(
    message: Message, results: Sequence[Message], past: _Past, question: set[str], tools: Sequence[Tool]
) -> dict[str, float]:
    return {
        "ordinal": log(past.steps),
        "first": float(past.steps == 0),
        "after_user_turn": float(past.after_user_turn),
        "user_turns": log(past.user_turns),
        "errors_before": log(past.errors),
        "error_just_before": float(past.error_just_before),
        "calls_before": log(len(past.calls)),
        "repeats_before": log(past.repeats),
        "similar_before": past.similar,
        **_of_text(message, past, question),
        **_of_calls(message.tool_calls, past, question, tools),
        **_of_results(message.tool_calls, results, past, question),
    }


def _of_text(message: Message, past: _Past, question: set[str]) -> dict[str, float]:
    text = message.content[:MAX_TEXT]
    answer = ANSWER.search(text)
    answer_text = answer.group(1) if answer else ""
    names, numbers = names_of(text), numbers_of(text)
    return {
        "text_length": log(len(message.content)),
        "text_empty": float(not text.strip()),
        "no_call": float(not message.tool_calls),
        "answers": float(answer is not None),
        "answer_length": log(len(answer_text)),
        "answer_unseen": share_outside(words_of(answer_text), past.words),
        "asks_user": float(not message.tool_calls and text.rstrip().endswith("?")),
        "gives_up": float(GIVES_UP.search(text) is not None),
        "unseen_numbers": share_outside(numbers, past.numbers),
        "unseen_names": share_outside(names, past.names),
        "names": log(len(names)),
        "text_on_question": share_inside(question, words_of(text)),
    }


def _of_calls(
    calls: Sequence[ToolCall], past: _Past, question: set[str], tools: Sequence[Tool]
) -> dict[str, float]:
    made = [_call(call) for call in calls]
    before = {(name, arguments) for name, arguments, _ in past.calls}
    words = set().union(*(call[2] for call in made)) if made else set()
    broken = [call for call in calls if not call.parsed]
    parsed = [call for call in calls if call.parsed]
    last = past.calls[-1][0] if past.calls else None
    return {
        "calls": log(len(calls)),
        "parallel": float(len(calls) > 1),
        "broken_call": float(bool(broken)),
        "call_problems": log(sum(len(problems(tools, call.name, call.arguments)) for call in parsed)),
        "repeated_call": float(any((name, arguments) in before for name, arguments, _ in made)),
        "similar_call": _similar(made, past),
        "same_tool": float(any(name == last for name, _, _ in made)),
        "searches": float(any(SEARCHES.search(name) for name, _, _ in made)),
        "reads": float(any(READS.search(name) for name, _, _ in made)),
        "writes": float(any(WRITES.search(name) for name, _, _ in made)),
        "call_length": log(sum(len(call.arguments_raw) for call in calls)),
        "call_on_question": share_inside(question, words),
        "call_unseen": share_outside(words, past.words),
    }


def _of_results(
    calls: Sequence[ToolCall], results: Sequence[Message], past: _Past, question: set[str]
) -> dict[str, float]:
    texts = [result.content[:MAX_TEXT] for result in results]
    words = set().union(*map(words_of, texts)) if texts else set()
    names = set().union(*map(names_of, texts)) if texts else set()
    argument_words = set().union(*(_call(call)[2] for call in calls)) if calls else set()
    return {
        "no_result": float(bool(calls) and not results),
        "result_error": float(any(map(is_error, texts))),
        "result_empty": float(any(map(is_empty, texts))),
        "result_length": log(sum(len(result.content) for result in results)),
        "result_seen": float(any(text in past.results for text in texts)),
        "result_on_question": share_inside(question, words),
        "result_on_call": share_inside(argument_words, words),
        "result_new_names": log(len(names - past.names)),
        "question_covered": share_inside(question, words | past.found),
    }


def _remember(message: Message, results: Sequence[Message], past: _Past) -> None:
    """The results themselves are read when their turn comes, which is at once."""
    made = [_call(call) for call in message.tool_calls]
    before = {(name, arguments) for name, arguments, _ in past.calls}
    failed = any(is_error(result.content[:MAX_TEXT]) for result in results)
    past.similar = max(past.similar, _similar(made, past))
    past.repeats += sum((name, arguments) in before for name, arguments, _ in made)
    past.calls += made
    for result in results:
        past.found |= words_of(result.content)
    past.results |= {result.content[:MAX_TEXT] for result in results if result.content.strip()}
    past.errors += failed
    past.error_just_before = failed
    past.after_user_turn = False
    past.steps += 1
    past.read(message.content)
    for call in message.tool_calls:
        past.read(call.arguments_raw)


def _call(call: ToolCall) -> tuple[str, str, frozenset[str]]:
    return call.name, call.arguments_raw.strip(), frozenset(_argument_words(call))


def _argument_words(call: ToolCall) -> set[str]:
    """The words of the values; the parameters' names are the tool's."""
    if not call.parsed:
        return words_of(call.arguments_raw)
    words: set[str] = set()
    waiting: list[Any] = [call.arguments]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif value is not None and not isinstance(value, bool):
            words |= words_of(str(value))
    return words


def _similar(made: Sequence[tuple[str, str, frozenset[str]]], past: _Past) -> float:
    """The largest similarity of a call's words to one of the last twenty before it: 0 … 1."""
    return max((alike(call[2], other[2]) for call in made for other in past.calls[-20:]), default=0.0)
