"""A judge against a real HTTP server that misbehaves in every way it knows."""

import json
import logging
import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest

from annotation.core.judging import LATEST, Material
from annotation.providers import Failure, FailureKind, Hooks, Reply, Request, Stopped, create
from annotation.providers.http.posting import KEPT_BYTES, MAX_BYTES
from tests.judge_misbehaviours import ALL
from tests.judge_server import JudgeServer

KEY = "sk-canary-4f9b2c7d1e"
STEPS = (1, 3)


@pytest.fixture(scope="module")
def server() -> Iterator[JudgeServer]:
    with JudgeServer(retry_after="0.1") as running:
        yield running


@pytest.fixture(autouse=True)
def forget(server: JudgeServer) -> None:
    server.reset()
    server.retry_after = "0.1"


def material(record: str = "r", more: str = "") -> Material:
    messages = [
        {"role": "user", "content": f"[[id:{record}]] Do it."},
        {"role": "assistant", "content": "Trying."},
        {"role": "tool", "content": f"done {more}"},
        {"role": "assistant", "content": "It is done."},
    ]
    return Material(question="Do it.", messages=messages)


class Judge:
    """One judge with its waits written down; small waits are waited out, backoff is not."""

    def __init__(self, server: JudgeServer, model: str, **config: Any) -> None:
        self.waits: list[float] = []
        settings = {
            "base_url": server.url,
            "model": model,
            "key_name": "ACME_API_KEY",
            "timeout": 15.0,
            "attempts": 2,
            "price_prompt": "1",
            "price_answer": "10",
            **config,
        }
        hooks = Hooks(sleep=self.sleep, rng=random.Random(3))
        self.provider = create(
            "openai_compatible",
            settings,
            environ={"ACME_API_KEY": KEY},
            allow_list=[server.url],
            hooks=hooks,
        )

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        time.sleep(min(seconds, 0.2))

    def ask(self, given: Material | None = None) -> Reply | Failure:
        return self.provider.judge(Request(given or material()))

    def reply(self, given: Material | None = None) -> Reply:
        found = self.ask(given)
        assert isinstance(found, Reply), found
        return found

    def failure(self, given: Material | None = None) -> Failure:
        found = self.ask(given)
        assert isinstance(found, Failure), found
        return found


def test_a_reply_with_everything_that_is_kept(server: JudgeServer) -> None:
    found = Judge(server, "ok", temperature=0, seed=7, extra={"reasoning_effort": "low"}).reply()
    assert found.judgement.labels == {1: 1, 3: 1}
    assert found.judgement.reasons == {1: "Because of 1.", 3: "Because of 3."}
    assert (found.judgement.outcome, found.judgement.outcome_reason) == (1, "It ended so.")
    assert (found.usage.prompt_tokens, found.usage.answer_tokens, found.usage.estimated) == (1000, 100, False)
    assert found.cost == Decimal("0.002")
    assert (found.model, found.finish_reason, found.prompt_version) == ("ok", "stop", LATEST)
    assert (found.exchange.attempts, found.exchange.status) == (1, 200)
    sent = json.loads(found.exchange.request)
    assert (sent["model"], sent["temperature"], sent["seed"]) == ("ok", 0, 7)
    assert (sent["reasoning_effort"], sent["max_tokens"]) == ("low", 8192)
    assert sent["response_format"]["json_schema"]["strict"] is True
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert json.loads(found.exchange.response)["object"] == "chat.completion"
    (call,) = server.seen
    assert call.steps == STEPS and call.headers["authorization"] == f"Bearer {KEY}"


# name → labels of the steps, counts (missing, extra, invalid)
READ = {
    "ok": ((1, 1), (0, 0, 0)),
    "comments": ((1, 1), (0, 0, 0)),
    "reasoning": ((1, 1), (0, 0, 0)),
    "parts": ((1, 1), (0, 0, 0)),
    "strings": ((1, 1), (0, 0, 0)),
    "gzipped": ((1, 1), (0, 0, 0)),
    "one_missing": ((1, None), (1, 0, 0)),
    "http_500+ok": ((1, 1), (0, 0, 0)),
    "reset+ok": ((1, 1), (0, 0, 0)),
    "closed+ok": ((1, 1), (0, 0, 0)),
    "html+ok": ((1, 1), (0, 0, 0)),
    "cut_envelope+ok": ((1, 1), (0, 0, 0)),
    "no_choices+ok": ((1, 1), (0, 0, 0)),
    "error_in_200+ok": ((1, 1), (0, 0, 0)),
    "rate_limited_bare+ok": ((1, 1), (0, 0, 0)),
    "timeout+ok": ((1, 1), (0, 0, 0)),
    "drip_headers+ok": ((1, 1), (0, 0, 0)),
}


