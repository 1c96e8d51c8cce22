"""The public demo: what everybody may try, each in a copy of their own, and that nothing else can be done."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from django.conf import settings
from django.db import DatabaseError
from django.db.utils import ConnectionHandler
from django.http import HttpResponse
from django.test import RequestFactory
from django.urls import resolve, reverse
from django.urls.exceptions import NoReverseMatch
from pytest_django import DjangoDbBlocker

from annotation.core.errors import TooMany
from config.env import of_public_demo
from config.public_demo import middleware, visits
from config.public_demo.middleware import COOKIE, MAY_CHANGE, Visits
from tests.addresses import ROUTES
from tests.browser.server import Server
from tests.servers import descendants

KEPT_ANYWAY = ("django_session", "annotation_user")
FILL = {
    "slug": "demo",
    "version": "1.0",
    "other": "2.0",
    "token": "x",
    "uidb64": "x",
    "rest": "nothing/",
    "part": 1,
}
JUDGE_KEY = "TRISTEP_JUDGE_KEY_PAID"
EACH = 8
"""Of the addresses that refuse all alike, one in so many is asked of a server."""


# ── One that runs ─────────────────────────
class Demo(Server):
    """`--demo-only` as it serves, started with keys and addresses that it must not take along."""

    def __init__(self, data: Path) -> None:
        program = (sys.executable, "-m", "config.serve", "--demo-only", "--data", str(data))
        outside = {
            JUDGE_KEY: "sk-1",
            "TRISTEP_JUDGE_URLS": "https://judge.example",
            "TRISTEP_PUBLIC_DEMO": "0",
        }
        super().__init__(data, program=program, TRISTEP_WEB_PROCESSES="1", **outside)
        self.place = data / "public-demo"
        self.pristine = self.place / "db.sqlite3"

    def digest(self) -> str:
        """Of the database that all copies are made of."""
        return hashlib.sha256(self.pristine.read_bytes()).hexdigest()

    def contents(self, key: str) -> list[str]:
        """All rows of a visit's database, but for sessions and the time of the last sign-in."""
        with closing(sqlite3.connect(self.place / "visits" / key / "db.sqlite3")) as database:
            return [line for line in database.iterdump() if not any(name in line for name in KEPT_ANYWAY)]


class Visitor(httpx.Client):
    """Somebody who has come in as one of the demo's people."""

    def __init__(self, demo: Demo, username: str = "") -> None:
        super().__init__(base_url=demo.url, headers={"Referer": demo.url}, timeout=60)
        self.get("/sign-in/").raise_for_status()
        if username:
            self.enter(username)

    def enter(self, username: str, **more: str) -> httpx.Response:
        """Go on as another person."""
        answer = self.send_form("/sign-in/", username=username, **more)
        assert answer.status_code == 302, answer.text
        return answer

    def send_form(self, path: str, **fields: str) -> httpx.Response:
        """A form of a page."""
        return self.post(path, data={**fields, "csrfmiddlewaretoken": self.cookies["csrftoken"]})

    def ask(self, path: str, body: object = None, method: str = "POST") -> httpx.Response:
        """An operation of the API."""
        headers = {"X-CSRFToken": self.cookies["csrftoken"]}
        return self.request(method, f"/api/v1/{path}", json=body if body is not None else {}, headers=headers)

    @property
    def visit(self) -> str:
        """The key of the visit."""
        return str(self.cookies[COOKIE])


