"""Rechecks: whom they are given to, and what they may do with them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.core.errors import Conflict, StaleState
from annotation.core.vocabulary import AssignmentState, ExposureKind, RecheckKind
from annotation.models import Assignment, Label, Membership, Recheck, Stratum, Trajectory
from annotation.policies import OPERATOR
from annotation.reports.cases import home
from annotation.services import assign, claim_expiry, exposures, label, projects, rechecks
from tests import people
from tests.callers import signed_in
from tests.people import Cast
from tests.services.long_writes import import_labels
from tests.services.rechecking import a_while_ago, everything_is_rechecked, relabel, resolved, waiting


# ── Who is asked ──────────────────────────
def test_a_third_person_is_one_who_has_not_labelled_it(third: Cast, third_due: Trajectory) -> None:
    assert [one.annotator for one in waiting(RecheckKind.THIRD)] == [third.cleo]
    claimed = people.claim(third.cleo, third.project)

    assert (claimed.trajectory_id, claimed.slot) == (third_due.pk, None)
    for other in (third.ann, third.ben):
        with pytest.raises(Conflict):
            people.claim(other, third.project)


@pytest.mark.parametrize("kind", list(ExposureKind))
def test_a_third_person_who_has_seen_anything_of_it_meanwhile_is_not_given_it(
    third: Cast, third_due: Trajectory, kind: ExposureKind
) -> None:
    exposures.expose(user=third.cleo, trajectory=third_due, kind=kind)

    with pytest.raises(Conflict):
        people.claim(third.cleo, third.project)

    rechecks.sweep(now=timezone.now() + timedelta(hours=2))
    assert [one.annotator for one in waiting(RecheckKind.THIRD)] == [None]


@pytest.mark.postgres
def test_a_third_person_who_does_not_come_is_followed_by_another(third: Cast, third_due: Trajectory) -> None:
    dora = people.make_user("dora")
    people.make_member(third.project, dora, "annotator")

    rechecks.sweep(now=timezone.now() + timedelta(days=6))
    assert [one.annotator for one in waiting(RecheckKind.THIRD)] == [third.cleo]
    rechecks.sweep(now=timezone.now() + timedelta(days=8))

    assert [one.annotator for one in waiting(RecheckKind.THIRD)] == [dora]


def test_a_third_person_is_found_when_one_joins(third: Cast) -> None:
    projects.remove_member(
        actor=third.admin, membership=Membership.objects.get(user=third.cleo, project=third.project)
    )
    resolved(third)
    assert [one.annotator for one in waiting(RecheckKind.THIRD)] == [None]
    people.make_member(third.project, third.oscar, "annotator")

    rechecks.sweep(now=timezone.now() + timedelta(hours=2))

    assert [one.annotator for one in waiting(RecheckKind.THIRD)] == [third.oscar]


def test_an_adjudicator_of_a_trajectory_is_never_its_third_person(cast: Cast) -> None:
    everything_is_rechecked(cast.project)
    projects.set_roles(
        actor=cast.admin,
        membership=Membership.objects.get(user=cast.judith, project=cast.project),
        is_annotator=True,
        is_adjudicator=True,
        is_admin=False,
    )
    (row,) = people.import_records(cast.project, 1)
    people.make_disputed(cast)
    people.make_adjudicated(cast, row)

    rechecks.sweep()

    (one,) = waiting(RecheckKind.THIRD)
    assert one.annotator == cast.cleo
    assert Stratum.objects.get().origin == "adjudicated"


@pytest.mark.parametrize("role", ["is_adjudicator", "is_admin"])
def test_a_third_look_goes_to_nobody_whose_role_tells_what_is_resolved(
    third: Cast, third_due: Trajectory, role: str
) -> None:
    assert [one.annotator for one in waiting(RecheckKind.THIRD)] == [third.cleo]
    mine = Membership.objects.filter(user=third.cleo, project=third.project)
    mine.update(**{role: True})

    with pytest.raises(Conflict):
        people.claim(third.cleo, third.project)
    assert not home.can_claim(third.cleo, third.project)
    rechecks.sweep(now=timezone.now() + timedelta(hours=2))
    assert [one.annotator for one in waiting(RecheckKind.THIRD)] == [None]

    mine.update(**{role: False})
    rechecks.sweep(now=timezone.now() + timedelta(hours=4))
    assert people.claim(third.cleo, third.project).recheck_id is not None


def test_a_retest_is_not_asked_of_admins_whose_lists_tell_what_is_resolved(retest: Cast) -> None:
    Membership.objects.filter(user=retest.ann).update(is_admin=True)
    resolved(retest)
    assert [one.annotator for one in waiting(RecheckKind.RETEST)] == [retest.ben]
    Membership.objects.filter(user=retest.ben).update(is_admin=True)

    with pytest.raises(Conflict):
        people.claim(retest.ben, retest.project)
    Membership.objects.filter(user=retest.ben).update(is_admin=False, is_adjudicator=True)
    assert people.claim(retest.ben, retest.project).recheck_id is not None


def test_a_retest_comes_to_the_same_annotator_after_a_week_and_not_before(
    retest: Cast, retest_due: Trajectory
) -> None:
    assert {one.annotator for one in waiting(RecheckKind.RETEST)} == {retest.ann, retest.ben}
    Recheck.objects.filter(annotator=retest.ben).update(due_at=timezone.now() + timedelta(minutes=1))

    again = people.claim(retest.ann, retest.project)

    assert (again.trajectory_id, again.annotator) == (retest_due.pk, retest.ann)
    assert not Label.stored.filter(assignment=again).exists()
    with pytest.raises(Conflict):
        people.claim(retest.ben, retest.project)


def test_a_retest_is_not_asked_of_who_has_seen_suggestions_for_it(retest: Cast) -> None:
    (row,) = people.import_records(retest.project, 1)
    people.make_unanimous(retest)
    exposures.expose(user=retest.ann, trajectory=row, kind=ExposureKind.SUGGESTION)

    rechecks.sweep()

    assert [one.annotator for one in waiting(RecheckKind.RETEST)] == [retest.ben]


def test_what_is_drawn_is_drawn_once_however_often_workers_look(third: Cast) -> None:
    resolved(third, 3)

    assert rechecks.sweep() == 0
    assert len(waiting(RecheckKind.THIRD)) == 3
    assert [one.considered for one in Stratum.objects.all()] == [3]


def test_a_project_that_asks_for_none_has_none(cast: Cast) -> None:
    everything_is_rechecked(cast.project, third=0)

    resolved(cast, 3)

    assert not Recheck.objects.exists()


# ── One's own work ────────────────────────
def test_rechecks_come_between_others_and_not_in_a_row(third: Cast) -> None:
    projects.update_project(
        actor=OPERATOR, project=third.project, values={"recheck_percent": 20, "retest_percent": 0}
    )
    third.project.refresh_from_db()
    rows = people.import_records(third.project, 60)
    for who in ("ann", "ben"):
        import_labels(third, rows[:30], who)
    rechecks.sweep()
    waits = len(waiting(RecheckKind.THIRD))

    kinds = [people.claim(third.cleo, third.project).recheck_id is not None for _ in range(30)]

    assert 4 <= waits <= 8
    assert 2 <= sum(kinds) <= waits
    assert not all(kinds[: sum(kinds)])


def test_rechecks_are_given_when_nothing_else_is_left_and_told_of_before(third: Cast) -> None:
    assert not home.can_claim(third.cleo, third.project)
    resolved(third, 2)

    assert home.can_claim(third.cleo, third.project)
    for _ in range(2):
        relabel(third.cleo, third.project)
    assert not home.can_claim(third.cleo, third.project)


def test_a_recheck_counts_for_the_claim_limit(third: Cast) -> None:
    resolved(third, 2)
    projects.update_project(actor=OPERATOR, project=third.project, values={"claim_limit": 1})
    people.claim(third.cleo, third.project)

    with pytest.raises(Conflict) as refusal:
        people.claim(third.cleo, third.project)

    assert refusal.value.code == "claim_limit"


@pytest.mark.postgres
def test_a_recheck_that_is_given_back_can_be_taken_up_and_is_not_offered_again(
    third: Cast, third_due: Trajectory
) -> None:
    claimed = people.claim(third.cleo, third.project)
    people.label_all(claimed, -1)
    free = third_due.free_slots

    assign.return_assignment(actor=third.cleo, assignment=claimed, reason="Later.")

    with pytest.raises(Conflict):
        people.claim(third.cleo, third.project)
    third_due.refresh_from_db()
    assert third_due.free_slots == free - 2  # both places taken, as before
    again = assign.resume_assignment(actor=third.cleo, assignment=claimed)
    assert (again.pk, again.state) == (claimed.pk, AssignmentState.OPEN)
    assert Label.stored.filter(assignment=again, value=-1).count() == 2


def test_a_recheck_that_is_given_back_goes_to_another_and_is_lost_to_the_first(
    third: Cast, third_due: Trajectory
) -> None:
    dora = people.make_user("dora")
    people.make_member(third.project, dora, "annotator")
    claimed = people.claim(third.cleo, third.project)
    assign.return_assignment(actor=third.cleo, assignment=claimed, reason="Later.")

    people.claim(dora, third.project)

    with pytest.raises(StaleState) as refusal:
        assign.resume_assignment(actor=third.cleo, assignment=claimed)
    assert refusal.value.code == "no_free_slot"


def test_a_recheck_expires_with_its_annotators_membership(third: Cast, third_due: Trajectory) -> None:
    claimed = people.claim(third.cleo, third.project)
    projects.remove_member(
        actor=third.admin, membership=Membership.objects.get(user=third.cleo, project=third.project)
    )

    claimed.refresh_from_db()
    third_due.refresh_from_db()

    assert (claimed.state, claimed.expiry_reason) == ("expired", "left")
    assert third_due.free_slots == 0
    assert [one.state for one in Recheck.objects.all()] == ["waiting"]


@pytest.mark.postgres
def test_a_recheck_that_nobody_uses_expires_after_its_warning(third: Cast, third_due: Trajectory) -> None:
    claimed = people.claim(third.cleo, third.project)
    now = timezone.now()
    claim_expiry.sweep(now=now + timedelta(days=12))
    claim_expiry.sweep(now=now + timedelta(days=15, hours=1))

    claimed.refresh_from_db()

    assert (claimed.state, claimed.expiry_reason) == ("expired", "unused")


@pytest.mark.postgres
def test_a_recheck_can_be_taken_back_by_admins_who_do_not_see_what_it_is(
    third: Cast, third_due: Trajectory
) -> None:
    claimed = people.claim(third.cleo, third.project)
    page = signed_in(third.admin).get(f"/p/{third.project.slug}/claims/").content.decode()
    assert claimed.trajectory.record_id in page
    assert "recheck" not in page.casefold()

    assign.take_back(actor=third.admin, project=claimed.project, assignments=[claimed], reason="Holiday.")

    claimed.refresh_from_db()
    assert claimed.state == AssignmentState.EXPIRED


def test_a_recheck_cannot_be_reopened_like_any_that_others_have_submitted(
    third: Cast, third_due: Trajectory
) -> None:
    done = relabel(third.cleo, third.project)

    with pytest.raises(Conflict) as refusal:
        label.reopen(actor=third.cleo, assignment=done)

    assert refusal.value.code == "too_late"


# ── Beside another look ───────────────────
@pytest.mark.postgres
def test_third_person_is_not_given_the_same_trajectory_as_one_of_the_n(
    third: Cast, third_due: Trajectory
) -> None:
    again = people.claim(third.cleo, third.project)
    projects.write_guidelines(actor=third.admin, project=third.project, text="Another way.")
    label.queue_again(actor=third.admin, project=third.project, filters={}, expected=2)
    mine = Assignment.objects.select_related("project").get(annotator=third.ann)
    label.look_again(actor=third.ann, assignment=mine)
    assign.return_assignment(actor=third.ann, assignment=mine, reason="Not now.")

    with pytest.raises(Conflict) as nothing:
        assign.claim_next(actor=third.cleo, project=third.project)

    assert nothing.value.code == "nothing_left"
    assert not home.can_claim(third.cleo, third.project)
    assert list(Assignment.stored.filter(annotator=third.cleo)) == [again]


def test_what_is_to_be_looked_at_again_is_not_given_as_a_retest_beside_it(retest: Cast) -> None:
    people.import_records(retest.project, 1)
    people.make_unanimous(retest)
    projects.write_guidelines(actor=retest.admin, project=retest.project, text="Another way.")
    label.queue_again(actor=retest.admin, project=retest.project, filters={}, expected=2)
    a_while_ago(retest.project)
    rechecks.sweep()
    assert len(waiting(RecheckKind.RETEST)) == 2

    with pytest.raises(Conflict):
        people.claim(retest.ann, retest.project)
