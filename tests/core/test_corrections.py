"""Actions as people type them: how they become messages, and how they are held against schemas."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.core.decisions.corrections import (
    MAX_CALLS,
    MAX_CHARACTERS,
    TypedCall,
    action,
    check_action,
    error_class_of,
    typed,
)
from annotation.core.decisions.record import option_digest
from annotation.core.trajectories.tool_schema import read_tools

TOOLS = read_tools(
    [
        {
            "name": "book",
            "parameters": {
                "type": "object",
                "properties": {"train": {"type": "string"}, "seats": {"type": "integer"}},
                "required": ["train"],
            },
        },
        {"name": "ping"},
    ]
)
BOOK = TypedCall("book", '{"train": "IC 61"}')


def call(name: str, arguments: Any = None) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"type": "function", "function": {"name": name, "arguments": arguments or {}}}],
    }


def test_action_is_typed_as_it_stands_in_a_record_and_back() -> None:
    message = {**call("book", {"train": "IC 61"}), "content": "At once.", "id": "call_9"}
    text, calls = typed(message)
    assert (text, [one.name for one in calls]) == ("At once.", ["book"])
    assert option_digest(action(text, calls)) == option_digest(message)
    in_text = {"role": "assistant", "content": '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'}
    assert action(*typed(in_text)) == in_text
    assert action("Which day?", []) == {"role": "assistant", "content": "Which day?"}


@pytest.mark.parametrize(
    ("text", "calls", "fields"),
    [
        (" ", [], {"text": "Write a text, a call, or both."}),
        ("x" * (MAX_CHARACTERS + 1), [], {"text": "Keep it under 200,000 characters."}),
        ("", [TypedCall(" ", "{}")], {"calls[0].name": "Name the tool."}),
        ("", [BOOK, TypedCall("book", "")], {"calls[1].arguments": "The arguments cannot be read: "}),
        ("", [TypedCall("book", '{"train": "IC')], {"calls[0].arguments": "The arguments cannot be read: "}),
        ("", [TypedCall("book", "[" * 300)], {"calls[0].arguments": "The arguments cannot be read: "}),
        ("", [TypedCall("book", '{"train": NaN}')], {"calls[0].arguments": "The arguments hold a number "}),
        (
            "",
            [TypedCall("book", '["IC 61"]')],
            {"calls[0].arguments": "The arguments must be a JSON object."},
        ),
        ("", [BOOK] * (MAX_CALLS + 1), {"calls": "At most 16 calls."}),
        ("<tool_call>{</tool_call>", [], {"text": "A call in the text cannot be read."}),
    ],
)
def test_action_is_refused_by_field(text: str, calls: list[TypedCall], fields: dict[str, str]) -> None:
    found = check_action(TOOLS, text, calls)
    assert found.fields.keys() == fields.keys()
    assert all(found.fields[name].startswith(sentence) for name, sentence in fields.items())


def test_calls_are_held_against_the_schemas_of_their_tools() -> None:
    calls = [BOOK, TypedCall("book", '{"seats": "two"}'), TypedCall("fly", "{}"), TypedCall("ping", "{}")]
    found = check_action(TOOLS, "x" * (MAX_CHARACTERS + 1), calls)
    said = {at: [(one.kind, one.where) for one in faults] for at, faults in found.schema.items()}
    assert said == {1: [("missing", "train"), ("type", "seats")], 2: [("unknown_tool", "")]}
    assert (set(found.fields), found.unchecked) == ({"text"}, ["ping"])

    in_text = '<tool_call>{"name": "book", "arguments": {}}</tool_call>'
    assert [one.kind for one in check_action(TOOLS, in_text, []).schema[0]] == ["missing"]
    assert check_action((), "", [BOOK]).unchecked == ["book"]


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        (call("book"), action("Which day?", []), "should_have_answered"),
        (action("Done.", []), call("book"), "should_have_called"),
        (call("book"), call("ping"), "wrong_tool"),
        (call("book"), call("book", {"train": "IC 61"}), "wrong_parameters"),
        (action("Done.", []), action("Which day?", []), None),
    ],
)
def test_error_class_follows_from_the_calls_of_both(
    wrong: dict[str, Any], right: dict[str, Any], said: str | None
) -> None:
    assert error_class_of(wrong, right) == said