@pytest.mark.parametrize("model", READ)
def test_what_can_be_read_is_read_and_what_passes_is_waited_for(server: JudgeServer, model: str) -> None:
    labels, counts = READ[model]
    found = Judge(server, model, timeout=1.0 if model in ("timeout+ok", "drip_headers+ok") else 15.0).reply()
    assert tuple(found.judgement.labels.values()) == labels
    assert (found.judgement.missing, found.judgement.extra, found.judgement.invalid) == counts
    assert server.calls[model, "r"] == model.count("+") + 1 == found.exchange.attempts
    assert server.paid[model, "r"] == 1


# name → kind, permanent, scope, calls made
FAILED: dict[str, tuple[str, bool, str, int]] = {
    "timeout": ("timeout", False, "call", 2),
    "slow": ("timeout", False, "call", 2),
    "drip": ("timeout", False, "call", 2),
    "drip_headers": ("timeout", False, "call", 2),
    "rate_limited": ("rate_limited", False, "call", 2),
    "rate_limited_bare": ("rate_limited", False, "call", 2),
    "http_500": ("server_error", False, "call", 2),
    "http_503": ("server_error", False, "call", 2),
    "error_in_200": ("server_error", False, "call", 2),
    "reset": ("connection", False, "call", 2),
    "closed": ("connection", False, "call", 2),
    "html": ("not_json", False, "call", 2),
    "cut_envelope": ("not_json", False, "call", 2),
    "no_choices": ("no_answer", False, "call", 2),
    "null_content": ("no_answer", True, "call", 1),
    "prose": ("not_json", True, "call", 1),
    "truncated": ("truncated", True, "call", 1),
    "shifted": ("no_labels", True, "call", 1),
    "other_steps": ("no_labels", True, "call", 1),
    "words": ("no_labels", True, "call", 1),
    "filtered": ("refused", True, "call", 1),
    "context_length": ("too_long", True, "call", 1),
    "huge": ("too_large", True, "call", 1),
    "endless": ("too_large", True, "call", 1),
    "redirect": ("redirect", True, "run", 1),
    "wrong_model": ("wrong_model", True, "run", 1),
    "expired_key": ("bad_key", True, "run", 1),
    "no_credit": ("no_credit", True, "run", 1),
}


@pytest.mark.parametrize("model", FAILED)
def test_a_failure_knows_itself(server: JudgeServer, model: str) -> None:
    kind, permanent, scope, calls = FAILED[model]
    started = time.monotonic()
    found = Judge(server, model, timeout=0.4 if kind == "timeout" else 15.0).failure()
    assert (found.kind, found.permanent, found.scope) == (kind, permanent, scope)
    assert found.exchange.attempts == server.calls[model, "r"] == calls
    assert found.message.endswith((".", "…")) or "It says:" in found.message
    assert time.monotonic() - started < 10
    if found.usage is not None:  # answered, so paid for, and so counted
        assert server.paid[model, "r"] == 1 and found.cost == Decimal("0.002")
        assert found.raw is not None and b"chat.completion" in found.raw
    else:
        assert server.paid[model, "r"] == 0 and found.cost == 0


def test_every_behaviour_of_the_server_is_met_by_a_test() -> None:
    own = {"echo_key", "gzip_bomb", "no_usage", "rate_limited_date"}
    dialects = {"no_json_schema", "no_response_format", "completion_tokens"}
    met = {name for model in (*READ, *FAILED) for name in model.split("+")}
    assert met | own | dialects == set(ALL)


def test_the_sentences_of_failures_that_stop_a_run(server: JudgeServer) -> None:
    said = Judge(server, "expired_key").failure().message
    assert said == "The key in $ACME_API_KEY was refused by the server (401)."
    assert Judge(server, "wrong_model").failure().message.startswith("The server has no model “wrong_model”.")


