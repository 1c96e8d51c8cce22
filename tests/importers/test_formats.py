"""Golden files and the registry of all formats; the oddities of real logs and bad input of ours."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.errors import Invalid
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.trajectories.trajectory import (
    FileLabels,
    TrajectoryDraft,
    content_digest,
    content_json,
    normalise,
)
from annotation.importers import FORMATS, HEAD_BYTES, OWN, by_name, sniff
from annotation.importers.chats.openai_chat import OpenAIChat
from annotation.importers.external_importers import GROUP, with_others
from annotation.importers.parts.sniffing import closed, samples
from tests.strategies import ANY_JSON

from . import golden
from .reading import CHAT, RECORD, apb, apb_errors, draft, errors, read

# ── Golden files and the registry ─────────
GOLDEN_FILES = [pytest.param(path, id=path.name) for path in golden.files()]


@pytest.mark.parametrize("path", GOLDEN_FILES)
def test_golden_file_is_read_as_expected(path: Path) -> None:
    assert golden.read(path) == golden.expectation(path).read_text("ascii")


@pytest.mark.parametrize("path", GOLDEN_FILES)
def test_golden_file_is_known_by_its_head_and_by_no_other_format(path: Path) -> None:
    data, own = path.read_bytes(), golden.format_of(path)
    sure = {name: importer.sniff(data[:HEAD_BYTES]) for name, importer in FORMATS.items()}
    assert sure[own] > max((value for name, value in sure.items() if name != own), default=0.0), sure
    assert sniff(data[:HEAD_BYTES]).name == own
    assert by_name(own) is FORMATS[own]


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_format_has_golden_files_a_title_its_marks_and_its_page(name: str) -> None:
    """What a new format must bring: see docs/formats.md, "Adding an importer"."""
    own = [path for path in golden.files() if golden.format_of(path) == name]
    read = [json.loads(golden.expectation(path).read_text("ascii")) for path in own]
    assert any("steps" in item for found in read for item in found if isinstance(item, dict))
    assert FORMATS[name].title
    assert FORMATS[name].recognised_by
    assert f"## `{name}`" in (golden.GOLDEN.parent.parent / "docs" / "formats.md").read_text("utf-8")


def test_format_that_is_more_particular_wins() -> None:
    assert sniff(json.dumps([RECORD], indent=2).encode()).name == "agentprocessbench"
    assert sniff(json.dumps(RECORD, sort_keys=True).encode()).name == "agentprocessbench"
    assert (
        sniff(json.dumps({"messages": [{"query_index": 0, "sample_index": 0}]}).encode()).name
        == "openai_chat"
    )
    assert sniff(json.dumps(CHAT).encode()).name == "openai_chat"


@pytest.mark.parametrize(
    ("head", "sentence"),
    [
        (b"", "The file is empty."),
        (b"\xef\xbb\xbf \n", "The file is empty."),
        (b"\xff\xfe{\x00", "The file cannot be read: the file is in UTF-16 or UTF-32; save it as UTF-8."),
        (b"PK\x03\x04rest", "The file cannot be read: the file is compressed; unpack it first."),
        (b'{"a": 1}', "The format was not recognised"),
        (b"[" * 100_000, "The format was not recognised"),
        (b"id,question\n1,x", "The format was not recognised"),
        (
            b'{"record_id": "a", "step_labels": {}, "final_label": 1}',
            "This is a file of labels or predictions",
        ),
    ],
)
def test_format_that_is_unknown_is_refused_in_words(head: bytes, sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence.replace(".", r"\.")):
        sniff(head)


def test_format_is_not_hidden_by_bad_first_records() -> None:
    good = json.dumps(RECORD).encode()
    assert sniff(b'7\n[1]\n\n{"total_in\n' + good).name == "agentprocessbench"


def test_format_of_an_unknown_name_is_answered_with_the_names_that_there_are() -> None:
    with pytest.raises(Invalid, match=r"agentprocessbench, .*openai_chat"):
        by_name("csv")


# ── AgentProcessBench ─────────────────────
def test_record_has_identity_task_and_policy_model() -> None:
    found = apb()
    assert (found.record_id, found.task_key, found.policy_model) == ("s:0:1", "s:0", "sample-1")
    assert (found.data_source, found.query_index, found.sample_index, found.line) == ("s", 0, 1, 1)
    assert draft("agentprocessbench", RECORD, models={1: "m"}).policy_model == "m"
    assert (
        draft("agentprocessbench", {**RECORD, "policy_model": "own"}, models={1: "m"}).policy_model == "own"
    )


def test_record_keeps_every_key_and_labels_stand_apart() -> None:
    found = apb(
        ground_truth={"target": ["A"]}, answer_text="A", tools=[1], task_description=None, meta=None, x=[2]
    )
    assert found.hints == {"meta": None, "x": [2]}
    assert (found.reference_answer, found.answer_text, found.tools) == ({"target": ["A"]}, "A", [1])
    assert found.labels == FileLabels({1: 1}, 1)
    assert json.loads(found.raw) == {
        **RECORD,
        "ground_truth": {"target": ["A"]},
        "answer_text": "A",
        "tools": [1],
        "task_description": None,
        "meta": None,
        "x": [2],
    }


def test_labels_may_be_missing_and_partly_null() -> None:
    assert apb(step_labels=None, final_label=None).labels is None
    assert apb(step_labels={"1": None}, final_label=None).labels == FileLabels({1: None}, None)
    assert apb(step_labels=None, final_label=0).labels == FileLabels({}, 0)


@pytest.mark.parametrize(
    ("changes", "sentences"),
    [
        ({"data_source": ...}, ["1: data_source: is missing"]),
        ({"data_source": ""}, ["1: data_source: must be a non-empty string"]),
        ({"data_source": "x" * 201}, ["1: data_source: is longer than 200 characters"]),
        ({"query_index": ...}, ["1: query_index: is missing"]),
        ({"query_index": True}, ["1: query_index: must be a whole number from 0, not true"]),
        ({"sample_index": -1}, ["1: sample_index: must be a whole number from 0, not -1"]),
        ({"sample_index": "0"}, ['1: sample_index: must be a whole number from 0, not "0"']),
        ({"messages": ..., "step_labels": ...}, ["1: messages: is missing"]),
        ({"messages": {}, "step_labels": ...}, ["1: messages: must be a list of messages"]),
        ({"messages": [], "step_labels": ...}, ["1: messages: is empty"]),
        (
            {"messages": CHAT[:1], "step_labels": ...},
            ["1: messages: has no assistant message, so there is no step to label"],
        ),
        (
            {"messages": ["x", {}, {"role": 1}, *CHAT], "step_labels": {"4": 1}},
            [
                "1: messages[0]: must be an object with a role",
                "1: messages[1].role: is missing",
                "1: messages[2].role: must be a word such as user",
            ],
        ),
        ({"tools": {}}, ["1: tools: must be a list"]),
        ({"step_labels": [1]}, ["1: step_labels: must be an object of message index and label"]),
        ({"step_labels": {"0": 1}}, ["1: step_labels.0: is not a step: that message is not the assistant’s"]),
        ({"step_labels": {"7": 1}}, ["1: step_labels.7: there is no such message; the last one is 1"]),
        ({"step_labels": {"x": 1}}, ['1: step_labels."x": is not a message index']),
        ({"step_labels": {"1": 2}}, ["1: step_labels.1: must be −1, 0 or 1, not 2"]),
        ({"step_labels": {"1": True}}, ["1: step_labels.1: must be −1, 0 or 1, not true"]),
        ({"final_label": "1"}, ['1: final_label: must be −1, 0 or 1, not "1"']),
        (
            {"query_index": None, "final_label": 5},
            ["1: query_index: is missing", "1: final_label: must be −1, 0 or 1, not 5"],
        ),
    ],
)
def test_record_that_is_bad_is_refused_field_by_field(changes: dict[str, Any], sentences: list[str]) -> None:
    assert apb_errors(**changes) == sentences


def test_record_that_is_bad_does_not_stop_the_reading() -> None:
    found = read(
        "agentprocessbench", "7", RECORD, '{"a"', {**RECORD, "sample_index": 2}, {**RECORD, "tools": 1}
    )
    assert [item.line for item in found] == [1, 2, 3, 4, 5, 5]
    assert [type(item) for item in found].count(TrajectoryDraft) == 2
    assert str(found[0]) == "f.jsonl:1: is not a JSON object"


def test_record_with_an_identity_twice_is_refused_naming_both_lines() -> None:
    other = {**RECORD, "sample_index": 2}
    assert errors("agentprocessbench", RECORD, other, "", {**RECORD, "question": "?"}) == [
        '4: record_id: "s:0:1" occurs twice in this file, in lines 1 and 4'
    ]


def test_record_full_of_errors_gives_some_and_the_count_of_the_rest() -> None:
    found = apb_errors(step_labels={str(index): 7 for index in range(2, 102)})
    assert len(found) == 21
    assert found[-1] == "1: has 180 more errors like these"


def test_record_over_the_limit() -> None:
    found = read("agentprocessbench", {**RECORD, "question": "x" * 2000}, RECORD, limit=1000)
    assert str(found[0]) == "f.jsonl:1: is larger than 1,000 bytes, the limit for one record"
    assert isinstance(found[1], TrajectoryDraft)


# ── What real logs contain ────────────────
@pytest.mark.parametrize(
    "content",
    [
        "\x00",
        "\ud800 alone",
        "<script>alert(1)</script>",
        None,
        [{"type": "text", "text": "x"}],
        {"message": "json"},
        7,
        float("nan"),
    ],
)
@pytest.mark.parametrize("name", ["agentprocessbench", "openai_chat"])
def test_record_of_real_logs_imports(name: str, content: Any) -> None:
    messages = [*CHAT, {"role": "tool", "content": content}, {"role": "assistant", "content": content}]
    found = draft(name, {**RECORD, "messages": messages, "meta": content})
    assert repr(found.messages) == repr(messages)
    assert canonical_json(json.loads(content_json(found))) == content_json(found)
    assert len(normalise(found.messages)) == 4


def test_record_keeps_odd_questions_and_answers_as_text() -> None:
    found = apb(question=["a", 1], answer_text=42)
    assert (found.question, found.answer_text) == ('["a", 1]', "42")
    assert apb(question=None).question == "Q?"


# ── The content digest ────────────────────
def test_labels_order_and_policy_model_are_no_part_of_the_digest() -> None:
    digest = content_digest(apb())
    assert digest == content_digest(apb(step_labels={"1": -1}, final_label=0))
    assert digest == content_digest(apb(step_labels=None, final_label=None, tools=None))
    assert digest == content_digest(
        draft("agentprocessbench", dict(reversed(RECORD.items())), models={1: "m"})
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"question": "Other?"},
        {"messages": [*CHAT, CHAT[0]]},
        {"tools": [1]},
        {"ground_truth": 1},
        {"answer_text": ""},
        {"task_description": {}},
        {"reward_info": None},
        {"sample_index": 2},
    ],
)
def test_digest_changes_with_everything_else(changes: dict[str, Any]) -> None:
    assert content_digest(apb(**changes)) != content_digest(apb())


LONG = "x" * (HEAD_BYTES + 1)
CALL = {"type": "tool_use", "id": "t", "name": "f", "input": {"x": LONG}}


ITEM = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Q"}, {"x": LONG}]}
IMAGE = {"type": "image", "source": {"type": "base64", "data": LONG}}
STEP = {"action": "a", "observation": "o", "response": "r"}
STATE = {"messages": [{"type": "human", "content": "Q", "id": "h"}, {"type": "ai", "content": LONG}]}
CASES: list[tuple[Any, str]] = [
    ({"$schemaVersion": "1.13", "original_input": LONG}, "openai_responses"),
    ({"id": "r", "object": "response", "model": "m", "instructions": LONG}, "openai_responses"),
    ([ITEM], "openai_responses"),
    ({"model": "m", "messages": [{"role": "assistant", "content": [CALL]}]}, "anthropic"),
    ([{"role": "user", "content": [IMAGE]}], "anthropic"),
    ({"type": "user", "uuid": "u", "sessionId": "s", "message": {"content": LONG}}, "claude_code"),
    ({"timestamp": "t", "type": "session_meta", "payload": {"id": "s", "instructions": LONG}}, "codex"),
    ({"values": STATE}, "langchain"),
    ({"trajectory": [STEP, {"query": LONG}], "history": []}, "swe_agent"),
    ({"info": {"mini_version": "2"}, "messages": [{"role": "user", "content": LONG}]}, "mini_swe_agent"),
    ({"instance_id": "i", "metadata": {"llm_config": {"model": "m"}}, "history": LONG}, "openhands"),
    ({"messages": [{"role": "user", "content": LONG}]}, "openai_chat"),
]


@pytest.mark.parametrize(("record", "name"), CASES)
def test_record_larger_than_what_is_looked_at_is_told_by_its_beginning(record: Any, name: str) -> None:
    for text in (json.dumps(record), json.dumps(record, indent=1)):
        assert sniff(text.encode()[:HEAD_BYTES]).name == name


@given(ANY_JSON.filter(lambda value: isinstance(value, dict | list)), st.integers(1, 400))
def test_json_that_is_cut_off_is_closed_to_json(value: Any, cut: int) -> None:
    raw = json.dumps(value).encode()
    assert closed(raw) == raw
    kept = closed(raw[: min(cut, len(raw))])
    assert type(json.loads(kept)) is type(value)


def test_samples_are_records_and_elements_of_lists() -> None:
    lists = [[{"a": 1}, {"b": 2}], {"c": [3]}, 4]
    assert samples(json.dumps(lists).encode()) == ({"a": 1}, {"b": 2}, {"c": [3]})
    assert samples(b'{"a": 1}\nbroken\n{"b": 2}\n{"c": [1, {"d": "cut') == (
        {"a": 1},
        {"b": 2},
        {"c": [1, {}]},
    )
    assert len(samples(b"{}\n" * 1000)) == 40


class Theirs(OpenAIChat):
    name = "theirs"


class Taken(OpenAIChat):
    name = "inspect"


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{value}", GROUP)


def test_format_of_another_package_comes_before_plain_chats() -> None:
    found = with_others(OWN, [point("theirs", "Theirs")])
    assert [importer.name for importer in found[-2:]] == ["theirs", "openai_chat"]


@pytest.mark.parametrize(
    ("value", "warning"),
    [
        ("Taken", "takes a name that is in use: inspect"),
        ("missing", "cannot be loaded"),
        ("EntryPoint", "cannot be loaded"),
        ("object_", "is not an importer"),
    ],
)
def test_format_that_is_broken_is_left_out_with_a_warning(
    value: str, warning: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert with_others(OWN, [point("x", value)]) == list(OWN)
    assert warning in caplog.text


class object_:
    """No importer."""


def refusal(data: bytes) -> str:
    with pytest.raises(Invalid) as caught:
        sniff(data[:HEAD_BYTES])
    assert caught.value.code == "unknown_format"
    return caught.value.message.removesuffix(", a format that Tristep does not read.")


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        ({"sessionId": "s", "projectHash": "h", "messages": [{"type": "gemini"}]}, "a session of Gemini CLI"),
        ([{"role": "model", "parts": [{"text": "Hi."}]}], "a request of the Gemini API"),
        ({"contents": [{"role": "user", "parts": []}]}, "a request of the Gemini API"),
        ({"events": [{"author": "user"}]}, "a session or an evaluation of Google’s ADK"),
        ({"mode": "create", "messages": [{"type": "UserMessage", "content": "Q"}]}, "a log of AutoGen"),
        ([{"type": "ToolCallRequestEvent", "source": "a", "content": []}], "a log of AutoGen"),
        ({"step_number": 1, "model_output": "x"}, "the memory of a smolagents agent"),
        ([{"kind": "request", "parts": []}], "a history of Pydantic AI"),
        ({"id": "a", "result": [], "latency": 1}, "a file of BFCL"),
        ({"goal": "g", "steps": [], "summary_info": {}}, "a trajectory of AgentRewardBench"),
        ({"op_name": "o", "trace_id": "t", "inputs": {}}, "a log of Weave"),
    ],
)
def test_log_of_a_format_that_is_not_read_is_refused_by_its_name(record: Any, kind: str) -> None:
    assert refusal(json.dumps(record).encode()) == f"This is {kind}"
    assert refusal(json.dumps(record, indent=1).encode()) == f"This is {kind}"


@pytest.mark.parametrize(
    "record",
    [
        CHAT,
        {"messages": CHAT, "projectHash": "h", "goal": "g"},
        {"messages": [{**message, "type": "UserMessage"} for message in CHAT]},
        {"messages": CHAT, "events": [], "kind": "request", "result": 1},
    ],
)
def test_plain_chat_with_marks_of_others_stays_a_chat(record: Any) -> None:
    assert sniff(json.dumps(record).encode()).name == "openai_chat"


@pytest.mark.published
@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("adk", "a session or an evaluation of Google’s ADK"),
        ("autogen", "a log of AutoGen"),
        ("gemini", "a session of Gemini CLI"),
        ("pydantic_ai", "a history of Pydantic AI"),
        ("smolagents", "the memory of a smolagents agent"),
        ("tooltalk", "a conversation of ToolTalk"),
    ],
)
def test_samples_that_are_not_read_are_refused_by_their_names(
    published: Path, folder: str, kind: str
) -> None:
    paths = sorted((published / "formats" / folder).iterdir())
    assert paths
    assert {refusal(path.read_bytes()) for path in paths} == {f"This is {kind}"}
