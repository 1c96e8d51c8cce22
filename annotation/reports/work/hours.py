"""Work by person and day: time at work, what was submitted, and what it earns.

A person's work is all that they handed in here, whatever it is asked for: trajectories that are labelled once
more, and gold, are work as any other, and neither they nor those who pay can tell them from the rest. The
tutorial and tests are time at work, but no trajectories. Labels that came in a file are no work done here.
Time is that of the quarters of an hour in which it was reported (`ActiveTime`), finished or not; a submission
counts on the day of its last submission.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Any, Final, NamedTuple

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Exists, Min, OuterRef, Q, Subquery
from django.utils import timezone

from annotation.core.vocabulary import AssignmentState, PayPer, RecheckKind
from annotation.models import (
    ActiveTime,
    Assignment,
    Membership,
    Project,
    Qualification,
    Recheck,
    Trajectory,
    User,
)
from annotation.models.labels import BY_PERSON
from annotation.policies import Actor, allowed, require

MS_AN_HOUR: Final = 3_600_000
DAY: Final = timedelta(days=1)

# Ranges of an index, one after the other: to group 200,000 rows by the day of a time zone takes SQLite ten
# times as long, for it would sort them.
SPANS: Final = "WITH span(n, begins, ends) AS (VALUES {spans}), person(id) AS (VALUES {people})"
SUBMITTED: Final = f"""SELECT {{what}} FROM {Assignment._meta.db_table} a {{joined}}
    WHERE a.project_id = %s AND a.state = '{AssignmentState.SUBMITTED}' AND a.annotator_id = person.id
    AND a.imported IN ({{imported}}) AND a.submitted_at >= span.begins AND a.submitted_at < span.ends
    AND (a.recheck_id IS NULL OR a.recheck_id NOT IN (SELECT id FROM {Recheck._meta.db_table}
        WHERE project_id = %s AND kind IN ('{RecheckKind.TUTORIAL}', '{RecheckKind.TEST}')))"""
# of the viewer's own all: in figures about everybody theirs must not tell what they were asked once more
PLACED: Final = "(a.recheck_id IS NULL OR a.annotator_id = %s)"
ACTIVE: Final = f"""SELECT SUM(active_ms) FROM {ActiveTime._meta.db_table}
    WHERE project_id = %s AND annotator_id = person.id
    AND begins_at >= span.begins AND begins_at < span.ends"""
STEPS: Final = f"JOIN {Trajectory._meta.db_table} t ON t.id = a.trajectory_id"


HERE, ANYWHERE = "false", "false, true"
"""Places of submissions: in the product, or in a file as well."""


def of_work(project: Project) -> Q:
    """The condition on assignments that count as trajectories: all but the tutorial and tests."""
    learning = Recheck.objects.filter(project=project, kind__in=(RecheckKind.TUTORIAL, RecheckKind.TEST))
    return Q(recheck__isnull=True) | ~Q(recheck__in=learning)


class Span(NamedTuple):
    """A time from `begins` up to `ends`."""

    begins: datetime
    ends: datetime


class Work(NamedTuple):
    """Work of somebody in a span: `active_ms` at work, trajectories `submitted`; of these, `placed` ones fill
    a place; and the `steps` of the submitted ones, where they were asked for."""

    active_ms: int = 0
    submitted: int = 0
    placed: int = 0
    steps: int = 0

    @property
    def hours(self) -> float:
        """Hours at work."""
        return self.active_ms / MS_AN_HOUR

    def __add__(self, other: object) -> Work:
        assert isinstance(other, Work)
        return Work(*(mine + more for mine, more in zip(self, other, strict=True)))


@dataclass(frozen=True, slots=True)
class Pay:
    """The pay in a project, or of one of its members: `rate` in `currency` per hour at work or submitted
    trajectory."""

    rate: Decimal
    currency: str
    per: str

    def of(self, work: Work) -> Decimal:
        """The pay of some work, to the hundredth."""
        if self.per == PayPer.TRAJECTORY:
            return self.rate * work.submitted
        return (self.rate * work.active_ms / MS_AN_HOUR).quantize(Decimal("0.01"))


def pay_of(project: Project) -> Pay | None:
    """The pay in a project; None where nothing is said."""
    if project.pay_rate is None:
        return None
    return Pay(project.pay_rate, project.pay_currency, project.pay_per)


def pays_of(project: Project, people: Collection[int]) -> dict[int, Pay]:
    """The pay of each of these people (keys): at a rate of their own, else at the project's; nobody where
    nothing is said. One query."""
    pay = pay_of(project)
    if pay is None:
        return {}
    noted = Qualification.objects.filter(
        membership__project=project, membership__user__in=people, pay_rate__isnull=False
    )
    rates = dict.fromkeys(people, pay.rate)
    rates |= {pk: rate for pk, rate in noted.values_list("membership__user", "pay_rate") if rate is not None}
    return {pk: replace(pay, rate=rate) for pk, rate in rates.items()}


def zone_of(user: Actor) -> tzinfo:
    """The time zone in which somebody's days begin; the operator's is the server's."""
    return user.zone if isinstance(user, User) else timezone.get_default_timezone()


def days_up_to(last: date, n: int) -> list[date]:
    """The n days up to the last one, in order."""
    return [last - DAY * back for back in reversed(range(n))]


def span_of(day: date, zone: tzinfo) -> Span:
    """A day of a time zone; 23 or 25 hours where its clocks are changed."""
    begins, ends = (datetime.combine(at, time(), zone) for at in (day, day + DAY))
    return Span(begins, ends)


