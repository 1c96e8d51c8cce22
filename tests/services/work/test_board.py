"""The board and hours by day: what is counted, on which day, for whom, and what tells nothing."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.utils import timezone

from annotation.core.errors import Denied, Invalid
from annotation.core.vocabulary import RecheckKind
from annotation.models import ActiveTime, Assignment, Membership, Recheck, User
from annotation.reports.work.board import Outlook, PersonWork, board, own_part
from annotation.reports.work.hours import days_of_work
from annotation.services import label, projects, rechecks
from tests import people
from tests.people import Cast
from tests.services.rechecking import a_while_ago, relabel, retests_are_asked

BERLIN, NEPAL = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kathmandu")
HOUR = 3_600_000
TODAY = date(2026, 3, 30)
NOON = datetime(2026, 3, 30, 12, tzinfo=UTC)


def of(cast: Cast, user: User, viewer: User | None = None) -> PersonWork:
    found = board(actor=viewer or cast.admin, project=cast.project, zone=UTC)
    return next(one for one in found.people if one.person == user)


def test_board_tells_what_somebody_holds_from_what_is_free(cast: Cast) -> None:
    people.import_records(cast.project, 4)
    people.label_next(cast.ann, cast.project)
    people.claim(cast.ben, cast.project)
    Assignment.objects.filter(state="open").update(warned_at=timezone.now())

    found = board(actor=cast.admin, project=cast.project, zone=UTC)

    assert (found.outlook.left, found.outlook.claimed, found.outlook.free) == (7, 1, 6)
    assert (found.places, found.trajectories) == (8, 4)
    assert {(str(one.person), one.open, one.expiring, one.all.submitted) for one in found.people} == {
        ("Ann", 0, 0, 1),
        ("Ben", 1, 1, 0),
        ("Cleo", 0, 0, 0),
    }
    assert found.outlook.end is None and found.outlook.days.reason
    assert found.cost is None


@pytest.mark.postgres
def test_time_stands_on_the_day_of_a_time_zone_on_which_it_was_reported(cast: Cast) -> None:
    """On the night in which Berlin's clocks are set to summer, and in a zone of a quarter of an hour."""
    people.import_records(cast.project, 1)
    mine = people.claim(cast.ann, cast.project)
    # 23:50 and 00:10 in Berlin before and after the shortest day, and 23:50 of that day
    for at in ("2026-03-28T22:50Z", "2026-03-28T22:58Z", "2026-03-28T23:10Z", "2026-03-29T21:50Z"):
        with time_machine.travel(at, tick=False):
            label.add_activity(actor=cast.ann, assignment=mine, active_ms=1_000)
    with time_machine.travel("2026-03-29T22:10Z", tick=False):
        label.add_activity(actor=cast.ann, assignment=mine, active_ms=500)
        people.label_all(mine)
        label.submit(actor=cast.ann, assignment=mine)

    def days(zone: ZoneInfo) -> list[tuple[int, int, int, int]]:
        rows = days_of_work(actor=cast.admin, project=cast.project, last=TODAY, days=None, zone=zone)
        return [(row.day.day, row.work.active_ms, row.work.submitted, row.work.steps) for row in rows]

    assert days(BERLIN) == [(30, 500, 1, 2), (29, 2_000, 0, 0), (28, 2_000, 0, 0)]
    assert days(NEPAL) == [(30, 1_500, 1, 2), (29, 3_000, 0, 0)]
    assert ActiveTime.objects.count() == 4


def test_annotators_get_their_own_days_alone(cast: Cast) -> None:
    people.import_records(cast.project, 2)
    for who in (cast.ann, cast.ben):
        people.label_next(who, cast.project)
    today = timezone.now().date()

    def seen(viewer: User, person: str = "") -> set[str]:
        rows = days_of_work(actor=viewer, project=cast.project, last=today, days=7, zone=UTC, person=person)
        return {row.person.username for row in rows}

    assert seen(cast.admin) == {"ann", "ben"}
    assert seen(cast.admin, "ben") == {"ben"}
    assert seen(cast.ann) == {"ann"}
    assert seen(cast.ann, "ben") == set()
    with pytest.raises(Denied):
        seen(cast.judith)
    for who in (cast.ann, cast.judith):
        with pytest.raises(Denied):
            board(actor=who, project=cast.project, zone=UTC)


