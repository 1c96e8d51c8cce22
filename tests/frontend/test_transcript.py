"""Messages laid out for reading: exact, visible, tied together, folded."""

import json

import pytest

from annotation.core.trajectory import normalise, pair_results
from annotation.models import Step
from annotation.reports.transcripts import Transcript
from frontend import transcript
from frontend.transcript import Text, lay_out, shown


def laid(messages: list[dict], steps: tuple[int, ...] = ()) -> list[transcript.Shown]:
    found = normalise(messages)
    read = Transcript(found, pair_results(found), [], "", None, None, None, None)
    return lay_out(read, [Step(message_index=index, ordinal=i) for i, index in enumerate(steps)])


def call(name: str, arguments: object, call_id: str | None = None) -> dict:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain <b>&amp;</b>\n\ttext é 漢字 🙂", "plain <b>&amp;</b>\n\ttext é 漢字 🙂"),
        ("a\x00b", "a␀b"),
        ("\x1b[31mred\x7f", "␛[31mred␡"),
        ("half \ud800 pair \udfff", "half \\ud800 pair \\udfff"),
        ("ab\u202efdp.exe\u2066", "ab\\u202efdp.exe\\u2066"),
        ("a\r\nb", "a\r\nb"),
    ],
)
def test_what_cannot_be_seen_or_sent_becomes_visible(text: str, seen: str) -> None:
    assert shown(text) == seen
    seen.encode("utf-8")


def test_results_stand_under_their_calls() -> None:
    (step,) = laid(
        [
            {"role": "assistant", "content": "", "tool_calls": [call("a", "{}", "1"), call("b", "{}", "2")]},
            {"role": "tool", "tool_call_id": "2", "content": "of b"},
            {"role": "tool", "tool_call_id": "1", "content": "of a"},
        ],
        steps=(0,),
    )
    assert step.kind == "step" and not step.empty
    assert [(one.name, one.results[0].blocks[0].text) for one in step.calls] == [("a", "of a"), ("b", "of b")]


def test_a_result_that_comes_later_stays_in_its_place_and_says_whose_it_is() -> None:
    messages = laid(
        [
            {"role": "assistant", "content": "x", "tool_calls": [call("late", "{}", "1")]},
            {"role": "assistant", "content": "y"},
            {"role": "tool", "tool_call_id": "1", "content": "now"},
        ],
        steps=(0, 1),
    )
    assert [message.index for message in messages] == [0, 1, 2]
    assert messages[2].answers == transcript.Answered("late", 0)


def test_a_result_without_a_call_is_shown_all_the_same() -> None:
    (alone,) = laid([{"role": "tool", "tool_call_id": "gone", "content": "orphan"}])
    assert (alone.kind, alone.answers, alone.blocks[0].text) == ("result", None, "orphan")


def test_a_call_of_the_user_is_the_users_and_so_is_its_result() -> None:
    (user,) = laid(
        [
            {"role": "user", "content": None, "tool_calls": [call("toggle", "{}", "u1")]},
            {"role": "tool", "tool_call_id": "u1", "content": "on"},
        ]
    )
    assert user.kind == "user"
    assert user.calls[0].results[0].by == "user"


def test_arguments_are_named_when_they_are_an_object() -> None:
    (step,) = laid(
        [
            {
                "role": "assistant",
                "tool_calls": [call("f", json.dumps({"q": "a\nb", "n": 3, "deep": {"x": [1]}}))],
            }
        ],
        steps=(0,),
    )
    arguments = dict(step.calls[0].arguments)
    assert arguments["q"] == Text("a\nb", foldable=True)
    assert (arguments["n"].text, arguments["deep"].text) == ("3", '{"x": [1]}')


def test_arguments_that_do_not_parse_stand_exactly_as_they_came() -> None:
    raw = '["one", "two'
    (step,) = laid([{"role": "assistant", "tool_calls": [call("f", raw)]}], steps=(0,))
    one = step.calls[0]
    assert one.broken and one.body is not None
    assert (one.body.text, one.arguments) == (raw, [])


def test_arguments_that_parse_to_a_list_are_laid_out_with_the_exact_form_beside() -> None:
    (step,) = laid([{"role": "assistant", "tool_calls": [call("f", '["a",1.50]')]}], steps=(0,))
    body = step.calls[0].body
    assert body is not None and not step.calls[0].broken
    assert (body.text, body.raw) == ('[\n  "a",\n  1.5\n]', '["a",1.50]')


def test_a_call_written_as_text_is_a_call() -> None:
    (step,) = laid(
        [{"role": "assistant", "content": '<tool_call>{"name": "ls", "arguments": {"a": true}}</tool_call>'}],
        steps=(0,),
    )
    assert step.calls[0].name == "ls" and step.calls[0].in_text
    assert step.calls[0].arguments[0][1].text == "true"


def test_only_long_outputs_fold_and_a_step_never_does() -> None:
    long = "\n".join(map(str, range(40)))
    step, result, short = laid(
        [
            {"role": "assistant", "content": long},
            {"role": "tool", "content": long},
            {"role": "tool", "content": "short"},
        ],
        steps=(0,),
    )
    assert [one.blocks[0].folds for one in (step, result, short)] == [False, True, False]
    assert result.blocks[0].lines == 40


def test_json_results_are_laid_out_and_broken_ones_left_alone() -> None:
    assert transcript.result_text('{"a": "x\\ny"}').raw == '{"a": "x\\ny"}'
    for odd in ("{broken", "{}", "42", '{"a": 1}\n{"a": 2}', "[" * 100_000):
        assert (transcript.result_text(odd).text, transcript.result_text(odd).raw) == (odd, "")


def test_tools_of_any_shape() -> None:
    listed = transcript.tools(
        [
            {
                "type": "function",
                "function": {"name": "a", "description": "does", "parameters": {"type": "object"}},
            },
            {"name": "b", "input_schema": {"x": 1}},
            "just a name",
            {"name": 7},
        ]
    )
    assert [(tool.name, tool.description) for tool in listed] == [
        ("a", "does"),
        ("b", ""),
        ("", ""),
        ("", ""),
    ]
    assert listed[1].schema == '{\n  "x": 1\n}'


def test_facts_of_any_shape() -> None:
    assert transcript.facts(None) == transcript.facts({}) == transcript.facts("") == []
    assert [text.text for _, text in transcript.facts(["a", "b"])] == ["a\nb"]
    named = transcript.facts({"target": ["x"], "empty": None, "n": 0, "deep": {"k": "v"}})
    assert [(name, text.text) for name, text in named] == [
        ("target", "x"),
        ("n", "0"),
        ("deep", '{"k": "v"}'),
    ]
