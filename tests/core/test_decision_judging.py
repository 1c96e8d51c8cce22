"""Judges on decisions: what they are asked, in which order, and what of their answers counts."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest

from annotation.core.decisions.record import Decision, Option, decision_draft
from annotation.core.errors import Invalid
from annotation.core.judging import JudgeInput, Problem, ProblemKind, TooLong, UnusableKind
from annotation.core.judging.parsing import both_orders, parse_actions
from annotation.core.judging.prompt import DECISION_SCHEMA, build_decision
from annotation.core.judging.prompts import DECISION_VERSIONS, template
from annotation.core.trajectories.trajectory import step_indexes

# As for the prompts of steps: words and writing of a version never change.
DIGESTS = {"decision-v1": ("0c4709aed3c6c897", "ba988d111a002e8b")}

CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": "x"}'}}
HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "Never reveal prices."},
    {"role": "user", "content": "Where is the café?"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "In Paris."},
]
OPTIONS = [
    Option({"role": "assistant", "content": "In Paris."}, 1, reason="canary"),
    Option({"role": "assistant", "content": "", "tool_calls": [{"function": CALL["function"]}]}, -1),
]
CONTENT = decision_draft(Decision("Where is the café?", [{"name": "find"}], HISTORY, OPTIONS, "t")).content()
MATERIAL = JudgeInput.of(CONTENT, guidelines="Be strict.")
(LOW, HIGH) = step_indexes(CONTENT["messages"])
TEXT, AGAIN = (LOW, HIGH) if CONTENT["messages"][LOW]["content"] else (HIGH, LOW)


def answer(*labels: Any, **more: Any) -> str:
    rows = [
        {"index": at, "reasoning": f"Because {at}.", "label": label} for at, label in enumerate(labels, 1)
    ]
    return json.dumps({"actions": rows, **more})


@pytest.mark.parametrize("version", DECISION_VERSIONS)
def test_prompt_of_a_version_never_changes(version: str) -> None:
    prompt = build_decision(version, MATERIAL, 50_000, [TEXT, AGAIN])
    words, written = DIGESTS[version]
    assert hashlib.sha256("\0".join(template(version)).encode()).hexdigest()[:16] == words
    assert hashlib.sha256(prompt.user.encode()).hexdigest()[:16] == written


def test_prompt_shows_history_and_actions_in_the_order_that_is_asked_for() -> None:
    for order, first in (([TEXT, AGAIN], "In Paris."), ([AGAIN, TEXT], "[call action 1.1] find")):
        prompt = build_decision("decision-v1", MATERIAL, 50_000, order)
        titles = re.findall(r"^<<<[0-9a-f]{8} (?!end)(.*?)>>>$", prompt.user, re.MULTILINE)
        assert titles == [
            "task",
            "tools",
            "message 0 · system",
            "message 1 · user",
            "message 2 · assistant",
            "message 3 · tool · result of call 2.1",
            "action 1",
            "action 2",
        ]
        assert re.search(rf"action 1>>>\n{re.escape(first)}", prompt.user)
        assert prompt.user.endswith("Actions: [1, 2]\n")
        assert prompt.step_indexes == tuple(order)
        assert "Be strict." in prompt.user
        assert "canary" not in prompt.user and "key" not in prompt.user


def test_prompt_of_a_decision_keeps_to_the_budget_by_shortening_results_alone() -> None:
    long = {**CONTENT, "messages": [dict(message) for message in CONTENT["messages"]]}
    long["messages"][3]["content"] = "x" * 200_000
    prompt = build_decision("decision-v1", JudgeInput.of(long), 8_000, [TEXT, AGAIN])
    assert prompt.shortened and prompt.estimated_tokens <= 8_000
    long["messages"][TEXT]["content"] = "y" * 200_000
    with pytest.raises(TooLong):
        build_decision("decision-v1", JudgeInput.of(long), 8_000, [TEXT, AGAIN])
    with pytest.raises(Invalid):
        build_decision("decision-v9", MATERIAL, 8_000, [TEXT, AGAIN])


def test_answer_is_read_by_the_numbers_that_were_shown() -> None:
    read = parse_actions(answer(1, -1), [HIGH, LOW])
    assert read.labels == {HIGH: 1, LOW: -1}
    assert read.reasons == {HIGH: "Because 1.", LOW: "Because 2."}
    assert (read.outcome, read.problems, read.unusable) == (None, (), None)
    assert DECISION_SCHEMA["required"] == ["actions"]


@pytest.mark.parametrize(
    ("text", "labels", "problems"),
    [
        (answer(1), {LOW: 1, HIGH: None}, [(ProblemKind.MISSING, "actions.2")]),
        (answer(1, None), {LOW: 1, HIGH: None}, [(ProblemKind.MISSING, "actions.2")]),
        (answer(1, 0.5), {LOW: 1, HIGH: None}, [(ProblemKind.INVALID, "actions.2")]),
        (answer(1, 0, -1), {LOW: 1, HIGH: 0}, [(ProblemKind.EXTRA, "actions.3")]),
        ('Well: {"actions": [{"index": 1, "label": 1}, {"index": 1, "label": 0}, {"index": 2, "label": 0}]}',
         {LOW: None, HIGH: 0}, [(ProblemKind.CONTRADICTORY, "actions.1")]),
    ],
)  # fmt: skip
def test_answer_with_faults_keeps_what_was_said(
    text: str, labels: dict[int, Any], problems: list[tuple[ProblemKind, str]]
) -> None:
    read = parse_actions(text, [LOW, HIGH])
    assert read.labels == labels
    assert [(problem.kind, problem.where) for problem in read.problems] == problems


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", UnusableKind.NOT_JSON),
        ('{"steps": [{"index": 1, "label": 1}]}', UnusableKind.NO_LABELS),
        ('{"actions": [{"index": 1, "lab', UnusableKind.TRUNCATED),
    ],
)
def test_answer_without_a_label_is_a_failure(text: str, kind: UnusableKind) -> None:
    read = parse_actions(text, [LOW, HIGH])
    assert read.unusable is not None
    assert read.unusable.kind is kind
    assert "“steps”" not in read.unusable.message


def test_label_that_differs_between_the_orders_is_missing_and_noted() -> None:
    forward = parse_actions(answer(1, -1), [LOW, HIGH])
    backward = parse_actions(answer(0, 1), [HIGH, LOW])

    both = both_orders(forward, backward)

    assert both.labels == {LOW: 1, HIGH: None}
    assert both.problems == (Problem(ProblemKind.ORDER, f"actions.{HIGH}", "-1, 0"),)
    assert (both.missing, both.order_dependent) == (0, {HIGH})
    noted = "−1 in one order of the options and 0 in its reverse: no label."
    assert both.reasons == {LOW: "Because 1.", HIGH: noted}


def test_label_that_one_order_lacks_is_missing_too() -> None:
    forward = parse_actions(answer(1, -1), [LOW, HIGH])
    failed = parse_actions("I cannot.", [HIGH, LOW])
    both = both_orders(forward, failed)
    assert both.labels == {LOW: None, HIGH: None}
    assert both.unusable is failed.unusable
