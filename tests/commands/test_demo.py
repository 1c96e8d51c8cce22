"""`demo`: no page of it may be empty."""

import json
import subprocess
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Count

from annotation.models import Adjudication, Assignment, Judge, Project, Release, Trajectory, User
from config.prepare import prepare
from tests.servers import ROOT

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
    assert Adjudication.objects.filter(project=project, state="decided").count() == 4
    judges = dict(Judge.objects.filter(project=project).values_list("name").annotate(Count("suggestions")))
    assert judges == {"Pebble 3B": 68, "Rowan Large": 68, "Vireo 2": 68}
    second, first = Release.objects.filter(project=project).order_by("-number")
    assert second.record_count == states["unanimous"] + states["adjudicated"] == first.record_count + 1
    assert first.withdrawal.reason and not hasattr(second, "withdrawal")
    labels = [
        dict(release.labels.filter(message_index=None).values_list("record__record_id", "value"))
        for release in (first, second)
    ]
    changed = {one for one in labels[0] if labels[0][one] != labels[1][one]}
    assert changed == {"demo_multihop:2:1"} and labels[1].keys() - labels[0].keys() == {"demo_web:0:2"}
    for release in (first, second):
        assert release.prediction_sets.count() == 4
        call_command("verify_release", "demo", release.version)

    decisions = Project.objects.get(slug="demo-next-actions")
    states = dict(decisions.trajectories.order_by().values_list("state").annotate(Count("pk")))
    assert decisions.kind == "decisions"
    assert states == {"labelling": 1, "unanimous": 5, "disputed": 1, "adjudicated": 1}
    assert decisions.releases.get().record_count == 6
    assert decisions.releases.get().prediction_sets.count() == 2
    call_command("verify_release", decisions.slug, "0.1")


@pytest.mark.once
def test_demo_accounts_open_with_the_known_passwords() -> None:
    for account in load(known_passwords=True):
        assert account["password"] == f"{account['username']}-demo"
        assert User.objects.get(username=account["username"]).check_password(account["password"])


@pytest.mark.once
def test_demo_passwords_are_by_chance_and_a_second_demo_is_refused_and_changes_nothing() -> None:
    accounts = load()
    assert {account["username"] for account in accounts} == {"admin", "maya", "tomas", "lin", "ines"}
    assert all(account["username"] not in account["password"] for account in accounts)
    assert len({account["password"] for account in accounts}) == len(accounts)
    before = Trajectory.objects.count()
    with pytest.raises(CommandError, match="already"):
        load()
    assert Trajectory.objects.count() == before
    assert load(if_empty=True) == []


@pytest.mark.once
def test_demo_is_left_out_when_asked_and_an_administrator_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def call(name: str, **options: Any) -> None:
        asked.append(name)
        if name not in ("migrate", "collectstatic"):
            call_command(name, **options)

    monkeypatch.setattr("django.core.management.call_command", call)
    (admin,) = prepare(known_passwords=True, demo=False)
    assert "demo" in asked
    assert not Project.objects.exists()
    assert User.objects.get().check_password(admin["password"])
    assert User.objects.get().is_superuser
    # a second start makes nobody anew
    assert prepare(known_passwords=True, demo=False) == []
    assert User.objects.count() == 1


def test_make_run_passes_on_that_there_is_to_be_no_demo() -> None:
    for asked, told in (("0", True), ("1", False)):
        command = ["make", "--dry-run", "--no-print-directory", "run", f"DEMO={asked}"]
        said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        assert ("--no-demo" in said.splitlines()[-1]) is told
