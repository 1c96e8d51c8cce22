"""The doors of the server: headers of every answer, the weight of a request, and the silence of the logs."""

from __future__ import annotations

import io
import json
import logging
import pickle
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.core.cache import caches
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory, override_settings
from django.utils import timezone

from annotation.models import User
from config import csp
from config.broker import Broker
from config.cache import LocalCache, TolerantRedisCache
from config.client import client_ip
from config.logs import OneLine
from config.server.limits import BodyLimit
from config.sessions import SessionStore
from tests.config.read_settings import read_settings
from tests.databases import lifted


@pytest.mark.django_db
def test_healthz_says_that_the_database_answers(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (
        200,
        {"status": "ok", "database": "up", "records": "protected", "disk": "ok"},
    )
    assert client.post("/healthz").status_code == 405


@pytest.mark.django_db
def test_healthz_says_when_releases_and_audit_log_are_not_protected(client: Client) -> None:
    with lifted():
        answer = client.get("/healthz")
    assert (answer.status_code, answer.json()["records"]) == (503, "unprotected")


@pytest.mark.django_db
def test_healthz_says_when_the_disk_is_full_or_cannot_be_written(
    client: Client, settings: Any, tmp_path: Path
) -> None:
    settings.MIN_FREE_BYTES = 1 << 62
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()["disk"]) == (503, "full")
    settings.MIN_FREE_BYTES = 0
    settings.DATA_DIR = tmp_path / "gone"
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()["disk"]) == (503, "read-only")


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


@override_settings(ANONYMOUS_BODY_BYTES=50, DATA_UPLOAD_MAX_MEMORY_SIZE=100, MAX_UPLOAD_BYTES=300)
@pytest.mark.parametrize(
    ("who", "address", "kind", "limit"),
    [
        ("nobody", "labels", "application/json", 50),
        ("ann", "labels", "application/json", 100),
        ("ann", "labels", "multipart/form-data; boundary=x", 100),
        ("nobody", "files", "multipart/form-data; boundary=x", 50),
        ("ann", "files", "multipart/form-data; boundary=x", 300),
        ("ann", "files", "application/octet-stream", 300),
    ],
)
def test_body_has_a_limit_that_is_checked_before_it_is_read(
    who: str, address: str, kind: str, limit: int
) -> None:
    def view(_request: HttpRequest) -> HttpResponse:
        return HttpResponse()

    if address == "files":
        view.receives_files = lambda _user: 300  # type: ignore[attr-defined]
    for size in (limit, limit + 1):
        request = RequestFactory().generic("POST", "/api/v1/x", b"x" * size, content_type=kind)
        request.user = User(username=who) if who == "ann" else AnonymousUser()
        answer = BodyLimit(view).process_view(request, view, (), {})
        if size == limit:
            assert answer is None
            spools = isinstance(request.upload_handlers[0], TemporaryFileUploadHandler)
            assert spools is (who == "ann" and address == "files")
        else:
            assert isinstance(answer, HttpResponse)
            assert (answer.status_code, json.loads(answer.content)["error"]["code"]) == (413, "too_large")


@pytest.mark.django_db
def test_file_that_no_view_asked_for_is_skipped(client: Client, settings: Any) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = "/nowhere"
    sent = {"username": "ann", "password": "x", "file": io.BytesIO(b"x" * 1000)}
    assert client.post("/sign-in/", sent).status_code == 200


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


class Touch:
    """Unpickling it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_cache_takes_nothing_that_this_server_has_not_written(broker: Broker, tmp_path: Path) -> None:
    production = read_settings({"REDIS_URL": "unix:///nowhere", "TRISTEP_DATA_DIR": str(tmp_path)})
    options = {"OPTIONS": {"serializer": production["CACHES"]["default"]["OPTIONS"]["serializer"]}}
    cache = TolerantRedisCache(broker.url, options)
    for value in ({"a": [1.5, "κ", None]}, [1, 2.5], "<p>text</p>", 7, True):
        cache.set("written", value, 60)
        assert cache.get("written") == value
    assert cache.incr("counted") == 1 and cache.add("counted", 0, 60) and cache.incr("counted") == 1

    client = redis.Redis(unix_socket_path=str(broker.socket))
    assert [cache.count("requests", 60) for _ in range(3)] == [1, 2, 3]
    assert 0 < client.ttl(cache.make_key("requests")) <= 60
    trace = tmp_path / "trace"
    ours = bytes(client.get(cache.make_key("written")))  # type: ignore[arg-type]
    for forged in (pickle.dumps(Touch(trace)), b'"<b>theirs</b>"', b"0:1", ours[:-1] + b"2", b"\xff:\xff"):
        client.set(cache.make_key("written"), forged)
        assert cache.get("written", "a miss") == "a miss", forged
    assert not trace.exists()
    client.close()


@pytest.mark.django_db
def test_session_is_read_as_django_reads_it_and_not_once_it_has_expired() -> None:
    kept = SessionStore()
    kept["whose"] = "ann’s"
    kept.save()
    assert dict(SessionStore(kept.session_key).items()) == dict(DatabaseStore(kept.session_key).items())
    assert SessionStore(kept.session_key)["whose"] == "ann’s"
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    for key in (kept.session_key, "nobodys" * 5):
        gone = SessionStore(key)
        assert dict(gone.items()) == {} and gone.session_key is None


def test_cache_that_is_away_is_a_cache_that_misses() -> None:
    cache = TolerantRedisCache("unix:///nowhere/broker.sock", {})
    cache.set("a", 1, 60)
    assert cache.get("a", "default") == "default"
    assert cache.get_many(["a"]) == {}
    assert cache.add("a", 1) is True
    assert cache.delete("a") is False
    assert [cache.count("a", 60) for _ in range(2)] == [1, 1]
    assert caches["default"].get("a") is None
    alone = LocalCache("alone", {})
    assert [alone.count("a", 60) for _ in range(2)] == [1, 2]
