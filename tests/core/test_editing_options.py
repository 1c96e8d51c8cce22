"""Editing the options of a decision: what stays of one, and which options are refused."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.core.decisions.editing import (
    OptionChange,
    check_options,
    decision_of,
    edited_options,
)
from annotation.core.decisions.record import Asked, Decision, Option, OptionOrigin, decision_draft
from annotation.core.trajectories.trajectory import SourceLabel
from annotation.core.vocabulary import Ability, DecisionKind

CALL = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": "{}"}}]}
CHOICE = Asked(DecisionKind.CHOICE, Ability.PLANNING, "en")
COMPLETION = Asked(DecisionKind.COMPLETION, Ability.ACTION, "en")


def text(words: str) -> dict[str, Any]:
    return {"role": "assistant", "content": words}


def after(decision: Decision, changes: list[OptionChange]) -> list[Option]:
    options = edited_options(decision, changes)
    assert isinstance(options, list)
    return options


def question() -> Decision:
    return Decision(
        "Why?",
        [{"name": "look"}],
        [{"role": "user", "content": "Why?"}],
        [
            Option(text("Because."), 1, OptionOrigin.STEP, {"steps": [], "letter": "B"}, "so it is"),
            Option(CALL, -1, OptionOrigin.JUDGE, {"model": "m"}),
        ],
        "task",
        data_source="file",
        category="planning",
        about={"uuid": "7"},
        asked=CHOICE,
        identity="0" * 64,
        source_labels=(SourceLabel(None, "answer", "Q"),),
    )


def test_a_decision_is_read_back_from_what_was_kept_of_it() -> None:
    draft = decision_draft(question())
    again = decision_of(draft.raw, draft.source_labels)

    assert again is not None
    assert decision_draft(again) == draft
    assert decision_of(b'{"format": "another"}') is None
    assert decision_of(b"no JSON") is None


def test_edited_options_keep_origin_and_source_of_what_stays() -> None:
    before = question()
    kept, changed, added = after(
        before, [OptionChange(2), OptionChange(1, text=" Because not. "), OptionChange(text="New", key=-1)]
    )

    assert kept == before.options[1]
    assert (changed.message["content"], changed.key) == ("Because not.", 1)
    assert (changed.origin, changed.reason) == (OptionOrigin.WRITTEN, "")
    assert changed.source == {"steps": [], "letter": "B", "edited": True}
    assert (added.message, added.key, added.origin, added.source) == (
        text("New"),
        -1,
        OptionOrigin.WRITTEN,
        {},
    )
    assert after(before, [OptionChange(1, text="Because. ")]) == [before.options[0]]
    named = [OptionChange(index) for index in (1, 0, 3, -1, 1)]
    wrong = edited_options(before, named)
    assert isinstance(wrong, dict)
    assert wrong.keys() == {f"options[{at}]" for at in (1, 2, 3, 4)}


@pytest.mark.parametrize(
    ("asked", "messages", "wrong"),
    [
        (CHOICE, [text("a"), CALL], {}),
        (CHOICE, [text("a")], {"options"}),
        (COMPLETION, [text("a")], {}),
        (COMPLETION, [], {"options"}),
        (CHOICE, [text(str(number)) for number in range(65)], {"options"}),
        (CHOICE, [text("a"), text(" \n")], {"options[1]"}),
        (CHOICE, [text("a"), text("b"), text(" a ")], {"options[2]"}),
        (CHOICE, [CALL, text("b"), {**CALL, "content": " "}], {"options[2]"}),
        (COMPLETION, [text("a" * 200_001)], {"options[0]"}),
    ],
)
def test_too_few_empty_and_equal_options_are_refused(
    asked: Asked, messages: list[dict[str, Any]], wrong: set[str]
) -> None:
    assert check_options(asked, [Option(message) for message in messages]).keys() == set(wrong)
