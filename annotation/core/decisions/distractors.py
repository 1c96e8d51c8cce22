"""Distractors: wrong next actions that a judge writes for a question, beside what is known to be right there.

Which kinds of them are asked for depends on the kind of the right action (`next_act`, `KINDS`). What a judge
writes is refused where it is no action, does what is right or labelled there, is there already, or says of
itself that it is wrong (`sort_out`). A call that does not fit the schema of its tool is a wanted one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from ..jsonio.jsonlines import parse_text
from ..trajectories.messages import TEXT_CALL_CLOSE, TEXT_CALL_OPEN, normalise
from ..trajectories.tool_schema import Tool
from .corrections import TypedCall, action, check_action
from .equality import act_digest

NOT_WRONG: Final = "not_wrong"
"""The key under which a question has the digests (`act_digest`) of other actions that are labelled 0 or +1 at
its history."""


class NextAct(StrEnum):
    """The kind of a next action: it looks something up, opens something, or ends the run with an answer."""

    LOOK_UP = "look_up"
    OPEN = "open"
    END = "end"


_OF_LOOK_UPS: Final = (
    *("open_unrelated", "go_on_too_early", "end_too_early"),
    *("repeat_in_other_words", "other_arguments", "wrong_names"),
)
KINDS: Final[Mapping[NextAct, tuple[str, ...]]] = {
    NextAct.LOOK_UP: _OF_LOOK_UPS,
    NextAct.OPEN: (*_OF_LOOK_UPS, "skip_opening"),
    NextAct.END: ("go_on", "wrong_call"),
}
"""The kinds of distractors by the kind of the right action, in the words of the prompt `distractor-v1`."""

_OPENING: Final = frozenset(
    {
        *("open", "opens", "visit", "browse", "browser", "click", "goto", "navigate", "fetch", "load"),
        *("download", "read", "view", "scroll", "crawl"),
    }
)
_ADDRESSES: Final = frozenset(
    {"url", "urls", "uri", "link", "links", "href", "address", "path", "file", "filename", "filepath", "page"}
)
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def next_act(message: Mapping[str, Any], tools: Sequence[Tool]) -> NextAct:
    """The kind of a response: without a call it ends the run; a call opens something where a word of its
    tool's name says so (`open_page`, `readFile`), or where one of the tool's required parameters, or of an
    unknown tool the call's arguments, is an address (`url`, `path`). Every other call looks something up."""
    (read,) = normalise([message])
    if not read.tool_calls:
        return NextAct.END
    by_name = {tool.name: tool for tool in tools}
    for call in read.tool_calls:
        tool = by_name.get(call.name)
        if tool is not None:
            given = [parameter.name for parameter in tool.parameters if parameter.required]
        else:
            given = list(call.arguments) if isinstance(call.arguments, dict) else []
        names_address = any(not _ADDRESSES.isdisjoint(_words(name)) for name in given)
        if names_address or not _OPENING.isdisjoint(_words(call.name)):
            return NextAct.OPEN
    return NextAct.LOOK_UP


def _words(name: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(name)}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A wrong action as a judge writes it. `kind` is the kind that it says it is, "" for none of `KINDS`."""

    text: str = ""
    calls: tuple[TypedCall, ...] = ()
    reasoning: str = ""
    kind: str = ""

    def mapped(self, change: Callable[[str], str]) -> Proposal:
        """The same with each of its texts changed."""
        calls = tuple(TypedCall(change(call.name), change(call.arguments)) for call in self.calls)
        return Proposal(change(self.text), calls, change(self.reasoning), self.kind)


class Refusal(StrEnum):
    """The reason why an action is no distractor of a question."""

    NO_ACTION = "no_action"
    """It does not parse as an action."""
    RIGHT = "right"
    """It does the same as the key, or as another action that is labelled 0 or +1 at this history."""
    REPEATED = "repeated"
    """It does the same as an option that is there, or as one before it in the answer."""
    NAMES_ITS_FAULT = "names_its_fault"
    """It says of itself that it is wrong."""
    NOT_NEEDED = "not_needed"
    """The question has as many options as were wanted."""


FAULT_WORDS: Final = (
    *("wrong", "wrongly", "incorrect", "incorrectly", "mistake", "mistaken", "mistakenly", "erroneous"),
    *("erroneously", "distractor", "distractors", "decoy", "misleading", "deliberately", "intentionally"),
    *("purposely", "on purpose", "unrelated", "irrelevant", "off-topic", "premature", "prematurely"),
)
"""An action with one of these names its own fault. They are words: “wrong” is not in “wrongdoing”."""
FAULT_WORDS_ZH: Final = (
    *(
        "错误",
        "错的",
        "有误",
        "不正确",
        "不对的",
        "干扰项",
        "干扰选项",
        "误导",
        "故意",
        "刻意",
        "无关",
        "不相关",
    ),
)
"""The same in Chinese, which has no blanks between words."""
_FAULTS: Final = re.compile(
    rf"(?<![a-z])(?:{'|'.join(map(re.escape, FAULT_WORDS))})(?![a-z])|{'|'.join(FAULT_WORDS_ZH)}"
)
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def fault_words(text: str) -> set[str]:
    """The words in a text that would name an action's fault, in small letters. Names of tools are read word
    by word too (`wrong_tool`, `wrongTool`)."""
    return set(_FAULTS.findall(_HUMP.sub(" ", text).lower()))


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a question, as those of a judge are held against them: `right` and `wrong` ones, and
    `labelled`, the digests (`act_digest`) of other actions that are labelled 0 or +1 at this history.

    `asked`: what the user says. A word that stands there or in an option is the task's own, and names no
    fault.
    """

    right: Sequence[Mapping[str, Any]]
    wrong: Sequence[Mapping[str, Any]]
    labelled: Collection[str] = ()
    asked: str = ""


