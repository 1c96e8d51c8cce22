"""One conversation out of the calls of a model, each of which repeats what came before it.

A trace has a span for every call of the model, with the messages that went in and those that came out, and
spans for the runs of tools. Programs differ in what they put in: most the whole history, some only what is
new, some a history that was shortened. `stitch` lays the calls one after the other: each call adds what is
new in its input, and then its output as one message, which is one step.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.trajectories.messages import EARLIER
from annotation.core.trajectories.step_costs import StepCost, cost_of, total
from annotation.importers.conversion import Conversation

from .dialects import parse_json
from .message_parts import as_one, as_text

__all__ = ["ModelCall", "ToolRun", "short_model", "stitch", "text_of"]

FAILED: Final = translatable("model calls that failed, left out")
UNANSWERED: Final = translatable("model calls without a recorded response, left out")
TWICE: Final = translatable("model calls recorded twice, left out once")
PIECES: Final = translatable("pieces of a response put together")
ANOTHER: Final = translatable("model calls with another history than the call before")
ONLY_NEW: Final = translatable("model calls that were given only what was new")
SHORTENED: Final = translatable("model calls with a shortened history")

CUT_OFF: Final = translatable("model calls whose recorded input was cut off")

ANY: Final = "*"
Key = tuple[str, str, str]


@dataclass(slots=True)
class ModelCall:
    """One call of a model. `address` is the source's own of it; `output` is one response in one or more
    messages; `start` orders calls and runs. A `piece` is a response whose input is not known: after another
    call, without a run of a tool between them, it is one response with that. An input that is `cut_off` is
    JSON that a limit of the tracing program ended in the middle: it counts only when there is nothing before.
    """

    address: str
    start: tuple[int, int]
    input: list[dict[str, Any]]
    output: list[dict[str, Any]]
    end: int = 0
    model: str = ""
    tools: list[Any] = field(default_factory=list)
    error: str = ""
    piece: bool = False
    cut_off: bool = False
    cost: StepCost = field(default_factory=StepCost)


@dataclass(slots=True)
class ToolRun:
    """One run of a tool as its own span has it. `result` is `None` when the span does not hold one."""

    address: str
    start: tuple[int, int]
    name: str
    call_id: str = ""
    arguments: Any = None
    result: Any = None
    error: str = ""


def stitch(calls: Sequence[ModelCall], runs: Sequence[ToolRun] = ()) -> Conversation:
    """The conversation of these calls and runs, with a source address for each step."""
    whole = _Stitching()
    events: list[ModelCall | ToolRun] = [*_once(calls, whole.notes), *runs]
    for event in sorted(events, key=lambda event: event.start):
        if isinstance(event, ModelCall):
            whole.add_call(event)
        else:
            whole.waiting.append(event)
    whole.take_runs()
    return whole.conversation()


def _once(calls: Sequence[ModelCall], notes: Counter[str]) -> list[ModelCall]:
    """The calls that count: without copies of two instrumentations, and without calls that failed."""
    kept: list[ModelCall] = []
    for call in sorted(calls, key=lambda each: each.start):
        if not call.output:
            notes[FAILED if call.error else UNANSWERED] += 1
            continue
        last = kept[-1] if kept else None
        if last is not None and call.start[0] < last.end and _same(call, last):
            notes[TWICE] += 1
            continue
        kept.append(call)
    return kept


def _same(first: ModelCall, other: ModelCall) -> bool:
    """Whether two calls have equal content, system prompts apart: not every instrumentation records them.
    System prompts apart: not every instrumentation records them."""
    contents = [
        [key for key in _keys([*call.input, as_one(call.output)]) if key[0] != "system"]
        for call in (first, other)
    ]
    return contents[0] == contents[1]


class _Stitching:
    """The conversation as far as it is laid out. Everything is looked up, so that the work is linear in what
    the spans hold."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.addresses: dict[int, str] = {}
        self.notes: Counter[str] = Counter()
        self.tools: dict[str, Any] = {}
        self.models: Counter[str] = Counter()
        self.waiting: list[ToolRun] = []
        self._open = False
        self._keys: dict[int, Key] = {}
        self._known: Counter[Key] = Counter()
        self._call_ids: set[str] = set()
        self._first: Key | None = None
        self._responses = 0
        self._answered: set[str] = set()
        self._calls: dict[tuple[str, str], deque[str]] = {}

    def add_call(self, call: ModelCall) -> None:
        """Add the new messages of a call's input, results that only their own spans hold, and the
        response."""
        if call.piece and self._open and not self.waiting:
            self.messages[-1] = _with_cost(
                as_one([self.messages[-1], *call.output]), total([cost_of(self.messages[-1]), call.cost])
            )
            self._learn(self.messages[-1])
            self.notes[PIECES] += 1
            return
        new = self._new_in(call)
        self._drop_runs_told_in(new)
        before = list(takewhile(lambda message: message.get("role") in ("system", "tool"), new))
        for message in before:
            if message.get("role") == "tool":  # results stand directly below their calls
                self._append(message)
        self.take_runs()
        system = [message for message in before if message.get("role") == "system"]
        for message in [*system, *new[len(before) :]]:
            self._append({**message, "role": EARLIER} if message.get("role") == "assistant" else message)
        self._append(_with_cost({**as_one(call.output), "role": "assistant"}, call.cost))
        self.addresses[len(self.messages) - 1] = call.address
        self._open = True
        for tool in call.tools:
            self.tools.setdefault(json.dumps(tool, sort_keys=True), tool)
        if call.model:
            self.models[call.model] += 1

    def _append(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        self._open = False
        self._learn(message)

    def _learn(self, message: dict[str, Any]) -> None:
        """Remember what a message is known by, what it calls and what it answers."""
        key = _key(message)
        self._known[key] += 1
        if self._first is None and key[0] != "system":
            self._first = key
        self._responses += key[0] == "assistant"
        if message.get("tool_call_id"):
            self._answered.add(as_text(message["tool_call_id"]))
        for call in message.get("tool_calls") or ():
            if call.get("id") and call["id"] not in self._call_ids:
                self._call_ids.add(call["id"])
                name, arguments = call["function"]["name"], _plain(call["function"]["arguments"])
                self._calls.setdefault((name, arguments), deque()).append(call["id"])
                self._calls.setdefault((name, ANY), deque()).append(call["id"])

    def _repeats_calls(self, message: dict[str, Any]) -> bool:
        """Whether a message is made of calls that are there already, in this grouping or another."""
        ids = [call.get("id") for call in message.get("tool_calls") or ()]
        return bool(ids) and self._call_ids.issuperset(ids)

    def _new_in(self, call: ModelCall) -> list[dict[str, Any]]:
        """The messages of a call's input that are not there yet."""
        if call.piece:
            return []
        if call.cut_off and self.messages:
            self.notes[CUT_OFF] += 1
            return []
        messages = call.input
        keys = [self._key_of(message) for message in messages]
        first = next((key for key in keys if key[0] != "system"), None)
        continues = first == self._first or any(
            (key[0] == "assistant" and self._known[key]) or self._repeats_calls(message)
            for message, key in zip(messages, keys, strict=True)
        )
        used: Counter[Key] = Counter()
        new, repeated = [], 0
        for message, key in zip(messages, keys, strict=True):
            belongs = continues or key[0] in ("system", "result")
            is_known = self._known[key] > used[key] or (key[0] == "system" and self._known[key])
            if (belongs and is_known) or self._repeats_calls(message):
                used[key] += 1
                repeated += key[0] == "assistant"
            else:
                new.append({**message})  # calls may share messages, and these are marked and kept
        if self._first is not None and not continues:
            anew = any(message.get("role") == "assistant" for message in new)
            self.notes[ANOTHER if anew else ONLY_NEW] += 1
        elif repeated < self._responses:
            self.notes[SHORTENED] += 1
        return new

    def _key_of(self, message: dict[str, Any]) -> Key:
        """The key of a message of an input. The calls hold those, so that no other message has their `id`."""
        key = self._keys.get(id(message))
        if key is None:
            key = self._keys[id(message)] = _key(message)
        return key

    def _drop_runs_told_in(self, new: list[dict[str, Any]]) -> None:
        """Forget the runs of tools whose results the input brings itself: by id, else by name and order."""
        results = [message for message in new if message.get("role") == "tool"]
        ids = {
            as_text(message["tool_call_id"]): message for message in results if message.get("tool_call_id")
        }
        loose = Counter(
            as_text(message.get("name")) for message in results if not message.get("tool_call_id")
        )
        kept = []
        for run in self.waiting:
            run.call_id = run.call_id or self._call_of(run)
            name = run.name if loose[run.name] else ""
            if run.error and run.call_id in ids:
                ids[run.call_id]["is_error"] = True
            if run.call_id and (run.call_id in ids or run.call_id in self._answered):
                continue
            if loose[name] and run.call_id not in self._call_ids:
                loose[name] -= 1
                continue
            kept.append(run)
        self.waiting = kept

    def _call_of(self, run: ToolRun) -> str:
        """The id of the open call that a run without one belongs to: of its name, with its arguments."""
        for arguments in (_plain(run.arguments), ANY):
            open_calls = self._calls.get((run.name, arguments), deque())
            while open_calls and open_calls[0] in self._answered:
                open_calls.popleft()
            if open_calls and (arguments != ANY or run.arguments is None):
                return open_calls.popleft()
        return ""

    def take_runs(self) -> None:
        """The results that stand in no input: as messages of their own, where their runs began."""
        self._drop_runs_told_in([])
        for run in self.waiting:
            content = as_text(run.result)
            if run.error:
                content = f"Error: {run.error}" + (f"\n{content}" if content else "")
            message: dict[str, Any] = {"role": "tool", "content": content, "name": run.name}
            if run.call_id:
                message["tool_call_id"] = run.call_id
            if run.error:
                message["is_error"] = True
            self._append(message)
        self.waiting = []

    def conversation(self) -> Conversation:
        """The whole, with the first user message as its question and the model that answered most often."""
        question = next((text_of(message) for message in self.messages if message.get("role") == "user"), "")
        return Conversation(
            messages=self.messages,
            source_steps=self.addresses,
            question=question,
            policy_model=self.models.most_common(1)[0][0] if self.models else "",
            tools=list(self.tools.values()),
            notes=self.notes,
        )


def _with_cost(message: dict[str, Any], cost: StepCost) -> dict[str, Any]:
    """A response with what its call took, where the source says so."""
    return {**message, "usage": cost.as_json()} if cost else message


def short_model(name: str) -> str:
    """The name of a model without the path of the cloud project that it is called through (Vertex AI)."""
    return name.rpartition("/models/")[2] or name


def text_of(message: dict[str, Any]) -> str:
    """The text of a message, its parts joined by line breaks."""
    content = message.get("content")
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(text for text in texts if isinstance(text, str))
    return as_text(content)


def _keys(messages: list[dict[str, Any]]) -> list[Key]:
    return [_key(message) for message in messages]


def _key(message: dict[str, Any]) -> Key:
    """The key of a repeated message: content as text, and calls by name and arguments."""
    role = "assistant" if message.get("role") == EARLIER else as_text(message.get("role"))
    content = message.get("content")
    text = (content if isinstance(content, str) else json.dumps(content) if content else "").strip()
    if role == "tool":
        return ("result", as_text(message.get("tool_call_id") or message.get("name")), text)
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    named = "\n".join(f"{call['name']} {_plain(call['arguments'])}" for call in calls)
    return (role, named, text)


def _plain(arguments: Any) -> str:
    """Arguments in one spelling, whether they came as an object or as its JSON."""
    value = parse_json(arguments)
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
