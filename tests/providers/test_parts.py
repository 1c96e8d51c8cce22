"""Cut answers, and trajectories of more steps than one answer holds: nothing is lost, nothing made up."""

import json
import re
from decimal import Decimal
from typing import Any

import pytest

from annotation.core.judging import JudgeInput
from annotation.core.judging.cost import answer_tokens
from annotation.core.judging.prompt_parts import expected, parts_of, plan
from annotation.core.judging.settings import JudgeSettings
from tests.judge_server import JudgeServer

from .judges import Judge


def run_of(steps: int, output: str = "done") -> JudgeInput:
    """A trajectory of so many steps; their message indexes are 1, 3, 5 …"""
    messages: list[Any] = [{"role": "user", "content": "[[id:r]] Do it."}]
    for number in range(steps):
        messages += [
            {"role": "assistant", "content": f"Step {number}."},
            {"role": "tool", "content": output},
        ]
    return JudgeInput(question="Do it.", messages=messages)


def truth(_: str, steps: Any) -> dict[int, Any]:
    return {index: (-1, 0, 1)[index // 2 % 3] for index in steps}


@pytest.fixture
def told(server: JudgeServer) -> JudgeServer:
    """A server that labels each step by its index, so that a shifted or invented label shows."""
    for model in (
        "cut_at+ok",
        "cut_at",
        "cut_at+filtered",
        "ok",
        "limited",
        "truncated+ok",
        "ok+http_500+http_500+ok",
        "ok+filtered",
    ):
        server.label(model, truth)
    return server


def asked(server: JudgeServer) -> list[tuple[int, ...]]:
    """The steps of each call, in order."""
    return [call.steps for call in server.seen]


@pytest.mark.parametrize("cut", [60, 61, 92, 150, 155, 160, 250, 331, 366, 400])
def test_cut_answer_keeps_its_finished_labels_and_the_rest_is_asked_again(
    told: JudgeServer, cut: int
) -> None:
    told.cut = cut
    material = run_of(4)
    found = Judge(told, "cut_at+ok").reply(material)
    assert found.judgement.labels == truth("", material.steps)
    assert found.judgement.outcome == 1 and found.rest is None and found.judgement.missing == 0
    first = json.loads(found.exchange.response.splitlines()[0])["choices"][0]["message"]["content"]
    finished = [
        int(index) for index in re.findall(r'"index": (\d+), "reasoning": "[^"]*", "label": -?\d,', first)
    ]
    rest = tuple(index for index in material.steps if index not in finished)
    if finished:
        assert asked(told) == [(1, 3, 5, 7), rest or (7,)]
    else:
        assert asked(told) == [(1, 3, 5, 7), (1, 3), (5, 7)]
    assert found.cost == len(told.seen) * Decimal("0.002")
    assert found.exchange.attempts == len(found.exchange.request.splitlines()) == len(told.seen)


def test_answers_that_are_always_cut_are_not_asked_for_without_end(told: JudgeServer) -> None:
    told.cut = 92  # one label
    found = Judge(told, "cut_at").reply(run_of(20))
    labelled = {index: label for index, label in found.judgement.labels.items() if label is not None}
    assert len(told.seen) == 6 == len(labelled) and found.judgement.missing == 14
    assert labelled == truth("", labelled)
    assert found.rest is not None and (found.rest.kind, found.rest.permanent) == ("truncated", True)
    told.reset()
    told.cut = 20
    failed = Judge(told, "cut_at").failure(run_of(4))
    assert failed.kind == "truncated" and asked(told) == [(1, 3, 5, 7), (1, 3), (1,)]


def test_outcome_that_a_cut_took_and_a_failure_withheld_is_a_failure(told: JudgeServer) -> None:
    told.cut = 92  # one label
    found = Judge(told, "cut_at+filtered").reply(run_of(1))
    assert found.judgement.labels == {1: -1} == truth("", [1]) and found.judgement.outcome is None
    assert found.rest is not None and found.rest.kind == "refused" and asked(told) == [(1,), (1,)]


def test_limit_of_an_answer_follows_the_number_of_steps(told: JudgeServer) -> None:
    for steps, limit in ((53, 8_192), (54, 8_250), (95, 14_400)):
        told.reset()
        found = Judge(told, "ok").reply(run_of(steps))
        assert [call.body["max_tokens"] for call in told.seen] == [limit], steps
        assert found.judgement.labels == truth("", run_of(steps).steps)


def test_trajectory_is_asked_about_in_parts_where_the_limit_is_lower(told: JudgeServer) -> None:
    material = run_of(12)
    found = Judge(told, "ok", max_tokens=1_000).reply(material)
    assert found.judgement.labels == truth("", material.steps) and found.judgement.outcome == 1
    assert [len(steps) for steps in asked(told)] == [4, 4, 4]
    users = [call.body["messages"][1]["content"] for call in told.seen]
    assert all("Step 11." in user and "Step 0." in user for user in users), "the trajectory stays whole"
    assert "before stand" not in users[0]
    assert "before stand: 1: -1, 3: 0, 5: 1, 7: -1." in users[1]
    assert found.usage.tokens_in == 3_000 and found.rest is None


def test_parts_come_before_a_shortened_trajectory() -> None:
    settings = JudgeSettings(context_tokens=32_768)
    short, long = run_of(95, "word " * 40), run_of(95, "word " * 100)
    assert (plan(settings, short).limit, len(plan(settings, short).parts)) == (14_400, 1)
    planned = plan(settings, long)
    assert (planned.limit, len(planned.parts)) == (8_192, 2)
    assert not any(prompt.shortened for prompt in planned.prompts)
    longest = plan(settings, run_of(95, "word " * 500))
    assert longest.limit == 8_192 and all(prompt.shortened for prompt in longest.prompts)
    assert all(prompt.estimated_tokens <= 24_576 for prompt in longest.prompts)


def test_estimate_counts_every_part() -> None:
    settings = JudgeSettings(max_tokens=1_000, price_input=Decimal(1), price_output=Decimal(1))
    one, three = expected(settings, run_of(4))[0], expected(settings, run_of(12))[0]
    assert (one.calls, three.calls) == (1, 3)
    assert three.tokens_out == 3 * answer_tokens(4) and three.tokens_in > 3 * one.tokens_in


@pytest.mark.parametrize(
    ("steps", "limit", "sizes"), [(12, 1_000, [4, 4, 4]), (5, 16, [1] * 5), (0, 900, [])]
)
def test_parts_are_about_as_long_as_each_other(steps: int, limit: int, sizes: list[int]) -> None:
    found = parts_of(range(steps), limit)
    assert [len(part) for part in found] == sizes
    assert [index for part in found for index in part] == list(range(steps))


def test_limit_that_the_server_names_is_learned(told: JudgeServer) -> None:
    judge = Judge(told, "limited")
    told.behave("limited", "limited")
    first = judge.reply(run_of(12))
    assert first.judgement.labels == truth("", run_of(12).steps)
    assert [call.body["max_tokens"] for call in told.seen] == [8_192, 1_000]
    told.reset()
    judge.reply(run_of(12))
    assert [(len(call.steps), call.body["max_tokens"]) for call in told.seen] == [(4, 1_000)] * 3


def test_failure_of_one_part_keeps_the_labels_of_the_others(told: JudgeServer) -> None:
    material = run_of(12)
    judge = Judge(told, "ok+http_500+http_500+ok", max_tokens=1_000)
    found = judge.reply(material)
    assert asked(told) == [(1, 3, 5, 7)] + [(9, 11, 13, 15)] * 2
    assert found.rest is not None and (found.rest.kind, found.rest.permanent) == ("server_error", False)
    given = {index: label for index, label in found.judgement.labels.items() if label is not None}
    assert given == truth("", (1, 3, 5, 7)) and found.judgement.missing == 8
    told.reset()
    told.behave("ok+http_500+http_500+ok", "ok")
    again = judge.ask_for_the_rest(material, given)
    assert asked(told) == [(9, 11, 13, 15), (17, 19, 21, 23)]
    assert {**given, **again.judgement.labels} == truth("", material.steps)
    assert again.judgement.missing == 0 and again.rest is None
    # where only the outcome is missing, it is asked for beside the last step
    told.reset()
    last = judge.ask_for_the_rest(material, truth("", material.steps))
    assert asked(told) == [material.steps[-1:]] and last.judgement.outcome is not None
