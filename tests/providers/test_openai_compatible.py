"""A judge against a real HTTP server that misbehaves in every way it knows."""

import json
import time
from decimal import Decimal

import pytest

from annotation.core.judging import LATEST
from tests.judge_misbehaviours import ALL
from tests.judge_server import JudgeServer

from .judges import KEY, Judge


def test_reply_holds_everything_that_is_kept(server: JudgeServer) -> None:
    found = Judge(server, "ok", temperature=0, seed=7, extra={"reasoning_effort": "low"}).reply()
    assert found.judgement.labels == {1: 1, 3: 1}
    assert found.judgement.reasons == {1: "Because of 1.", 3: "Because of 3."}
    assert (found.judgement.outcome, found.judgement.outcome_reason) == (1, "It ended so.")
    assert (found.usage.tokens_in, found.usage.tokens_out, found.usage.estimated) == (1000, 100, False)
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
    assert call.steps == (1, 3) and call.headers["authorization"] == f"Bearer {KEY}"


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
def test_reply_that_can_be_read_is_read_and_what_passes_is_waited_for(
    server: JudgeServer, model: str
) -> None:
    labels, counts = READ[model]
    found = Judge(
        server, model, timeout_seconds=1.0 if model in ("timeout+ok", "drip_headers+ok") else 15.0
    ).reply()
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
    "truncated": ("truncated", True, "call", 2),
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
def test_failure_knows_itself(server: JudgeServer, model: str) -> None:
    kind, permanent, scope, calls = FAILED[model]
    started = time.monotonic()
    found = Judge(server, model, timeout_seconds=0.4 if kind == "timeout" else 15.0).failure()
    assert (found.kind, found.permanent, found.scope) == (kind, permanent, scope)
    assert found.exchange.attempts == server.calls[model, "r"] == calls
    assert found.message.endswith((".", "…")) or "The server says:" in found.message
    assert time.monotonic() - started < 10
    if found.usage is not None:  # answered, so paid for, and so counted
        assert server.paid[model, "r"] == calls and found.cost == calls * Decimal("0.002")
        assert found.raw is not None and b"chat.completion" in found.raw
    else:
        assert server.paid[model, "r"] == 0 and found.cost == 0


def test_server_has_no_behaviour_that_no_test_meets() -> None:
    own = {"echo_key", "gzip_bomb", "no_usage", "rate_limited_date", "cut_at", "limited"}
    dialects = {"no_json_schema", "no_response_format", "completion_tokens"}
    met = {name for model in (*READ, *FAILED) for name in model.split("+")}
    assert met | own | dialects == set(ALL)
