"""The notices of a person, as far as they may still see their subjects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from django.db import connections
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.core.vocabulary import AdjudicationState, AssignmentState, NoticeKind, Role, Voice
from annotation.models import (
    Adjudication,
    AdminRemark,
    Assignment,
    Discussion,
    Membership,
    Notice,
    User,
    Webhook,
)
from annotation.policies import visible
from annotation.policies.access import being_labelled

from ..shared.pseudonyms import letters
from .discussions import Speaker

# of every page, and written once: Django took twenty times as long to compose it as to ask it
UNREAD: Final = (
    f"SELECT COUNT(DISTINCT COALESCE(discussion_id, -id)) FROM {Notice._meta.db_table}"
    " WHERE user_id = %s AND read_at IS NULL"
)
WITH = (
    "discussion__project",
    "discussion__trajectory__subset",
    "assignment__project",
    "assignment__trajectory__subset",
    "adjudication__project",
    "adjudication__trajectory__subset",
    "remark__project",
    "remark__assignment__trajectory__subset",
    "remark__assignment__project",
    "membership__project",
    "webhook__project",
)
TOLD_BY = ("comment__author", "revision__assignment__annotator")
"""The author of what a notice tells of."""


def notices(user: User) -> QuerySet[Notice]:
    """The newest first: of discussions that they still take part in, of their own claims in projects that
    they are members of, of cases that they have, of remarks to admins, about members, and about
    webhooks. `message_index`: of a comment or a remark on a step, or of a change of mind about it."""
    projects = Membership.objects.filter(user=user).values("project")
    claims = Assignment.stored.filter(annotator=user, project__in=projects)
    cases = Adjudication.objects.filter(adjudicator=user, project__in=projects)
    seen = (
        Q(discussion__in=visible(user, Discussion.objects.all()).values("pk"))
        | Q(assignment__in=claims.values("pk"))
        | Q(adjudication__in=cases.exclude(state=AdjudicationState.RELEASED).values("pk"))
        | Q(remark__in=visible(user, AdminRemark.objects.all()).values("pk"), remark__project__in=projects)
        | Q(membership__in=visible(user, Membership.objects.filter(project__in=projects)).values("pk"))
        | Q(webhook__in=visible(user, Webhook.objects.filter(project__in=projects)).values("pk"))
    )
    rows = visible(user, Notice.objects.filter(seen)).annotate(
        message_index=Coalesce(
            "comment__step__message_index", "revision__step__message_index", "remark__step__message_index"
        )
    )
    return rows.select_related(*WITH)


def newest_notices(user: User) -> QuerySet[Notice]:
    """The same, of each discussion the newest alone.

    `events`: how many notices of the discussion there are, `new`: how many of them are unread, both null for
    what is no discussion; `mentioned`: whether an unread one mentions the person.
    """
    same = Notice.objects.filter(user=user, discussion=OuterRef("discussion")).order_by()
    counted = same.values("discussion").annotate(n=Count("pk"), unread=Count("pk", Q(read_at__isnull=True)))
    mentions = same.filter(kind=NoticeKind.MENTION.value, read_at__isnull=True)
    return (
        notices(user)
        .filter(~Exists(same.filter(pk__gt=OuterRef("pk"))))
        .annotate(
            ordinal=Coalesce("comment__step__ordinal", "revision__step__ordinal"),
            events=Subquery(counted.values("n")),
            new=Subquery(counted.values("unread")),
            mentioned=Exists(mentions),
        )
        .select_related(*WITH, *TOLD_BY)
    )


def speakers(user: User, rows: Sequence[Notice]) -> dict[int, Speaker]:
    """The authors of what these notices tell of, by the notice's pk: under a letter, and for admins by name,
    unless they are labelling the trajectory themselves. Three queries for all."""
    spoken = [row for row in rows if row.comment is not None or row.revision is not None]
    talks = {row.discussion.pk: row.discussion for row in spoken if row.discussion is not None}
    trajectories = [talk.trajectory_id for talk in talks.values()]
    people: dict[int, list[int]] = defaultdict(list)
    submitted = Assignment.objects.filter(trajectory__in=trajectories, state=AssignmentState.SUBMITTED)
    for trajectory, annotator in submitted.order_by().values_list("trajectory", "annotator"):
        people[trajectory].append(annotator)
    drawn = {
        pk: letters(talk.letter_seed, talk.trajectory_id, people[talk.trajectory_id])
        for pk, talk in talks.items()
    }
    administered = {
        row.project_id
        for row in Membership.objects.filter(
            user=user, project__in=[talk.project_id for talk in talks.values()]
        )
        if Role.ADMIN in row.roles
    }
    own = set(being_labelled(user).filter(trajectory__in=trajectories).values_list("trajectory", flat=True))
    by_pk = {}
    for row in spoken:
        talk = talks[row.discussion_id or 0]
        named = talk.trajectory_id not in own and (user.is_superuser or talk.project_id in administered)
        voice = Voice(row.comment.voice) if row.comment is not None else Voice.ANNOTATOR
        if row.comment is not None:
            person = row.comment.author
        else:
            assert row.revision is not None
            person = row.revision.assignment.annotator
        by_pk[row.pk] = Speaker(
            voice=voice,
            letter=drawn[talk.pk].get(person.pk, "") if voice is Voice.ANNOTATOR else "",
            name=str(person) if named else "",
        )
    return by_pk


def record_of(notice: Notice) -> str:
    """The record that a notice is about, "" where it is not to be named: of a claim only while it is open,
    because what was given up may be asked for once more."""
    if notice.discussion is not None:
        return notice.discussion.trajectory.record_id
    if notice.adjudication is not None:
        return notice.adjudication.trajectory.record_id
    claim = notice.assignment
    if notice.remark is not None:
        claim = notice.remark.assignment
        if claim.annotator_id != notice.user_id:
            return claim.trajectory.record_id
    return claim.trajectory.record_id if claim and claim.state == AssignmentState.OPEN else ""


def unread(user: User) -> int:
    """The number of things with notices that a person has not read, as every page says it: a discussion
    counts once. One query."""
    with connections[Notice.objects.db].cursor() as cursor:
        cursor.execute(UNREAD, [user.pk])
        return int(cursor.fetchone()[0])