def test_an_answer_without_labels_says_what_was_wrong_with_it(server: JudgeServer) -> None:
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


def test_a_longer_wait_than_we_are_ready_for_is_handed_on_and_holds_the_others_back(
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


def test_without_retry_after_waits_grow_by_chance(server: JudgeServer) -> None:
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


def test_a_server_that_wants_another_name_for_the_limit(server: JudgeServer) -> None:
    Judge(server, "completion_tokens", attempts=1, structured="none").reply()
    assert ["max_completion_tokens" in call.body for call in server.seen] == [False, True]
    assert not any("response_format" in call.body for call in server.seen)


def test_a_fixed_format_is_not_given_up(server: JudgeServer) -> None:
    assert Judge(server, "no_json_schema", structured="json_schema").failure().kind == FailureKind.BAD_REQUEST
    assert server.total == 1


def test_missing_usage_is_estimated_and_flagged(server: JudgeServer) -> None:
    judge = Judge(server, "no_usage")
    found = judge.reply()
    assert (
        found.usage.estimated
        and found.usage.prompt_tokens == judge.provider.estimate(material()).prompt_tokens
    )
    assert found.cost > 0


def test_a_zip_bomb_is_not_unpacked(server: JudgeServer) -> None:
    found = Judge(server, "gzip_bomb", timeout=30.0).failure()
    assert found.kind == FailureKind.TOO_LARGE
    assert found.raw is not None and len(found.raw) == KEPT_BYTES < MAX_BYTES


@pytest.mark.parametrize("model", ["echo_key", "expired_key", "ok", "reset", "wrong_model"])
def test_the_key_is_nowhere_in_what_is_kept_said_or_logged(
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


def test_a_trajectory_that_is_too_long_is_not_sent(server: JudgeServer) -> None:
    long = Material(question="", messages=[{"role": "assistant", "content": "word " * 20_000}])
    judge = Judge(server, "ok", budget_tokens=5_000)
    found = judge.failure(long)
    assert (found.kind, found.permanent, found.scope) == ("too_long", True, "call")
    assert server.total == 0
    assert judge.provider.estimate(long).too_long == 1 and judge.provider.estimate(long).cost == 0


def test_what_was_clipped_is_told_with_the_reply(server: JudgeServer) -> None:
    found = Judge(server, "ok", budget_tokens=3_000).reply(material(more="word " * 9_000))
    assert [note[:10] for note in found.clipped] == ["Message 2:"]


def test_nobody_listens() -> None:
    nobody = "http://127.0.0.1:9/v1"
    settings = {"base_url": nobody, "model": "ok", "attempts": 1}
    provider = create("openai_compatible", settings, environ={}, allow_list=[nobody])
    found = provider.judge(Request(material()))
    assert isinstance(found, Failure) and found.kind == FailureKind.CONNECTION and not found.permanent
    assert found.message.startswith("The server could not be reached (")


def test_a_hook_stops_a_call_between_attempts(server: JudgeServer) -> None:
    def stop(_: float) -> None:
        raise Stopped

    hooks = Hooks(sleep=stop)
    settings = {"base_url": server.url, "model": "http_500", "attempts": 5}
    provider = create("openai_compatible", settings, environ={}, allow_list=[server.url], hooks=hooks)
    with pytest.raises(Stopped):
        provider.judge(Request(material()))
    assert server.total == 1 and "authorization" not in server.seen[0].headers


def test_proxies_of_the_environment_are_not_used(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    Judge(server, "ok").reply()


def test_many_threads_share_one_judge_its_connections_and_its_rate() -> None:
    admitted = threading.Semaphore(0)
    hooks = Hooks(admit=admitted.release)
    with JudgeServer(delay=0.05) as server, ThreadPoolExecutor(24) as pool:
        settings = {"base_url": server.url, "model": "ok", "concurrency": 16}
        provider = create("openai_compatible", settings, environ={}, allow_list=[server.url], hooks=hooks)
        requests = [Request(material(str(number))) for number in range(96)]
        replies = list(pool.map(provider.judge, requests))
    assert all(isinstance(reply, Reply) for reply in replies)
    assert set(server.paid.values()) == {1} and len(server.paid) == 96
    assert 8 <= server.peak <= 16
    assert all(admitted.acquire(blocking=False) for _ in range(96))
    assert not admitted.acquire(blocking=False)
    provider.close()
