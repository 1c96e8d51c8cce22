"""The baseline's figures of a step: what they count, and that nothing later changes them."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.core.baseline.features import FEATURES, run_features, step_features
from annotation.core.baseline.text_features import is_empty, is_error
from annotation.core.judging import JudgeInput

SEARCH = {
    "type": "function",
    "function": {
        "name": "search",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    },
}


def call(query: Any = "lighthouse engineer", name: str = "search") -> dict[str, Any]:
    return {
        "id": "c",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps({"query": query})},
    }


def assistant(content: str = "", *calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def tool(content: str) -> dict[str, Any]:
    return {"role": "tool", "content": content}


USER = {"role": "user", "content": "Which engineer built the lighthouse of Skellan?"}


ON = {"role": "user", "content": "On."}


def figures(*messages: dict[str, Any], question: str = "") -> list[dict[str, float]]:
    rows = step_features(JudgeInput(question, [USER, *messages], tools=[SEARCH]))
    return [dict(zip(FEATURES, row, strict=True)) for row in rows.tolist()]


def test_features_have_one_row_for_each_step() -> None:
    material = JudgeInput("", [USER, assistant("a"), assistant("b"), tool("c"), assistant("d")])
    rows = step_features(material)
    assert rows.shape == (len(material.steps), len(FEATURES)) == (3, len(FEATURES))
    assert np.isfinite(rows).all() and rows.dtype == np.float64
    assert run_features(rows).shape == (2 * len(FEATURES),)


def test_errors_of_tools_are_seen_and_remembered() -> None:
    first, second = figures(
        assistant("", call()), tool('{"error": "HTTP 404"}'), assistant("", call("again")), tool("Marchbanks")
    )
    assert (first["result_error"], first["errors_before"], second["result_error"]) == (1, 0, 0)
    assert (second["error_just_before"], second["errors_before"]) == (1, math.log1p(1))


@pytest.mark.parametrize(
    "text",
    [
        "Error: x",
        "404 not found",
        "HTTP 503",
        "status: 500",
        "Traceback (most recent call last)",
        "Timed out",
    ],
)
def test_features_know_what_reports_an_error(text: str) -> None:
    assert is_error(text)
    assert not is_error("Built in 1404 by a mason, with 500 men." + " " * 400 + text)


@pytest.mark.parametrize("text", ["", " ", "[]", "{}", '{"result": []}', "null", "No results found."])
def test_features_know_what_is_empty(text: str) -> None:
    assert is_empty(text) and not is_empty(f"{text} Marchbanks")


def test_calls_that_are_repeated_or_break_their_schema() -> None:
    first, second, third, fourth = figures(
        assistant("", call()),
        tool("x"),
        assistant("", call()),
        tool("x"),
        assistant("", {"function": {"name": "search", "arguments": "{broken"}}),
        tool("y"),
        assistant("", call(7), call("else", name="fly")),
    )
    assert (first["repeated_call"], second["repeated_call"], second["similar_call"]) == (0, 1, 1)
    assert (second["result_seen"], second["same_tool"], first["same_tool"]) == (1, 1, 0)
    assert (third["broken_call"], third["repeats_before"]) == (1, math.log1p(1))
    # a number where a text is asked for, and an unknown tool
    assert (fourth["call_problems"], fourth["parallel"], fourth["no_result"]) == (math.log1p(2), 1, 1)


def test_features_of_answers_and_what_they_rest_on() -> None:
    _, seen, unseen = figures(
        assistant("", call()),
        tool("It was Marchbanks, in 1871."),
        assistant("<answer>Marchbanks</answer> 1871"),
        assistant("<answer>Hale</answer> 1902"),
    )
    assert (seen["answers"], seen["answer_unseen"], seen["unseen_names"], seen["unseen_numbers"]) == (
        1,
        0,
        0,
        0,
    )
    assert (unseen["answer_unseen"], unseen["unseen_names"], unseen["unseen_numbers"]) == (1, 1, 1)


def test_features_of_the_task_are_without_what_the_user_says_later() -> None:
    later = {"role": "user", "content": "Then rename the parchment."}
    whole = USER["content"] + "\n\n" + later["content"]
    first, second = figures(assistant("parchment", call()), later, assistant("parchment"), question=whole)
    assert first["text_on_question"] == 0 and second["text_on_question"] > 0
    assert (first["after_user_turn"], second["after_user_turn"], second["user_turns"]) == (
        0,
        1,
        math.log1p(1),
    )


MESSAGES = st.lists(
    st.one_of(
        st.builds(assistant, st.text(max_size=30), st.builds(call, st.text(max_size=20))),
        st.builds(assistant, st.sampled_from(["<answer>Hale 7</answer>", "Is it Skellan?", "Sorry."])),
        st.builds(tool, st.sampled_from(["Error: no", "[]", "Skellan 1871", "engineer of the lighthouse"])),
        st.builds(lambda text: {"role": "user", "content": text}, st.text(max_size=20)),
        st.just({"role": "assistant", "content": None, "tool_calls": "odd"}),
        st.just(None),
    ),
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(MESSAGES, MESSAGES, MESSAGES)
def test_features_are_changed_by_nothing_later(
    before: list[Any], later: list[Any], instead: list[Any]
) -> None:
    """Whatever comes after a step and its own results: other messages, or none."""
    shared = [
        USER,
        *before,
        assistant("Hale", call()),
        tool("Marchbanks"),
        {"role": "user", "content": "On."},
    ]
    question = "Which engineer built it? On."
    rows = [
        step_features(JudgeInput(question, [*shared, *end], tools=[SEARCH])) for end in (later, instead, [])
    ]
    n = len(rows[2])
    assert n >= 1
    assert (rows[0][:n] == rows[2]).all() and (rows[1][:n] == rows[2]).all()
    assert np.isfinite(rows[0]).all()
    # and a step's own results are the last that count
    cut = step_features(JudgeInput(question, shared[:-1], tools=[SEARCH]))
    assert (cut == rows[2]).all()
