"""`demo`: no page of it may be empty."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Count

from annotation.models import Adjudication, Assignment, Judge, Project, Release, Trajectory, User

pytestmark = pytest.mark.django_db


def load(**options: bool) -> list[dict[str, str]]:
    out = StringIO()
    call_command("demo", json=True, stdout=out, **options)
    accounts: list[dict[str, str]] = json.loads(out.getvalue())["accounts"]
    return accounts


def test_demo_has_something_at_every_stage_of_the_line() -> None:
    load()
    project = Project.objects.get(slug="demo")
    states = dict(
        Trajectory.objects.filter(project=project, live=True)
        .order_by()
        .values_list("state")
        .annotate(Count("pk"))
    )
    assert states.keys() == {"labelling", "unanimous", "disputed", "adjudicated"}
    assert sum(states.values()) >= 24
    assert Trajectory.objects.filter(project=project, live=True, free_slots=2).count() >= 4
    assert Assignment.objects.filter(project=project, state="open").exists()
    assert Adjudication.objects.filter(project=project, state="decided").count() == 3
    judges = dict(Judge.objects.filter(project=project).values_list("name").annotate(Count("suggestions")))
    assert judges == {"Pebble 3B": 32, "Rowan Large": 32, "Vireo 2": 32}
    release = Release.objects.get(project=project)
    assert release.record_count == states["unanimous"] + states["adjudicated"]
    call_command("verify_release", "demo", release.version)


def test_demo_accounts_open_with_the_known_passwords() -> None:
    for account in load(known_passwords=True):
        assert account["password"] == f"{account['username']}-demo"
        assert User.objects.get(username=account["username"]).check_password(account["password"])


def test_demo_passwords_by_chance_are_not_guessable_from_the_name() -> None:
    accounts = load()
    assert {account["username"] for account in accounts} == {"admin", "maya", "tomas", "lin", "ines"}
    assert all(account["username"] not in account["password"] for account in accounts)
    assert len({account["password"] for account in accounts}) == len(accounts)


def test_demo_that_is_a_second_one_is_refused_and_changes_nothing() -> None:
    load()
    before = Trajectory.objects.count()
    with pytest.raises(CommandError, match="already"):
        load()
    assert Trajectory.objects.count() == before
    assert load(if_empty=True) == []
