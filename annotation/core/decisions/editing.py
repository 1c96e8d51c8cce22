"""The options of a decision, edited: one taken out, its text changed, or another one added."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ..i18n import translatable
from ..releases.exports.formats.decisions import FORMAT
from ..trajectories.messages import message_text
from ..trajectories.trajectory import SourceLabel
from ..vocabulary import Ability, DecisionKind
from .corrections import MAX_CHARACTERS
from .record import (
    CONTRADICTORY,
    KEY,
    MAX_OPTIONS,
    WRITER,
    Asked,
    Decision,
    Option,
    OptionOrigin,
    option_digest,
)

_OF_OPTIONS: Final = (KEY, CONTRADICTORY, WRITER)
EDITED: Final = "edited"
"""The key by which the source of an option says that somebody has changed its text."""


@dataclass(frozen=True, slots=True)
class OptionChange:
    """One option as it shall be. `index`: the message of the one that it is now, None of a new one; one that
    is named by no change is taken out. `text`: its text, None for what it is. `key`: of a new one, the label
    that its author gives it."""

    index: int | None = None
    text: str | None = None
    key: int | None = None


def decision_of(raw: bytes, source_labels: Sequence[SourceLabel] = ()) -> Decision | None:
    """The decision of a record as `record.decision_draft` writes it; None where it keeps another format.
    `source_labels` are those of its trajectory."""
    try:
        record = json.loads(raw)
    except ValueError:
        return None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        return None
    asked = record.get("decision")
    return Decision(
        question=record["question"],
        tools=record["tools"],
        history=record["history"],
        options=[
            Option(one["message"], one["key"], OptionOrigin(one["origin"]), one["source"], one["reason"])
            for one in record["options"]
        ],
        task_key=record["task_key"],
        data_source=record["data_source"],
        category=record["category"],
        contradictory=record[CONTRADICTORY],
        about=record["about"],
        asked=Asked() if asked is None else _asked(asked),
        identity=record["record_id"],
        source_labels=tuple(label for label in source_labels if label.name not in _OF_OPTIONS),
    )


def _asked(held: Mapping[str, str]) -> Asked:
    ability = Ability(held["ability"]) if held["ability"] else None
    return Asked(DecisionKind(held["kind"]), ability, held["language"])


def edited_options(decision: Decision, changes: Sequence[OptionChange]) -> list[Option] | dict[str, str]:
    """The options of a decision after these changes; or what is wrong by field, where one names an option
    that it does not have, or one twice."""
    now = dict(enumerate(decision.options, len(decision.history)))
    named = [change.index for change in changes]
    wrong: dict[str, str] = {
        f"options[{at}]": translatable("There is no such option, or it is named twice.")
        for at, index in enumerate(named)
        if index is not None and (index not in now or named.index(index) != at)
    }
    if wrong:
        return wrong
    return [
        _written(change) if change.index is None else _edited(now[change.index], change) for change in changes
    ]


def _written(change: OptionChange) -> Option:
    message = {"role": "assistant", "content": (change.text or "").strip()}
    return Option(message, change.key, OptionOrigin.WRITTEN)


def _edited(option: Option, change: OptionChange) -> Option:
    """What an option is from stays its source; its reason was about the text that it had."""
    text = None if change.text is None else change.text.strip()
    if text is None or text == message_text(option.message).strip():
        return option
    return replace(
        option,
        message={**option.message, "content": text},
        origin=OptionOrigin.WRITTEN,
        source={**option.source, EDITED: True},
        reason="",
    )


def check_options(asked: Asked, options: Sequence[Option]) -> dict[str, str]:
    """The faults of the options of a decision, by field (`options`, `options[1]`): too few or too many, one
    that says nothing or too much, one that is the same as another."""
    if not asked.fewest_options <= len(options) <= MAX_OPTIONS:
        return {
            "options": translatable(
                "There must be at least {fewest} and at most {n}.", fewest=asked.fewest_options, n=MAX_OPTIONS
            )
        }
    errors: dict[str, str] = {}
    met: dict[bytes, int] = {}
    for number, option in enumerate(options, 1):
        text = message_text(option.message)
        first = met.setdefault(option_digest(_stripped(option.message)), number)
        if not text.strip() and not option.message.get("tool_calls"):
            errors[f"options[{number - 1}]"] = translatable("The text is empty.")
        elif len(text) > MAX_CHARACTERS:
            errors[f"options[{number - 1}]"] = translatable(
                "The text is longer than {n} characters.", n=f"{MAX_CHARACTERS:,}"
            )
        elif first != number:
            errors[f"options[{number - 1}]"] = translatable("This is the same as number {n}.", n=first)
    return errors


def _stripped(message: Mapping[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    return {**message, "content": content.strip() if isinstance(content, str) else content}
