"""`check --deploy` goes through the hardening list of docs/operations.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from django.db import connection

from annotation import checks
from annotation.models import User
from config import env as reading
from tests.servers import ROOT

FAR = "postgres://u:p@db.example.org/tristep"
WEAKNESSES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("W010", {"HTTPS": True, "PROXY_HOPS": 0}),
    ("W011", {"ALLOWED_HOSTS": ["*"]}),
    ("W013", {"DATABASES": {"default": reading.database(FAR, base=ROOT)}}),
    ("W014", {"REDIS_URL": "redis://redis:6379/0"}),
    ("W014", {"REDIS_URL": "redis://:secret@redis.example.org/0"}),
    ("W015", {"MAIL_ENABLED": True, **reading.email("smtp://a:b@mail.example.org")}),
    ("W016", {"JUDGE_URLS": ["http://judge.example.org/v1"]}),
    ("W017", {"AXES_FAILURE_LIMIT": 1000}),
)
SOUND: dict[str, Any] = {
    "HTTPS": True,
    "PROXY_HOPS": 1,
    "DATABASES": {"default": reading.database(f"{FAR}?sslmode=verify-full", base=ROOT)},
    "REDIS_URL": "rediss://:secret@redis.example.org/0",
    "MAIL_ENABLED": True,
    **reading.email("smtp://a:b@mail.example.org?starttls=1"),
    "JUDGE_URLS": ["https://judge.example.org/v1", "http://127.0.0.1:8001/v1", "http://judge:8000/v1"],
}


def found(settings: Any, changes: dict[str, Any]) -> list[str]:
    """The identifiers of our own list that these settings bring up."""
    # as a change of the settings, DATABASES alone would touch the connections
    databases = changes.pop("DATABASES", None)
    for name, value in changes.items():
        setattr(settings, name, value)
    with pytest.MonkeyPatch.context() as patch:
        if databases:
            patch.setitem(settings.DATABASES, "default", databases["default"])
        return [str(message.id).removeprefix("annotation.") for message in checks.hardened(None)]


@pytest.mark.parametrize(("name", "changes"), WEAKNESSES)
def test_check_finds_the_weakness(settings: Any, name: str, changes: dict[str, Any]) -> None:
    assert found(settings, dict(changes)) == [name]


def test_check_finds_nothing_where_all_is_sound(settings: Any) -> None:
    assert found(settings, dict(SOUND)) == []


def test_check_finds_a_secret_key_that_others_can_read(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "secret.key").touch(0o644)
    tmp_path.chmod(0o700)
    assert found(settings, {}) == ["W012"]


@pytest.mark.django_db
def test_check_asks_the_database_for_well_known_passwords_and_the_owner() -> None:
    def ids() -> set[str]:
        messages = run_checks(databases=["default"], include_deployment_checks=True)
        return {
            str(message.id)
            for message in messages
            if str(message.id) in {"annotation.W018", "annotation.W019"}
        }

    # in the tests the role that made the tables also uses them
    owner = {"annotation.W019"} if connection.vendor == "postgresql" else set()
    assert ids() == owner
    User.objects.create_user("maya", password="maya-demo")
    assert ids() == {"annotation.W018"} | owner


def test_check_and_the_list_in_the_documents_name_the_same() -> None:
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8").partition("## Hardening")[2]
    listed = set(re.findall(r"`(annotation\.[EW]\d+)`", text))
    source = Path(checks.__file__).read_text(encoding="utf-8")
    assert listed == set(re.findall(r'"(annotation\.[EW]\d+)"', source))


def test_check_finds_keys_in_files_of_one_machine(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    tmp_path.chmod(0o700)
    (tmp_path / "secret.key").touch(0o600)
    assert found(settings, {}) == []
    settings.STORAGES = {**settings.STORAGES, "default": {"BACKEND": "config.bucket.storage.Bucket"}}
    assert found(settings, {}) == ["W020"]
