"""The board of a project, for its admins: who does what, how fast, when it ends, and what it costs.

What annotators see is their own part (`own_part`), which tells nothing of others. For what counts as work see
`hours`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from itertools import accumulate, pairwise
from typing import Final

from django.db import connections
from django.db.models import Count, F, Max, Min, OuterRef, Q, Subquery, Sum
from django.utils import timezone

from annotation.core.figures.forecast import (
    FARTHEST,
    Absence,
    Forecast,
    days_until_done,
    sum_to_come,
    with_days_away,
)
from annotation.core.vocabulary import AssignmentState, PayPer, TrajectoryState
from annotation.models import ActiveTime, Assignment, DaysAway, OutcomeConsensus, Project, Trajectory, User
from annotation.models.labels import ACTIVE_STATES
from annotation.policies import Actor, require

from .hours import (
    DAY,
    Pay,
    Span,
    Work,
    days_up_to,
    everybody,
    of_work,
    pay_of,
    pays_of,
    places_filled,
    span_of,
    spans_as_values,
    work_in,
)

RECENT_DAYS: Final = 28
FORECAST_DAYS: Final = 56
BURN_UP_POINTS: Final = 60
LATELY: Final = (7, RECENT_DAYS)
NOTHING: Final = Work()
EVER: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Recent:
    """Submissions of the last `RECENT_DAYS` days and their steps; of those whose time was measured, how many,
    their sum and their sum of squares (whole seconds)."""

    submitted: int = 0
    steps: int = 0
    timed: int = 0
    seconds: int = 0
    squares: int = 0


@dataclass(frozen=True, slots=True)
class PersonWork:
    """The work of one person. `all` is everything they did here, `by_day` the days with work among the last
    `FORECAST_DAYS`; `expiring` are open claims that end soon unless they are used; `imported` are submissions
    that came in a file."""

    person: User
    open: int = 0
    expiring: int = 0
    returned: int = 0
    imported: int = 0
    all: Work = NOTHING
    last: datetime | None = None
    by_day: Mapping[date, Work] = field(default_factory=dict)
    recent: Recent = Recent()
    paid: Pay | None = None

    @property
    def pay(self) -> Decimal | None:
        """Their earnings; None where nothing is said of pay."""
        return self.paid.of(self.all) if self.paid else None

    def lately(self, days: int, today: date) -> Work:
        """The work of so many days, today being the last."""
        return sum((work for day, work in self.by_day.items() if 0 <= (today - day).days < days), NOTHING)


@dataclass(frozen=True, slots=True)
class Pace:
    """The pace of the last `days`: trajectories a day, active hours a day, trajectories and steps an active
    hour; None where no time was measured, or steps were not counted."""

    days: int
    work: Work

    @property
    def a_day(self) -> float:
        """Trajectories a day."""
        return self.work.submitted / self.days

    @property
    def an_hour(self) -> float | None:
        """Trajectories an active hour."""
        return self.work.submitted / self.work.hours if self.work.active_ms else None

    @property
    def steps_an_hour(self) -> float | None:
        """Steps an active hour."""
        return self.work.steps / self.work.hours if self.work.active_ms and self.work.steps else None


@dataclass(frozen=True, slots=True)
class Outlook:
    """The work that is left: `claimed` places that somebody holds and `free` ones; `days` until the last is
    filled."""

    claimed: int
    free: int
    days: Forecast
    now: datetime

    @property
    def left(self) -> int:
        """Labellings that are still to be submitted."""
        return self.claimed + self.free

    @property
    def end(self) -> datetime | None:
        """The projected end."""
        return self._at(self.days.value)

    @property
    def earliest(self) -> datetime | None:
        """The beginning of its interval."""
        return self._at(self.days.low)

    @property
    def latest(self) -> datetime | None:
        """The end of its interval."""
        return self._at(self.days.high)

    def _at(self, days: float | None) -> datetime | None:
        return None if days is None or not self.left else self.now + timedelta(days=days)


@dataclass(frozen=True, slots=True)
class Cost:
    """Earnings so far, and when all is labelled."""

    pay: Pay
    so_far: Decimal
    in_all: Forecast


@dataclass(frozen=True, slots=True)
class BurnUpPoint:
    """The sums at the end of a day: labellings submitted, trajectories resolved."""

    day: date
    submitted: int
    resolved: int


@dataclass(frozen=True, slots=True)
class Board:
    """The whole picture. `places` are the labellings, `trajectories` the trajectories that the burn-up is of;
    `timed` of the `recent` submissions have a measured time."""

    today: date
    people: list[PersonWork]
    outlook: Outlook
    paces: tuple[Pace, ...]
    places: int
    trajectories: int
    burn_up: list[BurnUpPoint]
    cost: Cost | None


WorkByDay = Mapping[tuple[int, int], Work]
"""The work of people (keys) on the last `FORECAST_DAYS` days, the oldest of which is number 0."""


def board(*, actor: Actor, project: Project, zone: tzinfo, now: datetime | None = None) -> Board:
    """The board of a project, for its admins, with days of the time zone. 13 queries, and those of the
    permission."""
    require(actor, "progress.view", project)
    now = now or timezone.now()
    today = now.astimezone(zone).date()
    turns = _turns(project, actor)
    users = everybody(project)
    work = _work_by_day(project, users, actor, today, zone)
    people = _people(project, users, turns, work, today, zone)
    left = _outlook(project, turns, work, actor, now, zone)
    return Board(
        today=today,
        people=people,
        outlook=left,
        paces=_paces(people, today),
        places=sum(row.placed for row in turns.values()) + left.left,
        trajectories=Trajectory.objects.filter(project=project, live=True).count(),
        burn_up=_burn_up(project, turns, actor, today, zone),
        cost=_cost(project, people, left),
    )


def outlook(*, actor: Actor, project: Project, zone: tzinfo, now: datetime | None = None) -> Outlook:
    """The work left in a project and its expected end, for its admins. Seven queries, none of which counts
    what was submitted before these weeks, and those of the permission."""
    require(actor, "progress.view", project)
    now = now or timezone.now()
    users = everybody(project)
    turns = _unfinished(project, users, actor)
    work = _work_by_day(project, users, actor, now.astimezone(zone).date(), zone)
    return _outlook(project, turns, work, actor, now, zone)


OwnPart = tuple[PersonWork, tuple[Pace, ...]]
"""One person's work, and its paces."""


