"""Questions derived from runs: what is asked, of which runs, and among which options."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from annotation.core.decisions.equality import act_digest
from annotation.core.decisions.questions import QuestionDerivation, QuestionOptions
from annotation.core.decisions.recipes import Recipe
from annotation.core.decisions.record import Decision, Option, decision_draft
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.releases.exports import PLAIN
from annotation.core.releases.exports.formats.aptbench import aptbench_rows
from tests.fixtures.decisions import by_key
from tests.fixtures.published_labels import hotpotqa_records
from tests.importers.reading import draft


def record(name: str, *steps: tuple[str, int], outcome: int = 1, task: str = "t") -> dict[str, Any]:
    """A run in which each response says a text, is labelled, and is answered by a tool."""
    messages = [{"role": "user", "content": "A train?"}]
    for text, _ in steps:
        said = {"role": "assistant", "content": text}
        if text.startswith("{"):
            call = {"type": "function", "function": {"name": "search", "arguments": text}}
            said = {"role": "assistant", "content": "", "tool_calls": [call]}
        messages += [said, {"role": "tool", "content": f"after {text}"}]
    return {
        "subset": "s",
        "record_id": name,
        "task_key": task,
        "question": "A train?",
        "tools": [],
        "messages": messages,
        "step_labels": {str(2 * at + 1): label for at, (_, label) in enumerate(steps)},
        "step_roots": {},
        "final_label": outcome,
    }


def derived(
    recipe: Recipe, records: Sequence[dict[str, Any]], *, seed: int = 0, **options: Any
) -> tuple[list[Decision], dict[str, int]]:
    derivation = QuestionDerivation(lambda: records, recipe, seed=seed, options=QuestionOptions(**options))
    return list(derivation.decisions()), derivation.counts.as_json(recipe)


def texts(decision: Decision, key: int) -> list[str]:
    return [str(option.message["content"]) for option in decision.options if option.key == key]


def test_next_step_takes_wrong_actions_at_its_history_then_later_steps_of_its_run() -> None:
    good = record("good", ("a", 1), ("b", 1), ("c", 1), ("d", 1))
    bad = record("bad", ("x", -1), ("y", -1), outcome=-1)
    found, counts = derived(Recipe.NEXT_STEP, [good, bad], options=3)

    assert [(texts(item, 1), len(item.history)) for item in found] == [(["a"], 1), (["b"], 3)]
    first, second = (texts(item, -1) for item in found)
    assert first[0] == "x" and set(first[1:]) < {"b", "c", "d"} and len(first) == 2
    assert set(second) == {"c", "d"}
    assert counts == {
        **{"runs": 2, "successful": 1, "clean": 1, "steps": 4, "with_later": 2},
        **{"too_few_options": 2, "unfit": 0, "repeats": 0, "items": 2, "tasks": 1},
    }
    fewer, _ = derived(Recipe.NEXT_STEP, [good, bad], options=3, fewer=True)
    assert [texts(item, 1) for item in fewer] == [["a"], ["b"], ["c"]]


def test_next_step_offers_no_action_that_is_right_or_neutral_there_nor_the_key_again() -> None:
    good = record("good", ("a", 1), ("b", 1), ("a", 1), ("n", 0), ("w", 1))
    others = [
        record("bad", ("x", -1)),
        record("fine", ("b", 1), ("z", -1), outcome=-1),
        record("neutral", ("n", 0), outcome=-1),
        # unlike labels of one action tell nothing
        record("unlike", ("w", -1), outcome=-1),
        record("unlike too", ("w", 0), outcome=-1),
    ]
    (item, *_), _ = derived(Recipe.NEXT_STEP, [good, *others], fewer=True)
    assert (texts(item, 1), texts(item, -1)) == (["a"], ["x"])


def test_next_step_knows_the_other_actions_that_are_right_where_none_is_wrong() -> None:
    good = record("good", ("a", 1), ("b", 1), ("c", 1))
    (first, *_), _ = derived(
        Recipe.NEXT_STEP, [good, record("other", ("b", 1)), record("neutral", ("N", 0))], fewer=True
    )
    assert (texts(first, 1), texts(first, -1)) == (["a"], ["c"])
    known = sorted(act_digest({"role": "assistant", "content": text}) for text in ("b", "n"))
    assert first.about["not_wrong"] == known
    (alone, *_), _ = derived(Recipe.NEXT_STEP, [good], fewer=True)
    assert "not_wrong" not in alone.about


def test_questions_are_asked_of_clean_runs_unless_of_all_successful_ones() -> None:
    runs = [
        record("clean", ('{"to":"Bern"}', 1)),
        record("flawed", ('{"to":"Wien"}', 1), ("b", -1), task="u"),
        record("failed", ('{"to":"Rom"}', 1), outcome=-1),
    ]
    found, counts = derived(Recipe.NEXT_CALL, runs)
    assert [texts(item, 1) for item in found] == [['search {"to":"Bern"}']]
    assert (counts["runs"], counts["successful"], counts["clean"]) == (3, 2, 1)
    assert len(derived(Recipe.NEXT_CALL, runs, successful=True)[0]) == 2


def test_next_call_has_twenty_words_at_most_and_the_same_is_asked_once() -> None:
    long = '{"to":"' + "x " * 20 + '"}'
    runs = [
        record("one", ('{"to": "Bern"}', 1), (long, 1), ("text", 1)),
        record("again", ('{ "to":"Bern"}', 1)),
    ]
    found, counts = derived(Recipe.NEXT_CALL, runs)
    assert (len(found), counts["steps"], counts["unfit"], counts["repeats"]) == (1, 4, 2, 1)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Thinking. <answer> 8:32 </answer>\n", "8:32"),
        ("8:32", "8:32"),
        ("<b>8</b>:32", "<b>8</b>:32"),
    ],
)
def test_final_answer_is_without_the_tags_around_it(said: str, answer: str) -> None:
    (item,), _ = derived(Recipe.FINAL_ANSWER, [record("r", ("a", -1), (said, 1))])
    assert (texts(item, 1), len(item.history)) == ([answer], 3)


def test_first_error_step_has_every_step_and_none_as_options() -> None:
    runs = [record("bad", ("a", 1), ("b", -1), ("c", -1), outcome=-1), record("good", ("a", 1))]
    found, _ = derived(Recipe.FIRST_ERROR_STEP, runs, language="zh")
    assert [texts(item, 1) for item in found] == [["第 3 步"], ["没有错误"]]
    assert [len(item.options) for item in found] == [4, 2]
    assert found[0].history[-1]["content"] == "这次运行的第一个错误是哪一步？"
    assert len({decision_draft(item).record_id for item in found}) == 2
    steps = [(str(at), 1) for at in range(64)]
    assert derived(Recipe.FIRST_ERROR_STEP, [record("long", *steps)])[1]["unfit"] == 1


@pytest.mark.parametrize(
    "recipe", [Recipe.NEXT_STEP, Recipe.FIRST_ERROR_STEP, Recipe.NEXT_CALL, Recipe.FINAL_ANSWER]
)
def test_question_goes_out_as_a_line_of_aptbench_and_comes_in_again(recipe: Recipe) -> None:
    runs = [
        record("good", ('{"to":"Bern"}', 1), ("b", 1), ("c", 1), ("<answer>8:32</answer>", 1)),
        record("bad", ("x", -1), outcome=-1),
    ]
    for item in derived(recipe, runs)[0]:
        (row,) = aptbench_rows(by_key(decision_draft(item)), PLAIN)
        again = draft("aptbench", row)
        record_ = json.loads(again.raw)
        assert {option["message"]["content"]: option["key"] for option in record_["options"]} == {
            as_text(option): option.key for option in item.options
        }
        assert (again.decision or {})["kind"] == item.asked.kind
        assert record_["history"][0]["content"] == "A train?"
        assert sum(message["role"] == "assistant" for message in record_["history"]) == sum(
            message["role"] == "assistant" for message in item.history
        )


def as_text(option: Option) -> str:
    """An option as a line writes it."""
    if "tool_calls" not in option.message:
        return str(option.message["content"])
    planned = {"planning": "", "execution": {"name": "search", "args": {"to": "Bern"}}}
    return json.dumps(planned, separators=(",", ":"))


@lru_cache
def hotpotqa(published: Path) -> list[dict[str, Any]]:
    return list(hotpotqa_records(published))


@pytest.mark.published
@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        (Recipe.NEXT_STEP, {"clean": 146, "with_later": 39}),
        (Recipe.FINAL_ANSWER, {"successful": 163, "unfit": 0}),
        (Recipe.NEXT_CALL, {"clean": 146}),
        (Recipe.FIRST_ERROR_STEP, {"runs": 250, "items": 250}),
    ],
)
def test_hotpotqa_has_so_many_questions(published: Path, recipe: Recipe, expected: dict[str, int]) -> None:
    found, counts = derived(recipe, hotpotqa(published), seed=3)
    assert expected.items() <= counts.items()
    drafts = [decision_draft(item) for item in found]
    assert len({draft.record_id for draft in drafts}) == len(found) == counts["items"]
    again, _ = derived(recipe, hotpotqa(published), seed=3)
    assert canonical_json([decision_draft(item).content() for item in again]) == canonical_json(
        [draft.content() for draft in drafts]
    )
