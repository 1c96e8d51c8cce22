"""Decisions: equality, what annotators are sent, the order of options, and deriving them from runs."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotation.core.decisions.corrections import Corrected, CorrectionAnswer
from annotation.core.decisions.derive import Address, Derivation
from annotation.core.decisions.differences import call_differences, differing_part
from annotation.core.decisions.display import display_order
from annotation.core.decisions.equality import history_digest
from annotation.core.decisions.recipes import Recipe
from annotation.core.decisions.record import Decision, Option, OptionOrigin, decision_draft, option_digest
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.trajectories.messages import EARLIER, as_in_chat, normalise
from annotation.core.trajectories.trajectory import content_json, step_indexes
from tests.fixtures.published_labels import hotpotqa_records

USER = {"role": "user", "content": "A train to Bern, please."}


def called(name: str, arguments: Any, text: str = "", **more: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": text,
        "tool_calls": [{"type": "function", "function": function, **more}],
    }


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


SEARCH = called("search", '{"to": "Bern", "day": 1}')


# ── Equality ──────────────────────────────
@pytest.mark.parametrize(
    ("message", "equal"),
    [
        (called("search", {"day": 1, "to": "Bern"}, id="call_9"), True),
        ({**SEARCH, "content": None, "usage": {"output_tokens": 9}}, True),
        (called("search", '{"to": "Bern", "day": 1.0}'), False),
        (called("search", '{"to": "Bern", "day": 1'), False),
        (called("find", '{"to": "Bern", "day": 1}'), False),
        (called("search", '{"to": "Bern", "day": 1}', "Wait."), False),
        ({**SEARCH, "reasoning_content": "Bern it is."}, False),
    ],
)
def test_actions_are_equal_by_texts_and_calls_alone(message: dict[str, Any], equal: bool) -> None:
    assert (option_digest(message) == option_digest(SEARCH)) is equal
    histories = [
        history_digest("Q", [], [USER, {**one, "role": role}, {"role": "tool", "content": "IC 61", **result}])
        for one, role, result in ((SEARCH, "assistant", {}), (message, EARLIER, {"name": "search"}))
    ]
    assert (histories[0] == histories[1]) is equal


def test_histories_differ_by_question_tools_roles_and_pictures() -> None:
    def picture(data: str) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": data}}]}

    png = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"
    histories = [
        ("Q", [], [USER]),
        ("R", [], [USER]),
        ("Q", ["t"], [USER]),
        ("Q", [], [{**USER, "role": "system"}]),
        ("Q", [], [USER, USER]),
        ("Q", [], [picture(png)]),
        ("Q", [], [picture(png + "AAAA")]),
    ]
    assert len({history_digest(*history) for history in histories}) == len(histories)


# ── The record ────────────────────────────
def decision(**more: Any) -> Decision:
    values: dict[str, Any] = {
        "question": "A train to Bern, please.",
        "tools": [{"name": "search"}],
        "history": [USER, called("where", "{}", id="call_1"), {"role": "tool", "content": "Basel"}],
        "options": [
            Option(SEARCH, 1, OptionOrigin.STEP, {"steps": [{"record_id": "canary-run"}]}),
            Option(says("No."), -1, OptionOrigin.WRITTEN, {"author": "canary-author"}, "canary-reason"),
        ],
        "task_key": "t",
        "category": "canary-category",
        "about": {"more": "canary-about"},
    }
    return Decision(**{**values, **more})


def test_decision_is_a_trajectory_whose_options_are_its_only_steps() -> None:
    draft = decision_draft(decision())

    assert [message["role"] for message in draft.messages] == [
        "user",
        EARLIER,
        "tool",
        "assistant",
        "assistant",
    ]
    assert step_indexes(draft.messages) == [3, 4]
    assert as_in_chat(draft.messages[:3]) == decision().history
    labels = {label.message: label.value for label in draft.source_labels if label.name == "key"}
    assert labels == {index: 1 if draft.messages[index] == SEARCH else -1 for index in (3, 4)}


def test_decision_tells_key_origin_source_and_reason_in_its_raw_record_alone() -> None:
    draft = decision_draft(decision())

    record = json.loads(draft.raw)
    assert record["format"] == "tristep-decision/1"
    assert sorted((one["key"], one["origin"], one["reason"]) for one in record["options"]) == [
        (-1, "written", "canary-reason"),
        (1, "step", ""),
    ]
    assert b"canary" in draft.raw
    assert b"canary" not in content_json(draft)
    # nor does anything of it depend on the key
    options = [Option(says("No."), 1), Option(SEARCH, -1)]
    other = decision_draft(decision(options=options, category="", about={}, contradictory=True))
    assert content_json(other) == content_json(draft)
    assert other.record_id == draft.record_id


def test_response_of_a_history_is_shown_as_a_step_would_be() -> None:
    told = {"role": EARLIER, "content": '<tool_call>{"name": "f", "arguments": {}}</tool_call>'}
    assert [call.name for call in normalise([told])[0].tool_calls] == ["f"]
    assert normalise([{**says("A."), "role": EARLIER, "reasoning_content": "So."}])[0].thought == "So."


def test_differences_between_two_options_are_the_names_of_arguments_that_are_other() -> None:
    def differing(*options: dict[str, Any]) -> dict[int, list[tuple[bool, list[str]]]]:
        found = call_differences(normalise(options), range(len(options)))
        return {index: [(other, sorted(names)) for other, names in calls] for index, calls in found.items()}

    bern = called("search", '{"to": "Bern", "day": 1, "stops": [1, 2]}')
    assert differing(bern, called("search", '{"day": 1.0, "to": "Bern", "stops": [1, 2]}')) == {
        0: [(False, ["day"])],
        1: [(False, ["day"])],
    }
    fewer = differing(bern, called("search", '{"day": true, "to": "Bern"}'))
    assert fewer == {0: [(False, ["day", "stops"])], 1: [(False, ["day", "stops"])]}
    assert differing(bern, called("find", '{"to": "Bern"}')) == {0: [(True, [])], 1: [(True, [])]}
    assert differing(bern, says("No train.")) == {0: [(True, [])], 1: []}
    assert differing(bern, called("search", "{broken")) == {0: [(False, [])], 1: [(False, [])]}
    assert differing(bern, bern, says("No train.")) == {}


def test_differing_part_of_a_text_is_told_in_whole_words() -> None:
    def part(one: str, other: str) -> str:
        start, end = differing_part(one, other)
        return one[start:end]

    assert part("Thursday late", "Tuesday late") == "Thursday"
    assert part("to Bern today", "to Basel today") == "Bern"
    assert (part("a b c", "a c"), part("a c", "a b c")) == ("b ", "")
    assert part("x" * 100_000, "x" * 99_999 + "y") == "x" * 100_000
    assert (part("", "a"), part("a", "a"), part("<b>1</b>", "<b>2</b>")) == ("", "", "1")


def test_key_stands_first_in_half_of_the_openings_and_stays_where_it_stands() -> None:
    key_first = opened = 0
    for item in range(200):
        draft = decision_draft(decision(question=f"Question {item}"))
        steps = step_indexes(draft.messages)
        (key,) = (index for index in steps if draft.messages[index] == SEARCH)
        for person in range(10):
            order = display_order(steps, seed=7, item=draft.record_id, person=person)
            assert order == display_order(steps, seed=7, item=draft.record_id, person=person)
            assert sorted(order) == steps
            key_first += order[0] == key
            opened += 1
    assert opened == 2_000
    assert 0.47 <= key_first / opened <= 0.53


# ── Deriving ──────────────────────────────
def run(name: str, messages: list[dict[str, Any]], labels: dict[int, int], **more: Any) -> dict[str, Any]:
    return {
        "record_id": name,
        "subset": "s",
        "policy_model": f"model-{name}",
        "task_key": "t",
        "question": "A train to Bern, please.",
        "data_source": "s",
        "messages": messages,
        "tools": [],
        "step_labels": {str(index): value for index, value in labels.items()},
        "step_roots": {},
        "step_reasons": {},
        **more,
    }


RESULT = {"role": "tool", "content": "IC 61"}
RUNS = [
    run("a", [USER, SEARCH, RESULT, says("IC 61.")], {1: 1, 3: 1}),
    run(
        "b", [USER, called("search", {"day": 1, "to": "Bern"}, id="x"), RESULT, says("None.")], {1: 1, 3: -1}
    ),
    run("c", [USER, says("Walk."), USER, says("Walk!")], {1: -1, 3: -1}, step_roots={"1": 1, "3": 1}),
    run("d", [USER, says("Perhaps.")], {1: 0}),
    run("e", [USER, says("Perhaps.")], {1: 1}),
    run("f", [USER, SEARCH, RESULT, says("IC 61."), says("Bye.")], {1: 1, 3: 1, 4: -1}),
]


def derived(
    recipe: Recipe, runs: list[dict[str, Any]] = RUNS, **options: Any
) -> tuple[list[Decision], dict[str, int]]:
    derivation = Derivation(lambda: iter(runs), recipe, **options)
    found = list(derivation.decisions())
    return found, derivation.counts.as_json(recipe)


def keys(decision: Decision) -> dict[str, int | None]:
    return {option.message["content"] or "search": option.key for option in decision.options}


def test_shared_histories_give_the_distinct_actions_whose_labels_differ() -> None:
    found, counts = derived(Recipe.SHARED)
    first, second = sorted(found, key=lambda item: len(item.history))

    # “Perhaps.” has unlike labels
    assert keys(first) == {"search": 1, "Walk.": -1}
    assert keys(second) == {"IC 61.": 1, "None.": -1}
    assert second.history == [USER, SEARCH, RESULT]
    assert counts == {
        "histories": 4,
        "shared": 2,
        "items": 2,
        "tasks": 1,
        "pairs": 2,
        "left_out": 1,
    }
    search = next(option for option in first.options if option.key == 1)
    assert [(step["record_id"], step["step"]) for step in search.source["steps"]] == [
        ("a", 1),
        ("b", 1),
        ("f", 1),
    ]


def test_consequence_of_another_step_is_no_option() -> None:
    at_fault = {"step_labels": {"1": -1, "3": -1}, "step_roots": {"1": 1, "3": 1}}
    runs = [RUNS[0], {**RUNS[1], **at_fault}, {**RUNS[0], "record_id": "g", **at_fault}]

    found, counts = derived(Recipe.SHARED, runs)

    assert found == []
    assert counts["left_out"] == 3  # the search, and both answers


CORRECTED = ("corrected", "nothing_wrong", "no_right_action")
NO_CORRECTIONS = dict.fromkeys(CORRECTED, 0)


def corrected(option: Option) -> Corrected:
    return Corrected(CorrectionAnswer.ACTION, option)


def test_first_errors_stand_beside_right_actions_and_corrections() -> None:
    corrections: dict[Address, Corrected] = {
        ("s", "c", 1): corrected(Option(says("When?"), 1, OptionOrigin.WRITTEN, {"correction": 7})),
        # of a step that is no first error
        ("s", "a", 1): corrected(Option(says("Never."), 1, OptionOrigin.WRITTEN)),
    }

    found, counts = derived(Recipe.FIRST_ERROR, corrections=corrections)

    assert sorted(map(keys, found), key=len) == [
        {"IC 61.": 1, "None.": -1},
        {"search": 1, "Walk.": -1, "When?": 1},
    ]
    # the goodbye follows a response of the agent
    assert counts == {
        "histories": 3,
        "first_errors": 3,
        "with_sibling": 2,
        "uncorrected": 0,
        "items": 2,
        "tasks": 1,
        "pairs": 3,
        "left_out": 2,
        **NO_CORRECTIONS,
        "corrected": 1,
    }
    assert derived(Recipe.FIRST_ERROR)[1] == {**counts, "pairs": 2, "corrected": 0}
    # so many options at most, the error among them
    (_, few), fewer = derived(Recipe.FIRST_ERROR, corrections=corrections, most=2)
    assert sorted(option.key or 0 for option in few.options) == [-1, 1]
    assert fewer["pairs"] == 2


@pytest.mark.parametrize(
    ("option", "left_out"),
    [
        (Option(called("search", {"to": "Bern", "day": 1}), 1, OptionOrigin.WRITTEN), 2),
        (Option(says("Walk."), 1, OptionOrigin.JUDGE), 3),
    ],
    ids=["what a sibling did", "the wrong action itself"],
)
def test_correction_that_is_an_option_already_adds_none(option: Option, left_out: int) -> None:
    found, counts = derived(Recipe.FIRST_ERROR, corrections={("s", "c", 1): corrected(option)})
    assert {"search": 1, "Walk.": -1} in map(keys, found)
    assert (counts["pairs"], counts["left_out"], counts["corrected"]) == (2, left_out, 1)


def test_correction_that_finds_nothing_wrong_or_nothing_right_leaves_the_error_out() -> None:
    lonely = run("h", [{"role": "user", "content": "Hello."}, says("Bye.")], {1: -1})
    runs = [*RUNS, lonely, {**lonely, "record_id": "i", "messages": [lonely["messages"][0], says("No.")]}]
    assert derived(Recipe.FIRST_ERROR, runs)[1]["uncorrected"] == 1

    found, counts = derived(
        Recipe.FIRST_ERROR,
        runs,
        corrections={
            ("s", "b", 3): Corrected(CorrectionAnswer.NOTHING_WRONG),
            ("s", "c", 1): Corrected(CorrectionAnswer.NO_RIGHT_ACTION),
            ("s", "h", 1): Corrected(CorrectionAnswer.NOTHING_WRONG),
            ("s", "i", 1): corrected(Option(says("Hi."), 1, OptionOrigin.WRITTEN)),
        },
    )

    # what is left of the history of two errors is one
    assert list(map(keys, found)) == [{"Hi.": 1, "No.": -1}]
    assert [counts[name] for name in ("first_errors", "uncorrected", *CORRECTED)] == [5, 0, 1, 2, 1]


def test_item_of_many_options_keeps_a_better_and_a_worse_one_by_chance_of_a_seed() -> None:
    runs = [run(str(at), [USER, says(f"Say {at}.")], {1: -1 if at else 1}) for at in range(9)]
    drawn = [derived(Recipe.SHARED, runs, most=3, seed=seed) for seed in (1, 1, 2)]

    for (item,), counts in drawn:
        assert sorted(option.key or 0 for option in item.options) == [-1, -1, 1]
        assert counts["pairs"] == 2
    assert drawn[0][0] == drawn[1][0] != drawn[2][0]


def test_deriving_keeps_the_messages_of_few_runs() -> None:
    def records(count: int) -> Iterator[dict[str, Any]]:
        text = "x" * 9_000
        for task in range(count // 4):
            asked = {"role": "user", "content": f"{task} {text}"}
            for sample in range(4):
                messages = [asked, says(f"{sample} {text}")]
                yield run(f"{task}:{sample}", messages, {1: 1 if sample else -1}, task_key=str(task))

    peaks = []
    for count in (80, 480):
        derivation = Derivation(lambda count=count: records(count), Recipe.SHARED)  # type: ignore[misc]
        tracemalloc.start()
        assert sum(1 for _ in derivation.decisions()) == count // 4
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # 400 more runs hold 7 MB of text
    assert peaks[1] - peaks[0] < 400 * 1_000


# ── Published figures ─────────────────────
@pytest.mark.published
def test_shared_histories_of_hotpotqa_give_22_items_of_five_options(published: Path) -> None:
    records = list(hotpotqa_records(published))
    begun = time.perf_counter()
    found, counts = derived(Recipe.SHARED, records)
    assert time.perf_counter() - begun < 2
    assert counts == {"histories": 532, "shared": 52, "items": 22, "tasks": 22, "pairs": 104, "left_out": 0}
    assert {len(item.options) for item in found} == {5}
    assert canonical_json([decision_draft(item).content() for item in found]) == canonical_json(
        [decision_draft(item).content() for item in derived(Recipe.SHARED, records)[0]]
    )


@pytest.mark.published
def test_first_errors_of_hotpotqa_are_104_at_96_histories(published: Path) -> None:
    _, counts = derived(Recipe.FIRST_ERROR, list(hotpotqa_records(published)))
    assert (counts["first_errors"], counts["histories"], counts["with_sibling"]) == (104, 96, 30)
