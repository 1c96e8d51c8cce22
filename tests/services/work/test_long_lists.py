"""Counts that read an index and lists that pass by nothing closed say what reading every row says."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.core.vocabulary import AssignmentState
from annotation.models import Assignment, Project, Trajectory
from annotation.policies.rechecks import not_closed, own_not_closed
from annotation.reports.cases import disputes
from annotation.reports.work import my_progress, trajectory_list
from tests import people
from tests.people import Cast

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def _waiting_as_rows_say(cast: Cast) -> None:
    projects = [cast.project.pk]
    rows = set(disputes.untaken(projects).values_list("pk", flat=True))
    assert set(disputes.waiting(projects).values_list("pk", flat=True)) == rows
    for user in (cast.judith, cast.ann, cast.cleo):
        mine = set(disputes.to_decide(user, projects).values_list("pk", flat=True))
        assert set(disputes.waiting_to_decide(user, projects).values_list("pk", flat=True)) == mine


def test_waiting_disputes_are_those_without_a_case(cast: Cast) -> None:
    people.import_records(cast.project, 5)
    people.make_unanimous(cast)
    people.make_disputed(cast, 3)
    first, second, _ = Trajectory.objects.filter(project=cast.project, state="disputed").order_by("pk")
    _waiting_as_rows_say(cast)
    assert disputes.waiting([cast.project.pk]).count() == 3
    case = people.open_case(cast.judith, first)
    _waiting_as_rows_say(cast)
    assert disputes.waiting([cast.project.pk]).count() == 2
    people.decide_all(case)
    people.make_adjudicated(cast, second)
    _waiting_as_rows_say(cast)
    assert disputes.waiting([cast.project.pk]).count() == 1


@pytest.mark.parametrize("retest", [0, 100])
def test_what_is_submitted_and_still_open_is_what_is_not_closed(cast: Cast, retest: int) -> None:
    people.import_records(cast.project, 6)
    people.make_unanimous(cast, 2)
    people.make_disputed(cast)
    people.label_all(people.claim(cast.ann, cast.project))
    people.claim(cast.ann, cast.project)
    Project.objects.filter(pk=cast.project.pk).update(retest_percent=retest, retest_days=7)
    project = Project.objects.get(pk=cast.project.pk)
    old = Assignment.objects.filter(state=AssignmentState.SUBMITTED).order_by("pk")
    for number, one in enumerate(old):
        if number % 3:
            at = timezone.now() - timedelta(days=30)
            Assignment.objects.filter(pk=one.pk).update(submitted_at=at)
    for user in (cast.ann, cast.ben):
        submitted = Assignment.stored.filter(project=project, annotator=user, state=AssignmentState.SUBMITTED)
        told = set(not_closed(project, submitted).values_list("pk", flat=True))
        assert set(own_not_closed(project, user).values_list("pk", flat=True)) == told
        assert (len(told) < submitted.count()) == bool(retest)


def test_subsets_of_ones_work_and_policy_models_are_named_once(cast: Cast) -> None:
    for subset, model in (("b", "two"), ("a", "one"), ("c", "two")):
        records = people.make_records(2, policy_model=model)
        people.import_records(cast.project, records, subset=subset)
    Trajectory.objects.filter(subset__name="c").update(policy_model="")
    assert my_progress.own_subsets(cast.ann, cast.project) == ["a", "b", "c"]
    named = set(Trajectory.objects.filter(live=True).values_list("policy_model", flat=True))
    assert trajectory_list.policy_models(cast.project) == sorted(named)
    assert trajectory_list.policy_models(people.make_project("empty")) == []
