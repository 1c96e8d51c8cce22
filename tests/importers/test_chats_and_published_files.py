"""Plain chats, and the files as they were published."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.core.trajectories.trajectory import (
    TrajectoryDraft,
    content_digest,
    normalise,
    pair_results,
    step_indexes,
)
from annotation.importers import FORMATS, HEAD_BYTES, ReadContext, sniff

from .reading import CHAT, chat, draft, errors, read


def test_answer_to_a_request_is_its_last_step_unless_it_is_there_already() -> None:
    answer = {"role": "assistant", "content": "B.", "tool_calls": None}
    response = {"model": "m-1", "id": "r", "choices": [{"message": answer}, {"message": CHAT[1]}]}
    asked = chat(messages=[*CHAT, {"role": "user", "content": "And?"}], response=response)
    assert (asked.messages[-1], asked.policy_model) == (answer, "m-1")
    assert asked.hints["response"] == {"model": "m-1", "id": "r"}
    assert chat(messages=[*CHAT, answer], response=response).messages == [*CHAT, answer]
    for other in ("text", {"choices": []}, {"choices": [None]}, {"choices": [{"message": "B."}]}):
        assert chat(response=other).messages == CHAT


# ── Plain chats ───────────────────────────
def test_chats_identity_is_its_id_else_its_content() -> None:
    assert chat(id="a").record_id == "a"
    assert chat(id=7).record_id == "7"
    assert chat().record_id == content_digest(chat()) == draft("openai_chat", CHAT).record_id
    assert chat(metadata=1).record_id != chat().record_id
    assert chat(step_labels={"1": 1}, final_label=1).record_id == chat().record_id


def test_chats_task_is_its_task_id_else_its_first_user_message() -> None:
    assert chat(task_id="t").task_key == "t"
    assert chat(task_id=3).task_key == "3"
    assert chat().task_key == chat(id="b", messages=[*CHAT, CHAT[1]]).task_key
    assert chat().task_key != chat(messages=[{"role": "user", "content": "R?"}, CHAT[1]]).task_key
    assert chat(messages=CHAT[1:]).task_key != chat(messages=[{"role": "assistant", "content": "B"}]).task_key
    assert chat().question == "Q?"
    assert chat(question="Given.").question == "Given."


def test_chats_other_fields() -> None:
    found = chat(model="m", ground_truth=1, answer="A", tools=[{}], metadata={"k": 1}, data_source="d")
    assert (found.policy_model, found.reference_answer, found.answer_text) == ("m", 1, "A")
    assert (found.data_source, found.query_index, found.sample_index) == ("d", None, None)
    assert found.hints == {"model": "m", "metadata": {"k": 1}}
    assert chat(reference_answer=2, ground_truth=1).reference_answer == 2
    assert chat().policy_model == "unknown"
    assert draft("openai_chat", CHAT, models={0: "named"}).policy_model == "named"


def test_chats_tools_may_be_a_string_of_json() -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    assert chat(tools=json.dumps(tools)).tools == chat(tools=tools).tools == tools
    assert errors("openai_chat", {"messages": CHAT, "tools": "[{"}) == ["1: tools: must be a list"]


def test_chats_of_training_sets_have_the_text_of_a_part_in_value() -> None:
    spoken = [{"role": role, "content": [{"type": "text", "value": role}]} for role in ("user", "assistant")]
    line = json.dumps({"id": "a", "messages": spoken, "tools": "[]", "loss": 1}).encode()
    assert sniff(line).name == "sharegpt"
    assert [message["content"] for message in draft("sharegpt", json.loads(line)).messages] == [
        "user",
        "assistant",
    ]
    assert sniff(line.replace(b'"value"', b'"text"')).name == "openai_chat"


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        (7, "1: is neither an object with messages nor a list of messages"),
        ({"id": "a"}, "1: messages: is missing"),
        ({"id": "", "messages": CHAT}, "1: id: must be a non-empty string or a whole number"),
        ({"id": True, "messages": CHAT}, "1: id: must be a non-empty string or a whole number"),
        ({"id": "x" * 256, "messages": CHAT}, "1: id: is longer than 255 characters"),
        (
            {"task_id": [], "messages": CHAT},
            "1: task_id: must be a non-empty string or a whole number",
        ),
        ({"messages": CHAT, "model": "x" * 121}, "1: policy_model: is longer than 120 characters"),
        (CHAT[:1], "1: messages: has no assistant message, so there is no step to label"),
    ],
)
def test_chats_that_are_bad_are_refused_in_words(record: Any, sentence: str) -> None:
    assert errors("openai_chat", record) == [sentence]


def test_chats_that_are_the_same_twice_are_refused() -> None:
    same = errors("openai_chat", CHAT, {"messages": CHAT})
    assert same == [f'2: id: "{chat().record_id[:57]}..." occurs twice in this file, in lines 1 and 2']
    assert errors("openai_chat", {"id": "a", "messages": CHAT}, {"id": "a", "messages": CHAT}) == [
        '2: id: "a" occurs twice in this file, in lines 1 and 2'
    ]


def test_chats_that_are_the_same_twice_in_one_line_are_refused_too() -> None:
    assert errors("openai_chat", json.dumps([{"id": "a", "messages": CHAT}] * 2)) == [
        '1: id: "a" occurs twice in this file, in line 1'
    ]


def test_chats_in_a_list_keep_the_bytes_of_each() -> None:
    text = json.dumps([{"id": "a", "messages": CHAT}, {"id": "b", "messages": CHAT}], indent=2)
    found = read("openai_chat", text)
    assert [(item.record_id, item.line) for item in found if isinstance(item, TrajectoryDraft)] == [
        ("a", 2),
        ("b", 15),
    ]
    assert all(isinstance(item, TrajectoryDraft) and item.raw.decode() in text for item in found)


# ── The published files ───────────────────
@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "records", "steps"),
    [("hotpotqa.jsonl", 250, 734), ("gaia_dev.sample.jsonl", 2, 6), ("bfcl.sample.jsonl", 2, 36),
     ("tau2.sample.jsonl", 2, 22)],
)  # fmt: skip
def test_published_files_read_whole(published: Path, name: str, records: int, steps: int) -> None:
    path = published / "agentprocessbench" / name
    with path.open("rb") as stream:
        assert sniff(stream.read(HEAD_BYTES)).name == "agentprocessbench"
        stream.seek(0)
        found = list(FORMATS["agentprocessbench"].read(stream, ReadContext(name)))
    drafts = [item for item in found if isinstance(item, TrajectoryDraft)]
    assert len(drafts) == len(found) == records
    assert sum(len(step_indexes(item.messages)) for item in drafts) == steps
    assert b"\n".join(item.raw for item in drafts) + b"\n" == path.read_bytes()
    for item in drafts:
        messages = normalise(item.messages)
        results = [message.index for message in messages if message.role == "tool"]
        assert list(pair_results(messages)) == results, "every result of the published files finds its call"


@pytest.mark.published
def test_published_oddities(published: Path) -> None:
    def load(name: str) -> list[TrajectoryDraft]:
        with (published / "agentprocessbench" / name).open("rb") as stream:
            found = FORMATS["agentprocessbench"].read(stream, ReadContext(name))
            return [item for item in found if isinstance(item, TrajectoryDraft)]

    broken = [
        call
        for item in load("gaia_dev.sample.jsonl")
        for m in normalise(item.messages)
        for call in m.tool_calls
    ]
    assert [call.parsed for call in broken].count(False) >= 1
    text = [
        call
        for item in load("bfcl.sample.jsonl")[1:]
        for m in normalise(item.messages)
        for call in m.tool_calls
    ]
    assert text
    assert {call.origin for call in text} == {"text"}
    users = [m for item in load("tau2.sample.jsonl") for m in normalise(item.messages) if m.role == "user"]
    assert any(message.tool_calls for message in users)
