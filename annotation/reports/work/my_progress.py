"""An annotator's own work: how much there is, how far it is, what stands beside what. Nothing of others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db.models import (
    BooleanField,
    Count,
    Exists,
    ExpressionWrapper,
    F,
    Func,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.utils import timezone

from annotation.core.vocabulary import SEEN_LABELS, AssignmentState, RecheckKind, SecondReader
from annotation.models import Assignment, Exposure, Project, Subset, User
from annotation.models.data import with_trajectories
from annotation.models.prepared import Prepared
from annotation.policies.rechecks import not_closed

from . import trajectory_counts

NEWS = timedelta(days=14)


@dataclass
class OwnWork:
    """One person's assignments in one project, counted.

    `done` are the submitted ones among the project's live trajectories, of which there are `total`; `ended`
    are claims that were taken back or expired in the last two weeks. `returned` counts expired ones as well.
    """

    open: int = 0
    submitted: int = 0
    returned: int = 0
    ended: int = 0
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Assignments of the same person and project before and after one, by id: as they were first claimed."""

    previous: int | None
    next: int | None


def own_work(user: User, projects: Iterable[int]) -> dict[int, OwnWork]:
    """A person's own work in each of these projects (ids). At most two queries, of which the counts of
    everything read an index alone."""
    work_in = {project: OwnWork() for project in projects}
    rows = _counted(user=user.pk, projects=list(work_in), since=timezone.now() - NEWS)
    for project, opened, submitted, returned, expired, hidden, ended in rows:
        work_in[project] = OwnWork(
            open=opened,
            submitted=submitted,
            returned=returned + expired,
            ended=ended,
            done=submitted - hidden,
        )
    for project, total in trajectory_counts.totals(work_in).items():
        work_in[project].total = max(total, work_in[project].done)
    return work_in


def _numbers(user: int, projects: Collection[int], since: datetime) -> QuerySet[Project, tuple[int, ...]]:
    """Of each project its pk, and how many of a person's assignments are open, submitted, returned and
    expired, submitted but none of the live ones, and expired `since`."""
    own = Assignment.stored.filter(annotator=user, project=OuterRef("pk")).order_by()
    # What is replaced ends the submissions of its N annotators, so what is not live is rechecked or training.
    # Gold counts as what it is not to be told from.
    besides = own.filter(recheck__isnull=False, state=AssignmentState.SUBMITTED)
    hidden = besides.exclude(Q(trajectory__live=True) | Q(recheck__kind=RecheckKind.GOLD))
    ended = own.filter(state=AssignmentState.EXPIRED, returned_at__gt=since)
    # each by itself: in groups by state, counting takes twice as long
    counted = [*(own.filter(state=state) for state in AssignmentState), hidden, ended]
    number = Func(F("pk"), function="COUNT", output_field=IntegerField())
    columns = [Subquery(rows.annotate(number=number).values("number")) for rows in counted]
    return Project.objects.filter(pk__in=projects).order_by().values_list("pk", *columns)


_counted: Final = Prepared(
    _numbers,
    *("user", "projects"),
    since=(datetime(1, 2, 3, tzinfo=UTC), datetime(2, 3, 4, tzinfo=UTC)),
)


def _with_neighbours(assignment: int, annotator: int, project: Project) -> QuerySet[Assignment]:
    """An assignment with `previous` and `following`. Of two look-ups in an index: it takes no longer the more
    somebody has labelled."""
    own = Assignment.stored.filter(
        annotator=annotator,
        project=project.pk,
        state__in=(AssignmentState.OPEN, AssignmentState.SUBMITTED),
    )
    own = not_closed(project, own)
    return (
        Assignment.stored.filter(pk=assignment)
        .only("pk")
        .annotate(
            previous=Subquery(own.filter(pk__lt=assignment).order_by("-pk").values("pk")[:1]),
            following=Subquery(own.filter(pk__gt=assignment).order_by("pk").values("pk")[:1]),
        )
    )


_without_retests: Final = Prepared(
    lambda assignment, annotator, project: _with_neighbours(
        assignment, annotator, Project(pk=project, retest_percent=0)
    ),
    *("assignment", "annotator", "project"),
)


def neighbours(assignment: Assignment) -> Neighbours:
    """The assignments before and after it that its annotator can open: their open and submitted ones. One
    query."""
    project, annotator = assignment.project, assignment.annotator_id
    rows: Any = (
        # what closes in a project with retests depends on the time
        _with_neighbours(assignment.pk, annotator, project)
        if project.retest_percent
        else _without_retests(assignment=assignment.pk, annotator=annotator, project=project.pk)
    )
    [row] = rows
    return Neighbours(previous=row.previous, next=row.following)


def reopenable() -> Q:
    """The condition on assignments that may still be opened again by `services.label.reopen`, as far as their
    annotators know: whether another annotator has submitted is told to nobody who has not asked."""
    seen = Exposure.objects.filter(
        trajectory=OuterRef("trajectory"), user=OuterRef("annotator"), kind__in=SEEN_LABELS
    )
    several = Q(project__annotators_per_trajectory__gt=1, project__second_reader=SecondReader.PERSON)
    taught = Q(recheck__kind__in=(RecheckKind.TUTORIAL, RecheckKind.TEST), recheck__isnull=False)
    return Q(state=AssignmentState.SUBMITTED) & several & Q(~Exists(seen)) & ~taught


def with_progress(assignments: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Assignments with their trajectory, `done`: how many of its steps have a label, and `reopenable`."""
    labelled = Count("labels", filter=Q(labels__value__isnull=False))
    again = ExpressionWrapper(reopenable(), output_field=BooleanField())
    return assignments.select_related("project", "trajectory__subset").annotate(
        done=labelled, reopenable=again
    )


def with_progress_of(rows: list[Assignment]) -> list[Assignment]:
    """These assignments, in their order, as `with_progress` gives them: so that steps are counted of a page
    alone. One query."""
    by_pk = with_progress(Assignment.stored.filter(pk__in=[row.pk for row in rows])).in_bulk()
    return [by_pk[row.pk] for row in rows]


def own_subsets(user: User, project: Project) -> list[str]:
    """The names of the subsets that a person's assignments can be of: those that are labelled, and those of
    the tutorial and of tests that they were given. One query."""
    given = Assignment.stored.filter(
        annotator=user, project=project, recheck__isnull=False, trajectory__training=True
    )
    subsets = Subset.objects.filter(project=project)
    live = with_trajectories(subsets).values("pk")
    named = subsets.filter(Q(pk__in=live) | Q(pk__in=given.order_by().values("trajectory__subset")))
    return list(named.order_by("name").values_list("name", flat=True))
