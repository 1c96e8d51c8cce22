"""The notices of a person, as far as they may still see their subjects."""

from __future__ import annotations

from django.db.models import F, Q, QuerySet

from annotation.core.vocabulary import AdjudicationState, AssignmentState
from annotation.models import Adjudication, Assignment, Discussion, Membership, Notice, User
from annotation.policies import visible

WITH = (
    "discussion__project",
    "discussion__trajectory__subset",
    "assignment__project",
    "assignment__trajectory__subset",
    "adjudication__project",
    "adjudication__trajectory__subset",
)


def notices(user: User) -> QuerySet[Notice]:
    """The newest first: of discussions that they still take part in, of their own claims in projects that
    they are members of, and of cases that they have. `message_index`: of a comment on a step."""
    projects = Membership.objects.filter(user=user).values("project")
    claims = Assignment.stored.filter(annotator=user, project__in=projects)
    cases = Adjudication.objects.filter(adjudicator=user, project__in=projects)
    seen = (
        Q(discussion__in=visible(user, Discussion.objects.all()).values("pk"))
        | Q(assignment__in=claims.values("pk"))
        | Q(adjudication__in=cases.exclude(state=AdjudicationState.RELEASED).values("pk"))
    )
    rows = visible(user, Notice.objects.filter(seen)).annotate(
        message_index=F("comment__step__message_index")
    )
    return rows.select_related(*WITH)


def record_of(notice: Notice) -> str:
    """The record that a notice is about, "" where it is not to be named: of a claim only while it is open,
    because what was given up may be asked for once more."""
    if notice.discussion is not None:
        return notice.discussion.trajectory.record_id
    if notice.adjudication is not None:
        return notice.adjudication.trajectory.record_id
    claim = notice.assignment
    return claim.trajectory.record_id if claim and claim.state == AssignmentState.OPEN else ""


def unread(user: User) -> int:
    """The number of notices a person has not read, as every page says it. One query."""
    return Notice.objects.filter(user=user, read_at__isnull=True).count()
