"""Messages laid out for reading: exact, visible, tied together, folded."""

import json
import re
from html.parser import HTMLParser

import pytest
from jinja2 import UndefinedError

from annotation.core.trajectories.messages import EARLIER
from annotation.core.trajectories.trajectory import normalise, pair_results
from annotation.models import Step
from annotation.reports.shared.transcripts import Transcript
from frontend.rendering import beside, transcript
from frontend.rendering.blocks import Block, StructureBlock, TextBlock, result_block
from frontend.rendering.control_chars import escape_control_chars
from frontend.rendering.transcript import lay_out
from frontend.templatetags.macros import macro


def laid(
    messages: list[dict], steps: tuple[int, ...] = (), tools: list | None = None
) -> list[transcript.RenderedMessage]:
    found = normalise(messages)
    read = Transcript(found, pair_results(found), tools or [], "", None, None, None, None)
    return lay_out(read, [Step(message_index=index, ordinal=i) for i, index in enumerate(steps)])


def markup(block: Block) -> str:
    """The markup of a block on a page."""
    return macro("message.text", block)


def html(block: Block) -> str:
    """The readable texts of a structure, one after the other."""
    assert isinstance(block, StructureBlock)
    return " ".join(part for part in re.split(r"<[^>]*>| (?=<)", markup(block)) if part)


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
def test_text_that_cannot_be_seen_or_sent_becomes_visible(text: str, seen: str) -> None:
    assert escape_control_chars(text) == seen
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


def test_result_that_comes_later_stays_in_its_place_and_says_whose_it_is() -> None:
    messages = laid(
        [
            {"role": "assistant", "content": "x", "tool_calls": [call("late", "{}", "1")]},
            {"role": "assistant", "content": "y"},
            {"role": "tool", "tool_call_id": "1", "content": "now"},
        ],
        steps=(0, 1),
    )
    assert [message.index for message in messages] == [0, 1, 2]
    assert messages[2].answers == transcript.AnsweredCall("late", 0, "#m0")


def test_result_without_a_call_is_shown_all_the_same() -> None:
    (alone,) = laid([{"role": "tool", "tool_call_id": "gone", "content": "orphan"}])
    assert (alone.kind, alone.answers, alone.blocks[0].text) == ("result", None, "orphan")


def test_speakers_of_several_agents_are_named() -> None:
    step, result = laid(
        [
            {"role": "assistant", "name": "WebSurfer", "content": "I clicked."},
            {"role": "tool", "name": "Computer_terminal", "content": "exitcode: 0"},
        ],
        steps=(0,),
    )
    assert "by WebSurfer" in macro("message.inside", step, None)
    assert '<code dir="auto">Computer_terminal</code>' in macro("message.message", result, None)


def test_response_that_the_log_only_repeats_says_that_it_is_no_step() -> None:
    (earlier,) = laid([{"role": EARLIER, "content": "A."}])
    page = macro("message.message", earlier, None)
    assert "Earlier response" in page
    assert "not a step" in page


def test_call_of_the_user_is_the_users_and_so_is_its_result() -> None:
    (user,) = laid(
        [
            {"role": "user", "content": None, "tool_calls": [call("toggle", "{}", "u1")]},
            {"role": "tool", "tool_call_id": "u1", "content": "on"},
        ]
    )
    assert user.kind == "user"
    assert user.calls[0].results[0].answers == transcript.AnsweredCall("toggle", 0, "#m0")


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
    assert arguments["q"] == TextBlock("a\nb", foldable=True)
    assert (html(arguments["n"]), html(arguments["deep"])) == ("3", "x 1")


def test_arguments_that_do_not_parse_stand_exactly_as_they_came() -> None:
    raw = '["one", "two'
    (step,) = laid([{"role": "assistant", "tool_calls": [call("f", raw)]}], steps=(0,))
    one = step.calls[0]
    assert one.broken and one.body is not None
    assert (one.body.text, one.arguments) == (raw, [])


def test_arguments_that_parse_to_a_list_are_a_list() -> None:
    (step,) = laid([{"role": "assistant", "tool_calls": [call("f", '["a",1.50]')]}], steps=(0,))
    body = step.calls[0].body
    assert body is not None and not step.calls[0].broken
    assert html(body) == "a 1.5"


def test_call_written_as_text_is_a_call() -> None:
    (step,) = laid(
        [{"role": "assistant", "content": '<tool_call>{"name": "ls", "arguments": {"a": true}}</tool_call>'}],
        steps=(0,),
    )
    assert step.calls[0].name == "ls" and step.calls[0].in_text
    assert html(step.calls[0].arguments[0][1]) == "true"


def test_outputs_fold_when_long_and_a_step_never_does() -> None:
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


def test_json_results_are_structure_and_broken_ones_left_alone() -> None:
    block = result_block('{"a": "x\\ny", "n": 1.50, "n": 2}')
    assert html(block) == "a x\ny n 1.50 n 2"
    for odd in ("{broken", "{}", "42", '{"a": 1}\n{"a": 2}', "[" * 100_000, "[" * 201 + "]" * 201):
        assert result_block(odd).text == odd


def test_json_of_more_structure_than_can_be_read_is_laid_out_as_text() -> None:
    block = result_block(json.dumps(list(range(1000))))
    assert isinstance(block, TextBlock) and block.lines == 1002 and block.folds


def test_documents_retrieved_are_titles_and_passages() -> None:
    found = {
        "result": [
            [{"document": {"id": "7", "contents": '"A town"\nIt lies <b>north</b>.'}, "score": 0.912345678}]
        ]
    }
    page = markup(result_block(json.dumps(found)))
    assert '<ol class="passages">' in page and "&lt;b&gt;north" in page and "<b>north" not in page
    assert ">A town</b>" in page and "id 7 · score 0.9123…" in page


