"""Claims that end: their annotator leaves, an admin takes them back, or nobody uses them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.core.errors import Conflict, Denied, Invalid, StaleState, TristepError
from annotation.core.vocabulary import AssignmentState, ExpiryReason
from annotation.models import (
    Adjudication,
    Assignment,
    AuditEvent,
    Label,
    LabelEvent,
    Membership,
    Project,
    Trajectory,
    User,
)
from annotation.policies import OPERATOR
from annotation.services import accounts, adjudicate, assign, claim_expiry, label, projects
from tests import people
from tests.people import Cast
from tests.services.together import together

DAY = timedelta(days=1)


def remove(cast: Cast, user: User) -> None:
    people.leave(cast.project, user)


def demote(cast: Cast, user: User) -> None:
    row = Membership.objects.get(project=cast.project, user=user)
    projects.set_roles(actor=cast.admin, membership=row, is_admin=True)


def close(cast: Cast, user: User) -> None:
    accounts.close_account(actor=cast.root, user=user)


def close_elsewhere(cast: Cast, user: User) -> None:
    """By a way that ends nothing itself; a worker's reaper sees it."""
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert claim_expiry.sweep() == 1


def take_back(cast: Cast, user: User) -> None:
    assign.take_back(
        actor=cast.admin,
        project=cast.project,
        assignments=Assignment.objects.filter(annotator=user),
        reason="Holiday.",
    )


WAYS = {
    remove: ExpiryReason.LEFT,
    demote: ExpiryReason.LEFT,
    close: ExpiryReason.LEFT,
    close_elsewhere: ExpiryReason.LEFT,
    take_back: ExpiryReason.TAKEN_BACK,
}


@pytest.mark.parametrize(("leave", "because"), WAYS.items())
def test_member_who_leaves_keeps_the_draft_and_frees_the_slot(
    cast: Cast, leave: Callable[[Cast, User], None], because: ExpiryReason
) -> None:
    trajectory = people.import_records(cast.project, 2)[0]
    mine = people.claim(cast.ann, cast.project)
    people.label_all(mine)
    people.label_next(cast.ben, cast.project)
    assert Trajectory.objects.get(pk=trajectory.pk).free_slots == 0

    leave(cast, cast.ann)

    mine.refresh_from_db()
    assert (mine.state, mine.slot, mine.expiry_reason) == (AssignmentState.EXPIRED, None, because)
    assert Label.objects.filter(assignment=mine, value=1).count() == 2
    assert LabelEvent.objects.filter(assignment=mine, kind="expire", detail={"because": because}).count() == 1
    noted = AuditEvent.objects.get(verb="assignment.expire")
    assert (noted.object_id, noted.detail) == (str(mine.pk), {"because": because, "username": "ann"})
    assert Trajectory.objects.get(pk=trajectory.pk).free_slots == 1
    dan = people.make_user("dan")
    people.make_member(cast.project, dan, "annotator")
    assert people.claim(dan, cast.project).trajectory_id == trajectory.pk


def test_place_of_an_expired_claim_is_served_to_whoever_had_passed_it(cast: Cast) -> None:
    first, *_others = people.import_records(cast.project, 3)
    for user in (cast.ann, cast.ben):
        people.claim(user, cast.project)
    assert people.claim(cast.cleo, cast.project).trajectory_id != first.pk

    close(cast, cast.ann)

    assert people.claim(cast.cleo, cast.project).trajectory_id == first.pk


