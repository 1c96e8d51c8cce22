"""What a released question asks: kind, options by their letters, and what is right."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotation.core.decisions.editing import OptionChange, decision_of, edited_options
from annotation.core.decisions.record import Asked, Decision, Option, decision_draft
from annotation.core.jsonio.plain_text import json_text
from annotation.core.releases.exports import PLAIN
from annotation.core.releases.exports.asked import AskedKind, AskedQuestion, NotAsked, asked_question
from annotation.core.releases.exports.formats.aptbench import aptbench_rows
from annotation.core.scoring.questions.outputs import READINGS
from annotation.core.scoring.questions.verdicts import Question, verdict
from annotation.core.trajectories.trajectory import TrajectoryDraft
from annotation.core.vocabulary import Ability, DecisionKind
from tests.fixtures.decisions import by_key, frozen
from tests.importers.reading import draft

CHOICE = {
    "uuid": "u",
    "query": "A train?",
    "trajectory": "[]",
    "tool_set": "",
    "choices": "(A) first (B) second (C) third (D) fourth",
    "answer": "C",
}


def labelled(item: TrajectoryDraft, labels: dict[str, int], fit: int = 1) -> dict[str, Any]:
    """The record in which the options have these labels, by their texts."""
    texts = {str(message["content"]): index for index, message in enumerate(item.messages)}
    return frozen(item, {texts[text]: value for text, value in labels.items()}, fit)


def asked(record: dict[str, Any]) -> AskedQuestion:
    found = asked_question(record)
    assert isinstance(found, AskedQuestion)
    return found


def derived(kind: DecisionKind, options: list[Option], **about: str) -> TrajectoryDraft:
    return decision_draft(
        Decision(
            question="A train?",
            tools=[],
            history=[{"role": "user", "content": "A train?"}],
            options=options,
            task_key="t",
            about=about,
            asked=Asked(kind, Ability.PLANNING, "zh"),
        )
    )


def test_published_choice_keeps_its_letters_and_lacks_options_of_which_nothing_can_be_said() -> None:
    found = asked(labelled(draft("aptbench", CHOICE), {"first": -1, "second": 0, "third": 1, "fourth": -1}))
    assert [(one.letter, one.text, one.right) for one in found.options] == [
        ("A", "first", False),
        ("C", "third", True),
        ("D", "fourth", False),
    ]
    assert (found.kind, found.keys, found.uuid, found.ability, found.language) == (
        AskedKind.CHOICE,
        ("C",),
        "u",
        "planning",
        "en",
    )
    assert found.length == len("A train?") + len("firstthirdfourth")


def test_published_line_is_written_back_without_options_that_are_left_out() -> None:
    item = draft("aptbench", {**CHOICE, "choices": "Choose: (A) first\n\n(B)  second (C) third (D) fourth"})
    labels = {"first": -1, "second": -1, "third": 1, "fourth": -1}
    line = json.loads(item.raw)["about"]
    assert list(aptbench_rows(labelled(item, labels), PLAIN)) == [line]

    (row,) = aptbench_rows(labelled(item, {**labels, "second": 0, "fourth": 1}), PLAIN)
    assert row == {**line, "choices": "(A) first\n(C) third\n(D) fourth", "answer": "C,D"}

    decision = decision_of(item.raw)
    assert decision is not None
    index = {message["content"]: at for at, message in enumerate(item.messages)}
    options = edited_options(
        decision,
        [
            OptionChange(index["second"], text="other"),
            OptionChange(index["third"]),
            OptionChange(text="new", key=-1),
        ],
    )
    assert isinstance(options, list)
    edited = decision_draft(replace(decision, options=options))
    (row,) = aptbench_rows(labelled(edited, {"other": -1, "third": 1, "new": -1}), PLAIN)
    assert row == {**line, "choices": "(A) new\n(B) other\n(C) third"}


def test_several_right_options_are_several_keys() -> None:
    found = asked(labelled(draft("aptbench", CHOICE), {"first": 1, "second": -1, "third": -1, "fourth": 1}))
    assert (found.kind, found.keys) == (AskedKind.KEYS, ("A", "D"))
    assert verdict(Question(found.kind, found.keys), "D, A)").strict


def test_derived_choice_is_lettered_in_its_stored_order_and_shows_calls_as_json() -> None:
    call = {"type": "function", "function": {"name": "search", "arguments": '{"query": "火车"}'}}
    does = {"role": "assistant", "content": "Look.", "tool_calls": [call]}
    item = derived(
        DecisionKind.CHOICE,
        [Option(does, 1), *(Option({"role": "assistant", "content": text}, -1) for text in "xyz")],
    )
    found = asked(by_key(item))
    assert [one.letter for one in found.options] == list("ABCD")
    (right,) = (one for one in found.options if one.right)
    assert json.loads(right.text) == {
        "planning": "Look.",
        "execution": {"name": "search", "args": {"query": "火车"}},
    }
    assert (
        right.letter == "ABCD"[[bool(message.get("tool_calls")) for message in item.messages[1:]].index(True)]
    )
    assert (found.uuid, found.language) == (found.record_id, "zh")


@pytest.mark.parametrize(("recipe", "kind"), [("next-call", "command"), ("final-answer", "answer")])
def test_completion_accepts_the_texts_that_are_right(recipe: str, kind: str) -> None:
    item = derived(
        DecisionKind.COMPLETION,
        [Option({"role": "assistant", "content": text}) for text in ("one", "two", "three")],
        recipe=recipe,
    )
    found = asked(labelled(item, {"one": 1, "two": -1, "three": 1}))
    assert (found.kind, sorted(found.keys), found.options) == (kind, ["one", "three"], ())


@pytest.mark.parametrize(
    ("labels", "fit", "why"),
    [
        ({"first": 1, "second": -1, "third": -1, "fourth": -1}, 0, NotAsked.NOT_FIT),
        ({"first": 0, "second": -1, "third": -1, "fourth": -1}, 1, NotAsked.NO_KEY),
        ({"first": 0, "second": 1, "third": 0, "fourth": 0}, 1, NotAsked.ONE_OPTION),
    ],
)
def test_what_cannot_be_asked_says_why(labels: dict[str, int], fit: int, why: NotAsked) -> None:
    assert asked_question(labelled(draft("aptbench", CHOICE), labels, fit)) is why


def test_pair_and_choice_of_more_options_than_letters_are_not_asked() -> None:
    many = [Option({"role": "assistant", "content": f"Step {at}"}, 1 if at == 3 else -1) for at in range(27)]
    assert asked_question(by_key(derived(DecisionKind.CHOICE, many))) is NotAsked.TOO_MANY_OPTIONS
    assert asked_question(by_key(derived(DecisionKind.PAIR, many[2:4]))) is NotAsked.NO_QUESTION


def test_every_kind_has_a_reading() -> None:
    assert set(READINGS) == set(AskedKind)


@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("summ_ans_zh", {"answer": 138}),
        ("action", {"command": 1084}),
        ("error", {"choice": 147}),
    ],
)
def test_published_questions_have_the_published_answers(
    published: Path, name: str, kinds: dict[str, int]
) -> None:
    lines = dict.fromkeys((published / "aptbench" / f"{name}.jsonl").read_text().splitlines())
    rows = [json.loads(line) for line in lines]
    found = [asked(by_key(draft("aptbench", row))) for row in rows]
    assert Counter(one.kind for one in found) == kinds
    for one, row in zip(found, rows, strict=True):
        assert one.uuid == row["uuid"]
        assert one.keys == (row.get("target_cmd") or row["answer"].strip(),)
        for option in one.options:
            assert re.search(rf"\({option.letter}\)\s*{re.escape(option.text)}", row["choices"])


def test_json_text_is_readable_and_holds_lone_surrogates() -> None:
    assert json_text({"a": "火"}) == '{"a":"火"}'
    assert json_text("\ud800") == '"\\ud800"'
