"""JSON read as structure, calls held against their schemas, and messages letter by letter."""

from __future__ import annotations

import json
import time

import pytest

from annotation.core.trajectories import tool_schema
from annotation.core.trajectories.raw_message import message_json
from annotation.core.trajectories.tool_schema import SchemaProblem, problems, read_tools
from frontend.rendering import structure
from frontend.rendering.structure import Fields, Items, Passage, Passages, Text, Value

# --- structure ----------------------------------------------------------------------------------------------


def test_json_numbers_keep_their_letters_and_repeated_keys_stay() -> None:
    node = structure.read('{"n": 1.50, "n": 1e999, "big": 12345678901234567890, "no": null}')
    assert isinstance(node, Fields)
    assert node.items == (
        ("n", Value("1.50")),
        ("n", Value("1e999")),
        ("big", Value("12345678901234567890")),
        ("no", Value("null")),
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "text",
        "42",
        '"a"',
        "{}",
        "[]",
        "{broken",
        "[" * 100_000,
        '{"a":1}{"b":2}',
        "[1" + ",1" * 700 + "]",
    ],
)
def test_json_that_is_no_structure_or_too_much_of_it_is_none(text: str) -> None:
    assert structure.read(text) is None


def test_documents_are_found_under_their_usual_names() -> None:
    node = structure.read(
        json.dumps(
            [
                {"title": "T", "snippet": "s", "url": "https://example.org"},
                {"document": {"id": "1", "contents": '"Two words"\nand the rest'}, "score": 0.5},
            ]
        )
    )
    assert node == Passages(
        (
            Passage("T", "s", "https://example.org", ()),
            Passage("Two words", "and the rest", "", (("id", "1"), ("score", "0.5"))),
        )
    )


def test_list_of_anything_else_stays_a_list() -> None:
    node = structure.read(
        '[{"name": "sort", "description": "sorts"}, {"title": "x", "text": "y", "deep": {"a": 1}}]'
    )
    assert isinstance(node, Items)
    assert all(isinstance(item, Fields) for item in node.items)


def test_lists_and_objects_of_short_values_fit_on_a_line() -> None:
    node = structure.of({"a": ["x", "y"], "b": {"k": 1}, "c": ["z" * 200]})
    assert isinstance(node, Fields)
    assert [getattr(one, "flat", None) for _, one in node.items] == [True, True, False]
    assert structure.lines(node) < structure.lines(structure.of(["a\n" * 40]))  # type: ignore[arg-type]


def test_text_that_is_the_only_one_of_an_object() -> None:
    assert structure.only_text('{"content": "a\\nb"}') == "a\nb"
    assert structure.only_text('{"content": 1}') == '{"content": 1}'
    assert structure.of("x") == Text("x")


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ('{"error": "gone"}', True),
        ("Error: no such tool", True),
        ("error: no such tool", True),
        ('{"error": null}', False),
        ('{"text": "\\"error\\""}', False),
        ("No error at all", False),
        ("", False),
    ],
)
def test_result_that_tells_of_an_error(text: str, tells: bool) -> None:
    assert structure.tells_error(text) is tells


# --- schemas ------------------------------------------------------------------------------------------------


def tool(schema: object, name: str = "f") -> list[dict]:
    return [{"type": "function", "function": {"name": name, "parameters": schema}}]


SCHEMA = {
    "type": "dict",
    "properties": {
        "n": {"type": "float"},
        "kind": {"enum": ["a", "b"]},
        "rows": {"type": "array", "items": {"type": "object", "required": ["id"]}},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["n"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"n": 1.5, "kind": "a", "maybe": None}, ()),
        ({}, (SchemaProblem("missing", "n"),)),
        ({"n": "1"}, (SchemaProblem("type", "n", "number", "string"),)),
        ({"n": 1, "kind": "c"}, (SchemaProblem("choice", "kind", '"a", "b"', '"c"'),)),
        ({"n": 1, "rows": [{"id": 1}, {}]}, (SchemaProblem("missing", "rows[1].id"),)),
        ({"n": 1, "maybe": 3}, (SchemaProblem("type", "maybe", "string or null", "integer"),)),
        ({"n": 1, "m": 2}, (SchemaProblem("unexpected", "m"),)),
        ([1], (SchemaProblem("type", "", "object", "array"),)),
    ],
)
def test_arguments_that_break_a_schema(arguments: object, found: tuple[SchemaProblem, ...]) -> None:
    assert problems(read_tools(tool(SCHEMA)), "f", arguments) == found


