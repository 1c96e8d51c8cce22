"""Whom a recheck may be given to, and which earlier labels are closed to their annotator because of rechecks
(docs/sealing.md, "Rechecks").

Admins are asked for none: their lists say what is resolved. Nor are adjudicators for audits: of what
they have not labelled they see that it was disputed. What they labelled is closed to them as to anybody.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation import models as m
from annotation.core.vocabulary import (
    RESOLVED,
    SETTLED,
    AssignmentState,
    RecheckKind,
    RecheckState,
    SecondReader,
    TrajectoryState,
)

SEES_LITTLE: Final = {
    RecheckKind.AUDIT: Q(is_annotator=True, is_adjudicator=False, is_admin=False, user__is_superuser=False),
    RecheckKind.RETEST: Q(is_annotator=True, is_admin=False, user__is_superuser=False),
    RecheckKind.GOLD: Q(is_annotator=True, is_admin=False, user__is_superuser=False),
}
"""Memberships whose roles do not tell which trajectories are resolved, by what is asked of the person."""


def askable(user: m.User | int, now: datetime | None = None) -> QuerySet[m.Recheck]:
    """The rechecks that a person may be given at this moment: dealt to them, due, and of nothing that they
    have seen others' judgement of or decided, and are not asked to look at again. In the order of the queue,
    which chance gave: in any other, one after the other would be told. No query by itself."""
    of_it = {"trajectory": OuterRef("trajectory")}
    mine = m.Membership.objects.filter(user=user, project=OuterRef("project"))
    labelled = m.Assignment.stored.filter(**of_it, annotator=user)
    # side by side in the list of work, the two would tell that one of them is a recheck
    looks = m.RelabelRequest.objects.filter(
        assignment__trajectory=OuterRef("trajectory"), assignment__annotator=user, begun_at__isnull=True
    )
    return m.Recheck.objects.filter(
        Q(kind=RecheckKind.RETEST.value)
        & Exists(mine.filter(SEES_LITTLE[RecheckKind.RETEST]))
        & ~Exists(m.Discussion.objects.filter(**of_it))
        | Q(kind=RecheckKind.AUDIT.value)
        & Exists(mine.filter(SEES_LITTLE[RecheckKind.AUDIT]))
        & ~Exists(labelled),
        ~Exists(m.Exposure.objects.filter(**of_it, user=user)),
        ~Exists(m.Adjudication.objects.filter(**of_it, adjudicator=user)),
        # whoever gave it back, or let it expire, is not offered it again: they may take it up
        ~Exists(m.Assignment.stored.filter(recheck=OuterRef("pk"), annotator=user)),
        ~Exists(looks),
        annotator=user,
        state=RecheckState.WAITING.value,
        due_at__lte=now or timezone.now(),
        trajectory__live=True,
        trajectory__state__in=RESOLVED,
    ).order_by("trajectory__position", "pk")


def candidates(recheck: m.Recheck) -> QuerySet[m.Membership]:
    """The annotators of a project who can read a trajectory for an audit: they are nothing else in it, have
    never had it, seen nothing of what others made of it, decided nothing in it,
    and are not its other reader. No query by itself."""
    theirs = {"trajectory": recheck.trajectory_id}
    readings = m.Recheck.objects.filter(
        audited__isnull=False, audited=recheck.audited_id, annotator=OuterRef("user")
    ).exclude(pk=recheck.pk)
    return m.Membership.objects.filter(
        ~Exists(readings),
        ~Exists(m.Assignment.stored.filter(**theirs, annotator=OuterRef("user"))),
        ~Exists(m.Exposure.objects.filter(**theirs, user=OuterRef("user"))),
        ~Exists(m.Adjudication.objects.filter(**theirs, adjudicator=OuterRef("user"))),
        SEES_LITTLE[RecheckKind.AUDIT],
        project=recheck.project_id,
        user__is_active=True,
    ).order_by()


def retested(trajectory: m.Trajectory) -> QuerySet[m.Assignment]:
    """The submissions of a trajectory of which a retest may be asked. No query by itself."""
    here = m.Membership.objects.filter(
        SEES_LITTLE[RecheckKind.RETEST], user=OuterRef("annotator"), project=trajectory.project_id
    )
    seen = m.Exposure.objects.filter(trajectory=trajectory, user=OuterRef("annotator"))
    return m.Assignment.objects.filter(
        Exists(here), ~Exists(seen), trajectory=trajectory, state=AssignmentState.SUBMITTED, imported=False
    )


def _closes_before(project: m.Project, now: datetime) -> datetime | None:
    return now - timedelta(days=project.retest_days) if project.retest_percent else None


def _asked_again() -> Exists:
    """Whether an assignment's annotator has been given its trajectory once more."""
    again = m.Assignment.stored.filter(
        trajectory=OuterRef("trajectory"), annotator=OuterRef("annotator"), recheck__isnull=False
    )
    return Exists(again)