def test_arguments_that_break_the_schema_say_how() -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    tools = [{"type": "function", "function": {"name": "f", "parameters": schema}}]
    calls = [
        call("f", '{"q": "a"}'),
        call("f", "{}"),
        call("f", '{"q": 1}'),
        call("f", "[]"),
        call("g", "{}"),
    ]
    (step,) = laid([{"role": "assistant", "tool_calls": calls}], steps=(0,), tools=tools)
    assert [one.problems for one in step.calls] == [
        [],
        ["q is required and missing"],
        ["q must be a string, not a whole number"],
        ["The arguments must be an object, not a list"],
        ["No tool has this name"],
    ]


def test_call_that_is_the_same_again_says_where_it_was_made_first() -> None:
    def asks(arguments: str) -> dict:
        return {"role": "assistant", "tool_calls": [call("f", arguments)]}

    first, again, other = laid(
        [asks('{"a": 1, "b": 2}'), asks('{"b":2,"a":1}'), asks('{"a": 1}')], steps=(0, 1, 2)
    )
    assert (first.calls[0].twin, other.calls[0].twin) == (None, None)
    assert again.calls[0].twin == transcript.Twin(0, "step 1", "#m0")


def test_result_that_tells_of_an_error_is_marked() -> None:
    step, fine, marked = laid(
        [
            {"role": "assistant", "tool_calls": [call("f", "{}", "1")]},
            {"role": "tool", "tool_call_id": "1", "content": '{"error": "no such file"}'},
            {"role": "tool", "content": '{"error": null, "errors": 0}'},
            {"role": "tool", "content": "not found", "is_error": True},
        ],
        steps=(0,),
    )
    assert step.tool_error and not fine.failed and marked.failed


def test_reasoning_stands_apart_from_what_was_said() -> None:
    (step,) = laid([{"role": "assistant", "content": "4.", "reasoning_content": "<b>2</b>\x00"}], steps=(0,))
    assert [block.kind for block in step.blocks] == ["reasoning", "text"]
    assert re.search(r"Reasoning</p>.*>&lt;b&gt;2&lt;/b&gt;␀<", markup(step.blocks[0]), re.DOTALL)
    assert "Reasoning" not in markup(step.blocks[1])


def test_system_prompt_before_anybody_speaks_leads() -> None:
    messages = laid(
        [{"role": role, "content": "x"} for role in ("system", "system", "user", "system", "assistant")],
        steps=(4,),
    )
    assert [one.leading for one in messages] == [True, True, False, False, False]


def test_tools_of_any_shape() -> None:
    listed = [
        {"function": {"name": "a", "description": "does", "parameters": {"properties": {"q": {}}}}},
        {"name": "b", "input_schema": {"x": 1}},
        "just a name",
        {"name": 7},
    ]
    found = beside.tools(Transcript((), {}, listed, "", None, None, None, None).offered_tools())
    assert [(tool.name, tool.description) for tool in found] == [
        ("a", "does"),
        ("b", ""),
        ("just a name", ""),
        ("", ""),
    ]
    assert [one.name for one in found[0].parameters] == ["q"]
    assert found[1].raw == '{\n  "x": 1\n}'


def test_facts_of_any_shape() -> None:
    assert beside.facts(None) == beside.facts({}) == beside.facts("") == beside.Facts()
    assert not beside.facts("")
    assert [html(one) for _, one in beside.facts(["a", "b"]).named] == ["a b"]
    named = beside.facts({"n": 0, "empty": None, "deep": {"k": "v"}, "target": ["x"]}).named
    assert [(name, html(one)) for name, one in named] == [("target", "x"), ("n", "0"), ("deep", "k v")]


def test_hostile_text_stays_text_wherever_a_message_shows_it() -> None:
    hostile = """</div><script>alert(1)</script>" onclick='x' %(name)s {{ name }}"""
    broken = call(hostile, "{not json " + hostile, "1")
    written = call("f", json.dumps({hostile: hostile, "deep": {hostile: [hostile]}}), "2")
    found = json.dumps([{"title": hostile, "text": hostile, "url": hostile, hostile: hostile}])
    messages = laid(
        [
            {"role": "system", "content": hostile},
            {"role": "user", "name": hostile, "content": hostile, "tool_calls": [broken]},
            {"role": "assistant", "content": hostile, "tool_calls": [broken | {"id": "3"}, written]},
            {"role": "tool", "tool_call_id": "2", "name": hostile, "content": found},
            {"role": "tool", "tool_call_id": "3", "name": hostile, "content": hostile * 100},
            {"role": "assistant", "content": hostile},
            {"role": "tool", "tool_call_id": "1", "content": hostile},
        ],
        steps=(2, 5),
        tools=[{"name": hostile, "parameters": {"required": [hostile]}}],
    )
    pages = [macro("message.message", one, None) for one in messages]
    pages.append(macro("step.run", messages, None))
    pages.append(macro("message.facts", beside.facts({hostile: hostile}), None))
    seen = Attributes()
    seen.feed("".join(pages))
    seen.close()
    assert "script" not in seen.tags
    assert "onclick" not in seen.names
    assert f"Tool call {hostile}" in seen.labels
    assert sum(hostile in text for text in seen.texts) > 30


def test_macro_refuses_a_name_it_does_not_know() -> None:
    with pytest.raises(UndefinedError):
        macro("message.text", object())


class Attributes(HTMLParser):
    """The tags of a page, the names of their attributes, their labels, and the texts between them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.labels: list[str | None] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}
        self.labels += [value for name, value in attrs if name == "aria-label"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