def test_what_is_asked_once_more_is_work_and_changes_no_sum_of_the_project(cast: Cast) -> None:
    retests_are_asked(cast.project)
    people.import_records(cast.project, 1)
    people.make_unanimous(cast)
    a_while_ago(cast.project)
    rechecks.sweep()
    before = board(actor=cast.admin, project=cast.project, zone=UTC)

    again = relabel(cast.ann, cast.project)

    assert again.recheck_id is not None
    after = board(actor=cast.admin, project=cast.project, zone=UTC)
    assert (after.burn_up[-1], after.places, after.outlook.left) == (
        before.burn_up[-1],
        before.places,
        before.outlook.left,
    )
    own, _paces = own_part(actor=cast.ann, project=cast.project, zone=UTC)
    assert own.all.submitted == of(cast, cast.ann).all.submitted == 2


def test_an_admins_own_recheck_fills_a_place_to_them(cast: Cast) -> None:
    """Whoever becomes an admin with a recheck open reads in no sum that it is one."""
    retests_are_asked(cast.project)
    people.import_records(cast.project, 3)
    people.make_unanimous(cast)
    a_while_ago(cast.project)
    rechecks.sweep()
    mine = people.claim(cast.ann, cast.project)
    assert mine.recheck_id is not None
    Membership.objects.filter(user=cast.ann).update(is_admin=True)

    found = board(actor=cast.ann, project=cast.project, zone=UTC)
    people.label_all(mine)
    label.submit(actor=cast.ann, assignment=mine)
    after = board(actor=cast.ann, project=cast.project, zone=UTC)

    assert (found.outlook.claimed, found.outlook.free) == (1, 3)
    assert (after.outlook.claimed, after.outlook.free) == (0, 3)
    assert after.burn_up[-1].submitted == 3 and found.places == after.places


def test_tutorial_and_tests_are_time_at_work_and_no_trajectories(cast: Cast) -> None:
    (row,) = people.import_records(cast.project, 1)
    people.label_next(cast.ann, cast.project)
    now = timezone.now()
    ActiveTime.objects.create(
        project=cast.project, annotator=cast.ann, begins_at=now - timedelta(minutes=1), active_ms=HOUR
    )
    lesson = Recheck.objects.create(
        project=cast.project,
        trajectory=row,
        kind=RecheckKind.TUTORIAL,
        annotator=cast.ben,
        due_at=now,
        dealt_at=now,
        created_at=now,
    )
    done = Assignment.objects.get()
    Assignment.stored.filter(pk=done.pk).update(annotator=cast.ben, recheck=lesson, slot=None)

    assert of(cast, cast.ben).all.submitted == 0
    assert of(cast, cast.ann).all.hours == 1.0


@pytest.mark.postgres
def test_cost_is_of_hours_or_of_trajectories_and_labels_from_files_cost_nothing(cast: Cast) -> None:
    people.import_records(cast.project, 30)
    for _ in range(25):
        people.label_next(cast.ann, cast.project)
    now = timezone.now()
    Assignment.objects.update(active_ms=360_000)
    quarter = ActiveTime(
        project=cast.project, annotator=cast.ann, begins_at=now - timedelta(days=2), active_ms=3 * HOUR
    )
    quarter.save()
    Assignment.objects.filter(pk=Assignment.objects.earliest("pk").pk).update(imported=True)

    def costs(**pay: object) -> tuple[Decimal, float | None, float | None]:
        projects.update_project(actor=cast.admin, project=cast.project, values=pay)
        cast.project.refresh_from_db()
        found = board(actor=cast.admin, project=cast.project, zone=UTC).cost
        assert found is not None
        return found.so_far, found.in_all.value, found.in_all.high

    # 35 places of six minutes each are left
    assert costs(pay_rate=Decimal(20), pay_currency="EUR") == (Decimal(60), 130.0, 130.0)
    assert costs(pay_per="trajectory") == (Decimal(480), 1180.0, 1180.0)
    assert (of(cast, cast.ann).imported, of(cast, cast.ann).all.submitted) == (1, 24)
    with pytest.raises(Invalid):
        projects.update_project(actor=cast.admin, project=cast.project, values={"pay_currency": ""})
    with pytest.raises(Invalid):
        projects.update_project(actor=cast.admin, project=cast.project, values={"pay_currency": "eur"})


