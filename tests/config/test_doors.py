"""What every answer carries, what a request may weigh, and what the logs keep to themselves."""

from __future__ import annotations

import json
import logging
import sys

import pytest
from django.core.cache import caches
from django.db import connection
from django.http import HttpResponse
from django.test import Client, RequestFactory, override_settings

from annotation.models import frozen
from config import csp
from config.cache import TolerantRedisCache
from config.limits import BodyLimit, client_ip
from config.logs import OneLine


@pytest.mark.django_db
def test_healthz_says_that_the_database_answers(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (
        200,
        {"status": "ok", "database": "up", "releases": "frozen"},
    )
    assert client.post("/healthz").status_code == 405


@pytest.mark.django_db
def test_healthz_says_when_releases_are_not_protected(client: Client) -> None:
    frozen.lift(connection)
    try:
        answer = client.get("/healthz")
    finally:
        frozen.install(connection)
    assert (answer.status_code, answer.json()["releases"]) == (503, "unprotected")


@pytest.mark.django_db
def test_csp_comes_with_every_answer(client: Client) -> None:
    policy = client.get("/healthz")["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "trusted-types 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.django_db
def test_csp_does_without_trusted_types_in_djangos_admin_only(client: Client) -> None:
    policy = client.get("/admin/login/")["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "trusted-types" not in policy
    assert "unsafe" not in policy
    assert {name for name in csp.DIRECTIVES if name not in csp.ADMIN_DIRECTIVES} == {
        "trusted-types",
        "require-trusted-types-for",
    }


@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=100, MAX_UPLOAD_BYTES=300)
@pytest.mark.parametrize(
    ("kind", "size", "refused"),
    [
        ("application/json", 100, False),
        ("application/json", 101, True),
        ("multipart/form-data; boundary=x", 300, False),
        ("multipart/form-data; boundary=x", 301, True),
    ],
)
def test_body_has_a_limit_that_is_checked_before_it_is_read(kind: str, size: int, refused: bool) -> None:
    request = RequestFactory().generic("POST", "/api/v1/nowhere", b"x" * size, content_type=kind)
    answer = BodyLimit(lambda _request: HttpResponse("let in"))(request)
    assert isinstance(answer, HttpResponse)
    assert (answer.status_code == 413) is refused
    if refused:
        assert json.loads(answer.content)["error"]["code"] == "too_large"


def test_address_is_believed_only_as_far_as_the_proxies_are_ours() -> None:
    request = RequestFactory().get(
        "/", headers={"X-Forwarded-For": "6.6.6.6, 9.9.9.9"}, REMOTE_ADDR="10.0.0.1"
    )
    assert client_ip(request) == "10.0.0.1"
    with override_settings(PROXY_HOPS=1):
        assert client_ip(request) == "9.9.9.9"
    with override_settings(PROXY_HOPS=3):
        assert client_ip(request) == "10.0.0.1"


def test_log_line_holds_no_text_of_an_exception() -> None:
    try:
        raise ValueError("what the agent said")
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "f.py", 1, "An import failed", (), sys.exc_info())
    record.import_id = 7
    record.request = "a request that holds a note"
    line = OneLine().format(record)
    found = json.loads(line)
    assert "\n" not in line
    assert "agent said" not in line
    assert "a note" not in line
    assert (found["message"], found["error"], found["import_id"]) == (
        "An import failed",
        "builtins.ValueError",
        7,
    )
    assert found["at"]


def test_log_of_a_failed_task_is_without_its_arguments() -> None:
    context = {"name": "annotation.run", "id": "1", "exc": "secret words", "args": "secret words"}
    record = logging.LogRecord(
        "celery.app.trace", logging.ERROR, "f.py", 1, "Task %(name)s failed: %(exc)s", (context,), None
    )
    assert json.loads(OneLine().format(record))["message"] == "Task annotation.run[1] failed"


def test_cache_that_is_away_is_a_cache_that_misses() -> None:
    cache = TolerantRedisCache("unix:///nowhere/broker.sock", {})
    cache.set("a", 1, 60)
    assert cache.get("a", "default") == "default"
    assert cache.get_many(["a"]) == {}
    assert cache.add("a", 1) is True
    assert cache.delete("a") is False
    assert caches["default"].get("a") is None
