"""An annotator's own work: how much there is, how far it is, what stands beside what. Nothing of others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import BooleanField, Count, Exists, ExpressionWrapper, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from annotation.core.vocabulary import SEEN_LABELS, AssignmentState, RecheckKind, SecondReader
from annotation.models import Assignment, Exposure, Trajectory, User
from annotation.policies.rechecks import not_closed

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
    """A person's own work in each of these projects (ids). Two queries."""
    work_in = {project: OwnWork() for project in projects}
    lately = Count("pk", filter=Q(returned_at__gt=timezone.now() - NEWS))
    # gold counts as what it is not to be told from
    live = Count("pk", filter=Q(trajectory__live=True) | Q(recheck__kind=RecheckKind.GOLD))
    own = Assignment.stored.filter(annotator=user, project__in=work_in)
    for row in own.values("project", "state").annotate(n=Count("pk"), lately=lately, live=live).order_by():
        work = work_in[row["project"]]
        if row["state"] == AssignmentState.OPEN:
            work.open = row["n"]
        elif row["state"] == AssignmentState.SUBMITTED:
            work.submitted, work.done = row["n"], row["live"]
        else:
            work.returned += row["n"]
            work.ended += row["lately"] if row["state"] == AssignmentState.EXPIRED else 0
    rows = Trajectory.objects.filter(project__in=work_in, live=True).values_list("project")
    for project, total in rows.annotate(n=Count("pk")).order_by():
        work_in[project].total = max(total, work_in[project].done)
    return work_in


def neighbours(assignment: Assignment) -> Neighbours:
    """The assignments before and after it that its annotator can open: their open and submitted ones. One
    query, of two look-ups in an index: it takes no longer the more somebody has labelled."""
    own = Assignment.stored.filter(
        annotator=assignment.annotator_id,
        project=assignment.project_id,
        state__in=(AssignmentState.OPEN, AssignmentState.SUBMITTED),
    )
    own = not_closed(assignment.project, own)
    beside = Assignment.stored.filter(pk=assignment.pk).values_list(
        Subquery(own.filter(pk__lt=assignment.pk).order_by("-pk").values("pk")[:1]),
        Subquery(own.filter(pk__gt=assignment.pk).order_by("pk").values("pk")[:1]),
    )
    previous, following = beside.get()
    return Neighbours(previous=previous, next=following)


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
