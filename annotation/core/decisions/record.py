"""A decision as a record (`tristep-decision/1`) and as a trajectory: what is shown of it, and what is not.

The trajectory's messages are the history, its responses in the role `earlier assistant`, and after it the
options, which are the only steps. Their order is that of SHA-256(history ‖ option), so that it tells nothing.
Key, origin, source and reason of the options, and whatever else a file says of the decision, stand in the
record that is kept as `raw`, and the key in the source labels: annotators are sent neither (docs/design.md,
"Who may see what").
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from ..jsonio.canonical import canonical_json, sha256_hex
from ..releases.exports.formats.decisions import FORMAT, LETTER
from ..trajectories.messages import as_earlier, normalise
from ..trajectories.trajectory import SourceLabel, TrajectoryDraft
from ..vocabulary import Ability, DecisionKind
from .equality import history_digest, message_digest

KEY: Final = "key"
CONTRADICTORY: Final = "contradictory"
WRITER: Final = "written_by"
"""The label that names the model of the judge that wrote an option: it knows what is wrong with it."""
UNKNOWN_MODEL: Final = "unknown"
MAX_OPTIONS: Final = 64

_SHOWN: Final = ("content", "reasoning_content", "refusal")


class OptionOrigin(StrEnum):
    """The origin of an option: a step of a run, what a person wrote, a judge's proposal, or a file of
    decisions."""

    STEP = "step"
    WRITTEN = "written"
    JUDGE = "judge"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Asked:
    """The request of a decision. `ability` and `language` (a tag such as en or zh) are said of questions."""

    kind: DecisionKind = DecisionKind.PAIR
    ability: Ability | None = None
    language: str = ""

    @property
    def fewest_options(self) -> int:
        """The least number of options: a text has one accepted form."""
        return 1 if self.kind is DecisionKind.COMPLETION else 2

    def as_json(self) -> dict[str, str] | None:
        """The fields of a question; None for a pair, which has none."""
        if self.kind is DecisionKind.PAIR:
            return None
        return {"kind": str(self.kind), "ability": str(self.ability or ""), "language": self.language}


def kind_asked(content: Mapping[str, Any]) -> DecisionKind:
    """The kind of answer that a decision asks for, from the stored content of its trajectory."""
    return DecisionKind((content.get("decision") or {}).get("kind", DecisionKind.PAIR))


@dataclass(frozen=True, slots=True)
class Option:
    """One candidate for the next action. `message` is the response, without anything that tells where it is
    from.

    `key`: the label that its source gives it (−1, 0, 1; None without one). `source`: where it is from, as
    JSON (the run's `record_id`, `step` and `policy_model`; the file's `line`); `reason`: why the key is what
    it is.
    """

    message: dict[str, Any]
    key: int | None = None
    origin: OptionOrigin = OptionOrigin.FILE
    source: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """The option as it stands in the record."""
        return {
            "message": self.message,
            "key": self.key,
            "origin": str(self.origin),
            "source": dict(self.source),
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Decision:
    """One history and its options, all of them different: two or more, of a completion one or more.

    `history` has the roles of a chat. `category` is what figures are given by, beside sets ("" for none);
    `about` is what the source says besides. `contradictory`: sources give opposite keys, so that there is
    none. `identity`: what tells it from others, where the source says; else that is what it holds.
    `source_labels`: what the source says of it that is no key.
    """

    question: str
    tools: Sequence[Any]
    history: Sequence[dict[str, Any]]
    options: Sequence[Option]
    task_key: str
    data_source: str = ""
    category: str = ""
    contradictory: bool = False
    about: Mapping[str, Any] = field(default_factory=dict)
    asked: Asked = Asked()
    identity: str = ""
    source_labels: tuple[SourceLabel, ...] = ()

    @property
    def keyed(self) -> bool:
        """Whether its key says that some option is better than another, or accepts a text."""
        keys = {option.key for option in self.options} - {None}
        return len(keys) > 1 or (self.asked.kind is DecisionKind.COMPLETION and keys == {1})


def shown_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A response as an option: its text, its reasoning and its calls. Ids, usage and all else are left
    out."""
    shown: dict[str, Any] = {"role": "assistant"} | {
        name: message[name] for name in _SHOWN if message.get(name) not in (None, "")
    }
    shown.setdefault("content", "")
    calls = message.get("tool_calls") or []
    if not calls and isinstance(message.get("function_call"), dict):
        calls = [{"function": message["function_call"]}]
    if calls:
        shown["tool_calls"] = [_call(call) for call in (calls if isinstance(calls, list) else [calls])]
    return shown


