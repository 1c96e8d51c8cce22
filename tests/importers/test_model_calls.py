"""Calls of a model laid one after the other, and messages in every dialect that tracing tools record."""

import json
from typing import Any

import pytest

from annotation.core.trajectories.messages import EARLIER
from annotation.importers.parts import model_calls
from annotation.importers.parts.dialects import is_cut_off, read_messages, read_tools
from annotation.importers.parts.model_calls import ModelCall, ToolRun, stitch
from annotation.importers.traces.opentelemetry.incremental_inputs import GrowingInput

USER = {"role": "user", "content": "Q?"}
ANSWER = {"role": "assistant", "content": "A."}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
ASK = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c", "content": "1"}


def call(start: int, given: list[dict[str, Any]], *output: dict[str, Any], **more: Any) -> ModelCall:
    return ModelCall(f"s{start}", (start, 0), given, list(output), end=start + 1, **more)


def roles(*calls: ModelCall, runs: list[ToolRun] | None = None) -> list[str]:
    return [message["role"] for message in stitch(calls, runs or []).messages]


# ── One conversation of many calls ────────
def test_call_that_repeats_the_history_adds_what_is_new_and_one_step() -> None:
    whole = stitch([call(1, [USER], ASK), call(2, [USER, ASK, RESULT], ANSWER)])
    assert whole.messages == [USER, ASK, RESULT, ANSWER]
    assert whole.source_steps == {1: "s1", 3: "s2"}
    assert not whole.notes


def test_call_is_recognised_when_the_program_writes_it_another_way_the_next_time() -> None:
    again = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}],
    }
    assert roles(call(1, [USER], ASK), call(2, [USER, again, RESULT], ANSWER)) == [
        "user", "assistant", "tool", "assistant",
    ]  # fmt: skip


def test_message_that_is_said_twice_is_there_twice() -> None:
    yes = {"role": "user", "content": "yes"}
    calls = [call(1, [yes], ANSWER), call(2, [yes, ANSWER, yes], {"role": "assistant", "content": "B."})]
    assert roles(*calls) == ["user", "assistant", "user", "assistant"]


def test_call_with_only_what_is_new_goes_on() -> None:
    whole = stitch([call(1, [USER], ASK), call(2, [RESULT], ANSWER)])
    assert whole.messages == [USER, ASK, RESULT, ANSWER]
    assert whole.notes == {model_calls.ONLY_NEW: 1}


def test_history_that_was_shortened_loses_nothing_and_is_counted() -> None:
    summary = {"role": "user", "content": "Summary: asked before."}
    calls = [
        call(1, [USER], ASK),
        call(2, [USER, ASK, RESULT], ANSWER),
        call(3, [summary, ANSWER], {"role": "assistant", "content": "C."}),
    ]
    whole = stitch(calls)
    assert whole.messages[4:] == [summary, {"role": "assistant", "content": "C."}]
    assert whole.notes == {model_calls.SHORTENED: 1}


def test_response_that_is_only_in_the_history_is_shown_and_no_step() -> None:
    whole = stitch([call(1, [USER, ANSWER, USER], ANSWER)])
    assert [message["role"] for message in whole.messages] == ["user", EARLIER, "user", "assistant"]
    assert whole.source_steps == {3: "s1"}


def test_call_that_two_instrumentations_recorded_counts_once() -> None:
    twice = [call(1, [USER], ANSWER), ModelCall("x", (1, 1), [USER], [ANSWER], end=2)]
    whole = stitch(twice)
    assert len(whole.messages) == 2
    assert whole.notes == {model_calls.TWICE: 1}
    assert len(stitch([twice[0], call(5, [USER], ANSWER)]).messages) == 3, "later, it is another call"


def test_calls_that_failed_or_were_not_recorded_are_no_steps() -> None:
    whole = stitch([call(1, [USER], error="limit"), call(2, [USER]), call(3, [USER], ANSWER)])
    assert whole.messages == [USER, ANSWER]
    assert whole.notes == {model_calls.FAILED: 1, model_calls.UNANSWERED: 1}


@pytest.mark.parametrize("known", [{"call_id": "c"}, {"arguments": {"x": 1}}, {}])
def test_result_that_only_the_run_of_the_tool_holds_belongs_to_its_call(known: dict[str, Any]) -> None:
    run = ToolRun("r", (2, 0), "f", result="1", **known)
    whole = stitch([call(1, [USER], ASK)], [run])
    assert whole.messages[2] == {"role": "tool", "content": "1", "name": "f", "tool_call_id": "c"}
    told = stitch([call(1, [USER], ASK), call(3, [USER, ASK, RESULT], ANSWER)], [run])
    assert told.messages == [USER, ASK, RESULT, ANSWER], "the input tells it: once is enough"


def test_run_of_a_tool_that_failed_says_so_where_the_result_stands() -> None:
    run = ToolRun("r", (2, 0), "f", call_id="c", error="boom")
    alone = stitch([call(1, [USER], ASK)], [run])
    assert (alone.messages[2]["content"], alone.messages[2]["is_error"]) == ("Error: boom", True)
    told = stitch([call(1, [USER], ASK), call(3, [USER, ASK, dict(RESULT)], ANSWER)], [run])
    assert (told.messages[2]["content"], told.messages[2]["is_error"]) == ("1", True)