def test_tool_that_is_unknown_is_told_only_where_all_are_known() -> None:
    assert problems(read_tools(tool({"type": "object"})), "g", {}) == (
        SchemaProblem("unknown_tool", found="g"),
    )
    assert problems((), "g", {}) == ()
    assert problems(read_tools([{"odd": 1}, *tool({})]), "g", {}) == ()


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"type": "no such type"},
        {"properties": 7},
        {"properties": {"q": {"pattern": "(a+)+$"}}},
        {
            "$defs": {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 4} for n in range(30)} | {"30": {}},
            "$ref": "#/$defs/0",
        },
        {"$ref": "#"},
    ],
)
def test_hostile_schema_costs_nothing_and_marks_nothing(schema: dict) -> None:
    start = time.process_time()
    assert problems(read_tools(tool(schema)), "f", {"q": "a" * 40 + "!"}) == ()
    assert time.process_time() - start < 2


def test_schema_with_many_alternatives_and_levels_is_checked() -> None:
    whole: dict = {"type": "integer"}
    for _ in range(20):
        whole = {"anyOf": [{"type": "string"}, {"type": "array", "items": whole}]}
    many = {"properties": {f"p{n}": whole for n in range(9)}, "required": ["q"]}
    nested: object = 1
    for _ in range(20):
        nested = [nested]
    arguments = {f"p{n}": nested for n in range(9)}
    found = problems(read_tools(tool(many)), "f", arguments)
    assert [one.kind for one in found] == ["missing"]


def test_tools_in_a_system_prompt_are_read_as_json_or_python() -> None:
    listed = [{"name": "ls", "description": "lists", "parameters": {"type": "dict", "properties": {"a": {}}}}]
    for written in (json.dumps(listed), repr(listed)):
        (found,) = read_tools([], f"Here is a list of functions: {written}\nUse them.")
        assert (found.name, [parameter.name for parameter in found.parameters]) == ("ls", ["a"])
    for odd in ("no list", "[{not python}]", "[{'name': 1}]", "[{" * 5000 + "}]"):
        assert read_tools([], odd) == ()


def test_tool_parameters_say_their_type_in_words() -> None:
    assert tool_schema.type_in_words({"type": "array", "items": {"type": "integer"}}) == "array of integer"
    assert tool_schema.type_in_words({"type": ["string", "null"]}) == "string or null"
    assert tool_schema.type_in_words({"enum": [1]}) == ""


# --- letter by letter ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "record",
    [
        '{"step_labels": {"1": -1}, "messages" : [ {"role":"user"} ,@]}',
        '[{"role":"user"},@]',
        '\ufeff{"messages":[],"messages":[{"role":"user"},\n@\n]}',
    ],
)
def test_message_is_cut_out_of_its_record_letter_by_letter(record: str) -> None:
    exact = '{"role": "assistant",  "content":"\\u00e9\\ud800 é"}'
    found = message_json(record.replace("@", exact).encode(), stored(exact), 1, hints=False)
    assert (found.text, found.exact, found.withheld) == (exact, True, False)


def stored(text: str) -> dict:
    """A message as contents are stored: with sorted keys."""
    message: dict = json.loads(json.dumps(json.loads(text), sort_keys=True))
    return message


def test_labels_and_rewards_in_a_message_are_withheld() -> None:
    message = {"role": "assistant", "content": "x", "label": -1, "reward": 1}
    record = json.dumps({"messages": [message]}).encode()
    blind = message_json(record, message, 0, hints=False)
    assert json.loads(blind.text) == {"role": "assistant", "content": "x"} and blind.withheld
    open_eyed = message_json(record, message, 0, hints=True)
    assert json.loads(open_eyed.text) == {"role": "assistant", "content": "x", "reward": 1}


def test_record_that_is_laid_out_otherwise_is_written_anew() -> None:
    for record in (b"", b"\xff", b"{}", b'{"messages": [{"role": "user"}]}', b'{"conversation": []}'):
        found = message_json(record, {"role": "tool"}, 0, hints=False)
        assert (json.loads(found.text), found.exact, found.withheld) == ({"role": "tool"}, False, False)
