"""`make run`'s one process: it starts everything, says where, and leaves nothing behind. What Ctrl-C does is
in `test_whole_line.py`."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from config import serve
from config.serve import allowed_hosts, is_loopback, is_private
from tests.browser.server import Server, Site
from tests.servers import ROOT, descendants, free_port, running, wait_for

# `make run` with parts that only sleep: how it watches and stops them does not depend on what they do.
SLEEPING = """
import sys
from config import serve
spawn = serve.spawn
serve.prepare = lambda *_, **__: []
serve.wait_until_ready = lambda *_: None
sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
serve.spawn = lambda command, **how: spawn([*sleep, *command[1:]], **how)
sys.exit(serve.main())
"""


@pytest.fixture
def sleeping(tmp_path: Path) -> Iterator[Server]:
    """A server whose parts only sleep."""
    one = Server(tmp_path / "data", program=(sys.executable, "-c", SLEEPING))
    one.ready()
    yield one
    one.stop()


@pytest.mark.slow
def test_first_run_serves_the_demo_and_a_second_one_says_why_it_cannot(server: Site, tmp_path: Path) -> None:
    with urllib.request.urlopen(f"{server.url}/", timeout=20) as answer:
        page = answer.read().decode()
        assert answer.status == 200
    stylesheet = re.search(r'href="(/static/[^"]+\.[0-9a-f]{12}\.css)"', page)
    assert stylesheet, "the page names a hashed stylesheet"
    with urllib.request.urlopen(f"{server.url}{stylesheet[1]}", timeout=20) as answer:
        assert "immutable" in answer.headers["Cache-Control"]

    assert "Accounts:" in server.words()

    again = Server(server.data)
    assert again.process.wait(timeout=60) == 1
    assert "already serves" in again.words()
    other = Server(tmp_path / "other", port=server.port)
    assert other.process.wait(timeout=60) == 1
    assert "choose another one" in other.words()
    for words in (again.words(), other.words()):
        assert len(words.strip().splitlines()) == 1


def test_serve_names_a_part_that_dies_and_stops_everything(sleeping: Server) -> None:
    below = descendants(sleeping.pid)
    os.kill(next(pid for pid, line in below.items() if "gunicorn" in line), signal.SIGKILL)
    assert sleeping.process.wait(timeout=60) == 1
    assert "The web server stopped" in sleeping.words()
    assert running(below) == []


def test_serve_starts_a_worker_that_dies_again_a_few_times_and_on_a_full_disk_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def room(size: int) -> None:
        monkeypatch.setattr(serve.shutil, "disk_usage", lambda _path: SimpleNamespace(free=size))

    def part(name: str) -> serve.Child:
        child = serve.Child(name, ["-c", "exit(3)"], os.environ, tmp_path / f"{name}.log", 1)
        child.process.wait(timeout=60)
        return child

    served = serve.Server(tmp_path, "127.0.0.1", 1)
    worker = part("worker")
    served.children = [worker]
    ended = worker.process
    room(0)
    assert [serve.dead(served), serve.dead(served)] == [None, None]
    assert capsys.readouterr().out.count("the disk is full") == 1 and worker.process is ended

    room(1 << 40)
    for words in ("There is room", *["The worker stopped (status 3), and was started again"] * serve.STARTS):
        assert serve.dead(served) is None and worker.process is not ended
        assert words in capsys.readouterr().out
        ended = worker.process
        ended.wait(timeout=60)
    assert "The worker stopped (status 3)" in (serve.dead(served) or "")

    room(0)
    served.children = [part("web server")]
    assert "The web server stopped (status 3)" in (serve.dead(served) or "")


def test_serve_starts_a_broker_that_dies_again_until_it_dies_too_often(sleeping: Server) -> None:
    def broker() -> int | None:
        found = descendants(sleeping.pid)
        return next((pid for pid, line in found.items() if "unixsocket" in line or ".sock" in line), None)

    def started() -> int:
        return sleeping.words().count("was started again")

    for times in range(1, 4):
        wait_for(lambda: bool(broker()), "the broker to run")
        os.kill(broker() or 0, signal.SIGKILL)
        wait_for(lambda: started() == times, "a new broker")  # noqa: B023
        assert sleeping.process.poll() is None
    os.kill(broker() or 0, signal.SIGKILL)
    assert sleeping.process.wait(timeout=60) == 1
    assert "broker stopped (status -9) again" in sleeping.words()


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux tells children that a parent died"
)
def test_serve_leaves_no_orphan_not_even_after_sigkill(sleeping: Server) -> None:
    below = descendants(sleeping.pid)
    assert len(below) == 3
    sleeping.process.kill()
    sleeping.process.wait()
    wait_for(lambda: not running(below), "the children to be gone")


@pytest.mark.parametrize(
    ("host", "answer"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
    ],
)
def test_serve_tells_loopback_addresses_from_others(host: str, answer: bool) -> None:
    assert is_loopback(host) is answer


@pytest.mark.parametrize(
    ("environment", "answer"),
    [
        ({"TRISTEP_ALLOWED_HOSTS": "localhost,127.0.0.1,[::1]"}, True),
        ({"TRISTEP_ALLOWED_HOSTS": "tristep.example"}, False),
        ({"TRISTEP_HTTPS": "1"}, False),
        ({"TRISTEP_PROXY_HOPS": "1"}, False),
    ],
)
def test_serve_does_not_call_a_loopback_address_behind_a_proxy_private(
    environment: dict[str, str], answer: bool
) -> None:
    assert is_private("127.0.0.1", environment) is answer
    assert is_private("0.0.0.0", environment) is False


def test_server_for_others_may_be_asked_for_by_its_names() -> None:
    assert allowed_hosts("127.0.0.1") == "localhost,127.0.0.1,[::1]"
    assert socket.gethostname() in allowed_hosts("0.0.0.0").split(",")
    assert "192.0.2.7" in allowed_hosts("192.0.2.7").split(",")


class Well(BaseHTTPRequestHandler):
    """A server that is well."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def well() -> Iterator[int]:
    """The port of a server that answers 200 to everything."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Well) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield listening.server_port
        listening.shutdown()


def test_probe_asks_the_server_itself_whatever_proxy_there_is(well: int) -> None:
    nowhere = "http://127.0.0.1:9"
    for port, status in ((well, 0), (free_port(), 1)):
        environment = {"PORT": str(port), "http_proxy": nowhere, "HTTP_PROXY": nowhere}
        done = subprocess.run([sys.executable, "-m", "config.probe"], cwd=ROOT, env=environment, check=False)
        assert done.returncode == status


@pytest.mark.parametrize("stopped", ["by Ctrl-C", "by a web server that dies"])
def test_serve_shows_the_passwords_it_made_even_if_it_never_served(
    stopped: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = threading.Event()
    account = {"username": "admin", "password": "only-once", "who": "administrator"}

    def prepare(*_: object, **__: object) -> list[dict[str, str]]:
        if stopped == "by Ctrl-C":
            asked.set()
        return [account]

    def start(*_: object) -> None:
        raise serve.CannotServe("The web server stopped.")

    monkeypatch.setattr(serve, "prepare", prepare)
    monkeypatch.setattr(serve, "start", start)
    with contextlib.suppress(serve.CannotServe):
        serve.serve(serve.Server(tmp_path, "127.0.0.1", 1, demo=False), {"REDIS_URL": "redis://x"}, asked)
    assert "only-once" in capsys.readouterr().out