def own_part(*, actor: User, project: Project, zone: tzinfo, now: datetime | None = None) -> OwnPart:
    """An annotator's own work in a project and its paces, with nothing of others. Six queries, and those of
    the permission."""
    require(actor, "claim", project)
    today = (now or timezone.now()).astimezone(zone).date()
    own = {actor.pk: actor}
    turns = _turns(project, actor, own)
    work = _work_by_day(project, own, actor, today, zone)
    people = _people(project, own, turns, work, today, zone)
    return people[0], _paces(people, today)


@dataclass(slots=True)
class _Turns:
    """The assignments of one person, counted. `asked_again`: the viewer's own that fill no place; `begun` is
    the first submission, `first` the first that was made here."""

    open: int = 0
    claimed: int = 0
    expiring: int = 0
    returned: int = 0
    submitted: int = 0
    imported: int = 0
    placed: int = 0
    asked_again: int = 0
    begun: datetime | None = None
    first: datetime | None = None
    last: datetime | None = None


def _turns(project: Project, viewer: Actor, only: Iterable[int] | None = None) -> dict[int, _Turns]:
    """The assignments of everybody who has any, or of some people. Two queries; the first reads an index
    alone."""
    own = viewer.pk if isinstance(viewer, User) else 0
    rows = Assignment.stored.filter(of_work(project), project=project).order_by()
    rows = rows if only is None else rows.filter(annotator__in=only)
    counted = rows.values_list("state", "annotator", "imported").annotate(
        n=Count("pk"), again=Count("recheck"), first=Min("submitted_at"), last=Max("submitted_at")
    )
    by_person: defaultdict[int, _Turns] = defaultdict(_Turns)
    for state, pk, imported, n, again, first, last in counted:
        turns, places = by_person[pk], n if pk == own else n - again
        if pk == own and state in ACTIVE_STATES:
            turns.asked_again += again
        if state == AssignmentState.SUBMITTED:
            turns.placed += places
            turns.begun = min(first, turns.begun or first)
            turns.last = max(last, turns.last or last)
            if imported:
                turns.imported = n
            else:
                turns.submitted, turns.first = n, first
        elif state == AssignmentState.OPEN:
            turns.open += n
            turns.claimed += places
        else:
            turns.returned += n
    held = rows.filter(state=AssignmentState.OPEN).values_list("annotator")
    for pk, warned, used in held.annotate(warned=Count("warned_at"), used=Max("last_used_at")):
        turns = by_person[pk]
        turns.expiring, turns.last = warned, max(used, turns.last or used)
    return dict(by_person)


