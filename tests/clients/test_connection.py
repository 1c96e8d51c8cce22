"""How the Python client speaks with a server: pages, waits, refusals, files, and where the token goes."""

from __future__ import annotations

import ast
import json
import re
import stat
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

import tristep
from tests.servers import ROOT
from tristep import Client, connection, credentials
from tristep.commands import parser

Answers = Callable[[httpx.Request], httpx.Response]
PACKAGE = ROOT / "clients" / "python" / "tristep"


def client(answers: Answers, token: str = "tri_secret") -> Client:
    return Client("https://tristep.example", token, transport=httpx.MockTransport(answers))


def in_turn(*answers: httpx.Response) -> tuple[Answers, list[httpx.Request]]:
    """A server that gives these answers, and what it was asked."""
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        request.read()
        asked.append(request)
        return answers[len(asked) - 1]

    return answer, asked


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits that were asked for, of which none is waited for."""
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    return waited


def page(rows: Sequence[int], following: bool) -> httpx.Response:
    there = "https://tristep.example/api/v1/projects/?page=9" if following else None
    return httpx.Response(200, json={"count": 3, "next": there, "results": [{"id": row} for row in rows]})


# ── Lists ─────────────────────────────────
def test_list_fetches_its_pages_while_one_goes_through_it() -> None:
    answers, asked = in_turn(page([1, 2], True), page([3], False))
    rows = iter(client(answers).projects.list())
    assert [next(rows)["id"], next(rows)["id"], len(asked)] == [1, 2, 1]
    assert [row["id"] for row in rows] == [3]
    assert [request.url.params["page"] for request in asked] == ["1", "2"]


def test_list_of_a_server_that_never_ends_ends() -> None:
    answers, asked = in_turn(page([1], True), page([], True))
    assert len(list(client(answers).projects.list())) == 1
    assert len(asked) == 2


def test_list_is_counted_without_fetching_it() -> None:
    answers, asked = in_turn(page([1], True))
    assert client(answers).projects.list().count() == 3
    assert asked[0].url.params["page_size"] == "1"


# ── Refusals and waits ────────────────────
def refusal(status: int, **headers: str) -> httpx.Response:
    said = {"code": "made_up", "message": "It is so.", "fields": {"name": "Too long."}, "details": [1]}
    return httpx.Response(status, json={"error": said}, headers=headers)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, tristep.Invalid),
        (401, tristep.NotSignedIn),
        (403, tristep.Denied),
        (404, tristep.NotFound),
        (409, tristep.Conflict),
        (413, tristep.TooLarge),
        (418, tristep.ApiError),
        (503, tristep.Unavailable),
    ],
)
def test_refusal_is_an_exception_with_code_sentence_and_fields(status: int, kind: type) -> None:
    answers, _ = in_turn(refusal(status))
    with pytest.raises(kind) as raised:
        client(answers).me.get()
    error = raised.value
    assert (error.status, error.code, str(error)) == (status, "made_up", "It is so.")
    assert (error.fields, error.details) == ({"name": "Too long."}, [1])


def test_refusal_that_is_no_json_has_a_sentence_too() -> None:
    answers, _ = in_turn(httpx.Response(502, text="<html>Bad gateway</html>"))
    with pytest.raises(tristep.ApiError, match="status 502"):
        client(answers).me.get()


def test_request_that_is_put_off_is_sent_again_after_the_wait_that_is_named(waits: list[float]) -> None:
    busy = refusal(429, **{"Retry-After": "3"})
    answers, asked = in_turn(busy, busy, httpx.Response(201, json={"id": 1}))
    made = client(answers).projects.create(name="Lighthouses")
    assert (made["id"], waits) == (1, [3.0, 3.0])
    assert [json.loads(request.content) for request in asked] == [{"name": "Lighthouses"}] * 3


def test_request_is_sent_four_times_at_most(waits: list[float]) -> None:
    answers, asked = in_turn(*[refusal(429, **{"Retry-After": "1"})] * 9)
    with pytest.raises(tristep.TooMany):
        client(answers).me.get()
    assert (len(asked), len(waits)) == (4, 3)


def test_what_writes_is_not_sent_again_when_nobody_knows_whether_it_was_done(waits: list[float]) -> None:
    answers, asked = in_turn(refusal(503, **{"Retry-After": "1"}), httpx.Response(201, json={}))
    with pytest.raises(tristep.Unavailable):
        client(answers).projects.create(name="Lighthouses")
    assert (len(asked), waits) == (1, [])


def test_token_follows_no_redirect() -> None:
    answers, asked = in_turn(httpx.Response(301, headers={"Location": "https://elsewhere.example/"}))
    with pytest.raises(tristep.Unreachable, match=r"elsewhere\.example"):
        client(answers).me.get()
    assert len(asked) == 1


def test_server_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def answers(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(tristep.Unreachable, match=r"https://tristep\.example does not answer"):
        client(answers).me.get()
    with pytest.raises(tristep.Unreachable, match="ftp://x is no address"):
        Client("ftp://x", "")


# ── Long work and files ───────────────────
def work(state: str, done: int, **more: Any) -> httpx.Response:
    return httpx.Response(200, json={"state": state, "progress": {"done": done, "total": 2}, **more})


def test_wait_tells_how_far_the_work_is_and_returns_its_end(waits: list[float]) -> None:
    answers, _ = in_turn(work("queued", 0), work("running", 1), work("published", 2))
    told: list[tuple[int, int]] = []
    found = client(answers).imports[7].wait(progress=lambda done, total: told.append((done, total)))
    assert found["state"] == "published"
    assert told == [(0, 2), (1, 2), (2, 2)]
    assert waits == [0.1, pytest.approx(0.15)]


def test_wait_for_work_that_fails_says_why_and_holds_the_answer(waits: list[float]) -> None:
    errors = [{"line": 3, "field": "messages", "reason": "is missing"}]
    answers, _ = in_turn(work("failed", 0, error="One error.", errors=errors))
    with pytest.raises(tristep.WorkFailed, match="One error") as raised:
        client(answers).imports[7].wait()
    assert raised.value.answer["errors"] == errors


def test_wait_for_a_paused_run_does_not_last_for_ever(waits: list[float]) -> None:
    answers, _ = in_turn(work("paused", 1, stop_reason=""))
    with pytest.raises(tristep.WorkFailed, match="paused"):
        client(answers).runs[7].wait()


def test_wait_ends_when_one_would_wait_no_longer(waits: list[float]) -> None:
    answers, _ = in_turn(work("running", 1))
    with pytest.raises(TimeoutError, match="still running"):
        client(answers).freezes[7].wait(timeout=-1)


def test_upload_goes_in_pieces_and_tells_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CHUNK", 4)
    file = tmp_path / "runs.jsonl"
    file.write_bytes(b"0123456789")
    answers, asked = in_turn(httpx.Response(202, json={"id": 7}))
    told: list[tuple[int, int]] = []
    client(answers).projects["apb"].imports.create(file, lambda *far: told.append(far), subset="qa")
    assert told == [(4, 10), (8, 10), (10, 10)]
    (request,) = asked
    assert request.content == b"0123456789" and request.headers["Content-Length"] == "10"
    assert "Transfer-Encoding" not in request.headers
    assert dict(request.url.params) == {"filename": "runs.jsonl", "subset": "qa"}


def test_download_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    def pieces() -> Any:
        yield b"half"
        raise httpx.ReadError("gone")

    answers, _ = in_turn(httpx.Response(200, content=pieces()))
    release = client(answers).projects["apb"].releases["1.0"]
    with pytest.raises(tristep.Unreachable, match="broke off"):
        release.download(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_key_is_one_part_of_an_address() -> None:
    answers, asked = in_turn(*[httpx.Response(200, json={})] * 2)
    client(answers).projects["../me"].get()
    client(answers).projects[{"slug": "apb", "name": "A"}].get()
    paths = [request.url.raw_path.decode() for request in asked]
    assert paths == ["/api/v1/projects/..%2Fme/", "/api/v1/projects/apb/"]


def test_frame_without_pandas_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    answers, _ = in_turn(page([1], False))
    with pytest.raises(tristep.MissingPackage, match=r"pip install 'tristep-client\[pandas\]'"):
        client(answers).projects.list().frame()


# ── Address and token ─────────────────────
@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without a configuration."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("TRISTEP_URL", "TRISTEP_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_token_is_kept_so_that_its_owner_alone_can_read_it(home: Path) -> None:
    file = credentials.keep("https://tristep.example/", "tri_secret")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert list(file.parent.iterdir()) == [file]
    assert credentials.found() == ("https://tristep.example", "tri_secret")


def test_token_of_one_server_is_sent_to_no_other(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    credentials.keep("https://tristep.example", "tri_secret")
    assert credentials.found("https://tristep.example/")[1] == "tri_secret"
    assert credentials.found("https://elsewhere.example")[1] == ""
    monkeypatch.setenv("TRISTEP_URL", "https://elsewhere.example")
    assert credentials.found() == ("https://elsewhere.example", "")


def test_environment_comes_before_what_is_kept_and_arguments_before_both(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    credentials.keep("https://tristep.example", "tri_secret")
    monkeypatch.setenv("TRISTEP_URL", "https://env.example")
    monkeypatch.setenv("TRISTEP_TOKEN", "tri_env")
    assert credentials.found() == ("https://env.example", "tri_env")
    assert credentials.found("https://given.example", "tri_given") == ("https://given.example", "tri_given")


def test_client_without_an_address_says_what_to_do(home: Path) -> None:
    with pytest.raises(tristep.NotConfigured, match="login ADDRESS"):
        Client()
    credentials.keep("https://tristep.example", "tri_secret").write_text("{")
    with pytest.raises(tristep.NotConfigured, match="run the command `login` again"):
        Client()


# ── The package ───────────────────────────
def test_client_imports_httpx_and_nothing_of_the_product() -> None:
    allowed = {*sys.stdlib_module_names, "httpx", "pandas", "typing_extensions", "tristep"}
    found = set()
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(str(node.module).partition(".")[0])
    assert "httpx" in found and found <= allowed


def test_documents_name_commands_and_options_that_exist() -> None:
    (commands,) = parser()._subparsers._group_actions
    known = {name: set(one._option_string_actions) for name, one in commands.choices.items()}
    places = ("README.md", "docs/client.md", "docs/skills/tristep/SKILL.md", "clients/python/README.md")
    pages = [ROOT / name for name in (*places, "frontend/templates/frontend/llms.txt")]
    # up to the end of the code, of the cell of a table, or to a comment
    calls = [
        (call[1], re.findall(r"--[a-z-]+", call[0]))
        for page in pages
        for call in re.finditer(
            r"tristep(?:-client)? ([a-z]+) (?:PROJECT|ADDRESS|apb|https|\{\{)[^|`#\n]*",
            page.read_text("utf-8"),
        )
    ]
    assert {name for name, _ in calls} == set(known)
    assert [option for name, options in calls for option in options if option not in known[name]] == []
    assert sum(len(options) for _, options in calls) > 15
