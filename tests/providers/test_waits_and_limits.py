"""Waits, limits and memory of a judge, without its key."""

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from annotation.core.judging import JudgeInput
from annotation.core.judging.settings import JudgeSettings
from annotation.outside import OperatorRules
from annotation.outside.sending import KEPT_BYTES, MAX_BYTES
from annotation.providers import Failure, FailureKind, Hooks, Reply, Request, Stopped, create
from tests.judge_server import JudgeServer

from .judges import KEY, Judge, material


def test_sentences_of_failures_that_stop_a_run(server: JudgeServer) -> None:
    said = Judge(server, "expired_key").failure().message
    assert said == "The key in $ACME_API_KEY was refused by the server (401)."
    assert Judge(server, "wrong_model").failure().message.startswith("The server has no model “wrong_model”.")


def test_answer_without_labels_says_what_was_wrong_with_it(server: JudgeServer) -> None:
    found = Judge(server, "shifted").failure()
    assert found.judgement is not None
    assert (found.judgement.missing, found.judgement.extra) == (2, 2)
    assert found.judgement.labels == {1: None, 3: None}


def test_retry_after_is_honoured_in_seconds_and_as_a_date(server: JudgeServer) -> None:
    server.retry_after = "0.2"
    judge = Judge(server, "rate_limited+ok")
    judge.reply()
    assert 0.15 <= sum(judge.waits) < 0.4
    server.retry_after = "2"
    judge = Judge(server, "rate_limited_date", attempts=1)
    after = judge.failure().retry_after
    assert after is not None and 0 < after <= 2


def test_retry_after_a_longer_wait_than_we_are_ready_for_is_handed_on_and_holds_the_others_back(
    server: JudgeServer,
) -> None:
    server.retry_after = "3600"
    judge = Judge(server, "rate_limited", attempts=5)
    found = judge.failure()
    assert (found.retry_after, found.exchange.attempts, judge.waits) == (3600.0, 1, [])
    held = judge.failure(material("another"))
    assert held.kind == FailureKind.RATE_LIMITED and not held.permanent and held.exchange.attempts == 0
    assert held.retry_after is not None and held.retry_after > 3000
    assert server.total == 1


def test_retry_without_a_wait_named_grows_by_chance(server: JudgeServer) -> None:
    judge = Judge(server, "http_500", attempts=4)
    judge.failure()
    assert len(judge.waits) == 3
    assert all(0 <= wait <= most for wait, most in zip(judge.waits, (0.5, 1.0, 2.0), strict=True))
    again = Judge(server, "http_500", attempts=4)
    again.failure()
    assert again.waits == judge.waits


@pytest.mark.parametrize(
    ("model", "asked"),
    [
        ("no_json_schema", ["json_schema", "json_object", "json_object"]),
        ("no_response_format", ["json_schema", "json_object", "none", "none"]),
    ],
)
def test_structured_output_is_given_up_when_refused_and_that_is_remembered(
    server: JudgeServer, model: str, asked: list[str]
) -> None:
    judge = Judge(server, model, attempts=1)
    judge.reply()
    judge.reply(material("second"))
    formats = [call.body.get("response_format", {}).get("type", "none") for call in server.seen]
    assert formats == asked


def test_server_that_wants_another_name_for_the_limit(server: JudgeServer) -> None:
    Judge(server, "completion_tokens", attempts=1, structured_output="none").reply()
    assert ["max_completion_tokens" in call.body for call in server.seen] == [False, True]
    assert not any("response_format" in call.body for call in server.seen)


def test_structured_output_of_a_fixed_format_is_not_given_up(server: JudgeServer) -> None:
    assert (
        Judge(server, "no_json_schema", structured_output="json_schema").failure().kind
        == FailureKind.BAD_REQUEST
    )
    assert server.total == 1


def test_usage_that_is_missing_is_estimated_and_flagged(server: JudgeServer) -> None:
    judge = Judge(server, "no_usage")
    found = judge.reply()
    assert (
        found.usage.estimated
        and found.usage.tokens_in == judge.provider.estimate(Request(material())).tokens_in
    )
    assert found.cost > 0


