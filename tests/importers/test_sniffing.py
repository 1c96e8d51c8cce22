"""Telling the format of a file whose first record is larger than what is looked at."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.importers import HEAD_BYTES, sniff
from annotation.importers.parts.sniffing import closed, samples
from tests.strategies import ANY_JSON

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