def _unfinished(project: Project, people: Collection[int], viewer: Actor) -> dict[int, _Turns]:
    """Of the assignments of people only what `_outlook` asks for: open claims, the viewer's own that fill no
    place, and the first submission that was made here, which an index tells of each person. Three queries."""
    rows = Assignment.stored.filter(of_work(project), project=project).order_by()
    turns: defaultdict[int, _Turns] = defaultdict(_Turns)
    held = rows.filter(state=AssignmentState.OPEN).values_list("annotator")
    for pk, n, again in held.annotate(n=Count("pk"), again=Count("recheck")):
        turns[pk].claimed = n if viewer.pk == pk else n - again
    if isinstance(viewer, User):
        own = rows.filter(annotator=viewer, recheck__isnull=False, state__in=ACTIVE_STATES)
        turns[viewer.pk].asked_again = own.count()
    here = rows.filter(
        annotator=OuterRef("pk"),
        state=AssignmentState.SUBMITTED,
        imported__in=(False,),  # as in `_recent`
    )
    first = Subquery(here.order_by("submitted_at").values("submitted_at")[:1])
    begun = User.objects.filter(pk__in=people).annotate(first=first).values_list("pk", "first")
    for pk, at in begun:
        turns[pk].first = at
    return dict(turns)


def _work_by_day(
    project: Project, people: Collection[int], viewer: Actor, today: date, zone: tzinfo
) -> WorkByDay:
    spans = [span_of(day, zone) for day in days_up_to(today, FORECAST_DAYS + 1)]
    return work_in(project=project, people=people, spans=spans, viewer=viewer)


def _people(
    project: Project,
    users: Mapping[int, User],
    turns: Mapping[int, _Turns],
    work: WorkByDay,
    today: date,
    zone: tzinfo,
) -> list[PersonWork]:
    """The work of people, by name. Three queries."""
    days = days_up_to(today, FORECAST_DAYS + 1)
    by_day: defaultdict[int, dict[date, Work]] = defaultdict(dict)
    for (pk, n), done in work.items():
        by_day[pk][days[n]] = done
    active = {
        row["annotator"]: row
        for row in ActiveTime.objects.filter(project=project, annotator__in=users)
        .values("annotator")
        .annotate(ms=Sum("active_ms"), last=Max("begins_at"))
        .order_by()
    }
    recent = _recent(project, users, span_of(today - (RECENT_DAYS - 1) * DAY, zone).begins)
    pays = pays_of(project, users)
    listed = []
    for pk, user in users.items():
        own, at_work = turns.get(pk, _Turns()), active.get(pk)
        everything = Work(at_work["ms"] if at_work else 0, own.submitted, own.placed)
        times = [at for at in (own.last, at_work["last"] if at_work else None) if at]
        listed.append(
            PersonWork(
                person=user,
                open=own.open,
                expiring=own.expiring,
                returned=own.returned,
                imported=own.imported,
                all=everything,
                last=max(times, default=None),
                by_day=by_day[pk],
                recent=recent.get(pk, Recent()),
                paid=pays.get(pk),
            )
        )
    return sorted(listed, key=lambda row: (str(row.person).casefold(), row.person.pk))


def _recent(project: Project, people: Collection[int], since: datetime) -> dict[int, Recent]:
    seconds = F("active_ms") / 1000
    rows = Assignment.stored.filter(
        of_work(project),
        project=project,
        state=AssignmentState.SUBMITTED,
        annotator__in=people,
        imported__in=(False,),  # unlike "not imported" a range of the index, and then of times
        submitted_at__gte=since,
    ).values_list("annotator")
    counted = rows.annotate(
        n=Count("pk"),
        steps=Sum("trajectory__step_count"),
        timed=Count("pk", filter=Q(active_ms__gt=0)),
        seconds=Sum(seconds),
        squares=Sum(seconds * seconds),
    )
    return {pk: Recent(*map(int, numbers)) for pk, *numbers in counted.order_by()}


def _paces(people: Sequence[PersonWork], today: date) -> tuple[Pace, ...]:
    """The pace of each of `LATELY`; steps are known of the longest alone."""
    paces = []
    for days in LATELY:
        work = sum((one.lately(days, today) for one in people), NOTHING)
        if days == RECENT_DAYS:
            work = work._replace(steps=sum(one.recent.steps for one in people))
        paces.append(Pace(days, work))
    return tuple(paces)


