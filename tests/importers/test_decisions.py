"""Files of decisions: what they are refused for, what is counted, and the published ones."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pytest

from annotation.core.releases.exports import PLAIN
from annotation.core.releases.exports.formats.aptbench import aptbench_rows
from annotation.core.trajectories.limits import Limits
from annotation.core.trajectories.messages import EARLIER
from annotation.core.trajectories.trajectory import TrajectoryDraft, step_indexes
from annotation.importers import FORMATS, HEAD_BYTES, ReadContext, sniff
from annotation.importers.decisions.reading import counts_json
from annotation.importers.limits import read_within_limits
from annotation.importers.options import ReadOptions
from tests.fixtures.decisions import by_key

from .golden import GOLDEN
from .reading import draft, errors

USER = {"role": "user", "content": "A train to Bern, please."}
PAIR: dict[str, Any] = {
    "sample_id": "trains-1",
    "history": [USER],
    "action_chosen": {"name": "search", "parameters": {"to": "Bern"}},
    "action_rejected": "There is none.",
}
CALL = {"role": "tool_call", "content": "{'name': 'search', 'arguments': '{}'}"}
SAYS = {"role": "assistant", "content": "Gladly."}
RUNS: dict[str, Any] = {
    "query": "A train to Bern, please.",
    "tools": [],
    "chosen": {"messages": [USER, CALL]},
    "reject": {"messages": [USER, SAYS]},
}
OPTION = {"message": {"role": "assistant", "content": "Gladly."}, "key": 1}
OTHER = {"message": {"role": "assistant", "content": "No."}, "key": -1, "origin": "written"}
DECISION: dict[str, Any] = {
    "format": "tristep-decision/1",
    "task_key": "t",
    "history": [USER],
    "options": [OPTION, OTHER],
}
CHOICE: dict[str, Any] = {
    "uuid": "q",
    "issue_statement": "A train of yesterday is listed.",
    "choices": "(A) list\n(B) buy",
    "answer": "A",
}
COMPLETION: dict[str, Any] = {"uuid": "q", "query": "A train?", "trajectory": "[]", "answer": "8:32"}
RECORDS = {
    "toolprmbench": PAIR,
    "plan_rewardbench": RUNS,
    "tristep_decision": DECISION,
    "aptbench": CHOICE,
}


def run(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [USER, *messages]}


@pytest.mark.parametrize(
    ("name", "changes", "sentences"),
    [
        ("toolprmbench", {"action_chosen": ...}, ["1: action_chosen: is missing"]),
        ("toolprmbench", {"action_rejected": ""}, ["1: action_rejected: is empty"]),
        ("toolprmbench", {"action_chosen": None, "action_rejected": {}},
         ["1: action_chosen: is missing", "1: action_rejected: is empty"]),
        ("toolprmbench", {"action_chosen": {"parameters": {}}},
         ["1: action_chosen: must be text, or a call with a name"]),
        ("toolprmbench", {"action_rejected": [{"name": "f"}, 7]},
         ["1: action_rejected: must be text, or a call with a name"]),
        ("toolprmbench", {"action_rejected": {"function": {"name": "search", "arguments": {"to": "Bern"}}}},
         ["1: action_rejected: is the same action as action_chosen"]),
        ("toolprmbench", {"history": ...}, ["1: history: is missing"]),
        ("toolprmbench", {"history": []}, ["1: history: is empty"]),
        ("toolprmbench", {"history": "Hello"}, ["1: history: must be a list of messages"]),
        ("toolprmbench", {"history": [USER, SAYS]},
         ["1: history: ends with the agent, so that there is nothing to decide"]),
        ("toolprmbench", {"history": [7, {"content": "x"}, {"role": 3}]},
         ["1: history[0]: must be an object with a role", "1: history[1].role: is missing",
          "1: history[2].role: must be a word such as user"]),
        ("toolprmbench", {"functions": 7}, ["1: functions: must be a list or an object"]),
        ("toolprmbench", {"sample_id": [1]}, ["1: sample_id: must be a non-empty string or a whole number"]),
        ("toolprmbench", {"sample_id": "x" * 256}, ["1: sample_id: is longer than 255 characters"]),
        ("plan_rewardbench", {"chosen": ...}, ["1: chosen: is missing"]),
        ("plan_rewardbench", {"reject": {}}, ["1: reject.messages: is missing"]),
        ("plan_rewardbench", {"reject": {"messages": []}},
         ["1: reject.messages: must be a list of messages, not empty"]),
        ("plan_rewardbench", {"reject": RUNS["chosen"]}, ["1: reject: is the same run as chosen"]),
        ("plan_rewardbench", {"reject": run()}, ["1: reject.messages: ends where the other run goes on"]),
        ("plan_rewardbench", {"chosen": run(SAYS, SAYS), "reject": run(SAYS, {**SAYS, "content": "No."})},
         ["1: chosen.messages: ends with the agent, so that there is nothing to decide"]),
        ("plan_rewardbench", {"chosen": {"messages": [{}, "x"]}},
         ["1: chosen.messages[0]: must be an object with a role",
          "1: chosen.messages[1]: must be an object with a role"]),
        ("plan_rewardbench", {"chosen": run({**CALL, "content": "{'name': "})},
         ["1: chosen.messages[1].content: is no Python literal of a call: \"{'name': \""]),
        ("plan_rewardbench", {"chosen": run({**CALL, "content": "__import__('os').abort()"})},
         ["1: chosen.messages[1].content: is no Python literal of a call: \"__import__('os').abort()\""]),
        ("plan_rewardbench", {"chosen": run({**CALL, "content": "{'name': {1, 2}}"})},
         ["1: chosen.messages[1].content: is no Python literal of a call: \"{'name': {1, 2}}\""]),
        ("plan_rewardbench", {"chosen": run({**CALL, "content": "['f']"})},
         ["1: chosen.messages[1].content: must be a call with a name, not \"['f']\""]),
        ("plan_rewardbench", {"chosen": run({**CALL, "content": 7})},
         ["1: chosen.messages[1].content: is no Python literal of a call: 7"]),
        ("tristep_decision", {"format": "tristep-decision/9"},
         ["1: format: must be the text tristep-decision/1"]),
        ("tristep_decision", {"options": [OPTION]},
         ["1: options: must be a list of at least 2 and at most 64 options"]),
        ("tristep_decision", {"options": [OPTION, {**OPTION, "key": 0}]},
         ["1: options[1]: is the same action as options[0]"]),
        ("tristep_decision", {"options": [OPTION, {**OTHER, "key": 2, "origin": []}]},
         ["1: options[1].origin: is unknown: a list"]),
        ("tristep_decision", {"options": [OPTION, {**OTHER, "key": 2}]},
         ["1: options[1].key: must be −1, 0 or 1, not 2"]),
        ("tristep_decision", {"options": [OPTION, {"message": {"role": "assistant"}}]},
         ["1: options[1].message: must be a response with text or calls"]),
        ("tristep_decision", {"decision": {"kind": "riddle", "ability": ["x"]}},
         ["1: decision.kind: is unknown: \"riddle\"", "1: decision.ability: is unknown: \"[\"x\"]\""]),
        ("aptbench", {"choices": ...}, ["1: has not the fields of any task of APTBench"]),
        ("aptbench", {"answer": ...}, ["1: answer: is missing"]),
        ("aptbench", {"answer": " "}, ["1: answer: is empty"]),
        ("aptbench", {"uuid": 7}, ["1: uuid: must be text"]),
        ("aptbench", {"choices": "(A) list\n(C) buy"},
         ["1: choices: must hold two options or more, as “(A) … (B) …”"]),
        ("aptbench", {"choices": "(A) list\n(B) list"},
         ["1: choices: options (A) and (B) are the same, and one of them alone is the answer"]),
        ("aptbench", {"choices": "(A) list\n(B) \n"}, ["1: choices: option (B) is empty"]),
        ("aptbench", {"choices": " ".join(f"({letter}) {letter}" for letter in [*ascii_uppercase, "AA"])},
         ["1: choices: has more than 26 options"]),
        ("aptbench", {**COMPLETION, "issue_statement": ..., "choices": ..., "trajectory": "[{"},
         ["1: trajectory: must be a JSON list of steps, as text"]),
        ("aptbench", {**COMPLETION, "issue_statement": ..., "choices": ..., "answer": ""},
         ["1: answer: is empty"]),
    ],
)  # fmt: skip
def test_decision_that_is_bad_is_refused_field_by_field(
    name: str, changes: dict[str, Any], sentences: list[str]
) -> None:
    record = {key: value for key, value in {**RECORDS[name], **changes}.items() if value is not ...}
    assert errors(name, record) == sentences


@pytest.mark.parametrize("name", RECORDS)
def test_decision_beyond_a_limit_is_refused_like_any_trajectory(name: str) -> None:
    context = ReadContext("f.jsonl", limits=Limits(message_characters=10))
    stream = io.BytesIO(json.dumps(RECORDS[name]).encode())
    (first, *_) = read_within_limits(FORMATS[name], stream, context, ReadOptions())
    assert "messages[0]: has" in str(first)


@pytest.mark.parametrize(
    "action",
    [
        {"name": "search", "parameters": {"to": "Bern"}},
        {"api_name": "search", "parameters": {"to": "Bern"}},
        {"name": "search", "arguments": {"to": "Bern"}},
        {"function": {"name": "search", "arguments": {"to": "Bern"}}},
        {"function": "search", "arguments": {"to": "Bern"}},
        [{"name": "search", "input": {"to": "Bern"}}],
        {
            "content": "",
            "tool_calls": [{"id": "x", "function": {"name": "search", "arguments": {"to": "Bern"}}}],
        },
    ],
)
def test_action_is_the_same_call_however_it_is_spelt(action: Any) -> None:
    found = draft("toolprmbench", {**PAIR, "action_chosen": action})
    assert found.record_id == draft("toolprmbench", PAIR).record_id
    assert {"name": "search", "arguments": {"to": "Bern"}} in [
        call["function"] for message in found.messages[1:] for call in message.get("tool_calls", [])
    ]


def test_functions_may_be_an_object_by_name() -> None:
    functions = {"search": {"parameters": {"type": "object"}}, "buy": None}
    found = draft("toolprmbench", {**PAIR, "functions": functions})
    assert found.tools == [{"name": "search", "parameters": {"type": "object"}}, {"name": "buy"}]
    assert draft("toolprmbench", {**PAIR, "functions": {"name": "search"}}).tools == [{"name": "search"}]


def test_raw_record_of_a_decision_is_read_as_the_same_decision() -> None:
    history = [
        USER,
        {**SAYS, "tool_calls": [{"id": "1", "function": {"name": "f"}}]},
        {"role": "tool", "content": "x"},
    ]
    first = draft("toolprmbench", {**PAIR, "history": history, "dimension": "planning", "more": 1})
    again = draft("tristep_decision", first.raw.decode())
    assert again.content() == first.content()
    assert (again.raw, again.source_labels) == (first.raw, first.source_labels)
    assert [message["role"] for message in again.messages[:3]] == ["user", EARLIER, "tool"]


def test_raw_record_of_a_question_is_read_as_the_same_question() -> None:
    for line in (GOLDEN / "aptbench.jsonl").read_text().splitlines():
        first = draft("aptbench", json.loads(line))
        again = draft("tristep_decision", first.raw.decode())
        assert (again.record_id, again.content(), again.raw) == (first.record_id, first.content(), first.raw)


def test_pair_that_comes_again_is_one_decision_and_without_a_key_once_it_contradicts_itself() -> None:
    chosen, rejected = PAIR["action_chosen"], PAIR["action_rejected"]
    again = {**PAIR, "sample_id": 7, "action_chosen": {"name": "search", "arguments": '{"to":  "Bern"}'}}
    other = {**PAIR, "history": [USER, USER]}
    exchanged = {**other, "action_chosen": rejected, "action_rejected": chosen}
    text = "\n".join(map(json.dumps, [PAIR, other, again, exchanged, other]))
    context = ReadContext("pairs.json")

    found = list(FORMATS["toolprmbench"].read(io.BytesIO(text.encode()), context))

    drafts = [item for item in found if isinstance(item, TrajectoryDraft)]
    assert [item.line for item in found] == [1, 2]
    assert [[label.name for label in item.source_labels] for item in drafts] == [
        ["key", "key"],
        ["contradictory"],
    ]
    assert json.loads(drafts[1].raw)["contradictory"] is True
    assert counts_json(context.notes) == {
        "histories": 2,
        "items": 2,
        "tasks": 1,
        "pairs": 1,
        "left_out": 0,
        "repeats": 3,
        "contradictory": 1,
        "without_key": 1,
    }


def test_file_without_a_decision_is_refused_for_it() -> None:
    same = {**RUNS, "chosen": run(CALL, {"role": "tool_response", "content": "a"}, SAYS)}
    same["reject"] = run(CALL, {"role": "tool_response", "content": "b"}, SAYS)
    found = list(FORMATS["plan_rewardbench"].read(io.BytesIO(json.dumps(same).encode()), ReadContext("f")))
    assert list(map(str, found)) == ["f: the file contains no decision"]


@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "lines", "items", "left_out", "repeats", "contradictory"),
    [
        ("safety_refusal", 51, 49, 0, 2, 0),
        ("planning_single_easy", 144, 129, 11, 4, 0),
        ("planning_multi_easy", 109, 86, 21, 2, 1),
    ],
)
def test_published_pairs_of_runs_come_to_their_decisions(
    published: Path, name: str, lines: int, items: int, left_out: int, repeats: int, contradictory: int
) -> None:
    path = published / "plan_rewardbench" / f"{name}.jsonl"
    data = path.read_bytes()
    assert sniff(data[:HEAD_BYTES]).name == "plan_rewardbench"
    context = ReadContext(path.name)

    found = list(FORMATS["plan_rewardbench"].read(io.BytesIO(data), context))

    assert all(isinstance(item, TrajectoryDraft) for item in found)
    counts = counts_json(context.notes)
    assert len(data.splitlines()) == lines == items + left_out + repeats
    assert (len(found), counts["items"], counts["left_out"]) == (items, items, left_out)
    assert (counts["repeats"], counts["contradictory"]) == (repeats, contradictory)
    assert counts["pairs"] == items - contradictory


@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "items", "repeats", "options", "without_key", "asked"),
    [
        ("summ_ans_en", 161, 51, {1: 161}, 0, ("completion", "action", "en")),
        ("summ_ans_zh", 138, 0, {1: 138}, 0, ("completion", "action", "zh")),
        ("action", 1084, 0, {1: 1084}, 0, ("completion", "action", "en")),
        ("error", 147, 0, {7: 104, 6: 5, 4: 38}, 0, ("choice", "atomic", "en")),
        ("plan_zh.sample", 20, 0, {6: 20}, 0, ("choice", "planning", "zh")),
        ("locate.sample", 20, 0, {4: 18, 3: 1, 2: 1}, 1, ("choice", "atomic", "en")),
    ],
)
def test_published_questions_come_in_and_go_out_again_as_the_same_lines(
    published: Path,
    name: str,
    items: int,
    repeats: int,
    options: dict[int, int],
    without_key: int,
    asked: tuple[str, str, str],
) -> None:
    path = published / "aptbench" / f"{name}.jsonl"
    data = path.read_bytes()
    assert sniff(data[:HEAD_BYTES]).name == "aptbench"
    context = ReadContext(path.name)

    found = [
        item
        for item in FORMATS["aptbench"].read(io.BytesIO(data), context)
        if isinstance(item, TrajectoryDraft)
    ]

    counts = counts_json(context.notes)
    assert (len(found), counts["items"], counts["repeats"]) == (items, items, repeats)
    assert counts["without_key"] == without_key
    assert Counter(len(step_indexes(item.messages)) for item in found) == options
    assert {tuple((item.decision or {}).values()) for item in found} == {asked}
    keyed = [item for item in found if item.source_labels[0].name == "key"]
    rows = [row for item in keyed for row in aptbench_rows(by_key(item), PLAIN)]
    lines = list(map(json.loads, dict.fromkeys(data.decode().splitlines())))
    assert rows == [line for line in lines if not line["uuid"].startswith("727e36d3")]
    assert len(rows) == items - without_key