def visitors_label_and_decide_in_copies_of_their_own(demo: Demo) -> None:
    before = demo.digest()
    first, second = Visitor(demo, "maya"), Visitor(demo, "maya")
    claim = first.ask("projects/demo/claim/")
    assert claim.status_code == 201
    assignment = claim.json()["id"]
    steps = first.get(f"/api/v1/assignments/{assignment}/").json()["steps"]
    change = {"target": "step", "message_index": steps[0]["message_index"], "version": steps[0]["version"]}
    saved = {"op_id": "tried", "changes": [{**change, "value": -1, "source": "explicit"}]}
    assert first.ask(f"assignments/{assignment}/labels/", saved).json()["results"][0]["status"] == "saved"
    assert first.get(f"/api/v1/assignments/{assignment}/").json()["steps"][0]["value"] == -1
    for path in ("/", "/p/demo/work/", f"/assignments/{assignment}/", "/p/demo/settings/", "/nothing/"):
        assert "demo-note" in first.get(path, follow_redirects=True).text, path
    # another visitor is the same person in another copy
    assert second.get(f"/api/v1/assignments/{assignment}/").status_code == 404

    # in the same copy somebody else decides, and an admin looks at what came of it
    first.enter("ines")
    disputes = first.get("/api/v1/projects/demo/disputes/").json()["results"]
    case = first.ask("projects/demo/adjudications/", {"trajectory": disputes[0]["trajectory"]})
    assert case.status_code == 201
    first.enter("admin")
    assert first.get("/p/demo/agreement/").status_code == 200

    old = first.visit
    first.enter("maya", again="on")
    assert first.visit != old and not (demo.place / "visits" / old).exists()
    assert first.get(f"/api/v1/assignments/{assignment}/").status_code == 404
    assert demo.digest() == before


def paths() -> Iterator[tuple[str, str]]:
    """(name, path) of every route, with something in the place of each parameter."""
    for name, route in ROUTES.items():
        fill = {
            parameter: FILL.get(parameter, {"int": 1, "uuid": UUID(int=1)}.get(kind, "x"))
            for parameter, one in getattr(route.pattern, "converters", {}).items()
            for kind in [type(one).__name__.removesuffix("Converter").lower().replace("string", "str")]
        }
        fill |= {"rest": "nothing/"} if name == "api:unknown" else {}
        try:
            yield name, reverse(name, kwargs=fill)
        except NoReverseMatch:
            assert name.startswith("admin:"), name
            continue


def no_other_unsafe_request_is_answered_and_none_changes_what_copies_are_made_of(demo: Demo) -> None:
    """Some of each kind; every address is asked below, without a server."""
    before = demo.digest()
    admin, nobody = Visitor(demo, "admin"), Visitor(demo)
    contents = demo.contents(admin.visit)
    csrf = {"X-CSRFToken": admin.cookies["csrftoken"]}
    # at sign-in the page to enter has its place
    refused = [one for one in paths() if one[0] not in {*MAY_CHANGE, "frontend:sign-in"}]
    for at, (name, path) in enumerate(refused[::EACH]):
        # the method is told from GET alone
        others = ("PUT", "PATCH", "DELETE")[at % 3 :][:1] if name.startswith("api:") else ()
        for method in ("POST", *others):
            answer = admin.request(method, path, json={}, headers=csrf)
            assert answer.status_code == 403 and "public demo" in answer.text, (
                name,
                method,
                answer.text[:200],
            )
        assert nobody.post(path).status_code == 403, name
    assert {name.partition(":")[0] for name, _path in refused[::EACH]} >= {"admin", "api", "frontend"}
    assert demo.contents(admin.visit) == contents
    for name, path in paths():
        if name in MAY_CHANGE and name != "frontend:sign-out":
            for whom in (admin, nobody):
                token = {"X-CSRFToken": whom.cookies["csrftoken"]}
                assert whom.post(path, json={}, headers=token).status_code < 500, name
    assert nobody.get("/p/demo/").status_code == 302
    assert demo.digest() == before


