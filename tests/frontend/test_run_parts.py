"""Long runs are drawn in parts, and a page stays small whatever its record holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from annotation.core.kinds import DECISIONS
from annotation.core.trajectories.trajectory import normalise, pair_results, step_indexes
from annotation.models import Step
from annotation.reports.shared.transcripts import Transcript
from frontend.rendering import beside
from frontend.rendering.allowance import BESIDE_BYTES, MESSAGE_BYTES, TOOLS_BYTES
from frontend.rendering.run_parts import PART_BYTES, PART_MESSAGES, RunParts, parts_of
from frontend.rendering.run_search import MOST, search
from frontend.rendering.transcript import RenderedMessage, lay_out, leading
from frontend.templatetags.macros import macro

USER = {"role": "user", "content": "Do it."}


def read(messages: Sequence[Any], tools: Sequence[Any] = ()) -> Transcript:
    found = normalise(messages)
    return Transcript(found, pair_results(found), list(tools), "", None, None, None, None)


def steps_of(transcript: Transcript) -> list[Step]:
    return [
        Step(message_index=index, ordinal=number)
        for number, index in enumerate(step_indexes(transcript.messages))
    ]


def laid(transcript: Transcript, at: int = 0) -> tuple[RunParts, list[RenderedMessage]]:
    parts = parts_of(transcript, at)
    return parts, lay_out(transcript, steps_of(transcript), parts)


def step(number: int, arguments: str = '{"q": 1}') -> list[dict[str, Any]]:
    """A step that calls a tool, and the result."""
    call = {"id": f"c{number}", "function": {"name": "f", "arguments": arguments}}
    return [
        {"role": "assistant", "content": f"Step {number}.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"Result {number}."},
    ]


def steps(count: int, **more: Any) -> list[dict[str, Any]]:
    return [USER, *(message for number in range(count) for message in step(number, **more))]


# ── Where a run is cut ────────────────────
def test_run_of_ordinary_length_is_one_part() -> None:
    parts, messages = laid(read(steps(99)))
    assert not parts.several
    assert [message.index for message in messages] == [0, *range(1, 199, 2)]
    assert macro("parts.before", parts) + macro("parts.after", parts) == ""


def test_parts_hold_every_message_once_and_never_tear_a_result_from_its_call() -> None:
    parts = parts_of(read(steps(450))).parts
    assert [part.start for part in parts] == [0, *(part.stop for part in parts[:-1])]
    assert parts[-1].stop == 901
    assert max(part.stop - part.start for part in parts) <= PART_MESSAGES
    assert all(part.start % 2 == 1 for part in parts[1:]), "each begins with a call"
    assert [(part.first_step, part.last_step) for part in parts[:2]] == [(1, 99), (100, 199)]
    assert (parts[0].user, parts[1].user, parts[1].entry) == ("", 0, parts[1].start)


def test_parts_are_cut_by_size_as_well() -> None:
    parts = parts_of(read([USER, *[{"role": "assistant", "content": "x" * 90_000}] * 12])).parts
    assert [part.start for part in parts] == [0, 7]


def test_call_with_more_results_than_a_part_is_torn_and_its_results_say_whose_they_are() -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
    results = [{"role": "tool", "tool_call_id": "c", "content": f"r{n}"} for n in range(700)]
    transcript = read([USER, {"role": "assistant", "tool_calls": [call]}, *results])
    parts, (*_, caller) = laid(transcript, at=1)
    assert len(caller.calls[0].results) < PART_MESSAGES
    assert len(caller.calls[0].links) + caller.calls[0].more == 700
    _, (first, *_) = laid(transcript, at=500)
    assert first.answers is not None
    assert (first.answers.call, first.answers.address) == ("f", "?at=1#m1")
    assert parts.address(1) == "#m1"


@pytest.mark.parametrize(("at", "start"), [(None, 0), (0, 0), (199, 199), (200, 199), (10**9, 399)])
def test_part_that_is_drawn_has_the_message_asked_for(at: int | None, start: int) -> None:
    assert parts_of(read(steps(250)), at).here.start == start


def test_part_knows_of_calls_made_before_it() -> None:
    _, messages = laid(read(steps(150)), at=250)
    twin = messages[0].calls[0].twin
    assert twin is not None
    assert (twin.message_index, twin.step, twin.address) == (1, "step 1", "?at=1#m1")


def test_what_the_agent_was_told_is_there_with_every_part() -> None:
    transcript = read([{"role": "system", "content": "Be careful."}, *steps(150)])
    for at in (0, 280):
        parts, messages = laid(transcript, at)
        assert [message.index for message in leading(transcript, parts)] == [0]
        assert [message.leading for message in messages][:1] == [at == 0]


def test_parts_not_drawn_are_links_and_so_are_their_steps() -> None:
    parts = parts_of(read(steps(250)), 250)
    before, after = macro("parts.before", parts), macro("parts.after", parts)
    assert '<a href="?at=0#m0">Show messages 0–198</a>' in before
    assert '<a href="?at=399#m399">Show messages 399–500</a>' in after
    assert before.count("hidden") == 1, "the place of the part that is there"
    assert '<a href="?at=1#m1" data-goto="1">1–99</a>' in macro("parts.steps_before", parts)
    assert "200–250" in macro("parts.steps_after", parts)


# ── How much is drawn ─────────────────────
DEEP: Any = 1
for _ in range(60):
    DEEP = [DEEP, DEEP] if _ < 12 else [DEEP]
# made when they are asked for: every process collects this module
NASTY: dict[str, Callable[[], list[Any]]] = {
    "letters that are escaped": lambda: [USER, *[{"role": "assistant", "content": "\"<&>'" * 400_000}] * 4],
    "letters of three bytes": lambda: [USER, *[{"role": "assistant", "content": "漢\x00" * 900_000}] * 4],
    "many calls": lambda: [
        USER,
        {
            "role": "assistant",
            "tool_calls": [{"function": {"name": "n" * 5_000, "arguments": {f"a{n}": n for n in range(40)}}}]
            * 256,
        },
    ],
    "many arguments": lambda: [
        USER,
        {
            "role": "assistant",
            "tool_calls": [{"function": {"name": "f", "arguments": {f"a{n}": [n] for n in range(6_000)}}}],
        },
    ],
    "many parts": lambda: [{"role": "user", "content": [{"type": "text", "text": "x"}] * 9_000}, *step(0)],
    "structures": lambda: [
        USER,
        *(message for n in range(300) for message in step(n, json.dumps({"d": [[1, [2]]] * 90}))),
    ],
    "deep results": lambda: [
        USER,
        *[
            {"role": "assistant", "content": "x"},
            {"role": "tool", "content": json.dumps(DEEP)},
        ]
        * 60,
    ],
    "many values in results": lambda: [
        USER,
        *[{"role": "assistant", "content": "x"}, {"role": "tool", "content": json.dumps([[]] * 30_000)}] * 60,
    ],
    "passages": lambda: [
        USER,
        *[
            {"role": "assistant", "content": "x"},
            {"role": "tool", "content": json.dumps([{"title": "t", "text": "x", "url": "u", "a": 1}] * 590)},
        ]
        * 60,
    ],
    "names": lambda: [{"role": "r" * 300_000, "name": "n" * 300_000, "content": "x"}] * 40,
}


@pytest.mark.parametrize("kind", NASTY)
def test_part_of_any_run_stays_small(kind: str) -> None:
    transcript = read(NASTY[kind]())
    for at in (0, len(transcript.messages) // 2, len(transcript.messages)):
        _, messages = laid(transcript, at)
        page = macro("step.run", messages, None)
        assert len(page.encode()) < 1.6 * max(PART_BYTES, MESSAGE_BYTES)


def test_marks_of_what_differs_between_two_options_stay_within_the_part() -> None:
    def option(more: int) -> dict[str, Any]:
        arguments = {f"a{n}": n + more for n in range(6_000)}
        return {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": arguments}}]}

    transcript = read([USER, option(0), option(1)])
    parts = parts_of(transcript)
    messages = lay_out(transcript, steps_of(transcript), parts, kind=DECISIONS)
    page = macro("step.run", messages, None)
    assert page.count('<dd class="differs">') > 500
    assert len(page.encode()) < 1.6 * max(PART_BYTES, MESSAGE_BYTES)


def test_message_that_is_cut_says_so_and_where_the_rest_is() -> None:
    _, (_, long, short) = laid(
        read([USER, {"role": "assistant", "content": "x" * 150_000}, {"role": "assistant", "content": "x"}])
    )
    assert (long.cut, short.cut) == (True, False)
    assert "“Raw” in its menu shows all of it" in macro("message.inside", long, None)
    assert "Raw" not in macro("message.inside", short, None)


@pytest.mark.parametrize(
    "value",
    [
        {f"key {n}": n for n in range(100_000)},
        {"deep": [[n, {"a": n}] for n in range(50_000)]},
        "x" * 5_000_000,
        {"k" * 1_000_000: 1},
        DEEP,
    ],
    ids=["keys", "nested", "text", "name", "deep"],
)
def test_what_stands_beside_the_messages_stays_small(value: Any) -> None:
    facts = beside.facts(value)
    assert facts.cut
    page = macro("message.facts", facts, None)
    assert "Only the beginning is shown." in page
    assert len(page.encode()) < 1.6 * BESIDE_BYTES


def test_tools_that_are_too_many_are_counted() -> None:
    about = {"description": "d" * 300, "parameters": {"properties": {f"p{n}": {} for n in range(9)}}}
    offered = read([USER], [{"name": f"t{n}", **about} for n in range(512)]).offered_tools()
    shown = beside.tools(offered)
    assert 50 < len(shown) < 512
    assert sum(tool.size for tool in shown) <= TOOLS_BYTES


# ── The search ────────────────────────────
def test_search_finds_what_the_page_would_in_every_part() -> None:
    transcript = read(
        [
            *steps(200),
            {"role": "user", "content": "two\n words, TWO WORDS"},
            *step(0, json.dumps({"two words": ["a two words", 'the "two words"']})),
            {"role": "tool", "content": '{"title": "two\\u0020words", "n": 1}'},
        ]
    )
    assert search(transcript, steps_of(transcript), "Two  words") == [(401, 2), (402, 3), (404, 1)]
    assert search(transcript, steps_of(transcript), "step 77.") == [(155, 1)]
    assert search(transcript, steps_of(transcript), ".*") == search(transcript, (), " ") == []


def test_search_stops_counting() -> None:
    transcript = read([USER, {"role": "assistant", "content": "a" * 3_000}, *steps(3)])
    assert sum(count for _, count in search(transcript, steps_of(transcript), "a")) == MOST