def _outlook(
    project: Project, turns: Mapping[int, _Turns], work: WorkByDay, viewer: Actor, now: datetime, zone: tzinfo
) -> Outlook:
    """The work that is left, and its end at the pace of the last weeks up to yesterday, with the days away
    that are planned. Two queries.

    Of the viewer's own, what they were asked once more takes a place as all else does: else the free places
    would tell it.
    """
    free = Trajectory.objects.filter(project=project, live=True, state=TrajectoryState.LABELLING).aggregate(
        free=Sum("free_slots", default=0)
    )["free"]
    own = turns.get(viewer.pk, _Turns()) if isinstance(viewer, User) else _Turns()
    claimed = sum(row.claimed for row in turns.values())
    by_day, by_person = Counter[int](), Counter[int]()
    today = now.astimezone(zone).date()
    begun = min((row.first for row in turns.values() if row.first), default=now).astimezone(zone).date()
    days_known = min(FORECAST_DAYS, (today - begun).days)
    for (person, n), done in work.items():
        if FORECAST_DAYS - days_known <= n < FORECAST_DAYS:
            by_day[n] += done.placed
            by_person[person] += done.placed
    daily = [by_day[n] for n in range(FORECAST_DAYS - days_known, FORECAST_DAYS)]
    free = max(free - own.asked_again, 0)
    days = days_until_done(daily, claimed + free)
    if days.value:
        shares = {person: placed / by_person.total() for person, placed in by_person.items()}
        days = with_days_away(days, shares, _planned_days_away(project, now, zone))
    return Outlook(claimed, free, days, now)


def _planned_days_away(project: Project, now: datetime, zone: tzinfo) -> list[Absence]:
    """Days on which the annotators of a project are away from now on. One query."""
    today = now.astimezone(zone).date()
    farthest = today + FARTHEST * DAY
    rows = DaysAway.objects.filter(
        membership__project=project, membership__is_annotator=True, first__lte=farthest, last__gte=today
    ).order_by()
    return [
        Absence(
            person,
            (span_of(first, zone).begins - now) / DAY,
            (span_of(min(last, farthest), zone).ends - now) / DAY,
        )
        for person, first, last in rows.values_list("membership__user", "first", "last")
    ]


def _burn_up(
    project: Project, turns: Mapping[int, _Turns], viewer: Actor, today: date, zone: tzinfo
) -> list[BurnUpPoint]:
    """The sums at the end of at most `BURN_UP_POINTS` days, at equal distances, the last of them today. Two
    queries."""
    first = min((row.begun for row in turns.values() if row.begun), default=None)
    if first is None:
        return []
    days = max((today - first.astimezone(zone).date()).days, 0) + 1
    every = -(-days // BURN_UP_POINTS)
    ends = days_up_to(today, days)[::-1][::every][::-1]
    edges = [EVER, *(span_of(day, zone).ends for day in ends)]
    spans = [Span(*pair) for pair in pairwise(edges)]
    filled = places_filled(project=project, people=turns, spans=spans, viewer=viewer)
    sums = zip(ends, accumulate(filled), accumulate(_resolved(project, spans)), strict=True)
    return [BurnUpPoint(*point) for point in sums]


# a cross join, in this order: what was resolved in a span is looked for among what was resolved then
RESOLVED: Final = f"""WITH span(n, begins, ends) AS (VALUES {{spans}}) SELECT span.n,
    (SELECT COUNT(*) FROM {OutcomeConsensus._meta.db_table} o
        CROSS JOIN {Trajectory._meta.db_table} t
        WHERE t.id = o.trajectory_id AND o.created_at >= span.begins AND o.created_at < span.ends
        AND t.project_id = %s AND t.live)
    FROM span ORDER BY span.n"""


def _resolved(project: Project, spans: Sequence[Span]) -> list[int]:
    """The number of trajectories that were resolved in each span."""
    connection = connections[Trajectory.objects.db]
    named, values = spans_as_values(connection, spans)
    with connection.cursor() as cursor:
        cursor.execute(RESOLVED.format(spans=named), [*values, project.pk])
        return [n for _span, n in cursor.fetchall()]


def _cost(project: Project, people: Sequence[PersonWork], left: Outlook) -> Cost | None:
    """Earnings of all work, and with all that is left: at the mean time of the submissions of the last
    `RECENT_DAYS` days whose time was measured, and at the rate at which these days were paid on the whole.
    What is asked once more is not foreseen."""
    pay = pay_of(project)
    if pay is None:
        return None
    so_far = sum((one.pay for one in people if one.pay is not None), Decimal(0))
    by_piece = pay.per == PayPer.TRAJECTORY
    weights = [
        (one.paid.rate, one.recent.submitted if by_piece else one.recent.seconds)
        for one in people
        if one.paid is not None
    ]
    done = sum(weight for _rate, weight in weights)
    rate = sum(rate * weight for rate, weight in weights) / done if done else pay.rate
    if by_piece:
        more = Forecast(float(left.left), float(left.left), float(left.left))
    else:
        timed = sum(one.recent.timed for one in people)
        mean = sum(one.recent.seconds for one in people) / timed if timed else 0.0
        squares = sum(one.recent.squares for one in people)
        variance = max(squares - timed * mean**2, 0.0) / (timed - 1) if timed > 1 else 0.0
        more = sum_to_come(timed, mean, variance, left.left).scaled(1 / 3600)
    return Cost(pay, so_far, more.scaled(float(rate), float(so_far)))