def test_rate_of_a_member_takes_the_place_of_the_projects(cast: Cast) -> None:
    people.import_records(cast.project, 4)
    for who in (cast.ann, cast.ann, cast.ann, cast.ben):
        people.label_next(who, cast.project)
    values = {"pay_rate": Decimal(2), "pay_currency": "EUR", "pay_per": "trajectory"}
    projects.update_project(actor=cast.admin, project=cast.project, values=values)
    cast.project.refresh_from_db()
    mine = Membership.objects.get(project=cast.project, user=cast.ann)
    projects.set_qualifications(actor=cast.admin, membership=mine, values={"pay_rate": Decimal("3.00")})

    def earned(viewer: User) -> dict[str, Decimal | None]:
        rows = days_of_work(actor=viewer, project=cast.project, last=timezone.now().date(), days=2, zone=UTC)
        return {row.person.username: row.pay for row in rows}

    assert earned(cast.admin) == {"ann": Decimal(9), "ben": Decimal(2)}
    assert earned(cast.ben) == {"ben": Decimal(2)}
    own, _paces = own_part(actor=cast.ann, project=cast.project, zone=UTC)
    assert own.paid is not None and (own.paid.rate, own.pay) == (Decimal(3), Decimal(9))
    cost = board(actor=cast.admin, project=cast.project, zone=UTC).cost
    # four are left, at 11 / 4 on the average
    assert cost is not None and (cost.so_far, cost.in_all.value) == (Decimal(11), 22.0)
    projects.set_qualifications(actor=cast.admin, membership=mine, values={"pay_rate": None})
    assert of(cast, cast.ann).pay == Decimal(6)


@pytest.mark.postgres
def test_burn_up_sums_places_and_resolved_trajectories_by_day(cast: Cast) -> None:
    with time_machine.travel(NOON - timedelta(days=130), tick=False):
        people.import_records(cast.project, 3)
        people.make_unanimous(cast)
    with time_machine.travel(NOON - timedelta(days=1), tick=False):
        people.label_next(cast.ann, cast.project)
    found = board(actor=cast.admin, project=cast.project, zone=BERLIN, now=NOON).burn_up

    assert len(found) <= 60 and found[-1].day == TODAY
    sums = [(point.submitted, point.resolved) for point in found]
    assert sums[-1] == (3, 1) and set(sums[:-1]) <= {(2, 1), (3, 1)}
    assert sums == sorted(sums)


def test_end_is_projected_from_the_weeks_before_today_and_days_away(cast: Cast) -> None:
    people.import_records(cast.project, 60)
    for number in range(40):
        people.label_next(cast.ben if number % 4 == 3 else cast.ann, cast.project)
    for number, row in enumerate(Assignment.objects.order_by("pk")):
        # ten a week, for four weeks up to yesterday
        Assignment.objects.filter(pk=row.pk).update(
            submitted_at=NOON - timedelta(days=1 + 7 * (number // 10) + 6 * (number % 10 == 9))
        )

    def projected() -> Outlook:
        return board(actor=cast.admin, project=cast.project, zone=UTC, now=NOON).outlook

    found = projected()
    assert found.left == 80 and found.days.value == pytest.approx(56.0)
    assert found.earliest is not None and found.end is not None and found.earliest < found.end

    # Ann, of whom three of four are, is away for the half of today that is left and the six days after it,
    # which count for 6.5 / 4
    mine = Membership.objects.get(user=cast.ann)
    mine.days_away.create(first=TODAY - timedelta(days=3), last=TODAY + timedelta(days=6))
    assert projected().days.value == pytest.approx(56.0 + 6.5 * 3 / 4)
    Membership.objects.filter(pk=mine.pk).update(is_annotator=False, is_adjudicator=True)
    assert projected().days.value == pytest.approx(56.0)
