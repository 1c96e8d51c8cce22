"""The home page: what is waiting for me, by role."""

from __future__ import annotations

import re

import pytest
from django.core.cache import cache
from django.utils import timezone

from annotation.core.vocabulary import TrajectoryState
from annotation.models import Assignment, Project, Trajectory
from annotation.policies import OPERATOR, withheld
from annotation.reports.work import my_progress, trajectory_counts
from annotation.reports.work.progress import progress
from annotation.services import projects
from annotation.services.shares import limits
from config.cache import SignedJSON
from tests import people


def test_annotator_continues_and_claims(browse, cast, at, text):
    people.import_records(cast.project, 3)
    open_one = people.claim(cast.ann, cast.project)
    page = text(browse("ann").get(at("home")))
    assert at("workbench", open_one.pk) in page
    assert "0 of 2 labelled" in page
    assert "Continue labelling" in page
    assert "Label another one" in page


def test_number_of_many_trajectories_is_remembered_and_never_less_than_was_done(cast, monkeypatch):
    monkeypatch.setattr(trajectory_counts, "MANY", 1)
    people.import_records(cast.project, 2)

    def counted() -> tuple[int, int]:
        work = my_progress.own_work(cast.ann, [cast.project.pk])[cast.project.pk]
        return work.done, work.total

    assert counted() == (0, 2)
    people.import_records(cast.project, 1, subset="more")
    assert counted() == (0, 2)
    for _ in range(3):
        people.label_next(cast.ann, cast.project)
    assert counted() == (3, 3)


def test_states_of_many_trajectories_are_remembered_for_pages_and_none_is_negative(cast, monkeypatch):
    monkeypatch.setattr(trajectory_counts, "MANY", 1)
    # as Redis keeps what it is given, and nothing else
    keep, serializer = cache.set, SignedJSON()
    monkeypatch.setattr(
        cache, "set", lambda key, value, *how: keep(key, serializer.loads(serializer.dumps(value)), *how)
    )
    people.import_records(cast.project, 2)

    def counted(now: bool) -> dict[str, int]:
        by_state = progress(actor=OPERATOR, project=cast.project, now=now).all.by_state
        return {state: n for state, n in by_state.items() if n}

    assert counted(now=False) == {"untouched": 2}
    people.claim(cast.ann, cast.project)
    people.import_records(cast.project, 3, subset="more")
    assert counted(now=True) == {"labelling": 1, "untouched": 4}
    # the one that ann holds is taken from where it was not when all were counted
    assert counted(now=False) == {"labelling": 1, "untouched": 2}


def test_annotator_is_told_when_nothing_is_left(browse, cast, at, text):
    people.import_records(cast.project, 1)
    people.label_next(cast.ann, cast.project)
    page = text(browse("ann").get(at("home")))
    assert "Nothing is left for you to label" in page
    assert "Label the next one" not in page
    assert "1 of 1 submitted by you" in page


def test_adjudicator_sees_disputes_and_own_cases(browse, cast, at, text):
    people.import_records(cast.project, 2)
    people.make_disputed(cast, 2)
    case = people.open_case(cast.judith, Trajectory.objects.filter(state=TrajectoryState.DISPUTED).first())
    page = text(browse("judith").get(at("home")))
    assert "1 dispute is waiting" in page
    assert at("adjudication", case.pk) in page


def test_admin_sees_progress_and_imports_under_way(browse, cast, at, text):

    people.import_records(cast.project, 2)
    people.make_unanimous(cast)
    records = people.jsonl(people.make_records(1))
    waiting = people.receive(cast.project, records, actor=cast.admin, subset="more")
    page = text(browse("admin").get(at("home")))
    assert "1 of 2 trajectories resolved" in page
    assert at("import-detail", "bench", waiting.pk) in page


def test_home_of_an_admin_says_what_waits_in_each_project_and_those_with_something_first(
    browse, cast, at, text
):
    people.import_records(cast.project, 3)
    people.make_disputed(cast)
    claim = people.claim(cast.cleo, cast.project)
    Assignment.objects.filter(pk=claim.pk).update(warned_at=timezone.now())
    projects.create_project(actor=OPERATOR, name="A quiet one", slug="a-quiet-one")
    people.make_member(Project.objects.get(slug="a-quiet-one"), cast.admin, "admin")
    page = text(browse("admin").get(at("home")))
    assert "1 dispute is waiting for an adjudicator." in page and at("adjudication-queue", "bench") in page
    assert "1 claim is unused and ends soon." in page and at("claims", "bench") in page
    assert "4 left to label" in page
    assert page.index("Project bench") < page.index("A quiet one")


def test_home_lists_the_roles_held_in_one_order(browse, cast, at):
    people.make_member(cast.project, cast.oscar, "admin", "adjudicator", "annotator")
    page = browse("oscar").get(at("home")).content.decode()
    assert re.findall(r'class="badge">(\w+)<', page) == ["annotator", "adjudicator", "admin"]


def test_home_that_is_empty_says_what_to_do(browse, at, text):
    assert "Ask a project" in text(browse("oscar").get(at("home")))
    assert "Import trajectories" in text(browse("admin").get(at("home")))


@pytest.mark.parametrize("who", ["ann", "ben", "judith"])
def test_home_counts_by_state_for_admins_alone(browse, cast, at, text, who):
    people.import_records(cast.project, 2)
    people.make_disputed(cast)
    page = text(browse(who).get(at("home")))
    assert "trajectories resolved" not in page
    assert ("dispute is waiting" in page) == (who == "judith")


def test_trajectory_one_labelled_oneself_is_no_dispute_for_one(browse, cast, at, text):
    people.make_member(cast.project, cast.ann, "annotator", "adjudicator")
    people.import_records(cast.project, 1)
    people.make_disputed(cast)
    assert "No dispute is waiting." in text(browse("ann").get(at("home")))


def test_who_is_away_or_at_their_quota_is_told_so_and_offered_no_claim(browse, cast, at, text):
    people.import_records(cast.project, 2)
    pages = (at("home"), at("work", "bench"), at("project", "bench"))
    ann = browse("ann")
    assert all("Label the next one" in text(ann.get(page)) for page in pages)
    member = cast.project.memberships.get(user=cast.ann)
    change = {"actor": cast.admin, "membership": member}
    day = withheld.today(cast.ann)
    limits.set_limits(**change, quotas={cast.project.subsets.get(): 0})
    for reason in ("as many trajectories as are meant for you", f"away until {day}"):
        for page in pages:
            shown = text(ann.get(page))
            assert shown.count(reason) == 1 and "Label the next one" not in shown, page
            assert "Nothing is left" not in shown, page
        limits.set_limits(**change, days_away=[(day, day)])
