"""Judges as the second reader on an admin's overview: what is lacking, saved, and proved by an audit."""

from __future__ import annotations

import json

import pytest
from django.utils import timezone

from annotation.models import SecondPerson, SecondPersonFit, Trajectory
from annotation.policies import OPERATOR
from annotation.services import label_audits, projects
from tests import people
from tests.callers import PlainClient
from tests.people import Cast
from tests.services import auditing

OVERVIEW, PROGRESS = "/p/bench/", "/api/v1/projects/bench/progress/"


@pytest.fixture
def judged(cast: Cast) -> Cast:
    """Two trajectories that ann and ben have labelled alike, where judges are the second reader."""
    values = {"second_reader": "judges", "suggestion_policy": "never", "retest_percent": 0}
    projects.update_project(actor=OPERATOR, project=cast.project, values=values)
    people.import_records(cast.project, 2)
    people.make_unanimous(cast, 2)
    return cast


def shown(cast: Cast) -> str:
    return PlainClient(cast.admin).get(OVERVIEW).content.decode()


def test_overview_says_what_is_lacking_before_there_is_a_rule(judged: Cast) -> None:
    page = shown(judged)
    assert "Until 100 resolved trajectories are labelled by two people and by at least 3 judges" in page
    assert "So far: 2 trajectories, 0 judges." in page


def test_overview_says_what_is_saved_and_what_an_audit_proves(judged: Cast) -> None:
    now = timezone.now()
    fit = {"number": 100, "taught": [], "judges": [1], "rule": {}, "created_at": now}
    SecondPersonFit.objects.create(project=judged.project, **fit)
    for row, state in zip(Trajectory.objects.order_by("pk"), ("spared", "asked"), strict=True):
        SecondPerson.objects.create(
            project=judged.project, trajectory=row, state=state, doubt=0.1, decided_at=now
        )
    page = shown(judged)
    assert "1.50" in page and "first 100 trajectories" in page
    assert "With 95 % confidence" not in page
    saved = json.loads(PlainClient(judged.admin).get(PROGRESS).content)["second_reading"]
    assert (saved["spared"], saved["asked"], saved["labels_a_trajectory"]) == (1, 1, 1.5)

    dan = people.make_user("dan")
    people.make_member(judged.project, dan, "annotator")
    auditing.begin(judged)
    assert "With 95 % confidence" not in shown(judged), "nothing has come back"
    for reader in (judged.cleo, dan):
        for _ in range(2):
            auditing.read(reader, judged.project)
    label_audits.sweep()
    assert "at most 0.0\u00a0% of 4 steps have a wrong label." in shown(judged)


def test_overview_of_other_projects_says_nothing_of_it(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    assert "second-reader" not in shown(cast)
