"""People leave while they claim, submit and take up again: no claim stays with anybody who has left."""

from __future__ import annotations

import pytest

from annotation.core.errors import TristepError
from annotation.core.vocabulary import AssignmentState
from annotation.models import Assignment, Membership, Trajectory, User
from annotation.policies import OPERATOR
from annotation.services import accounts, assign, label, projects
from tests import people
from tests.services.together import together

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


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

    def leave(user: User) -> None:
        if user.pk % 3 == seed % 3:
            accounts.close_account(actor=OPERATOR, user=user)
        elif user.pk % 3 == (seed + 1) % 3:
            projects.add_member(actor=OPERATOR, project=cast.project, user=user, is_adjudicator=True)
        else:
            projects.remove_member(
                actor=OPERATOR, membership=Membership.objects.get(project=cast.project, user=user)
            )

    together(
        *[lambda user=user: work(user) for user in guests],  # type: ignore[misc]
        *[lambda user=user: leave(user) for user in guests],  # type: ignore[misc]
        lambda: assign.resume_assignment(actor=guests[0], assignment=returned),
        lambda: label.submit(actor=guests[1], assignment=ready),
    )

    _consistent()


def test_claim_limit_holds_for_one_person_in_many_windows() -> None:
    cast = people.make_cast(claim_limit=2)
    people.import_records(cast.project, 8)
    results = together(*[lambda: assign.claim_next(actor=cast.ann, project=cast.project)] * 6)
    codes = sorted(getattr(result, "code", "claimed") for result in results)
    assert codes == ["claim_limit"] * 4 + ["claimed"] * 2
    _consistent()