# ── Dialects ──────────────────────────────
@pytest.mark.parametrize(
    "value",
    [
        {"messages": [USER, ASK, RESULT]},
        json.dumps([USER, ASK, RESULT]),
        repr([USER, ASK, RESULT]),
        [
            {"role": "user", "content": [{"type": "text", "text": "Q?"}]},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {"x": 1}}],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "1"}]},
        ],
        [
            {"role": "user", "parts": [{"type": "text", "content": "Q?"}]},
            {
                "role": "assistant",
                "parts": [{"type": "tool_call", "id": "c", "name": "f", "arguments": {"x": 1}}],
            },
            {"role": "user", "parts": [{"type": "tool_call_response", "id": "c", "response": "1"}]},
        ],
        [
            {"role": "user", "content": [{"type": "text", "text": "Q?"}]},
            {
                "role": "assistant",
                "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "f", "args": {"x": 1}}],
            },
            {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c", "result": "1"}]},
        ],
        [
            {"type": "human", "data": {"content": "Q?"}},
            {
                "type": "ai",
                "data": {"content": "", "tool_calls": [{"name": "f", "args": {"x": 1}, "id": "c"}]},
            },
            {"type": "tool", "data": {"content": "1", "tool_call_id": "c"}},
        ],
        [
            {"lc": 1, "type": "constructor", "id": ["m", "HumanMessage"], "kwargs": {"content": "Q?"}},
            {
                "lc": 1,
                "type": "constructor",
                "id": ["m", "AIMessage"],
                "kwargs": {"content": "", "tool_calls": [{"name": "f", "args": {"x": 1}, "id": "c"}]},
            },
            {
                "lc": 1,
                "type": "constructor",
                "id": ["m", "ToolMessage"],
                "kwargs": {"content": "1", "tool_call_id": "c"},
            },
        ],
        [
            {"role": "user", "content": [{"type": "input_text", "text": "Q?"}]},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"x": 1}'},
            {"type": "function_call_output", "call_id": "c", "output": "1"},
        ],
    ],
    ids=["wrapped", "json", "python", "anthropic", "genai", "ai_sdk", "langchain", "lc", "responses"],
)  # fmt: skip
def test_dialects_say_the_same(value: Any) -> None:
    user, ask, result = read_messages(value, "user")
    assert (user["role"], user["content"]) == ("user", "Q?")
    assert ask["role"] == "assistant"
    assert [(one["id"], one["function"]["name"]) for one in ask["tool_calls"]] == [("c", "f")]
    assert json.loads(ask["tool_calls"][0]["function"]["arguments"]) == {"x": 1}
    assert (result["role"], result["tool_call_id"], result["content"]) == ("tool", "c", "1")


def test_growing_input_says_what_each_input_says_by_itself() -> None:
    said = [{"role": "user", "content": "[Q]"}, {"role": "assistant", "parts": [{"text": "A"}]}]
    one, two = (json.dumps(said[:count]) for count in (1, 2))
    three = json.dumps([*said, {"role": "user", "content": "more, ]"}], indent=1)
    items = '[{"type": "function_call", "name": "f", "call_id": "c"}'
    inputs: list[Any] = [
        one, two, two, two + " \n", three, one, two[:-1] + ",]", two[:-1] + " , 7]", two[:-1] + "] x]", one,
        two[:-5], two[:-1] + ", {]", two[:-1] + "\x0b]", "[]", "[1]", "[1, 1, null, 2]", one, said, None,
        items + "]", items + ', {"type": "reasoning", "summary": []}]', "[[]]", "[[], [" + one + "]]", "",
        "[" * 201 + "]" * 201, "[0, " + "[" * 199 + "]" * 199 + "]", "[0, " + "[" * 200 + "]" * 200 + "]",
    ]  # fmt: skip
    for order in (inputs, inputs[::-1], [one, *inputs[10:], two, *inputs[:10]]):
        memory = GrowingInput()
        for given in order:
            assert memory.read(given) == read_messages(given, "user"), given
            assert not (memory.was_list(given) and is_cut_off(given)), given


def test_growing_input_converts_only_what_is_new() -> None:
    memory = GrowingInput()
    once = memory.read(json.dumps([USER]))
    again = memory.read(json.dumps([USER, ANSWER]))
    assert (again[0] is once[0], len(again)) == (True, 2)


def test_calls_that_share_a_message_do_not_share_what_becomes_of_it() -> None:
    shared = [USER, ASK, dict(RESULT)]
    failed = ToolRun("r", (1, 1), "f", call_id="c", error="no")
    whole = stitch([call(0, [USER], ASK), call(2, shared, ANSWER)], [failed])
    assert (whole.messages[2].get("is_error"), shared[2]) == (True, RESULT)


def test_dialect_of_gemini_has_no_ids() -> None:
    given = {
        "config": {"system_instruction": "Be brief."},
        "contents": [
            {"role": "user", "parts": [{"text": "Q?"}]},
            {"role": "model", "parts": [{"thought": True, "text": "Hm."}, {"functionCall": {"name": "f"}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"n": 1}}}]},
        ],
    }
    system, user, ask, result = read_messages(given, "user")
    assert (system["role"], user["content"], ask["reasoning_content"]) == ("system", "Q?", "Hm.")
    assert "id" not in ask["tool_calls"][0]
    assert (result["role"], result["name"], result["content"]) == ("tool", "f", '{"n": 1}')


@pytest.mark.parametrize(
    "tools",
    [
        [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        ['{"name": "f", "inputSchema": {"type": "object"}}'],
        [{"function_declarations": [{"name": "f", "parameters": {"type": "object"}}]}],
        {"f": {"name": "f", "input_schema": {"type": "object"}}},
    ],
)
def test_tools_of_every_dialect_have_one_shape(tools: Any) -> None:
    assert read_tools(tools) == [
        {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    ]


def test_call_that_is_text_and_nested_too_deeply_stays_text() -> None:
    told = '{"name": "f", "arguments": ' + "[" * 300 + "]" * 300 + "}"
    (message,) = read_messages([{"role": "assistant", "tool_calls": [told]}], "user")
    assert message["tool_calls"][0]["function"] == {"name": "", "arguments": told}
