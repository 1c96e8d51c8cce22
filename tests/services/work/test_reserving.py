"""Places that are kept for people: who gets them, whom they are kept from, and when they end."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation.core.errors import Conflict, Denied, Invalid, Locked, StaleState
from annotation.core.vocabulary import ExposureKind
from annotation.models import Assignment, AuditEvent, Meeting, Membership, Reservation, Trajectory, User
from annotation.policies import OPERATOR
from annotation.services import accounts, assign, claim_expiry, exposures, projects
from annotation.services.assign import claiming
from annotation.services.second_person import offering
from annotation.services.shares import meetings, reservations
from tests import people
from tests.people import Cast
from tests.services.together import annotators, refused, together, until_nothing_is_left


@pytest.fixture
def rows(cast: Cast) -> list[Trajectory]:
    """Six trajectories, each with two places."""
    return people.import_records(cast.project, 6)


def keep(cast: Cast, rows: list[Trajectory], *whom: User, evenly: bool = False) -> list[str]:
    """Assign trajectories; the codes of what was refused."""
    done = assign.assign_trajectories(
        actor=cast.admin, project=cast.project, trajectories=rows, annotators=whom, evenly=evenly
    )
    return [error.code for _row, error in done.refused]


def counts() -> set[tuple[int, int]]:
    """(free slots, kept ones) of all trajectories; each is held against the rows."""
    found = set()
    for row in Trajectory.objects.all():
        assert row.reserved == Reservation.objects.filter(trajectory=row).count()
        found.add((row.free_slots, row.reserved))
    return found


def test_assigned_trajectories_come_first_and_leave_the_queue_where_it_was(
    cast: Cast, rows: list[Trajectory]
) -> None:
    assert keep(cast, [rows[4], rows[2]], cast.ann) == []

    got = [people.claim(cast.ann, cast.project).trajectory_id for _ in rows]

    assert got == [rows[place].pk for place in (2, 4, 0, 1, 3, 5)]
    assert counts() == {(1, 0)}


def test_a_kept_place_is_claimed_taken_up_and_imported_by_nobody_else(
    cast: Cast, rows: list[Trajectory]
) -> None:
    returned = people.claim(cast.cleo, cast.project)
    assign.return_assignment(actor=cast.cleo, assignment=returned, reason="Later.")
    assert keep(cast, rows[:1], cast.ann, cast.ben) == []

    assert people.claim(cast.cleo, cast.project).trajectory_id == rows[1].pk
    with pytest.raises(Conflict, match="not available"):
        assign.claim_this(actor=cast.cleo, trajectory=rows[0])
    with pytest.raises(StaleState):
        assign.resume_assignment(actor=cast.cleo, assignment=returned)
    assert assign.take_slots([rows[0].pk, rows[1].pk], cast.project.pk, annotator=cast.cleo.pk).keys() == {
        rows[1].pk
    }
    assert assign.claim_this(actor=cast.ben, trajectory=rows[0]).slot == 0
    assert people.claim(cast.ann, cast.project).trajectory_id == rows[0].pk


@pytest.mark.postgres
def test_refusals_name_what_and_why_and_keep_nothing_else_from_being_done(
    cast: Cast, rows: list[Trajectory]
) -> None:
    people.make_unanimous(cast)
    mine = people.claim(cast.ann, cast.project)
    exposures.expose(user=cast.ann, trajectory=rows[2], kind=ExposureKind.CONSENSUS)
    outcome = assign.assign_trajectories(
        actor=cast.admin, project=cast.project, trajectories=rows, annotators=[cast.ann, cast.ben]
    )
    assert [(row.pk, error.code) for row, error in outcome.refused] == [
        (rows[0].pk, "no_free_slot"),
        (mine.trajectory_id, "had_before"),
        (rows[2].pk, "exposed"),
    ]
    assert "Ann has seen labels of this trajectory." in [str(error.message) for _, error in outcome.refused]
    assert len(outcome.done) == 8
    assert keep(cast, rows[3:], cast.cleo) == ["all_assigned"] * 3
    assert keep(cast, rows[3:], cast.ben) == []  # is so already
    assert AuditEvent.objects.filter(verb="trajectory.assign").count() == 8
    with pytest.raises(Invalid, match="no annotator"):
        keep(cast, rows, cast.judith)
    with pytest.raises(Denied):
        assign.assign_trajectories(actor=cast.ann, project=cast.project, trajectories=rows)


def leave(cast: Cast, user: User) -> None:
    people.leave(cast.project, user)


def lose_the_role(cast: Cast, user: User) -> None:
    membership = Membership.objects.get(project=cast.project, user=user)
    projects.set_roles(actor=cast.admin, membership=membership, is_adjudicator=True)


def close(cast: Cast, user: User) -> None:
    accounts.close_account(actor=cast.root, user=user)


def close_elsewhere(cast: Cast, user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert reservations.sweep() == 6
    assert claim_expiry.sweep() == 0


def see_labels(cast: Cast, user: User) -> None:
    for row in Trajectory.objects.all():
        exposures.expose(user=user, trajectory=row, kind=ExposureKind.CONSENSUS)
    assert reservations.sweep() == 6


def withdrawn(cast: Cast, user: User) -> None:
    done = assign.withdraw(actor=cast.admin, project=cast.project, annotators=[user])
    assert len(done.done) == 6


@pytest.mark.parametrize("end", [leave, lose_the_role, close, close_elsewhere, see_labels, withdrawn])
def test_kept_places_end_and_others_find_them(
    cast: Cast, rows: list[Trajectory], end: Callable[[Cast, User], None]
) -> None:
    keep(cast, rows, cast.ann, cast.ben)
    with pytest.raises(Conflict, match="nothing left"):
        people.claim(cast.cleo, cast.project)

    end(cast, cast.ann)

    assert counts() == {(2, 1)}
    assert [people.claim(cast.cleo, cast.project).trajectory_id for _ in rows] == [row.pk for row in rows]
    assert people.claim(cast.ben, cast.project).trajectory_id == rows[0].pk
    assert AuditEvent.objects.filter(verb__in=("reservation.end", "trajectory.unassign")).exists()


def test_who_leaves_keeps_places_and_claims_in_another_project(cast: Cast, rows: list[Trajectory]) -> None:
    elsewhere = projects.create_project(actor=cast.root, name="Elsewhere")
    people.make_member(elsewhere, cast.ann, "annotator")
    first, second = people.import_records(elsewhere, 2)
    mine = people.claim(cast.ann, elsewhere)
    assign.assign_trajectories(
        actor=OPERATOR, project=elsewhere, trajectories=[second], annotators=[cast.ann]
    )
    keep(cast, rows, cast.ann)

    here = Membership.objects.get(project=cast.project, user=cast.ann)
    projects.remove_member(actor=cast.admin, membership=here)

    mine.refresh_from_db()
    assert (mine.trajectory_id, mine.state) == (first.pk, "open")
    assert Reservation.objects.get().trajectory_id == second.pk


def test_given_back_the_place_is_everybodys(cast: Cast, rows: list[Trajectory]) -> None:
    keep(cast, rows[:1], cast.ann)
    mine = people.claim(cast.ann, cast.project)
    assign.return_assignment(actor=cast.ann, assignment=mine, reason="Not mine.")

    assert not Reservation.objects.exists()
    assert {people.claim(user, cast.project).trajectory_id for user in (cast.ben, cast.cleo)} == {rows[0].pk}
    refusal = assign.withdraw(actor=cast.admin, project=cast.project, trajectories=rows[:1]).refused
    assert [error.code for _row, error in refusal] == ["not_assigned"]


def test_a_record_that_is_replaced_is_kept_for_nobody(cast: Cast, rows: list[Trajectory]) -> None:
    keep(cast, rows, cast.ann)
    changed = [people.make_record(query, steps=3) for query in range(6)]
    people.import_records(cast.project, changed, replace=True)

    assert not Reservation.objects.exists() and counts() == {(2, 0)}


def test_judges_as_second_reader_leave_two_places_where_two_people_are_asked(
    cast: Cast, rows: list[Trajectory]
) -> None:
    keep(cast, rows[:2], cast.ann)
    keep(cast, rows[:1], cast.ben)
    untouched = set(offering._untouched(cast.project).values_list("pk", flat=True))
    assert untouched == {row.pk for row in rows[1:]}
    offering._offer(cast.project, rows[1].pk)
    assert keep(cast, rows[1:2], cast.ben) == ["all_assigned"]
    assert people.claim(cast.cleo, cast.project).trajectory_id == rows[2].pk
    with pytest.raises(Locked):
        projects.update_project(actor=OPERATOR, project=cast.project, values={"annotators_per_trajectory": 1})


def test_the_database_keeps_no_more_places_than_there_are(rows: list[Trajectory]) -> None:
    for wrong in (-1, 3):
        with pytest.raises(IntegrityError), transaction.atomic():
            Trajectory.objects.filter(pk=rows[0].pk).update(reserved=wrong)


@pytest.mark.postgres
def test_a_plan_gives_all_as_many_and_every_two_meet_as_often(cast: Cast) -> None:
    everybody = [cast.ann, cast.ben, cast.cleo, *annotators(cast.project, 1)]
    people.import_records(cast.project, 24)
    first = people.claim(cast.ann, cast.project).trajectory_id
    exposures.expose(user=cast.cleo, trajectory=Trajectory.objects.get(pk=first), kind=ExposureKind.CONSENSUS)

    plan = assign.plan(actor=OPERATOR, project=cast.project, seed=7)

    assert (plan.places, plan.trajectories) == (47, 24)
    assert counts() == {(2, 2), (1, 1)}
    assert not Reservation.objects.filter(trajectory=first, annotator__in=(cast.ann, cast.cleo)).exists()
    for user in everybody:
        assert until_nothing_is_left(user, cast.project)() in (11, 12)
    holders: dict[int, set[int]] = {}
    for one in Assignment.objects.all():
        holders.setdefault(one.trajectory_id, set()).add(one.annotator_id)
    met = Counter(pair for two in holders.values() for pair in combinations(sorted(two), 2))
    assert sorted(met.values()) == [4] * 6
    assert assign.plan(actor=OPERATOR, project=cast.project).places == 0


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_assigning_leaving_and_claiming_at_once_leave_exactly_n() -> None:
    project = people.make_project()
    everybody = annotators(project, 8)
    rows = people.import_records(project, 12)
    keep_for: dict[str, Any] = {"actor": OPERATOR, "project": project, "trajectories": rows}
    leaver = Membership.objects.get(project=project, user=everybody[0])

    results = together(
        *(until_nothing_is_left(user, project) for user in everybody[1:]),
        lambda: assign.assign_trajectories(**keep_for, annotators=everybody[:3]),
        lambda: assign.assign_trajectories(**keep_for, evenly=True),
        lambda: assign.withdraw(actor=OPERATOR, project=project, annotators=everybody[1:3]),
        lambda: projects.remove_member(actor=OPERATOR, membership=leaver),
    )

    assert set(refused(results)) <= {"no_annotator", "invalid"}
    for user in everybody[1:]:
        until_nothing_is_left(user, project)()
    assert counts() == {(0, 0)}
    slots = Counter(Assignment.objects.values_list("trajectory", flat=True))
    assert set(slots.values()) == {2} and len(slots) == 12
    meetings_are_right()


# ── Pairs ─────────────────────────────────
def meetings_are_right() -> Counter[tuple[int, int]]:
    """How often two have met, which is held against what they have."""
    holders: dict[int, list[int]] = {}
    for one in Assignment.objects.filter(slot__isnull=False).order_by("annotator"):
        holders.setdefault(one.trajectory_id, []).append(one.annotator_id)
    found = Counter(pair for people in holders.values() for pair in combinations(people, 2))
    kept = {(row.first_id, row.second_id): row.number for row in Meeting.objects.filter(number__gt=0)}
    assert kept == found
    return found


@pytest.mark.django_db
def test_pairs_in_a_queue_meet_about_as_often_and_nothing_is_left() -> None:
    project = people.make_project(claim_limit=100)
    everybody = annotators(project, 6)
    people.import_records(project, 45)
    rng = random.Random(3)
    left = list(everybody)
    while left:
        # a round of people who are about as fast, in another order each time
        for user in rng.sample(left, len(left)):
            try:
                mine = people.claim(user, project)
            except Conflict:
                left.remove(user)
                continue
            if rng.random() < 0.05:
                assign.return_assignment(actor=user, assignment=mine, reason="Later.")
                assign.resume_assignment(actor=user, assignment=mine)
            Assignment.objects.filter(pk=mine.pk).update(state="submitted", submitted_at=mine.claimed_at)

    assert counts() == {(0, 0)}
    pairs = meetings_are_right()
    # 1,000 of them: tests/core/test_even_shares.py
    assert len(pairs) == 15 and max(pairs.values()) <= 7


def test_a_claim_brings_people_together_who_have_not_met_before_the_next_in_the_queue(cast: Cast) -> None:
    first, second, third = people.import_records(cast.project, 3)
    for user, row in ((cast.ann, first), (cast.ben, first), (cast.ann, second), (cast.cleo, third)):
        assign.claim_this(actor=user, trajectory=row)
    # the second is next, and its other place is beside ann again
    assert people.claim(cast.ben, cast.project).trajectory == third
    assert people.claim(cast.ben, cast.project).trajectory == second


def test_a_claim_passes_over_what_somebody_else_has_begun_meanwhile(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = people.import_records(cast.project, 2)
    evenly = claiming._evenly

    def slowly(*asked: Any) -> Any:
        found = evenly(*asked)
        monkeypatch.undo()
        assign.claim_this(actor=cast.cleo, trajectory=first)
        return found

    monkeypatch.setattr(claiming, "_evenly", slowly)
    assert people.claim(cast.ben, cast.project).trajectory == second


def test_a_claim_asks_as_many_questions_however_much_everybody_has_done(cast: Cast) -> None:
    people.import_records(cast.project, 60)
    people.claim(cast.ann, cast.project)
    people.claim(cast.ben, cast.project)
    asked = []
    for _ in range(3):
        for _ in range(6):
            people.claim(cast.ann, cast.project)
        with CaptureQueriesContext(connection) as queries:
            people.claim(cast.ben, cast.project)
        asked.append(len(queries))
    assert len({*asked}) == 1, asked


def test_replaced_and_returned_work_is_no_meeting(cast: Cast) -> None:
    people.import_records(cast.project, 3)
    for _ in range(2):
        people.make_unanimous(cast)
    mine = people.claim(cast.cleo, cast.project)
    people.claim(cast.ann, cast.project)
    assert sum(meetings_are_right().values()) == 3
    assign.return_assignment(actor=cast.cleo, assignment=mine, reason="Not mine.")
    assert sum(meetings_are_right().values()) == 2
    assert meetings.met(cast.project.pk, cast.ben.pk) == {cast.ann.pk: 2}
    leave(cast, cast.ann)
    assert sum(meetings_are_right().values()) == 2
    assert meetings.met(cast.project.pk, cast.ben.pk) == {}
