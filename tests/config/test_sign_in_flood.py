"""A flood of sign-ins takes neither the memory nor the threads of the server."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.test import Client

from annotation.core.errors import TooMany
from config.sign_in import Argon2, Gate
from tests.people import PASSWORD, Cast
from tests.servers import WebServer

SIGN_IN = "/sign-in/"
ONE_CUSTOMER = ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9")
ELSEWHERE = "2001:db8:1:3::1"
# more at once than the server has threads
FLOOD = 24


def sign_in(username: str, password: str, address: str) -> Any:
    """A sign-in from that address."""
    sent = {"username": username, "password": password}
    return Client(REMOTE_ADDR=address).post(SIGN_IN, sent)


def test_gate_lets_few_in_a_few_wait_and_refuses_the_rest() -> None:
    gate, leave = Gate(2, 1), threading.Event()
    inside: list[int] = []
    arrived = threading.Semaphore(0)

    def caller(number: int) -> str:
        try:
            with gate.passed():
                inside.append(number)
                arrived.release()
                leave.wait(10)
                return "let in"
        except TooMany as error:
            return f"come back in {error.seconds} s"

    with ThreadPoolExecutor(10) as pool:
        first = [pool.submit(caller, number) for number in range(2)]
        assert arrived.acquire(timeout=10) and arrived.acquire(timeout=10)
        rest = [pool.submit(caller, number) for number in range(2, 10)]
        # one of them waits for its turn, and the others are refused at once
        answered = as_completed(rest, timeout=10)
        assert [next(answered).result() for _ in range(7)] == ["come back in 5 s"] * 7
        assert len(inside) == 2
        leave.set()
        said = Counter(one.result(10) for one in [*first, *rest])
    assert said == {"let in": 3, "come back in 5 s": 7}


def test_password_hash_is_renewed_at_our_cost() -> None:
    salt = Argon2().salt()
    old, new = Argon2PasswordHasher().encode(PASSWORD, salt), Argon2().encode(PASSWORD, salt)
    assert "m=47104,t=2,p=1" in new
    assert Argon2().verify(PASSWORD, old) and Argon2().must_update(old)
    assert Argon2().verify(PASSWORD, new) and not Argon2().must_update(new)


def test_sign_in_is_throttled_by_address_whatever_the_name(cast: Cast, settings: Any) -> None:
    settings.SIGN_IN_FAILURES_ADDRESS = 4
    for number in range(4):
        assert sign_in(f"nobody{number}", "wrong", ONE_CUSTOMER[number % 2]).status_code == 200
    refused = sign_in("ann", PASSWORD, ONE_CUSTOMER[0])
    assert (refused.status_code, refused["Retry-After"]) == (429, "900")
    assert sign_in("ann", PASSWORD, ELSEWHERE).status_code == 302
    # Django's admin is no door of its own
    admin = Client(REMOTE_ADDR=ONE_CUSTOMER[1]).post(
        "/admin/login/", {"username": "root", "password": PASSWORD}
    )
    assert admin["Location"].startswith("/sign-in/?next=")


def test_sign_in_is_throttled_by_address_on_a_socket_for_ipv6_and_ipv4(cast: Cast, settings: Any) -> None:
    settings.SIGN_IN_FAILURES_ADDRESS = 2
    for _again in range(2):
        assert sign_in("nobody", "wrong", "::ffff:192.0.2.1").status_code == 200
    assert sign_in("ann", PASSWORD, "::ffff:192.0.2.1").status_code == 429
    assert sign_in("ann", PASSWORD, "::ffff:198.51.100.7").status_code == 302


def test_sign_in_with_a_very_long_name_is_a_wrong_one(cast: Cast) -> None:
    for _again in range(2):
        answer = Client().post("/sign-in/", {"username": "a" * 5000, "password": "wrong"})
        assert answer.status_code == 200


def test_sign_in_is_throttled_in_all(cast: Cast, settings: Any) -> None:
    settings.SIGN_IN_FAILURES_TOTAL = 3
    for number in range(3):
        assert sign_in("nobody", "wrong", f"192.0.2.{number}").status_code == 200
    assert sign_in("ann", PASSWORD, "192.0.2.9").status_code == 429


@pytest.fixture
def web_server(process_environment: dict[str, str], collected: Path, tmp_path: Path) -> Iterator[WebServer]:
    """A server with the processes that production has by default; nobody is throttled by address."""
    environment = {
        **process_environment,
        "TRISTEP_STATIC_DIR": str(collected),
        "TRISTEP_SIGN_IN_FAILURES_ADDRESS": "1000",
    }
    running = WebServer(environment, tmp_path / "web.log", processes=2)
    yield running
    running.stop()


def peak_megabytes(server: WebServer) -> float:
    """The most memory that the processes that answer have held, added up; what they share counts for each."""
    parent = server.process.pid
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    statuses = [Path(f"/proc/{pid}/status").read_text() for pid in children]
    lines = [line for status in statuses for line in status.splitlines() if line.startswith("VmHWM")]
    return sum(int(line.split()[1]) for line in lines) / 1024


@pytest.mark.once
def test_flood_of_sign_ins_takes_little_memory_and_leaves_threads_for_others(web_server: WebServer) -> None:
    together = threading.Barrier(FLOOD)
    with httpx.Client(
        base_url=web_server.url, timeout=60, limits=httpx.Limits(max_connections=FLOOD)
    ) as visitors:
        visitors.get(SIGN_IN)
        token = visitors.cookies["csrftoken"]

        def flood(number: int) -> int:
            sent = {"username": f"nobody{number}", "password": "wrong", "csrfmiddlewaretoken": token}
            together.wait(30)
            return visitors.post(SIGN_IN, data=sent).status_code

        with ThreadPoolExecutor(FLOOD) as pool:
            flooding = [pool.submit(flood, number) for number in range(FLOOD)]
            # a busy machine may keep any one of them waiting
            met = web_server.answers()
            while not met and not all(one.done() for one in flooding):
                met = web_server.answers()
            statuses = Counter(one.result() for one in flooding)
    assert met
    assert set(statuses) <= {200, 429}, statuses
    assert 200 < peak_megabytes(web_server) < 500
