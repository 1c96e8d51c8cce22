"""Passwords that everybody can read in the source end where others can reach the server."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command

from annotation.models import AuditEvent, User
from annotation.policies import OPERATOR
from annotation.services import accounts, projects

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def people() -> None:
    for name, password in (
        ("maya", "maya-demo"),
        ("tomas", "a phrase of his own"),
        ("stranger", "stranger-demo"),
    ):
        accounts.create_user(actor=OPERATOR, username=name, password=password, check_password=False)
    projects.create_project(actor=OPERATOR, name="Something", slug="something")


def see_to_them(*, known_passwords: bool) -> list[dict[str, str]]:
    answer = io.StringIO()
    call_command("demo", if_empty=True, json=True, known_passwords=known_passwords, stdout=answer)
    found: list[dict[str, str]] = json.loads(answer.getvalue())["accounts"]
    return found


def test_passwords_on_this_machine_alone_are_named_and_stay() -> None:
    assert see_to_them(known_passwords=True) == [
        {"username": "maya", "password": "maya-demo", "who": "annotator"},
    ]
    assert User.objects.get(username="maya").check_password("maya-demo")


def test_passwords_where_others_reach_the_server_are_replaced_and_shown_once() -> None:
    (account,) = see_to_them(known_passwords=False)
    maya = User.objects.get(username="maya")
    assert not maya.check_password("maya-demo")
    assert maya.check_password(account["password"])
    assert User.objects.get(username="tomas").check_password("a phrase of his own")
    assert User.objects.get(username="stranger").check_password("stranger-demo")
    assert AuditEvent.objects.filter(verb="account.password_replaced").count() == 1
    assert see_to_them(known_passwords=False) == []