def every_page_can_be_read_without_a_file_or_a_write_outside_of_the_visit(demo: Demo) -> None:
    admin, nobody = Visitor(demo, "admin"), Visitor(demo)

    def files() -> dict[str, int]:
        beside = (path for path in demo.place.rglob("*") if path.is_file())
        apart = ("visits", "logs", "static")
        return {str(path): path.stat().st_mtime_ns for path in beside if not {*apart} & {*path.parts}}

    before = demo.digest(), files()
    statuses = {}
    for name, path in paths():
        if not name.startswith("admin:"):
            answer = admin.get(path)
            statuses[name] = answer.status_code
            assert max(answer.status_code, nobody.get(path).status_code) < 500, name
            assert "in which this is switched off" not in answer.text, name
    assert (demo.digest(), files()) == before
    assert sum(status == 200 for status in statuses.values()) > 80


def no_file_is_kept_and_nothing_beside_the_web_server_runs(demo: Demo) -> None:
    admin = Visitor(demo, "admin")
    csrf = {"X-CSRFToken": admin.cookies["csrftoken"]}
    hostile = {"file": ("../../x.jsonl", b"{}" * 10_000, "application/x-ndjson")}
    places = ("/api/v1/projects/demo/imports/", "/p/demo/import/", "/api/v1/projects/demo/claim/", "/theme/")
    answers = [admin.post(path, files=hostile, headers=csrf).status_code for path in places]
    assert answers[:2] == [403, 403] and max(answers) < 500
    assert [path for path in (demo.place / "uploads").rglob("*") if path.is_file()] == []
    assert not list(demo.place.rglob("x.jsonl"))

    for path in ("/admin/", "/admin/login/"):
        assert admin.get(path).status_code == 403
    # no password opens anything, and no key is handed on
    assert "Accounts:" not in demo.words()
    lock = (demo.place / "run.lock").read_text()
    below = descendants(int(lock.split(",")[0].removeprefix("process ")))
    assert below and all("gunicorn" in line for line in below.values())
    for process in below:
        environment = Path(f"/proc/{process}/environ").read_bytes()
        assert JUDGE_KEY.encode() not in environment and b"judge.example" not in environment


def visit_that_does_not_exist_leads_to_the_way_in(demo: Demo) -> None:
    for cookie in ("../..", "0" * 12 + "-" + "0" * 32, "x%00y", ""):
        with httpx.Client(base_url=demo.url, cookies={COOKIE: cookie}) as visitor:
            answer = visitor.get("/p/demo/")
        assert answer.status_code == 302 and answer.headers["Location"].startswith("/sign-in/"), cookie


@pytest.mark.slow
def test_everybody_may_look_and_try_and_nothing_is_kept(tmp_path: Path) -> None:
    """One test, for a server that each process of the run would start anew."""
    demo = Demo(tmp_path / "data")
    try:
        demo.ready()
        visitors_label_and_decide_in_copies_of_their_own(demo)
        no_other_unsafe_request_is_answered_and_none_changes_what_copies_are_made_of(demo)
        every_page_can_be_read_without_a_file_or_a_write_outside_of_the_visit(demo)
        no_file_is_kept_and_nothing_beside_the_web_server_runs(demo)
        visit_that_does_not_exist_leads_to_the_way_in(demo)
    finally:
        demo.stop()


# ── Its parts ─────────────────────────────
def test_unsafe_request_is_refused_wherever_nothing_may_be_changed(
    rf: RequestFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware, "_refused", lambda _request: HttpResponse(status=403))
    answers = Visits(lambda _request: HttpResponse())
    wrong, asked = [], 0
    for name, path in paths():
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            request = rf.generic(method, path)
            request.resolver_match = resolve(path)
            refused = answers.process_view(request, lambda: None, (), {}) is not None
            wrong += [(name, method)] if refused != (name not in MAY_CHANGE) else []
            asked += refused
    assert wrong == []
    assert asked > 1_000


def test_views_that_may_change_something_exist_and_receive_no_files() -> None:
    views = {name: route.callback for name, route in ROUTES.items()}
    assert MAY_CHANGE - {"public-demo"} <= set(views)
    receiving = [
        name
        for name in MAY_CHANGE - {"public-demo"}
        for view in [views[name]]
        if hasattr(view, "receives_files") or hasattr(getattr(view, "cls", None), "receives_files")
    ]
    assert receiving == []