def test_role_that_stays_keeps_its_claims(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    mine = people.claim(cast.ann, cast.project)
    row = Membership.objects.get(project=cast.project, user=cast.ann)
    projects.set_roles(actor=cast.admin, membership=row, is_annotator=True, is_admin=True)
    assert claim_expiry.sweep() == 0
    mine.refresh_from_db()
    assert mine.state == AssignmentState.OPEN


@pytest.mark.postgres
def test_claim_that_expired_is_taken_up_again_with_its_draft(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    mine = people.claim(cast.ann, cast.project)
    people.label_all(mine)
    close(cast, cast.ann)
    accounts.open_account(actor=cast.root, user=cast.ann)
    back = assign.resume_assignment(actor=User.objects.get(pk=cast.ann.pk), assignment=mine)
    assert (back.state, back.expiry_reason, back.return_reason) == (AssignmentState.OPEN, "", "")
    assert label.submit(actor=cast.ann, assignment=back).state == AssignmentState.SUBMITTED


@pytest.mark.postgres
@pytest.mark.parametrize("leave", [remove, close, close_elsewhere])
def test_open_case_of_an_adjudicator_who_leaves_goes_back(
    cast: Cast, leave: Callable[[Cast, User], None]
) -> None:
    trajectory = people.import_records(cast.project, 1)[0]
    people.make_disputed(cast)
    case = people.open_case(cast.judith, trajectory)
    leave(cast, cast.judith)
    assert Adjudication.objects.get(pk=case.pk).state == "released"
    people.make_member(cast.project, cast.cleo, "adjudicator")
    assert people.open_case(cast.cleo, trajectory).adjudicator == cast.cleo


@pytest.mark.postgres
def test_case_is_taken_back_once(cast: Cast) -> None:
    trajectory = people.import_records(cast.project, 1)[0]
    people.make_disputed(cast)
    case = people.open_case(cast.judith, trajectory)
    asked = {"project": cast.project, "adjudications": [case]}
    with pytest.raises(Denied):
        adjudicate.take_cases_back(actor=cast.judith, **asked)
    assert adjudicate.take_cases_back(actor=cast.admin, **asked).done == [case]
    ((left, refused),) = adjudicate.take_cases_back(actor=cast.admin, **asked).refused
    assert (left, refused.code) == (case, "case_closed")


def test_claims_are_taken_back_by_admins_and_only_while_open(cast: Cast) -> None:
    people.import_records(cast.project, 2)
    mine, others = people.claim(cast.ann, cast.project), people.claim(cast.ben, cast.project)
    elsewhere = people.make_project("other")
    people.make_member(elsewhere, cast.cleo, "annotator")
    people.import_records(elsewhere, 1)
    foreign = people.claim(cast.cleo, elsewhere)
    asked = {"project": cast.project, "assignments": [mine, others, foreign]}
    for actor in (cast.ann, cast.ben, cast.judith, cast.oscar):
        with pytest.raises(Denied):
            assign.take_back(actor=actor, **asked)
    with pytest.raises(Invalid):
        assign.take_back(actor=cast.admin, reason="x" * (assign.MAX_REASON + 1), **asked)
    people.label_all(mine)
    label.submit(actor=cast.ann, assignment=mine)
    outcome = assign.take_back(actor=OPERATOR, **asked)
    assert outcome.done == [others]
    assert [row for row, error in outcome.refused if error.code == "not_open"] == [mine, foreign]
    foreign.refresh_from_db()
    assert foreign.state == AssignmentState.OPEN


def test_saving_a_claim_that_was_taken_back_is_refused(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    mine = people.claim(cast.ann, cast.project)
    assign.take_back(actor=cast.admin, project=cast.project, assignments=[mine])
    with pytest.raises(StaleState) as refused:
        people.label_all(mine)
    assert refused.value.code == "not_open"


def test_account_is_closed_by_nobody_who_owns_it(cast: Cast) -> None:
    with pytest.raises(Conflict):
        accounts.close_account(actor=cast.root, user=cast.root)
    with pytest.raises(Denied):
        accounts.close_account(actor=cast.admin, user=cast.ann)


# ── Unused claims ─────────────────────────
def test_claim_that_is_unused_is_warned_of_and_then_expires(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    mine = people.claim(cast.ann, cast.project)
    start = mine.last_used_at
    steps = [(10, "open", False), (11.1, "open", True), (13.9, "open", True), (14.2, "expired", False)]
    for days, state, warned in steps:
        claim_expiry.sweep(now=start + days * DAY)
        mine.refresh_from_db()
        assert (mine.state, mine.warned_at is not None) == (state, warned), days
    assert mine.expiry_reason == ExpiryReason.UNUSED
    assert AuditEvent.objects.get(verb="assignment.expire").actor is None
    assert people.claim(cast.ben, cast.project).trajectory_id == mine.trajectory_id


def test_server_that_was_off_for_a_month_warns_first(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    mine = people.claim(cast.ann, cast.project)
    back = mine.last_used_at + 30 * DAY
    for hours, state in ((0, "open"), (1, "open"), (71, "open"), (73, "expired")):
        claim_expiry.sweep(now=back + timedelta(hours=hours))
        mine.refresh_from_db()
        assert mine.state == state, hours


@pytest.mark.postgres
@pytest.mark.parametrize("use", ["save", "activity", "marks"])
def test_claim_that_is_used_after_the_warning_stays(cast: Cast, use: str) -> None:
    people.import_records(cast.project, 1)
    mine = people.claim(cast.ann, cast.project)
    now = timezone.now()
    Assignment.objects.update(last_used_at=now - 20 * DAY, warned_at=now - 4 * DAY)
    if use == "save":
        people.label_all(mine)
    elif use == "activity":
        label.add_activity(actor=cast.ann, assignment=mine, active_ms=5)
    else:
        label.set_flags(actor=cast.ann, assignment=mine, needs_discussion=True, broken=False)
    for days in (0.1, 5, 10):
        claim_expiry.sweep(now=timezone.now() + days * DAY)
    mine.refresh_from_db()
    assert (mine.state, mine.warned_at) == (AssignmentState.OPEN, None)


@pytest.mark.postgres
@pytest.mark.parametrize("how", ["reopened", "taken up again"])
def test_claim_that_is_open_again_is_warned_of_anew_before_it_expires(cast: Cast, how: str) -> None:
    people.import_records(cast.project, 1)
    mine = people.claim(cast.ann, cast.project)
    people.label_all(mine)
    Assignment.objects.update(warned_at=timezone.now())
    if how == "reopened":
        label.submit(actor=cast.ann, assignment=mine)
        mine = label.reopen(actor=cast.ann, assignment=mine)
    else:
        assign.return_assignment(actor=cast.ann, assignment=mine, reason="Later.")
        mine = assign.resume_assignment(actor=cast.ann, assignment=mine)
    assert mine.expires_at is None
    claim_expiry.sweep(now=timezone.now() + 15 * DAY)
    mine.refresh_from_db()
    assert mine.state == AssignmentState.OPEN


def test_claims_do_not_expire_where_the_project_says_so(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    mine = people.claim(cast.ann, cast.project)
    projects.update_project(actor=cast.admin, project=cast.project, values={"claim_days": None})
    for days in (15, 400):
        assert claim_expiry.sweep(now=mine.last_used_at + days * DAY) == 0


# ── How many one may hold ─────────────────
def test_claim_limit_makes_whoever_has_reached_it_finish_one_first(cast: Cast) -> None:
    people.import_records(cast.project, 5)
    assert Project._meta.get_field("claim_limit").default == 2
    projects.update_project(actor=cast.admin, project=cast.project, values={"claim_limit": 2})
    first, second = people.claim(cast.ann, cast.project), people.claim(cast.ann, cast.project)
    for again in (
        lambda: people.claim(cast.ann, cast.project),
        lambda: assign.claim_this(actor=cast.ann, trajectory=Trajectory.objects.last()),
    ):
        with pytest.raises(Conflict) as refused:
            again()
        assert refused.value.code == "claim_limit"
    assert people.claim(cast.ben, cast.project).trajectory_id == first.trajectory_id
    assign.return_assignment(actor=cast.ann, assignment=first, reason="Later")
    people.claim(cast.ann, cast.project)
    with pytest.raises(Conflict):
        assign.resume_assignment(actor=cast.ann, assignment=first)
    people.label_all(second)
    label.submit(actor=cast.ann, assignment=second)
    assert assign.resume_assignment(actor=cast.ann, assignment=first).state == AssignmentState.OPEN


def test_limit_counts_each_project_by_itself(cast: Cast) -> None:
    other = people.make_project("other", claim_limit=1)
    people.make_member(other, cast.ann, "annotator")
    for project in (cast.project, other):
        people.import_records(project, 1)
    projects.update_project(actor=cast.admin, project=cast.project, values={"claim_limit": 1})
    assert people.claim(cast.ann, cast.project).project_id != people.claim(cast.ann, other).project_id


def test_label_next_goes_on_with_what_was_used_last(cast: Cast) -> None:
    people.import_records(cast.project, 3)
    first = assign.label_next(actor=cast.ann, project=cast.project)
    second = people.claim(cast.ann, cast.project)
    assert assign.label_next(actor=cast.ann, project=cast.project) == second
    label.add_activity(actor=cast.ann, assignment=first, active_ms=5)
    assert assign.label_next(actor=cast.ann, project=cast.project) == first
    with pytest.raises(Denied):
        assign.label_next(actor=cast.judith, project=cast.project)


def _consistent() -> None:
    """Slots and free slots agree, and nobody who has left holds an open claim."""
    for trajectory in Trajectory.objects.filter(live=True):
        active = Assignment.objects.filter(trajectory=trajectory, state__in=("open", "submitted"))
        assert trajectory.free_slots == 2 - active.count()
        assert sorted(active.values_list("slot", flat=True)) in ([], [0], [1], [0, 1])
    for claim in Assignment.objects.filter(state=AssignmentState.OPEN):
        assert claim.annotator.is_active
        assert Membership.objects.filter(
            project=claim.project, user=claim.annotator, is_annotator=True
        ).exists()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_members_leave_while_they_claim_and_nothing_stays_with_them(seed: int) -> None:
    cast = people.make_cast()
    people.import_records(cast.project, 12)
    guests = [people.make_user(f"guest{number}") for number in range(6)]
    for guest in guests:
        people.make_member(cast.project, guest, "annotator")
    returned = people.claim(guests[0], cast.project)
    assign.return_assignment(actor=guests[0], assignment=returned, reason="Later")
    ready = people.claim(guests[1], cast.project)
    people.label_all(ready)

    def work(user: User) -> None:
        for _ in range(4):
            try:
                mine = assign.claim_next(actor=user, project=cast.project)
                assign.return_assignment(actor=user, assignment=mine, reason="Not mine")
                assign.claim_next(actor=user, project=cast.project)
            except TristepError:
                pass

    def leave(user: User, way: int) -> None:
        if way == 0:
            accounts.close_account(actor=OPERATOR, user=user)
        elif way == 1:
            projects.add_member(actor=OPERATOR, project=cast.project, user=user, is_adjudicator=True)
        else:
            projects.remove_member(
                actor=OPERATOR, membership=Membership.objects.get(project=cast.project, user=user)
            )

    together(
        *[lambda user=user: work(user) for user in guests],  # type: ignore[misc]
        *[
            lambda user=user, way=(number + seed) % 3: leave(user, way)  # type: ignore[misc]
            for number, user in enumerate(guests)
        ],
        lambda: assign.resume_assignment(actor=guests[0], assignment=returned),
        lambda: label.submit(actor=guests[1], assignment=ready),
    )

    _consistent()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_claim_limit_holds_for_one_person_in_many_windows() -> None:
    cast = people.make_cast(claim_limit=2)
    people.import_records(cast.project, 8)
    results = together(*[lambda: assign.claim_next(actor=cast.ann, project=cast.project)] * 6)
    codes = sorted(getattr(result, "code", "claimed") for result in results)
    assert codes == ["claim_limit"] * 4 + ["claimed"] * 2
    _consistent()
