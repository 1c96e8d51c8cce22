"""Distractors of judges: what is asked for, what is read of an answer, and what is refused of it."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.core.decisions.corrections import TypedCall, action
from annotation.core.decisions.distractors import (
    FAULT_WORDS,
    FAULT_WORDS_ZH,
    KINDS,
    NextAct,
    Options,
    Proposal,
    Refusal,
    fault_words,
    next_act,
    sort_out,
)
from annotation.core.decisions.equality import act_digest
from annotation.core.decisions.record import Decision, Option, decision_draft
from annotation.core.judging import JudgeInput, TooLong, UnusableKind
from annotation.core.judging.distractors import (
    DISTRACTOR_SCHEMA,
    Writing,
    build_distractors,
    expected_distractors,
    parse_distractors,
)
from annotation.core.judging.prompts import DISTRACTORS, template, versions_of
from annotation.core.judging.settings import JudgeSettings
from annotation.core.kinds import DECISIONS
from annotation.core.trajectories.tool_schema import read_tools

# As for the prompts of labels: words and writing of a version never change.
WORDS, WRITTEN = "edb3c5ee3b98b320", "8271ff915f35f83c"


def tool(name: str, **parameters: Any) -> dict[str, Any]:
    required = [parameter for parameter in parameters if parameter != "purpose"]
    schema = {"type": "object", "properties": parameters, "required": required}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


STRING = {"type": "string"}
# the tools of AgentProcessBench's HotpotQA, GAIA and τ² records
TOOLS = [
    tool("search", query=STRING),
    tool("fetch_url", url=STRING, purpose=STRING),
    tool("read_file", uri=STRING, purpose=STRING),
    tool("get_reservation_details", reservation_id=STRING),
    tool("lookup", link=STRING),
    tool("list_pages", purpose=STRING),
]


def calls(name: str, /, **arguments: Any) -> dict[str, Any]:
    return action("", [TypedCall(name, json.dumps(arguments))])


@pytest.mark.parametrize(
    ("message", "act"),
    [
        (calls("search", query="x"), NextAct.LOOK_UP),
        (calls("get_reservation_details", reservation_id="ABC"), NextAct.LOOK_UP),
        (calls("list_pages", purpose="url"), NextAct.LOOK_UP),
        (calls("fetch_url", url="https://x.test", purpose="y"), NextAct.OPEN),
        (calls("read_file", uri="a.txt"), NextAct.OPEN),
        (calls("lookup", link="a"), NextAct.OPEN),
        (calls("openPage", id=3), NextAct.OPEN),
        (calls("Reader", id=3), NextAct.LOOK_UP),
        (calls("unlisted", target_url="a"), NextAct.OPEN),
        ({"role": "assistant", "content": "I would open the page."}, NextAct.END),
        (
            {"role": "assistant", "content": '<tool_call>{"name": "search", "arguments": {}}</tool_call>'},
            NextAct.LOOK_UP,
        ),
        ({"role": "assistant", "tool_calls": ["broken"]}, NextAct.LOOK_UP),
    ],
)
def test_kind_of_a_next_act_follows_from_its_calls(message: dict[str, Any], act: NextAct) -> None:
    assert next_act(message, read_tools(TOOLS)) is act


def test_open_is_asked_for_skipping_too_and_an_end_for_nothing_but_going_on_and_a_wrong_call() -> None:
    assert set(KINDS[NextAct.OPEN]) - set(KINDS[NextAct.LOOK_UP]) == {"skip_opening"}
    assert KINDS[NextAct.END] == ("go_on", "wrong_call")
    system = template(DISTRACTORS)[0]
    explained = re.findall(r"^\| (\w+) \| ", system, re.MULTILINE)
    assert sorted(explained[1:]) == sorted({name for kinds in KINDS.values() for name in kinds})


# ── The prompt ────────────────────────────
HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": "Where is the café?"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "function": {"name": "search"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "In Paris."},
]
RIGHT = {"role": "assistant", "content": "In Paris."}
WRONG = calls("search", query="café Lyon")
CONTENT = decision_draft(
    Decision(
        "Where is the café?", TOOLS, HISTORY, [Option(RIGHT, 1), Option(WRONG, -1, reason="canary")], "t"
    )
).content()
MATERIAL = JudgeInput.of(CONTENT)
KEY = next(index for index in MATERIAL.steps if CONTENT["messages"][index]["content"])


def test_prompt_never_changes() -> None:
    prompt = build_distractors(MATERIAL, Writing((KEY,), 2), 50_000)
    assert hashlib.sha256("\0".join(template(DISTRACTORS)).encode()).hexdigest()[:16] == WORDS
    assert hashlib.sha256(prompt.user.encode()).hexdigest()[:16] == WRITTEN


def test_prompt_shows_the_right_action_and_the_wrong_ones_and_asks_for_two_to_spare() -> None:
    prompt = build_distractors(MATERIAL, Writing((KEY,), 2), 50_000)
    titles = re.findall(r"^<<<[0-9a-f]{8} (?!end)(.*?)>>>$", prompt.user, re.MULTILINE)
    assert titles[-2:] == ["right action", "wrong action 1"]
    assert re.search(r"right action>>>\nIn Paris\.\n<<<", prompt.user)
    assert "Write 4 wrong next actions." in prompt.user
    assert prompt.user.endswith("Kinds: [go_on, wrong_call]\n")
    assert "canary" not in prompt.user
    assert prompt.schema is DISTRACTOR_SCHEMA
    look_up = build_distractors(MATERIAL, Writing((*set(MATERIAL.steps) - {KEY},), 1), 50_000)
    assert look_up.user.endswith(f"Kinds: [{', '.join(KINDS[NextAct.LOOK_UP])}]\n")


def test_prompt_shortens_results_alone_and_never_an_action() -> None:
    long = {**CONTENT, "messages": [dict(message) for message in CONTENT["messages"]]}
    long["messages"][2]["content"] = "x" * 200_000
    prompt = build_distractors(JudgeInput.of(long), Writing((KEY,), 2), 8_000)
    assert prompt.shortened and prompt.estimated_tokens <= 8_000
    long["messages"][KEY]["content"] = "x" * 200_000
    with pytest.raises(TooLong):
        build_distractors(JudgeInput.of(long), Writing((KEY,), 2), 8_000)


def test_no_judge_is_made_with_the_prompt_and_a_long_option_costs_more() -> None:
    assert DISTRACTORS not in versions_of(DECISIONS)
    judge = JudgeSettings(model="m", base_url="http://x.test", prompt_version="decision-v1")
    short, _ = expected_distractors(judge, MATERIAL, Writing((KEY,), 2))
    assert short.calls == 1 and short.tokens_out == 150 + 4 * 150
    long = {
        **CONTENT,
        "messages": [*CONTENT["messages"][:-1], {**CONTENT["messages"][-1], "content": "w " * 2000}],
    }
    material = JudgeInput.of(long)
    assert expected_distractors(judge, material, Writing((KEY,), 2))[0].tokens_out > 4 * 1_000


# ── The answer ────────────────────────────
ONE = {
    "kind": "go_on",
    "reasoning": "",
    "text": "Go.",
    "calls": [{"name": "search", "arguments": '{"query": "a"}'}],
}
READ = Proposal("Go.", (TypedCall("search", '{"query": "a"}'),), "", "go_on")


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"actions": [ONE]}),
        json.dumps([ONE]),
        f"<think>Hm.</think>\n```json\n{json.dumps([ONE])}\n```\nDone.",
        json.dumps({"actions": [{**ONE, "calls": [{"name": "search", "arguments": {"query": "a"}}]}]}),
        json.dumps({"actions": [ONE]})[:-2] + ", // more\n]}",
    ],
)
def test_list_of_actions_is_read_as_asked_for_or_alone(answer: str) -> None:
    read = parse_distractors(answer)
    assert read.proposals == (READ,) and read.unusable is None and read.labels == {}


def test_cut_answer_keeps_what_was_finished_and_leaves_its_last_action_out() -> None:
    whole = json.dumps({"actions": [ONE, {**ONE, "text": "Stay."}]})
    # the last action has lost its calls, and would be another one
    cut = parse_distractors(whole[: whole.rindex(', "calls"')], cut_off=True)
    assert cut.proposals == (READ,) and cut.cut
    nothing = parse_distractors(json.dumps([ONE])[:60], cut_off=True)
    assert nothing.unusable is not None and nothing.unusable.kind is UnusableKind.TRUNCATED


@pytest.mark.parametrize(
    "entry",
    [
        *("Go.", 3, None, ["Go."]),
        {**ONE, "text": 3},
        {**ONE, "calls": "search"},
        {**ONE, "calls": ["search"]},
        {**ONE, "calls": [{"arguments": "{}"}]},
        {**ONE, "calls": [{"name": "search", "arguments": [1]}]},
    ],
)
def test_what_is_no_action_is_counted_and_keeps_no_other_from_being_read(entry: Any) -> None:
    assert parse_distractors(json.dumps({"actions": [entry, ONE]})).proposals == (None, READ)


@pytest.mark.parametrize(
    "answer", ["", "No.", "[]", "{}", '{"actions": []}', '{"actions": {"a": 1}}', '{"steps": []}']
)
def test_answer_without_a_list_of_actions_is_unusable(answer: str) -> None:
    read = parse_distractors(answer)
    assert read.unusable is not None and read.proposals == ()


JSON = st.recursive(
    st.none() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["actions", "text", "calls", "name", "arguments"]), inner)
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=20) | JSON.map(json.dumps), st.booleans())
def test_reading_and_sorting_never_raise(answer: str, cut_off: bool) -> None:
    read = parse_distractors(answer, cut_off=cut_off)
    accepted, refused = sort_out(read.proposals, Options([RIGHT], [WRONG]), read_tools(TOOLS), wanted=2)
    assert len(accepted) + refused.total() == len(read.proposals)


def test_deep_and_huge_arguments_are_no_action() -> None:
    deep = '{"query": ' * 50_000 + "1" + "}" * 50_000
    long = json.dumps({"query": "x" * 300_000})
    for arguments in (deep, long, "[1]", '{"a": 1e999}', "not JSON", '{"a": NaN}'):
        made = sort_out([Proposal("", (TypedCall("search", arguments),))], Options([RIGHT], []), (), wanted=1)
        assert made == ([], {Refusal.NO_ACTION: 1}), arguments[:20]


# ── What is refused ───────────────────────
def refusal(proposal: Proposal | None, **more: Any) -> Refusal | None:
    options = Options(**{"right": [RIGHT], "wrong": [WRONG], **more})
    accepted, refused = sort_out([proposal], options, read_tools(TOOLS), wanted=1)
    assert len(accepted) + refused.total() == 1
    return None if accepted else next(iter(refused))


def call(name: str, /, text: str = "", **arguments: Any) -> Proposal:
    return Proposal(text, (TypedCall(name, json.dumps(arguments)),))


def test_action_that_does_what_the_key_or_a_sibling_does_is_refused_whatever_it_says() -> None:
    assert refusal(Proposal(" In  PARIS. ")) is Refusal.RIGHT
    assert refusal(Proposal("<answer>In Paris.</answer>")) is Refusal.RIGHT
    assert refusal(call("search", "Let me look elsewhere.", query="café Lyon")) is Refusal.REPEATED
    key = action("First the page.", [TypedCall("fetch_url", '{"purpose": "p", "url": "u"}')])
    assert refusal(call("fetch_url", "So.", url="u", purpose="p"), right=[key]) is Refusal.RIGHT
    neutral = act_digest(calls("search", query="café"))
    assert refusal(call("search", query="café"), labelled=[neutral]) is Refusal.RIGHT
    assert refusal(call("search", query="café")) is None


def test_second_one_of_an_answer_is_refused_and_what_is_left_over_is_not_needed() -> None:
    given = [
        call("search", query="a"),
        call("search", "Again.", query="a"),
        None,
        *(call("search", query=q) for q in "bc"),
    ]
    accepted, refused = sort_out(given, Options([RIGHT], []), read_tools(TOOLS), wanted=2)
    assert [one.message["tool_calls"][0]["function"]["arguments"] for one in accepted] == [
        '{"query": "a"}',
        '{"query": "b"}',
    ]
    assert refused == {Refusal.REPEATED: 1, Refusal.NO_ACTION: 1, Refusal.NOT_NEEDED: 1}


def test_wrong_names_and_arguments_are_wanted_when_they_parse() -> None:
    assert refusal(call("find_everything", query="café")) is None
    assert refusal(call("search", q="café")) is None
    assert refusal(call("search", query=3)) is None
    assert refusal(call("", query="café")) is Refusal.NO_ACTION
    assert refusal(Proposal(" ")) is Refusal.NO_ACTION
    assert refusal(Proposal("<tool_call>{broken</tool_call>")) is Refusal.NO_ACTION


@pytest.mark.parametrize("word", [*FAULT_WORDS, *FAULT_WORDS_ZH])
def test_action_that_names_its_own_fault_is_refused(word: str) -> None:
    assert refusal(Proposal(f"I take the {word.upper()} one.")) is Refusal.NAMES_ITS_FAULT
    assert refusal(call("search", query=f"这是{word}。")) is Refusal.NAMES_ITS_FAULT


def test_fault_is_found_in_names_in_escapes_and_in_thoughts() -> None:
    assert refusal(call("wrong_search", query="a")) is Refusal.NAMES_ITS_FAULT
    assert refusal(call("wrongSearch", query="a")) is Refusal.NAMES_ITS_FAULT
    escaped = Proposal("", (TypedCall("search", '{"query": "\\u9519\\u8bef"}'),))
    assert refusal(escaped) is Refusal.NAMES_ITS_FAULT
    thinks = {**RIGHT, "reasoning_content": "Found."}
    assert refusal(Proposal("In Lyon.", reasoning="A distractor."), right=[thinks]) is Refusal.NAMES_ITS_FAULT


def test_word_of_the_task_names_no_fault_and_neither_does_a_part_of_a_word() -> None:
    assert refusal(call("search", query="Who wrote Wrongful Death, mistakes and all?")) is None
    assert refusal(call("search", query="what went wrong"), asked="What went wrong in 1986?") is None
    assert (
        refusal(Proposal("The error is wrong_type."), right=[{**RIGHT, "content": "It is the wrong type."}])
        is None
    )
    assert refusal(call("search", query="wrong"), asked="Who did it wrongly?") is Refusal.NAMES_ITS_FAULT
    assert fault_words("Wrongdoing, irrelevantly") == set()


def test_distractor_takes_on_the_form_of_the_options() -> None:
    in_text = {
        "role": "assistant",
        "content": '<tool_call>\n{"name": "search", "arguments": {"query": "a"}}\n</tool_call>',
    }
    (made,), _ = sort_out([call("search", "So.", query="é")], Options([in_text], []), (), wanted=1)
    assert made.message == {
        "role": "assistant",
        "content": 'So.\n<tool_call>\n{"name": "search", "arguments": {"query": "é"}}\n</tool_call>',
    }
    quiet, _ = sort_out([Proposal("In Lyon.", reasoning="Hm.")], Options([RIGHT], []), (), wanted=1)
    assert "reasoning_content" not in quiet[0].message
    thinks = {**RIGHT, "reasoning_content": "Found."}
    (aloud,), _ = sort_out([Proposal("In Lyon.", reasoning="Hm.")], Options([thinks], []), (), wanted=1)
    assert aloud.message["reasoning_content"] == "Hm."