@dataclass(frozen=True, slots=True)
class Distractor:
    """An action that becomes an option. `kind` as in `Proposal`."""

    message: dict[str, Any]
    kind: str


def sort_out(
    proposals: Iterable[Proposal | None], options: Options, tools: Sequence[Tool], *, wanted: int
) -> tuple[list[Distractor], Counter[Refusal]]:
    """The first `wanted` of a judge's actions that are distractors, and how many are refused, by reason.
    None among the proposals is what could not be read."""
    right = {act_digest(message) for message in options.right} | set(options.labelled)
    there = {act_digest(message) for message in options.wrong}
    every = [*options.right, *options.wrong]
    own_words = fault_words("\n".join([options.asked, *map(_said, every)]))
    form = _Form.of(every)
    accepted: list[Distractor] = []
    refused: Counter[Refusal] = Counter()
    for proposal in proposals:
        if proposal is None or check_action(tools, proposal.text, proposal.calls).fields:
            refused[Refusal.NO_ACTION] += 1
            continue
        message = form.written(proposal)
        digest = act_digest(message)
        if digest in right:
            refused[Refusal.RIGHT] += 1
        elif digest in there:
            refused[Refusal.REPEATED] += 1
        elif fault_words(_said(message)) - own_words:
            refused[Refusal.NAMES_ITS_FAULT] += 1
        elif len(accepted) >= wanted:
            refused[Refusal.NOT_NEEDED] += 1
        else:
            there.add(digest)
            accepted.append(Distractor(message, proposal.kind))
    return accepted, refused


@dataclass(frozen=True, slots=True)
class _Form:
    """The form of a question's options, which a distractor takes on: another would tell it from the key.
    `calls_in_text`: calls are written in the text; `reasons`: there are thoughts before what is said."""

    calls_in_text: bool
    reasons: bool

    @classmethod
    def of(cls, messages: Sequence[Mapping[str, Any]]) -> _Form:
        read = normalise(messages)
        origins = {call.origin for message in read for call in message.tool_calls}
        return cls(origins == {"text"}, any(message.thought for message in read))

    def written(self, proposal: Proposal) -> dict[str, Any]:
        text, calls = proposal.text, proposal.calls
        if self.calls_in_text and calls:
            blocks = (
                f"{TEXT_CALL_OPEN}\n{json.dumps(_spec(call), ensure_ascii=False)}\n{TEXT_CALL_CLOSE}"
                for call in calls
            )
            text, calls = "\n".join(filter(None, [text, *blocks])), ()
        message = action(text, calls)
        if self.reasons and proposal.reasoning.strip():
            message["reasoning_content"] = proposal.reasoning
        return message


def _spec(call: TypedCall) -> dict[str, Any]:
    return {"name": call.name, "arguments": parse_text(call.arguments)}


def _said(message: Mapping[str, Any]) -> str:
    """All that a response says, thoughts and calls included."""
    (read,) = normalise([message])
    calls = (f"{call.name} {_plain(call.arguments) or call.arguments_raw}" for call in read.tool_calls)
    return "\n".join([*(part.text for part in read.parts), *calls])


def _plain(arguments: Any) -> str:
    """Parsed arguments without JSON's escapes, behind which a word could hide."""
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