def test_zip_bomb_is_not_unpacked(server: JudgeServer) -> None:
    found = Judge(server, "gzip_bomb", timeout_seconds=30.0).failure()
    assert found.kind == FailureKind.TOO_LARGE
    assert found.raw is not None and len(found.raw) == KEPT_BYTES < MAX_BYTES


@pytest.mark.parametrize("model", ["echo_key", "expired_key", "ok", "reset", "wrong_model"])
def test_key_is_nowhere_in_what_is_kept_said_or_logged(
    server: JudgeServer, model: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    judge = Judge(server, model)
    found = judge.ask()
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"
    kept = found.exchange.request + found.exchange.response
    assert b"canary" not in kept and b"c\\u0061nary" not in kept
    assert "canary" not in repr(found) + repr(judge.provider) + caplog.text
    if model == "echo_key":
        assert isinstance(found, Reply)
        assert found.judgement.reasons[1] == "Your key is [key]"
        assert found.judgement.outcome_reason == "Or [key]"
        assert b"0063" not in found.exchange.response


def test_trajectory_that_is_too_long_is_not_sent(server: JudgeServer) -> None:
    long = JudgeInput(question="", messages=[{"role": "assistant", "content": "word " * 20_000}])
    judge = Judge(server, "ok", context_tokens=13_192)
    found = judge.failure(long)
    assert (found.kind, found.permanent, found.scope) == ("too_long", True, "call")
    assert server.total == 0
    expected = judge.provider.estimate(Request(long))
    assert (expected.too_long, expected.cost) == (1, 0)


def test_clipping_is_told_with_the_reply(server: JudgeServer) -> None:
    found = Judge(server, "ok", context_tokens=11_192).reply(material(more="word " * 9_000))
    assert [note[:10] for note in found.clipped] == ["Message 2:"]


def test_connection_refused_is_a_failure_that_may_pass() -> None:
    nobody = "http://127.0.0.1:9/v1"
    settings = JudgeSettings(base_url=nobody, model="ok")
    allowed = OperatorRules([nobody])
    provider = create("openai_compatible", settings, environ={}, operator=allowed, hooks=Hooks(attempts=1))
    found = provider.judge(Request(material()))
    assert isinstance(found, Failure) and found.kind == FailureKind.CONNECTION and not found.permanent
    assert found.message.startswith("The server could not be reached (")


def test_hook_stops_a_call_between_attempts(server: JudgeServer) -> None:
    def stop(_: float) -> None:
        raise Stopped

    settings = JudgeSettings(base_url=server.url, model="http_500")
    allowed = OperatorRules([server.url])
    provider = create("openai_compatible", settings, environ={}, operator=allowed, hooks=Hooks(sleep=stop))
    with pytest.raises(Stopped):
        provider.judge(Request(material()))
    assert server.total == 1 and "authorization" not in server.seen[0].headers


def test_proxies_of_the_environment_are_not_used(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    Judge(server, "ok").reply()


def test_threads_share_one_judge_its_connections_and_its_rate() -> None:
    admitted = threading.Semaphore(0)
    hooks = Hooks(admit=admitted.release)
    with JudgeServer(delay=0.05) as server, ThreadPoolExecutor(24) as pool:
        settings = JudgeSettings(base_url=server.url, model="ok", concurrency=16)
        allowed = OperatorRules([server.url])
        provider = create("openai_compatible", settings, environ={}, operator=allowed, hooks=hooks)
        requests = [Request(material(str(number))) for number in range(96)]
        replies = list(pool.map(provider.judge, requests))
    assert all(isinstance(reply, Reply) for reply in replies)
    assert set(server.paid.values()) == {1} and len(server.paid) == 96
    assert 8 <= server.peak <= 16
    assert all(admitted.acquire(blocking=False) for _ in range(96))
    assert not admitted.acquire(blocking=False)
    provider.close()