def _call(call: Any) -> Any:
    if not isinstance(call, dict):
        return call
    spec = call["function"] if isinstance(call.get("function"), dict) else call
    return {
        "type": "function",
        "function": {key: held for key, held in spec.items() if key not in ("id", "type")},
    }


def option_digest(message: Mapping[str, Any]) -> bytes:
    """The digest of an option: equal exactly when options do the same."""
    (normal,) = normalise([message])
    return message_digest(normal)


def item_digest(history: bytes, options: Sequence[bytes]) -> str:
    """The identity of a decision, from the digests of its history and its options, whatever their order."""
    return sha256_hex(b"".join([history, *sorted(options)]))


def in_stored_order(history: bytes, options: Sequence[Option]) -> list[Option]:
    """The options ordered by SHA-256(history ‖ option). Options that differ only in how they are written, by
    that."""

    def place(option: Option) -> tuple[bytes, bytes]:
        digest = hashlib.sha256(history + option_digest(option.message)).digest()
        return digest, canonical_json(option.message)

    return sorted(options, key=place)


def decision_draft(decision: Decision, *, line: int = 0) -> TrajectoryDraft:
    """The decision as a trajectory, to be imported like any other."""
    before = history_digest(decision.question, decision.tools, decision.history)
    options = in_stored_order(before, decision.options)
    record_id = decision.identity or item_digest(
        before, [option_digest(option.message) for option in options]
    )
    asked = decision.asked.as_json()
    first = len(decision.history)
    record = ({} if asked is None else {"decision": asked}) | {
        "format": FORMAT,
        "record_id": record_id,
        "task_key": decision.task_key,
        "data_source": decision.data_source,
        "question": decision.question,
        "tools": list(decision.tools),
        "history": list(decision.history),
        "options": [option.as_json() for option in options],
        "category": decision.category,
        CONTRADICTORY: decision.contradictory,
        "about": dict(decision.about),
    }
    labels = [
        SourceLabel(first + place, KEY, option.key, option.reason)
        for place, option in enumerate(options)
        if option.key is not None
    ]
    labels += [
        SourceLabel(first + place, WRITER, option.source["model"])
        for place, option in enumerate(options)
        if option.origin is OptionOrigin.JUDGE and isinstance(option.source.get("model"), str)
    ]
    if decision.contradictory:
        labels.append(SourceLabel(None, CONTRADICTORY, True))
    labels.extend(decision.source_labels)
    return TrajectoryDraft(
        record_id=record_id,
        task_key=decision.task_key,
        question=decision.question,
        data_source=decision.data_source,
        query_index=None,
        sample_index=None,
        policy_model=UNKNOWN_MODEL,
        messages=[*as_earlier(decision.history), *(option.message for option in options)],
        tools=list(decision.tools),
        reference_answer=None,
        task_description=None,
        answer_text=None,
        hints={},
        labels=None,
        raw=canonical_json(record),
        line=line,
        source_labels=tuple(labels),
        decision=asked,
    )


def frozen_details(raw: bytes) -> dict[str, Any]:
    """The details of a decision in a release besides its messages, from its raw record: the category, and of
    each option, by message index, its origin and the steps that did it, with their policy models. No key. Of
    a question also what it asks for, all that its source says of it, and the letters of its options there.

    Of a record that another package's format keeps otherwise, it says nothing.
    """
    try:
        record = json.loads(raw)
    except ValueError:
        record = None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        return {}
    first = len(record["history"])
    asked = record.get("decision")
    details = {
        "category": record["category"],
        "options": {
            str(first + place): {"origin": option["origin"], "steps": _steps(option["source"])}
            for place, option in enumerate(record["options"])
        },
    }
    if asked is None:
        return details
    letters = {
        str(first + place): option["source"][LETTER]
        for place, option in enumerate(record["options"])
        if isinstance(option["source"].get(LETTER), str)
    }
    return details | {"asked": asked, "about": record["about"], "letters": letters}


def _steps(source: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The steps that an option's source names; a file may say anything there."""
    steps = source.get("steps")
    names = ("subset", "record_id", "step", "policy_model")
    return [
        {name: step[name] for name in names}
        for step in (steps if isinstance(steps, list) else [])
        if isinstance(step, dict)
        and type(step.get("step")) is int
        and all(isinstance(step.get(name), str) for name in names if name != "step")
    ]
