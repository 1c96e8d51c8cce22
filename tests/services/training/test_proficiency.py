"""Proficiency tests: what they need, how they are sat, and what comes of an attempt."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation import models as m
from annotation.core.errors import Conflict, Denied, Invalid, StaleState
from annotation.core.vocabulary import AttemptState
from annotation.models import (
    Assignment,
    AuditEvent,
    Exposure,
    ProficiencyTest,
    Subset,
    Trajectory,
    User,
)
from annotation.policies import OPERATOR, field_access
from annotation.reports.training import proficiency as report
from annotation.reports.work.workbench import workbench
from annotation.services import assign, label, proficiency, projects, training
from tests import people
from tests.people import Cast
from tests.services.keyed import KEYS, keyed_items

pytestmark = pytest.mark.django_db

TEN = [KEYS[at % 4] for at in range(10)]
MARKS = {"agreement": 0.8, "error_recall": 0.7, "first_error": 0.6}


@pytest.fixture
def items(cast: Cast) -> list[Trajectory]:
    return keyed_items(cast.project, TEN, subset="exam")


def make(cast: Cast, items: list[Trajectory], **settings: Any) -> ProficiencyTest:
    told = {**MARKS, "wait_hours": 24, "attempts": 2, **settings}
    return proficiency.make_test(actor=cast.admin, project=cast.project, trajectories=items, **told)


def sit(user: User, test: ProficiencyTest, *, well: bool) -> m.TestAttempt:
    """Sit a whole attempt: as the keys say, or always +1."""
    attempt = proficiency.begin_attempt(actor=user, test=test)
    for _ in range(attempt.turns.count()):
        assignment = people.claim(user, test.project)
        key = report.key_values([assignment.trajectory])[assignment.trajectory_id]
        values = [value if well else 1 for index, value in key.items() if index is not None]
        people.label_all(assignment, values, outcome=key[None] if well else 1)
        label.submit(actor=user, assignment=assignment)
    attempt.refresh_from_db()
    return attempt


def test_test_opens_the_subsets_that_ask_for_it(cast: Cast, items: list[Trajectory]) -> None:
    people.import_records(cast.project, 2)
    test = make(cast, items)
    subset = Subset.objects.get(project=cast.project, name="tiny")
    proficiency.require_test(actor=cast.admin, subset=subset, test=test)
    with pytest.raises(Conflict, match="Pass test 1 first") as refused:
        people.claim(cast.ann, cast.project)
    assert refused.value.code == "test_needed"
    with pytest.raises(Conflict):
        assign.claim_this(actor=cast.ann, trajectory=Trajectory.objects.filter(live=True)[0])
    failed = sit(cast.ann, test, well=False)
    assert failed.state == AttemptState.FAILED
    assert (failed.agreement, failed.error_recall, failed.first_error) == (0.6, 0.0, 0.0)
    with pytest.raises(Conflict, match="Pass test 1 first"):
        people.claim(cast.ann, cast.project)
    assert sit(cast.ben, test, well=True).state == AttemptState.PASSED
    assert people.claim(cast.ben, cast.project).trajectory.live
    proficiency.require_test(actor=cast.admin, subset=subset, test=None)
    assert people.claim(cast.ann, cast.project).trajectory.live


def test_attempts_and_waiting_time_are_kept(cast: Cast, items: list[Trajectory]) -> None:
    test = make(cast, items)
    first = sit(cast.ann, test, well=False)
    stands = report.standing(cast.ann, test)
    assert (stands.state, stands.left) == ("waiting", 1)
    with pytest.raises(Conflict, match="possible later"):
        proficiency.begin_attempt(actor=cast.ann, test=test)
    m.TestAttempt.objects.filter(pk=first.pk).update(ended_at=timezone.now() - timedelta(hours=25))
    assert report.standing(cast.ann, test).state == "ready"
    second = sit(cast.ann, test, well=False)
    assert report.standing(cast.ann, test).state == "used_up"
    with pytest.raises(Conflict, match="no attempt left"):
        proficiency.begin_attempt(actor=cast.ann, test=test)
    for who in (cast.ann, cast.judith):
        with pytest.raises(Denied):
            proficiency.grant_attempt(actor=who, attempt=second)
    proficiency.grant_attempt(actor=cast.admin, attempt=second)
    assert report.standing(cast.ann, test).state == "ready"
    third = sit(cast.ann, test, well=True)
    assert (third.number, third.state) == (3, AttemptState.PASSED)
    with pytest.raises(Conflict, match="have passed"):
        proficiency.begin_attempt(actor=cast.ann, test=test)
    with pytest.raises(Conflict, match="Only a failed"):
        proficiency.grant_attempt(actor=cast.admin, attempt=third)
    verbs = AuditEvent.objects.filter(verb__startswith="test.").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == [
        "test.make",
        *["test.begin", "test.end"] * 2,
        "test.grant",
        "test.begin",
        "test.end",
    ]


def test_attempt_is_the_same_however_often_it_is_begun(cast: Cast, items: list[Trajectory]) -> None:
    test = make(cast, items)
    attempt = proficiency.begin_attempt(actor=cast.ann, test=test)
    assert proficiency.begin_attempt(actor=cast.ann, test=test) == attempt
    claimed = people.claim(cast.ann, cast.project)
    assert people.claim(cast.ann, cast.project) == claimed
    assign.return_assignment(actor=cast.ann, assignment=claimed, reason="A break.")
    with pytest.raises(StaleState, match="in their turn"):
        assign.resume_assignment(actor=cast.ann, assignment=claimed)
    assert people.claim(cast.ann, cast.project) == claimed
    second = m.TestAttempt(test=test, annotator=cast.ann, number=2, begun_at=timezone.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        second.save()


def test_test_is_blind_and_final(cast: Cast, items: list[Trajectory]) -> None:
    projects.update_project(
        actor=OPERATOR,
        project=cast.project,
        values={"carry_forward": True, "suggestion_policy": "always"},
    )
    test = make(cast, items)
    attempt = proficiency.begin_attempt(actor=cast.ann, test=test)
    claimed = people.claim(cast.ann, cast.project)
    mine = Assignment.stored.select_related("project", "annotator", "recheck", "trajectory__subset").get(
        pk=claimed.pk
    )
    bench = workbench(actor=cast.ann, assignment=mine)
    assert bench.state["rules"]["carry_forward"] is False
    assert field_access(cast.ann, claimed.trajectory).suggestions == "never"
    with pytest.raises(Denied, match="tutorial only"):
        training.give_feedback(actor=cast.ann, assignment=claimed)
    answer = label.save_labels(
        actor=cast.ann, assignment=claimed, op_id=people.op_id(), changes=[people.change(2, 1)]
    )
    assert "key" not in str(answer)
    with pytest.raises(Denied, match="once the attempt is over"):
        report.result(viewer=cast.ann, attempt=attempt)
    with pytest.raises(Denied):
        report.result(viewer=cast.ben, attempt=attempt)


def test_result_says_where_one_differed(cast: Cast, items: list[Trajectory]) -> None:
    attempt = sit(cast.ann, make(cast, items), well=False)
    found = report.result(viewer=cast.ann, attempt=attempt)
    wrong = {row.trajectory.pk: [(one.number, one.own, one.key) for one in row.differences] for row in found}
    by_key = {(1, 1): [], (1, -1): [(2, 1, -1), (None, 1, -1)]}
    by_key[-1, -1] = [(1, 1, -1), *by_key[1, -1]]
    assert wrong == {item.pk: by_key[tuple(key)] for item, key in zip(items, TEN, strict=True)}
    assert {row.pk for row in items} <= set(
        Exposure.objects.filter(user=cast.ann).values_list("trajectory", flat=True)
    )


def test_leaving_stops_the_attempt(cast: Cast, items: list[Trajectory]) -> None:
    test = make(cast, items)
    attempt = proficiency.begin_attempt(actor=cast.ann, test=test)
    people.claim(cast.ann, cast.project)
    people.leave(cast.project, cast.ann)
    attempt.refresh_from_db()
    assert attempt.state == AttemptState.STOPPED
    people.make_member(cast.project, cast.ann, "annotator")
    assert report.standing(cast.ann, test).state == "ready"
    again = proficiency.begin_attempt(actor=cast.ann, test=test)
    claimed = people.claim(cast.ann, cast.project)
    proficiency.stop_attempt(actor=cast.admin, attempt=again)
    assert not Assignment.stored.filter(pk=claimed.pk, state="open").exists()
    with pytest.raises(Conflict, match="is over"):
        proficiency.stop_attempt(actor=cast.admin, attempt=again)
    assert report.standing(cast.ann, test).left == 2


def test_new_guidelines_ask_for_the_test_again(cast: Cast, items: list[Trajectory]) -> None:
    people.import_records(cast.project, 2)
    test = make(cast, items, each_guideline=True, attempts=1)
    proficiency.require_test(actor=cast.admin, subset=Subset.objects.get(name="tiny"), test=test)
    sit(cast.ann, test, well=True)
    people.claim(cast.ann, cast.project)
    projects.write_guidelines(actor=cast.admin, project=cast.project, text="Judge each step anew.")
    with pytest.raises(Conflict, match="Pass test 1 first"):
        people.claim(cast.ann, cast.project)
    assert report.standing(cast.ann, test).state == "ready"
    sit(cast.ann, test, well=True)
    assert people.claim(cast.ann, cast.project).trajectory.live


def test_later_attempt_draws_what_was_not_met(cast: Cast) -> None:
    pool = keyed_items(cast.project, [KEYS[at % 4] for at in range(20)], subset="exam")
    test = make(cast, pool, per_attempt=10, wait_hours=0)
    drawn = [
        set(sit(cast.ann, test, well=False).turns.values_list("trajectory", flat=True)) for _ in range(2)
    ]
    assert [len(one) for one in drawn] == [10, 10]
    assert not drawn[0] & drawn[1]


def test_bad_tests_are_refused_in_one_sentence(cast: Cast, items: list[Trajectory]) -> None:
    def refused(match: str, rows: list[Trajectory] = items, **settings: Any) -> None:
        with pytest.raises((Invalid, Conflict), match=match):
            make(cast, rows, **settings)

    refused("at least 10 items; these are 9", items[:9])
    refused("at least one of the three", agreement=None, error_recall=None, first_error=None)
    refused("no more than the test", per_attempt=11)
    spotless = keyed_items(cast.project, [(1, 1)] * 10, subset="spotless")
    refused("Nobody can reach the share of errors found", spotless)
    make(cast, spotless, error_recall=None, first_error=None)
    training.set_tutorial(actor=OPERATOR, project=cast.project, trajectories=items[:1])
    refused("is in the tutorial")
    training.set_tutorial(actor=OPERATOR, project=cast.project, trajectories=[])
    items[3].key_labels.all()[0].delete()
    refused("no whole key")
    for who in (cast.ann, cast.judith, cast.oscar):
        with pytest.raises(Denied):
            proficiency.make_test(actor=who, project=cast.project, trajectories=items, **MARKS)


def test_begun_test_keeps_its_items_and_marks(cast: Cast, items: list[Trajectory]) -> None:
    test = make(cast, items)
    proficiency.change_test(actor=cast.admin, test=test, agreement=0.9)
    proficiency.begin_attempt(actor=cast.ann, test=test)
    for change in ({"agreement": 0.5}, {"trajectories": items[::-1]}):
        with pytest.raises(Conflict, match="Somebody has begun"):
            proficiency.change_test(actor=cast.admin, test=test, **change)
    assert proficiency.change_test(actor=cast.admin, test=test, attempts=5).attempts == 5


def test_tutorial_comes_before_a_test(cast: Cast, items: list[Trajectory]) -> None:
    test = make(cast, items)
    (lesson,) = keyed_items(cast.project, KEYS[:1])
    training.set_tutorial(actor=OPERATOR, project=cast.project, trajectories=[lesson])
    with pytest.raises(Conflict, match="tutorial first"):
        proficiency.begin_attempt(actor=cast.ann, test=test)
    people.label_next(cast.ann, cast.project)
    proficiency.begin_attempt(actor=cast.ann, test=test)
