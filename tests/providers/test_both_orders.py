"""A decision is asked about in an order and in its reverse, and what differs between the two is no label."""

from __future__ import annotations

from decimal import Decimal

from annotation.core.judging import JudgeInput, Problem, ProblemKind
from annotation.core.judging.prompt import DECISION_SCHEMA
from annotation.core.judging.prompt_parts import expected
from annotation.core.judging.settings import JudgeSettings
from annotation.providers import FailureKind
from tests.fixtures.decisions import make_decision, messages_of
from tests.judge_server import JudgeServer
from tests.providers.judges import Judge

DECISION = JudgeInput.of({"messages": messages_of(make_decision(options=3)), "question": "Which? [[id:d]]"})
WORTH = {"The answer is 0.": 1, "The answer is 1.": 0, "The answer is 2.": -1}


def judge(server: JudgeServer, model: str, **more: object) -> Judge:
    return Judge(server, model, prompt_version="decision-v1", **more)  # type: ignore[arg-type]


def test_decision_is_asked_about_in_both_orders_at_temperature_0(server: JudgeServer) -> None:
    server.label("honest", lambda _, texts: {text: WORTH[text] for text in texts})
    reply = judge(server, "honest", sampling={"top_p": 0.5}).reply(DECISION)

    assert reply.judgement.labels == {3: 1, 4: 0, 5: -1} and reply.prompt_version == "decision-v1"
    assert (reply.judgement.missing, reply.judgement.order_dependent, reply.rest) == (0, frozenset(), None)
    shown = [call.actions for call in server.seen]
    assert shown == [tuple(WORTH), tuple(reversed(WORTH))]
    assert [call.body["temperature"] for call in server.seen] == [0, 0]
    assert server.seen[0].body["response_format"]["json_schema"]["schema"] == DECISION_SCHEMA
    # both calls are paid for, and kept one after the other
    assert (reply.usage.tokens_in, reply.usage.tokens_out) == (2_000, 200)
    assert reply.cost == Decimal("0.004") and reply.exchange.request.count(b"\n") == 1


def test_label_that_depends_on_the_order_is_missing_and_noted(server: JudgeServer) -> None:
    # the last one is bad wherever it stands; of the others, what comes first is right
    def first_is_right(_: str, texts: list[str]) -> dict[str, int]:
        others = [text for text in texts if WORTH[text] >= 0]
        return {"The answer is 2.": -1, others[0]: 1, others[1]: 0}

    server.label("swayed", first_is_right)  # type: ignore[arg-type]
    reply = judge(server, "swayed").reply(DECISION)

    assert reply.judgement.labels == {3: None, 4: None, 5: -1}
    assert (reply.judgement.missing, reply.judgement.order_dependent) == (0, {3, 4})
    notes = [it for it in reply.judgement.problems if it.kind is ProblemKind.ORDER]
    assert notes == [
        Problem(ProblemKind.ORDER, "actions.3", "1, 0"),
        Problem(ProblemKind.ORDER, "actions.4", "0, 1"),
    ]
    assert reply.judgement.reasons[3] == "+1 in one order of the options and 0 in its reverse: no label."


def test_nothing_is_known_of_a_decision_when_the_second_order_fails(server: JudgeServer) -> None:
    server.behave("half", "ok", "http_500")
    failure = judge(server, "half").failure(DECISION)
    assert failure.kind is FailureKind.SERVER_ERROR and failure.cost == Decimal("0.002")
    server.behave("cut", "ok", "prose")
    assert judge(server, "cut").failure(DECISION).kind is FailureKind.NOT_JSON


def test_estimate_of_a_decision_counts_both_orders(server: JudgeServer) -> None:
    settings = JudgeSettings(prompt_version="decision-v1")
    told, clipped = expected(settings, DECISION, steps=[5])
    assert (told.calls, told.tokens_out, clipped) == (2, 2 * (150 + 3 * 150), False)
