"""A released question and its right answers: the one reading of a record that exports, prompts and scores
share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from string import ascii_uppercase
from typing import Any, Final

from annotation.core.jsonio.plain_text import json_text
from annotation.core.trajectories.messages import message_text, normalise
from annotation.core.trajectories.trajectory import step_indexes
from annotation.core.vocabulary import DecisionKind

from .split import task_of

COMMAND_KEY: Final = "target_cmd"
ANSWER_KEY: Final = "answer"
_COMMAND_RECIPE: Final = "next-call"


class AskedKind(StrEnum):
    """The form of an output: one letter, several letters, a command, or a text."""

    CHOICE = "choice"
    KEYS = "keys"
    COMMAND = "command"
    ANSWER = "answer"


class NotAsked(StrEnum):
    """Reasons why a record is not asked."""

    NO_QUESTION = "no_question"
    NOT_FIT = "not_fit"
    NO_KEY = "no_key"
    ONE_OPTION = "one_option"
    TOO_MANY_OPTIONS = "too_many_options"


@dataclass(frozen=True, slots=True)
class AskedOption:
    """An option by its letter, in words; `index` is that of its message."""

    letter: str
    text: str
    right: bool
    index: int


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question as models are asked it.

    `uuid` is what its source calls it, its `record_id` where that says nothing. `keys` are the letters that
    are right, sorted, or the accepted texts. `options` stand in the order of their letters; a command and an
    answer have none. Options of which nothing can be said (consensus 0) are left out. `length`: characters
    of history and options.
    """

    record_id: str
    uuid: str
    subset: str
    task: str
    language: str
    ability: str
    kind: AskedKind
    options: tuple[AskedOption, ...]
    keys: tuple[str, ...]
    length: int


def asked_question(record: Mapping[str, Any]) -> AskedQuestion | NotAsked:
    """The question of a released record; else why it is not asked."""
    details = record.get("decision") or {}
    if "asked" not in details:
        return NotAsked.NO_QUESTION
    if record["final_label"] != 1:
        return NotAsked.NOT_FIT
    labels = {int(index): value for index, value in record["step_labels"].items() if value}
    right = sorted(index for index, value in labels.items() if value == 1)
    if not right:
        return NotAsked.NO_KEY
    asked, about = details["asked"], details["about"]
    texts = {index: _option_text(record["messages"][index]) for index in sorted(labels)}
    options: tuple[AskedOption, ...] = ()
    if asked["kind"] == DecisionKind.COMPLETION:
        kind = AskedKind.COMMAND if _asks_for_command(about) else AskedKind.ANSWER
        keys = tuple(message_text(record["messages"][index]) for index in right)
    else:
        if len(texts) < 2:
            return NotAsked.ONE_OPTION
        letters = _letters(texts, details.get("letters") or {})
        if len(letters) < len(texts):
            return NotAsked.TOO_MANY_OPTIONS
        kind = AskedKind.CHOICE if len(right) == 1 else AskedKind.KEYS
        keys = tuple(sorted(letters[index] for index in right))
        options = tuple(
            AskedOption(letter, texts[index], labels[index] == 1, index)
            for index, letter in sorted(letters.items(), key=lambda one: one[1])
        )
    history = record["messages"][: min(step_indexes(record["messages"]), default=len(record["messages"]))]
    uuid = about.get("uuid")
    return AskedQuestion(
        record_id=record["record_id"],
        uuid=uuid if isinstance(uuid, str) and uuid else record["record_id"],
        subset=record["subset"],
        task=task_of(record),
        language=asked.get("language") or "en",
        ability=asked.get("ability") or "",
        kind=kind,
        options=options,
        keys=keys,
        length=sum(map(_length, history)) + sum(len(one.text) for one in options),
    )


def _asks_for_command(about: Mapping[str, Any]) -> bool:
    return COMMAND_KEY in about or about.get("recipe") == _COMMAND_RECIPE


def _letters(indexes: Iterable[int], published: Mapping[str, str]) -> dict[int, str]:
    """The letter of each option: the published one, of others the next that is free, while there are any."""
    letters = {index: published[str(index)] for index in indexes if str(index) in published}
    free = iter(sorted(set(ascii_uppercase) - set(published.values())))
    rest = (index for index in indexes if index not in letters)
    return letters | dict(zip(rest, free, strict=False))


def _length(message: Any) -> int:
    (read,) = normalise([message])
    calls = (len(call.name) + len(call.arguments_raw) for call in read.tool_calls)
    return len(read.content) + sum(calls)


def planned(message: Mapping[str, Any]) -> dict[str, Any]:
    """The plan and the calls of a response, in the words of APTBench."""
    (read,) = normalise([message])
    calls = [
        {"name": call.name, "args": call.arguments if call.parsed else call.arguments_raw}
        for call in read.tool_calls
    ]
    return {"planning": read.content, "execution": calls[0] if len(calls) == 1 else calls}


def _option_text(message: Mapping[str, Any]) -> str:
    """An option as text: what it says, or as JSON what it plans and calls."""
    plan = planned(message)
    return json_text(plan) if plan["execution"] else message_text(message)
