"""One shape for everything that goes wrong, whatever is sent."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from api.throttling import ByAddress, ByScope
from tests.callers import signed_in
from tests.people import Cast

from .conftest import Callers
from .shape import ok, refused


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/nothing/",
        "/projects/a b/",
        "/me",
        "/trajectories/x/",
        "/%ff/",
        "/me/tokens/-1/",
    ],
)
def test_address_that_is_unknown_is_404_in_json_for_everybody(by: Callers, path: str) -> None:
    for caller in (by.admin, by.nobody):
        refused(caller.get(path), 404, "not_found")
    refused(by.admin.post(path, {}), 404, "not_found")
    refused(Client(enforce_csrf_checks=True).post(f"/api/v1{path}"), 404, "not_found")


def test_method_that_is_not_offered_is_405_and_says_what_is(by: Callers) -> None:
    answer = by.ann.delete("/me/")
    refused(answer, 405, "method_not_allowed")
    assert answer["Allow"] == "GET, HEAD, PATCH"
    for method in ("options", "trace", "put"):
        refused(getattr(by.ann.client, method)("/api/v1/projects/"), 405, "method_not_allowed")
    answer = by.ann.client.head("/api/v1/me/")
    assert answer.status_code == 200 and not answer.content and answer["Cache-Control"] == "no-store"


def test_content_type_that_is_another_is_415(by: Callers) -> None:
    for content_type in ("text/plain", "application/xml", "application/x-www-form-urlencoded", "nonsense"):
        answer = by.ann.client.patch("/api/v1/me/", b"display_name=x", content_type=content_type)
        refused(answer, 415, "unsupported_media_type")


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"\xff\xfe",
        b'{"display_name": "\xff"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 900 + b"]" * 900,
        b'{"display_name": NaN}',
        b'{"display_name": ' + b"9" * 10_000 + b"}",
        b'{"display_name": "a\\u0000b"}',
        b'{"display_name": "\\ud800"}',
        b"\x00",
        b"[]",
        b'"x"',
        b"7",
        b"true",
        b'{"display_name": ["x"]}',
        b'{"display_name": {"x": 1}}',
        b'{"\\ud800": 1, "\\u0000": 2}',
    ],
)
def test_body_that_makes_no_sense_is_400(by: Callers, body: bytes) -> None:
    refused(by.ann.client.patch("/api/v1/me/", body, content_type="application/json"), 400)


def test_charset_that_is_strange_changes_nothing(by: Callers) -> None:
    for charset in ("utf-16", "hex", "nonsense", "utf-7"):
        answer = by.ann.client.patch(
            "/api/v1/me/", b'{"display_name": "Ann"}', content_type=f"application/json; charset={charset}"
        )
        assert ok(answer)["display_name"] == "Ann"


@pytest.mark.parametrize("page", ["0", "-1", "x", "9" * 400, "1.5", "", "last", "٣"])
def test_page_that_is_not_there_is_404_or_the_first(by: Callers, page: str) -> None:
    answer = by.ann.get("/projects/", {"page": page})
    if answer.status_code != 200:
        refused(answer, 404)


@pytest.mark.parametrize("size", ["0", "-5", "x", "9" * 400])
def test_page_size_that_makes_no_sense_falls_back(by: Callers, size: str) -> None:
    assert ok(by.ann.get("/projects/", {"page_size": size}))["count"] == 1


def test_pages_are_bounded(by: Callers) -> None:
    listed = ok(by.admin.get("/projects/bench/audit/", {"page_size": "100000"}))
    assert listed["count"] <= 200 or len(listed["results"]) == 200
    two = ok(by.admin.get("/projects/bench/members/", {"page_size": 2, "page": 2}))
    assert two["count"] == 5 and len(two["results"]) == 2 and two["previous"] and two["next"]


@pytest.mark.parametrize(
    "query", ["?%00=%00", "?state=%ff", "?page=%00", "?subset=%ED%A0%80", "?" + "a" * 5000]
)
def test_query_that_is_strange_is_never_a_500(by: Callers, query: str) -> None:
    for path in ("/projects/", "/projects/bench/trajectories/", "/projects/bench/imports/", "/me/tokens/"):
        assert by.admin.get(path + query).status_code in (200, 400, 404)


def test_answer_is_json_whatever_is_accepted(by: Callers) -> None:
    for accept in ("text/html", "image/png", "application/xml", "", "\x00"):
        assert ok(by.ann.get("/me/", headers={"Accept": accept}))["username"] == "ann"
    ok(by.ann.get("/me/", {"format": "html"}))


def test_throttle_answers_429_and_says_when_to_come_back(cast: Cast, monkeypatch: Any) -> None:
    monkeypatch.setattr(ByAddress, "THROTTLE_RATES", {"anon": "2/min"})
    # three requests in one minute of the clock
    monkeypatch.setattr(ByAddress, "timer", lambda _self: 90.0)
    nobody = Client(raise_request_exception=False)
    codes = [nobody.get("/api/v1/schema/").status_code for _ in range(3)]
    assert codes == [200, 200, 429]
    answer = nobody.get("/api/v1/schema/")
    refused(answer, 429, "throttled")
    assert answer["Retry-After"] == "30"
    monkeypatch.setattr(ByAddress, "timer", lambda _self: 120.0)
    assert nobody.get("/api/v1/schema/").status_code == 200


def test_throttle_has_a_rate_of_its_own_for_costly_things(by: Callers, monkeypatch: Any) -> None:
    monkeypatch.setattr(ByScope, "THROTTLE_RATES", {"costly": "1/min"})
    monkeypatch.setattr(ByScope, "timer", lambda _self: 90.0)
    ok(by.admin.get("/projects/bench/agreement/"))
    refused(by.admin.get("/projects/bench/agreement/"), 429, "throttled")
    ok(by.admin.get("/projects/bench/releases/"))


def test_error_repeats_no_whole_unknown_key(by: Callers) -> None:
    error = refused(by.ann.patch("/me/", {"k" * 5000: 1}), 400)
    assert all(len(name) <= 80 for name in error["fields"]) and len(error["message"]) < 300


def test_error_below_api_is_json_even_of_django_and_of_our_failures(cast: Cast, monkeypatch: Any) -> None:
    client = Client(raise_request_exception=False)
    refused(client.get("/api/v1/me/", headers={"Host": "evil.example"}), 400, "unreadable")

    def broken(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("a secret of the server")

    monkeypatch.setattr("api.authentication.user_of_token", broken)
    answer = client.get("/api/v1/me/", headers={"Authorization": "Bearer tri_x"})
    refused(answer, 500, "server_error")
    assert b"secret" not in answer.content


def test_nul_in_any_address_is_a_400_for_programs_and_people_alike(by: Callers, cast: Cast) -> None:
    for path in ("/projects/%00/", "/projects/bench/releases/a%00b/", "/projects/?page=%00", "/me/?%00"):
        refused(by.admin.get(path), 400, "unreadable")
    browser = signed_in(cast.admin)
    for path in (
        "/p/bench/releases/a%00b/",
        "/p/bench/trajectories/?q=%00",
        "/invitations/%00/",
        "/static/%00",
    ):
        assert browser.get(path).status_code == 400
