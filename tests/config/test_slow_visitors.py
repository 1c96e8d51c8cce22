"""Visitors who send slowly, or more than they may, hold nothing up: the production server, over sockets."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from annotation.models import Label
from config.server.worker import KEPT, SMALL_BODY, PacedSocket, expected_length
from tests.callers import token_of
from tests.people import change, claim, import_records, make_cast, op_id, step_indexes
from tests.servers import WebServer, wait_for

HEAD = b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
# What 200 visitors send before they fall silent, and read no more: a part of a head, of a small body, of a
# large one, of one with a token that is none, of one without a length, of a request behind a whole one, a
# request for the largest file there is, an empty line, nothing.
BEGINNINGS = (
    HEAD,
    HEAD + b"Content-Length: 60000\r\n\r\nusername=",
    HEAD + b"Content-Length: 50000000\r\n\r\nusername=",
    HEAD + b"Authorization: Bearer tri_x\r\nContent-Length: 50000000\r\n\r\n{",
    HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nus",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + HEAD,
    b"GET /static/rest_framework/fonts/fontawesome-webfont.svg HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"\r\n\r\n",
    b"",
)


@contextmanager
def silent(server: WebServer, how_many: int) -> Iterator[list[socket.socket]]:
    """The given number of visitors who have begun a request and do not go on."""
    visitors = []
    try:
        for number in range(how_many):
            visitor = socket.socket()
            visitor.settimeout(30)
            # nor do they take in much
            visitor.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            visitor.connect(("127.0.0.1", server.port))
            visitor.sendall(BEGINNINGS[number % len(BEGINNINGS)])
            visitors.append(visitor)
        yield visitors
    finally:
        for visitor in visitors:
            visitor.close()


def ask(server: WebServer, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
    """One request on a connection of its own, answered within ten seconds."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        connection.request(method, path, body=body, headers={"Host": "localhost", **headers})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def status_of(visitor: socket.socket) -> bytes:
    """The status that the server sends, empty when it only closes."""
    return visitor.recv(4096)[9:12]


@pytest.fixture
def process_environment(process_environment: dict[str, str]) -> dict[str, str]:
    """Patience is short, so that the test is."""
    return {**process_environment, "TRISTEP_HEAD_SECONDS": "2", "TRISTEP_BODY_SECONDS": "2"}


# Who sends a file of 40 MB where, and the status that is there although most of the file is not.
UPLOADS = (
    ("/api/v1/projects/bench/imports/", "", 413),
    ("/api/v1/projects/bench/imports/", "Bearer tri_x", 413),
    ("/api/v1/projects/bench/imports/", "ann", 403),
    ("/api/v1/projects/other/imports/", "ann", 404),
    ("/api/v1/me/", "ann", 413),
    ("/p/bench/import/", "", 413),
    ("/sign-in/", "", 413),
    ("/nowhere/", "", 404),
)
UPLOAD = b"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 40000000\r\n\r\n"
PART = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' + b"a" * 300_000


@pytest.mark.once
def test_slow_visitors_and_large_bodies_hold_up_nothing_and_reach_no_disk(
    web_server: WebServer, process_environment: dict[str, str]
) -> None:
    cast = make_cast()
    trajectory = import_records(cast.project)[0]
    assignment = claim(cast.ann, cast.project)
    token = f"Bearer {token_of(cast.ann)}"
    headers = {"Authorization": token, "Content-Type": "application/json"}
    save = json.dumps({"op_id": op_id(), "changes": [change(step_indexes(trajectory)[0], 1)]})
    where = f"/api/v1/assignments/{assignment.pk}/labels/"

    with silent(web_server, 200) as visitors:
        started = time.monotonic()
        assert ask(web_server, "GET", "/healthz")[0] == 200
        status, words = ask(web_server, "POST", where, save, **headers)
        assert (status, json.loads(words)["results"][0]["status"]) == (200, "saved")
        assert time.monotonic() - started < 5
        assert Label.objects.get(assignment=assignment).value == 1
        # who may not send so much learns it at once, and who is slow learns it in the end
        said = [status_of(visitor) for visitor in visitors[: len(BEGINNINGS)]]
    assert said == [b"408", b"408", b"413", b"413", b"411", b"200", b"200", b"", b""]

    for path, sender, expected in UPLOADS:
        visitor = socket.create_connection(("127.0.0.1", web_server.port), timeout=10)
        who = token if sender == "ann" else sender
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {who}\r\n"
        visitor.sendall(head.encode() + UPLOAD + PART)
        assert status_of(visitor) == str(expected).encode(), path
        visitor.close()
    arriving = Path(process_environment["TRISTEP_DATA_DIR"]) / "uploads" / "arriving"
    assert list(arriving.iterdir()) == []
    assert web_server.stop() is True
    wait_for(lambda: not web_server.answers(), "the server to be gone")


def test_paced_socket_gives_up_on_who_sends_or_reads_too_slowly() -> None:
    ours, theirs = socket.socketpair()
    paced = PacedSocket(fileno=ours.detach())
    with paced, theirs:
        theirs.sendall(b"some")
        paced.begin(0.1)
        assert paced.recv(100) == b"some"
        with pytest.raises(ConnectionResetError):
            paced.recv(100)
        # what is not read is kept up to a limit, and waited for above it
        paced.begin(0.1)
        paced.sendall(b"y" * KEPT)
        assert not paced.flush_now()
        with pytest.raises(ConnectionResetError):
            for _ in range(10):
                paced.sendall(b"y" * KEPT)


def test_request_is_whole_when_its_small_body_is_there() -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\n"
    for arrived, expected in (
        (head, None),
        (head + b"content-LENGTH:\t 7 \r\n\r\nabc", len(head) + 23 + 7),
        (head + b"Content-Length: %d\r\n\r\n" % (SMALL_BODY + 1), len(head) + 25),
        (head + b"\r\nContent-Length: 7\r\n\r\n", len(head) + 2),
    ):
        assert expected_length(bytearray(arrived)) == expected, arrived


def test_anonymous_visitors_may_send_what_is_collected_before_a_thread_begins() -> None:
    assert settings.ANONYMOUS_BODY_BYTES == SMALL_BODY