def test_environment_of_a_public_demo_leads_nowhere_else() -> None:
    text = Path(settings.BASE_DIR, "docs", "operations.md").read_text(encoding="utf-8")
    every = dict.fromkeys(re.findall(r"\bTRISTEP_[A-Z_]+[A-Z]\b", text), "x")
    left = set(of_public_demo({**every, "DATABASE_URL": "x", "REDIS_URL": "x", "PATH": "x", JUDGE_KEY: "x"}))
    assert "PATH" in left and "TRISTEP_HTTPS" in left
    assert [
        name for name in left if re.search("URL|KEY_|JUDGE|EMAIL|CONNECTION|WEBHOOK|OIDC|PRIVATE", name)
    ] == []


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of visits whose copies are made of a file of one table."""
    database = tmp_path / "db.sqlite3"
    with closing(sqlite3.connect(database)) as made:
        made.executescript("CREATE TABLE said (words TEXT); INSERT INTO said VALUES ('first')")
    monkeypatch.setattr(settings, "DATA_DIR", tmp_path)
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", str(database))
    return tmp_path / "visits"


def test_old_visits_give_way_and_a_full_demo_says_so(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "VISITS_OF_AN_ADDRESS", 2)
    monkeypatch.setattr(visits, "VISITS", 3)

    def used(visit: visits.Visit, seconds: float) -> None:
        at = time.time() - seconds
        os.utime(visit.folder, (at, at))

    first, second = visits.begin("192.0.2.1"), visits.begin("192.0.2.1")
    used(first, 50)
    third = visits.begin("192.0.2.1")
    assert visits.known(first.key) is None, "the oldest of an address goes"
    other = visits.begin("192.0.2.2")
    with pytest.raises(TooMany):
        visits.begin("192.0.2.3")
    used(second, visits.SPARE_SECONDS + 1)
    assert visits.known(second.key) == second, "and is in use again"
    used(third, visits.SPARE_SECONDS + 1)
    late = visits.begin("192.0.2.3")
    assert [visits.known(one.key) for one in (second, third, other, late)] == [second, None, other, late]
    used(late, visits.IDLE_HOURS * 3600 + 1)
    assert visits.known(late.key) is None, "it is over, whoever comes"
    used(other, visits.IDLE_HOURS * 3600 + 1)
    visits.begin("192.0.2.4")
    assert not other.folder.exists() and len(list(begun.iterdir())) == 2


def test_visit_is_written_to_up_to_its_limit_and_what_it_was_made_of_never(
    begun: Path, monkeypatch: pytest.MonkeyPatch, django_db_blocker: DjangoDbBlocker
) -> None:
    name = settings.DATABASES["default"]["NAME"]
    visit = visits.begin("192.0.2.1")

    def connection() -> Any:
        return ConnectionHandler({"default": {"ENGINE": "config.public_demo", "NAME": name}})["default"]

    with django_db_blocker.unblock():
        outside = connection()
        with outside.cursor() as cursor, pytest.raises(DatabaseError, match="readonly"):
            cursor.execute("INSERT INTO said VALUES ('outside')")
        outside.close()
        monkeypatch.setattr(visits, "current", lambda: visit)
        inside = connection()
        with inside.cursor() as cursor:
            cursor.execute("INSERT INTO said VALUES ('inside')")
            with pytest.raises(DatabaseError, match="full"):
                for _ in range(100):
                    cursor.execute("INSERT INTO said VALUES (%s)", ["x" * 1_000_000])
        inside.close()
        assert visit.database.stat().st_size <= visits.MAX_BYTES
        with closing(sqlite3.connect(name)) as made:
            assert made.execute("SELECT words FROM said").fetchall() == [("first",)]
        visits.end(visit)
        with pytest.raises(DatabaseError):
            connection().cursor()
