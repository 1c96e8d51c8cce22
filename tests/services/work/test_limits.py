"""Quotas of members, and days on which they are away."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.vocabulary import AssignmentState
from annotation.models import Assignment, AuditEvent, DaysAway, Membership, Subset, User
from annotation.policies import withheld
from annotation.reports.cases import home
from annotation.services import assign, claim_expiry, projects
from annotation.services.shares import limits
from tests import people
from tests.people import Cast

DAY = timedelta(days=1)


def of(cast: Cast, user: User) -> Membership:
    return Membership.objects.select_related("user", "project").get(project=cast.project, user=user)


def quota(cast: Cast, user: User, **most: int | None) -> None:
    subsets = {Subset.objects.get(project=cast.project, name=name): number for name, number in most.items()}
    limits.set_limits(actor=cast.admin, membership=of(cast, user), quotas=subsets)


def away(cast: Cast, user: User, *periods: tuple[date, date]) -> None:
    limits.set_limits(actor=cast.admin, membership=of(cast, user), days_away=periods)


def refusal(cast: Cast, user: User) -> str:
    with pytest.raises(Conflict) as refused:
        people.claim(user, cast.project)
    return refused.value.code


@pytest.mark.postgres
def test_quota_of_a_subset_sends_its_member_to_the_others_and_ends_in_a_sentence(cast: Cast) -> None:
    rows = people.import_records(cast.project, 4)
    people.import_records(cast.project, 2, subset="other")
    quota(cast, cast.ann, tiny=2, other=1)

    mine = [people.claim(cast.ann, cast.project) for _ in range(3)]

    assert sorted(one.trajectory.subset.name for one in mine) == ["other", "tiny", "tiny"]
    assert refusal(cast, cast.ann) == "quota"
    assert home.queue_for(cast.ann, cast.project) == home.Queue(why=withheld.QUOTA)
    with pytest.raises(Conflict, match="not available"):
        assign.claim_this(actor=cast.ann, trajectory=rows[3])
    given_back = next(one for one in mine if one.trajectory.subset.name == "tiny")
    assign.return_assignment(actor=cast.ann, assignment=given_back, reason="Not mine.")
    assert people.claim(cast.ann, cast.project).trajectory.subset.name == "tiny"
    assert refusal(cast, cast.ann) == "quota"
    quota(cast, cast.ann, tiny=None)
    assert people.claim(cast.ann, cast.project).trajectory.subset.name == "tiny"
    assert len([people.claim(cast.ben, cast.project) for _ in range(6)]) == 6


def test_what_is_assigned_comes_beyond_the_quota(cast: Cast) -> None:
    rows = people.import_records(cast.project, 3)
    quota(cast, cast.ann, tiny=0)
    assert refusal(cast, cast.ann) == "quota"
    assign.assign_trajectories(
        actor=cast.admin, project=cast.project, trajectories=rows[2:], annotators=[cast.ann]
    )
    assert home.queue_for(cast.ann, cast.project).can_claim
    assert people.claim(cast.ann, cast.project).trajectory_id == rows[2].pk
    assert refusal(cast, cast.ann) == "quota"


def test_whoever_is_away_is_given_nothing_until_they_are_back(cast: Cast) -> None:
    rows = people.import_records(cast.project, 3)
    held = people.claim(cast.ann, cast.project)
    today = withheld.today(cast.ann)
    away(cast, cast.ann, (today - 9 * DAY, today - 3 * DAY), (today, today + DAY))

    with pytest.raises(Conflict, match=f"away until {today + DAY}") as refused:
        people.claim(cast.ann, cast.project)
    assert refused.value.code == "away"
    assert home.queue_for(cast.ann, cast.project) == home.Queue(why=str(refused.value.message))
    with pytest.raises(Conflict, match="away until"):
        assign.claim_this(actor=cast.ann, trajectory=rows[2])
    # what they have begun they can go on with
    people.label_all(held)
    assert assign.label_next(actor=cast.ann, project=cast.project) == held
    away(cast, cast.ann, (today + DAY, today + 2 * DAY))
    assert people.claim(cast.ann, cast.project)


def test_the_day_is_that_of_the_member(cast: Cast) -> None:
    User.objects.filter(pk=cast.ann.pk).update(time_zone="Pacific/Kiritimati")
    cast.ann.refresh_from_db()
    noon = datetime(2026, 12, 1, 12, tzinfo=UTC)
    assert withheld.today(cast.ann, noon) == date(2026, 12, 2)
    assert withheld.today(cast.ben, noon) == date(2026, 12, 1)


@pytest.mark.postgres
def test_claims_expire_on_no_day_away_and_only_after_a_warning_once_back(cast: Cast) -> None:
    projects.update_project(actor=cast.admin, project=cast.project, values={"claim_days": 14})
    people.import_records(cast.project, 2)
    now = timezone.now()
    for user in (cast.ann, cast.ben):
        people.claim(user, cast.project)
    claim_expiry.sweep(now=now + 13 * DAY)
    assert Assignment.objects.filter(warned_at__isnull=False).count() == 2
    away(cast, cast.ann, (now.date(), (now + 40 * DAY).date()))

    claim_expiry.sweep(now=now + 30 * DAY)

    mine = Assignment.objects.get(annotator=cast.ann)
    assert (mine.state, mine.warned_at) == (AssignmentState.OPEN, None)
    assert Assignment.objects.get(annotator=cast.ben).state == AssignmentState.EXPIRED
    back = now + 43 * DAY
    claim_expiry.sweep(now=back)
    mine.refresh_from_db()
    assert (mine.state, mine.warned_at) == (AssignmentState.OPEN, back)
    claim_expiry.sweep(now=back + 4 * DAY)
    mine.refresh_from_db()
    assert mine.state == AssignmentState.EXPIRED


def test_limits_that_make_no_sense_are_refused_and_others_are_audited(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    today = date(2026, 12, 1)
    with pytest.raises(Invalid, match="whole number"):
        quota(cast, cast.ann, tiny=-1)
    with pytest.raises(Invalid, match="before the first"):
        away(cast, cast.ann, (today, today - DAY))
    with pytest.raises(Invalid, match="at most 50"):
        away(cast, cast.ann, *((today + n * DAY, today + n * DAY) for n in range(51)))
    with pytest.raises(Denied):
        limits.set_limits(actor=cast.ann, membership=of(cast, cast.ann), quotas={})
    with pytest.raises(IntegrityError), transaction.atomic():
        DaysAway.objects.create(membership=of(cast, cast.ann), first=today, last=today - DAY)
    quota(cast, cast.ann, tiny=3)
    event = AuditEvent.objects.get(verb="member.limits")
    assert event.detail == {"username": "ann", "quotas": {"tiny": 3}}


# ── Turns of subsets ──────────────────────
@pytest.mark.postgres
@pytest.mark.usefixtures("queue_of_chance")
def test_a_subset_comes_first_or_last_also_what_is_imported_later_and_after_triage(cast: Cast) -> None:
    for name in ("one", "two", "three"):
        people.import_records(cast.project, 3, subset=name)
    people.claim(cast.ben, cast.project)
    for name, turn in (("two", "first"), ("one", "last")):
        subset = Subset.objects.get(project=cast.project, name=name)
        projects.update_subset(actor=cast.admin, subset=subset, turn=turn)
    people.import_records(cast.project, [people.make_record(query) for query in range(3, 5)], subset="two")
    if (ordered := projects.triage(actor=cast.admin, project=cast.project, seed=1)).moved:
        projects.undo_triage(actor=cast.admin, project=cast.project)
    assert ordered.unscored

    mine = [people.claim(cast.ann, cast.project).trajectory.subset.name for _ in range(11)]

    assert mine == ["two"] * 5 + ["three"] * 3 + ["one"] * 3
    with pytest.raises(Invalid, match="comes first"):
        projects.update_subset(
            actor=cast.admin, subset=Subset.objects.get(project=cast.project, name="one"), turn="never"
        )
