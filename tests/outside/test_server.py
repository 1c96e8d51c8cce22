"""Calls to outside servers: what is refused, repeated, bounded, and kept secret."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from annotation.core.errors import Invalid
from annotation.outside import FailureKind, OperatorRules, OutsideError
from annotation.outside.server import OutsideServer, Patience

from .strange_server import Seen, StrangeServer, strange_server

KEY = "canary-7Hq2-Zr91"


@pytest.fixture(scope="module")
def running() -> Iterator[StrangeServer]:
    def answer(seen: Seen) -> tuple[int, Any]:
        return 200, {"path": seen.path, "query": seen.query, "body": seen.body}

    with strange_server(answer) as server:
        yield server


@pytest.fixture
def strange(running: StrangeServer) -> StrangeServer:
    running.seen.clear()
    running.misbehave.clear()
    running.headers.clear()
    return running


def outside(strange: StrangeServer, waits: list[float] | None = None, **more: Any) -> OutsideServer:
    slept = waits if waits is not None else []
    patience = Patience(
        **{"attempts": 3, "seconds": 60.0, "sleep": slept.append, "rng": random.Random(1), **more}
    )
    return OutsideServer(f"{strange.url}/base/", key=KEY, key_name="SOME_KEY", patience=patience)


def test_call_carries_path_query_body_and_key(strange: StrangeServer) -> None:
    said = outside(strange).ask("PATCH", "/a/b", query={"t": ["x y", "z"]}, body={"n": 1})
    assert said == {"path": "/base/a/b", "query": {"t": ["x y", "z"]}, "body": {"n": 1}}
    assert strange.seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert strange.seen[0].method == "PATCH"


@pytest.mark.parametrize("ill", [500, 503, 429, 408, "reset"])
def test_failure_that_may_pass_is_called_again(strange: StrangeServer, ill: int | str) -> None:
    strange.misbehave = [ill, ill]
    waits: list[float] = []
    assert outside(strange, waits).ask("GET", "/x")["path"] == "/base/x"
    assert len(strange.seen) == 3
    assert [0 <= wait <= most for wait, most in zip(waits, (0.5, 1.0), strict=True)] == [True, True]


def test_server_that_says_when_to_come_back_is_waited_for_within_reason(strange: StrangeServer) -> None:
    strange.headers["Retry-After"] = "7"
    strange.misbehave = [429]
    waits: list[float] = []
    outside(strange, waits).ask("GET", "/x")
    assert waits == [7.0]
    strange.headers["Retry-After"] = "3600"
    strange.misbehave = [429]
    with pytest.raises(OutsideError) as raised:
        outside(strange, waits).ask("GET", "/x")
    assert raised.value.code == "rate_limited" and waits == [7.0]


@pytest.mark.parametrize(
    ("ill", "kind", "calls"),
    [
        (500, FailureKind.SERVER_ERROR, 3),
        ("slow", FailureKind.TIMEOUT, 3),
        ("endless", FailureKind.TOO_LARGE, 1),
        ("huge", FailureKind.TOO_LARGE, 1),
        ("redirect", FailureKind.REDIRECT, 1),
        ("html", FailureKind.NOT_JSON, 1),
        (401, FailureKind.BAD_KEY, 1),
        (404, FailureKind.NOT_FOUND, 1),
        (422, FailureKind.BAD_REQUEST, 1),
    ],
)
def test_hostile_server_ends_in_one_sentence(
    strange: StrangeServer, ill: int | str, kind: FailureKind, calls: int
) -> None:
    strange.misbehave = [ill] * 3
    seconds = 1.5 if ill == "slow" else 20.0
    with pytest.raises(OutsideError) as raised:
        outside(strange, seconds=seconds).ask("GET", "/x")
    assert (raised.value.code, len(strange.seen)) == (kind, calls)
    assert raised.value.message.endswith(".") and KEY not in repr(raised.value.failed)
    if ill == 401:
        assert raised.value.message == "The key in $SOME_KEY was refused by the server (401)."


def led_to(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every name lead to one address."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET

    def found(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        return [(family, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr("annotation.outside.networks.socket.getaddrinfo", found)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "::1",
        "fe80::1",
        "fd12::1",
        "::ffff:127.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::10.0.0.1",
    ],
)
def test_name_that_leads_into_a_private_network_is_not_called(
    strange: StrangeServer, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    led_to(address, monkeypatch)
    server = OutsideServer(f"http://example.com:{strange.port}", key=KEY)
    with pytest.raises(OutsideError) as raised:
        server.ask("GET", "/x")
    assert raised.value.code == "forbidden_url" and raised.value.failed.every_call
    assert raised.value.message.startswith("example.com leads into a private network")
    assert strange.seen == []


@pytest.mark.parametrize(
    ("host", "networks"), [("example.com", ["127.0.0.0/8"]), ("localhost", []), ("neighbour", [])]
)
def test_private_network_that_the_operator_names_is_called(
    strange: StrangeServer, monkeypatch: pytest.MonkeyPatch, host: str, networks: list[str]
) -> None:
    led_to("127.0.0.1", monkeypatch)
    assert OutsideServer(f"http://{host}:{strange.port}", networks=networks).ask("GET", "/x")["path"] == "/x"
    assert strange.seen[0].headers["host"] == f"{host}:{strange.port}"


def test_key_for_one_purpose_is_not_read_for_another() -> None:
    rules = OperatorRules(["https://a.example.com"], key_prefix="TRISTEP_CONNECTION_KEY_")
    environ = {"TRISTEP_CONNECTION_KEY_A": KEY, "TRISTEP_JUDGE_KEY_A": KEY}
    assert rules.check("https://a.example.com", "TRISTEP_CONNECTION_KEY_A", environ) == KEY
    for name in ("TRISTEP_JUDGE_KEY_A", "TRISTEP_SECRET_KEY", "TRISTEP_CONNECTION_KEY_"):
        with pytest.raises(Invalid) as refused:
            rules.check("https://a.example.com", name, environ)
        assert refused.value.fields.keys() == {"key_name"}