def _state_beside() -> QuerySet[m.Assignment, str]:
    """The state of what an assignment's annotator submitted before it from the queue: gold, which is never
    settled, is closed with it."""
    before = m.Assignment.objects.filter(
        project=OuterRef("project"),
        annotator=OuterRef("annotator"),
        state=AssignmentState.SUBMITTED,
        trajectory__live=True,
        submitted_at__lte=OuterRef("submitted_at"),
    )
    return before.order_by("-submitted_at", "-pk").values_list("trajectory__state", flat=True)[:1]


def not_closed(project: m.Project, own: QuerySet[m.Assignment]) -> QuerySet[m.Assignment]:
    """The assignments of a person in a project that they may still look at.

    In a project with retests, what was submitted so long ago that it could be asked for again, and has all
    of its labels, is closed to its annotator, all of it: otherwise the retest, whose earlier labels must not
    be seen, would be told by what is missing; and a dispute, by what is not. Where judges are the second
    reader it is closed without all of its labels, too: that some are missing would tell that they doubted.
    """
    condition = Q(recheck__isnull=True) & Q(_asked_again())
    before = _closes_before(project, timezone.now())
    if before is not None:
        old = Q(state=AssignmentState.SUBMITTED.value, submitted_at__lt=before)
        if project.second_reader == SecondReader.PERSON:
            own = own.alias(state_beside=Coalesce(Subquery(_state_beside()), Value("")))
            gold = Q(recheck__kind=RecheckKind.GOLD.value, state_beside__in=SETTLED)
            old &= Q(trajectory__state__in=SETTLED) | gold
        condition |= old
    return own.exclude(condition)


def own_not_closed(project: m.Project, user: m.User) -> QuerySet[m.Assignment]:
    """The submissions of a person in a project that they may still look at: `not_closed` of theirs, asked so
    that what is closed is not passed by, row after row, once it is most of it. No query by itself."""
    mine = m.Assignment.stored.filter(
        annotator=user, project=project, state=AssignmentState.SUBMITTED.value
    ).order_by()
    before = _closes_before(project, timezone.now())
    if before is None:
        return not_closed(project, mine)
    recent = mine.filter(submitted_at__gte=before).values("pk")
    others = [mine.filter(recheck__isnull=False).values("pk")]
    if project.second_reader == SecondReader.PERSON:
        others.append(_unsettled(project, user))
    # by their keys alone: that they are somebody's would have all of theirs looked through
    return not_closed(project, m.Assignment.stored.filter(pk__in=recent.union(*others)))


def count_own_not_closed(project: m.Project, user: m.User, submitted: int) -> int:
    """The number of the `submitted` labellings of a person that are not closed to them. One query, which
    counts what is closed where that is little."""
    if _closes_before(project, timezone.now()) is not None:
        return own_not_closed(project, user).count()
    again = m.Assignment.stored.filter(annotator=user, project=project, recheck__isnull=False)
    closed = m.Assignment.objects.filter(
        annotator=user,
        state=AssignmentState.SUBMITTED.value,
        trajectory__in=again.order_by().values("trajectory"),
    )
    return submitted - closed.count()


def _unsettled(project: m.Project, user: m.User) -> QuerySet[m.Assignment, Any]:
    """The keys of a person's submissions of trajectories that lack labels of others: looked for among those
    that somebody has begun, of which there are fewer than somebody has submitted."""
    all_free = Q(free_slots=project.annotators_per_trajectory)
    begun = m.Trajectory.objects.filter(
        ~all_free, project=project, live=True, state=TrajectoryState.LABELLING.value
    )
    mine = m.Assignment.objects.filter(
        trajectory=OuterRef("pk"), annotator=user, state=AssignmentState.SUBMITTED.value
    )
    unsettled = begun.order_by().annotate(mine=Subquery(mine.values("pk")[:1])).filter(mine__isnull=False)
    return unsettled.values("mine")  # type: ignore[return-value]


def closed(assignment: m.Assignment) -> bool:
    """Whether an assignment is closed to its annotator. One query; `assignment` comes with its project."""
    own = m.Assignment.stored.filter(pk=assignment.pk)
    return not not_closed(assignment.project, own).exists()