def spans_as_values(connection: BaseDatabaseWrapper, spans: Sequence[Span]) -> tuple[str, list[Any]]:
    """Spans as rows of VALUES, numbered from 0, and their parameters."""
    adapted = connection.ops.adapt_datetimefield_value
    values = [
        value for n, span in enumerate(spans) for value in (n, adapted(span.begins), adapted(span.ends))
    ]
    return ", ".join(["(%s, %s, %s)"] * len(spans)), values


def work_in(
    *, project: Project, people: Collection[int], spans: Sequence[Span], viewer: Actor, steps: bool = False
) -> dict[tuple[int, int], Work]:
    """The work of people (keys) in spans, by person and number of the span; what has none is left out. One
    query."""
    counted, of_project = (
        SUBMITTED.format(what="COUNT(*)", joined="", imported=HERE),
        (project.pk, project.pk),
    )
    columns: list[tuple[str, tuple[int, ...]]] = [
        (ACTIVE, (project.pk,)),
        (counted, of_project),
        (f"{counted} AND {PLACED}", (*of_project, _own(viewer))),
    ]
    if steps:
        summed = SUBMITTED.format(what="SUM(t.step_count)", joined=STEPS, imported=HERE)
        columns.append((summed, of_project))
    measured = _in_spans(people, spans, columns)
    return {key: Work(*numbers) for key, numbers in measured.items()}


def places_filled(
    *, project: Project, people: Collection[int], spans: Sequence[Span], viewer: Actor
) -> list[int]:
    """The number of places filled in each span, by labels from files too. One query."""
    counted = SUBMITTED.format(what="COUNT(*)", joined="", imported=ANYWHERE)
    per_span = _in_spans(people, spans, [(f"{counted} AND {PLACED}", (project.pk, project.pk, _own(viewer)))])
    sums = [0] * len(spans)
    for (_person, n), (filled,) in per_span.items():
        sums[n] += filled
    return sums


def _own(viewer: Actor) -> int:
    return viewer.pk if isinstance(viewer, User) else 0


def _in_spans(
    people: Collection[int], spans: Sequence[Span], columns: Sequence[tuple[str, tuple[int, ...]]]
) -> dict[tuple[int, int], tuple[int, ...]]:
    """The values of columns (SQL, parameters) by person and number of the span, where not all are 0."""
    if not people or not spans:
        return {}
    connection = connections[Assignment.stored.db]
    spans_named, values = spans_as_values(connection, spans)
    named = SPANS.format(spans=spans_named, people=", ".join(["(%s)"] * len(people)))
    chosen = ", ".join(f"({column})" for column, _values in columns)
    values = [*values, *people, *(value for _column, given in columns for value in given)]
    with connection.cursor() as cursor:
        cursor.execute(f"{named} SELECT person.id, span.n, {chosen} FROM person CROSS JOIN span", values)
        rows = [(person, n, tuple(int(one or 0) for one in rest)) for person, n, *rest in cursor.fetchall()]
    return {(person, n): numbers for person, n, numbers in rows if any(numbers)}


@dataclass(frozen=True, slots=True)
class DayOfWork:
    """One person's work on one day, and what it earns; None where nothing is said of pay."""

    person: User
    day: date
    work: Work
    pay: Decimal | None

    @property
    def hours(self) -> float:
        """Hours at work."""
        return self.work.hours


def everybody(project: Project) -> dict[int, User]:
    """The annotators of a project, and whoever has worked in it without being one any more, by key."""
    member = Membership.objects.filter(project=project, is_annotator=True, user=OuterRef("pk"))
    worked = Assignment.stored.filter(project=project, annotator=OuterRef("pk")).order_by(*BY_PERSON)
    # one of theirs, and not whether there is one (trajectory_list.annotators_of)
    people = User.objects.alias(one=Subquery(worked.values("pk")[:1]))
    return {user.pk: user for user in people.filter(Exists(member) | Q(one__isnull=False))}


def require_hours(actor: Actor, project: Project) -> bool:
    """Whether somebody may see everybody's hours, or only their own. Raises Denied to who may see none."""
    if allowed(actor, "progress.view", project):
        return True
    require(actor, "claim", project)
    return False


def days_of_work(
    *, actor: Actor, project: Project, last: date, days: int | None, zone: tzinfo, person: str = ""
) -> list[DayOfWork]:
    """Days with work up to the last one, the latest first; of the last `days`, or of all. Of everybody for
    admins (or of the one with that user name), to annotators their own. At most six queries, and those of
    the permission."""
    people = {actor.pk: actor} if isinstance(actor, User) else {}
    if require_hours(actor, project):
        people = everybody(project)
    if person:
        people = {pk: user for pk, user in people.items() if user.username == person}
    if days is None:
        days = (last - _first_day(project, people, zone, last)).days + 1
    wanted = days_up_to(last, days)
    spans = [span_of(day, zone) for day in wanted]
    by_span = work_in(project=project, people=people, spans=spans, viewer=actor, steps=True)
    pays = pays_of(project, people)
    rows = [
        DayOfWork(people[pk], wanted[n], work, pays[pk].of(work) if pays else None)
        for (pk, n), work in by_span.items()
    ]
    return sorted(rows, key=lambda row: (-row.day.toordinal(), str(row.person).casefold(), row.person.pk))


def _first_day(project: Project, people: Collection[int], zone: tzinfo, last: date) -> date:
    """The day of the first work of some people."""
    done = Assignment.stored.filter(
        project=project, state=AssignmentState.SUBMITTED, imported=False, annotator__in=people
    ).aggregate(first=Min("submitted_at"))["first"]
    begun = ActiveTime.objects.filter(project=project, annotator__in=people).aggregate(first=Min("begins_at"))
    first = min((at for at in (done, begun["first"]) if at), default=None)
    return min(first.astimezone(zone).date(), last) if first else last
