"""Discussions of disputed trajectories: threads, comments, changes of mind, notices."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.vocabulary import TokenScope
from annotation.models import Comment, Discussion, Trajectory
from annotation.policies.lookups import visible_discussion, visible_trajectory
from annotation.reports.cases import discussions as reports
from annotation.reports.cases import notices as notice_lists
from annotation.services import discuss, noted_reads
from annotation.services.judged_steps import step_at

from ..serializers import discussions as shapes
from . import trajectories
from .base import View, fetch, there


class DiscussionView(View):
    """A view of what concerns discussions."""

    writes = TokenScope.LABEL
    noun = "discussions"

    def discussion(self, pk: int) -> Discussion:
        """The discussion. Raises NotFound to whoever takes no part in it."""
        return there(visible_discussion(self.user, pk))


class MyDiscussions(DiscussionView):
    """`/me/discussions/`"""

    @extend_schema(summary="List my discussions", responses=shapes.MyDiscussion(many=True))
    def get(self, request: Request) -> Response:
        """The discussions that concern oneself in all projects: those with something unread first, then the
        newest."""
        return self.page(reports.mine(self.user), shapes.MyDiscussion)


class MyNotices(DiscussionView):
    """`/me/notices/`"""

    @extend_schema(summary="List my notices", responses=shapes.Notice(many=True))
    def get(self, request: Request) -> Response:
        """One's own notices, the newest first."""
        return self.page(notice_lists.notices(self.user), shapes.Notice)

    @extend_schema(summary="Mark notices as seen", request=shapes.Seen, responses=shapes.SeenCount)
    def post(self, request: Request) -> Response:
        """Mark one's notices as seen, up to one of them."""
        return Response(
            {"seen": discuss.see_notices(actor=self.user, upto=self.parsed(shapes.Seen)["notice"])}
        )


class OfTrajectory(DiscussionView):
    """`/trajectories/<id>/discussion/`"""

    @extend_schema(summary="Open a discussion", request=None, responses={201: shapes.DiscussionRow})
    def post(self, request: Request, pk: int) -> Response:
        """Open the discussion of a disputed trajectory: for the adjudicator who has the case, and for admins
        who did not label it. The annotators are told, and see each other's labels of it as "A" and "B". One
        that is open already is simply given again."""
        rows = Trajectory.objects.select_related("project")
        made = discuss.open_discussion(actor=self.user, trajectory=fetch(self.user, rows, pk=pk))
        row = there(visible_discussion(self.user, made.pk))
        return Response(shapes.DiscussionRow(row).data, status=status.HTTP_201_CREATED)


class OneDiscussion(DiscussionView):
    """`/discussions/<id>/`"""

    @extend_schema(summary="Read a discussion", responses=shapes.Discussion)
    def get(self, request: Request, pk: int) -> Response:
        """The threads of a discussion, with the labels it is about under letters; the consensus once the case
        is resolved. Seeing it is noted."""
        seen = noted_reads.discussion(actor=self.user, row=self.discussion(pk))
        return Response(
            {
                "discussion": shapes.DiscussionRow(seen.discussion).data,
                "voice": seen.voice,
                "letter": seen.letter,
                "open": seen.open,
                "frozen_in": seen.frozen.version if seen.frozen else None,
                "mentions": seen.mentions,
                "unread": seen.unread,
                "annotators": trajectories.sides(seen.shown),
                "threads": [_thread(thread) for thread in seen.threads],
            }
        )


def _thread(thread: reports.DiscussionThread) -> dict[str, Any]:
    return {
        **trajectories.item(thread.item),
        "now": thread.now,
        "disputed_now": thread.disputed_now,
        "version": thread.version,
        "unread": thread.unread,
        "comments": shapes.Comment(thread.remarks, many=True).data,
        "revisions": shapes.Revision(thread.changes, many=True).data,
    }


class History(trajectories.Labelled):
    """`/trajectories/<id>/history/`"""

    noun = "discussions"

    @extend_schema(
        summary="Read the history of a step",
        parameters=[shapes.HistoryOf, trajectories.REVEAL],
        responses=shapes.HistoryEntry(many=True),
    )
    def get(self, request: Request, pk: int) -> Response:
        """The history of a step (without `message_index`: of the outcome and the whole; with `everything`: of
        all), the oldest first: labels, submissions, sights, comments, changes of mind, decisions, consensus,
        releases. Letters for whoever may not see names; annotators see what they did, what is said in their
        discussion, and the rest once it is resolved. What tells of others is noted as seen; an admin who also
        annotates must say `reveal=true` while they could still claim it."""
        trajectory = there(visible_trajectory(self.user, pk))
        query = self.query(shapes.HistoryOf)
        access = self.ask_first(trajectory)
        place = step_at(trajectory.pk, query.get("message_index"))
        entries: Any = noted_reads.history(
            actor=self.user,
            trajectory=trajectory,
            place="everything" if query["everything"] else place,
            access=access,
        )
        return self.page(entries, shapes.HistoryEntry)


class Comments(DiscussionView):
    """`/discussions/<id>/comments/`"""

    @extend_schema(summary="Comment", request=shapes.NewComment, responses={201: shapes.Said})
    def post(self, request: Request, pk: int) -> Response:
        """Say something about a step, or about the whole. `@A` and `@Adjudicator` mention people (400,
        `stranger`, for anybody else; nothing is mentioned inside backticks). Conflict when the case is
        resolved (`case_closed`) or a release holds the trajectory (`frozen`)."""
        body = self.parsed(shapes.NewComment)
        made = discuss.comment(actor=self.user, discussion=self.discussion(pk), **body)
        return Response(shapes.Said(made).data, status=status.HTTP_201_CREATED)


class Retract(DiscussionView):
    """`/comments/<id>/retract/`"""

    @extend_schema(summary="Take a comment back", request=None, responses=shapes.Said)
    def post(self, request: Request, pk: int) -> Response:
        """Take back a comment of one's own; that there was one stays to be seen."""
        rows = Comment.objects.select_related("discussion__trajectory")
        made = discuss.retract(actor=self.user, comment=fetch(self.user, rows, pk=pk))
        return Response(shapes.Said(made).data)


class Read(DiscussionView):
    """`/discussions/<id>/read/`"""

    @extend_schema(summary="Mark a thread as read", request=shapes.Reading, responses=shapes.LastRead)
    def post(self, request: Request, pk: int) -> Response:
        """Note how far one has read a thread; never back."""
        body = {"message_index": None, **self.parsed(shapes.Reading)}
        read = discuss.mark_read(actor=self.user, discussion=self.discussion(pk), **body)
        return Response({"last_read": read})


class Revisions(DiscussionView):
    """`/discussions/<id>/revisions/`"""

    @extend_schema(summary="Change my mind", request=shapes.NewRevision, responses={201: shapes.Revised})
    def post(self, request: Request, pk: int) -> Response:
        """Say something else of a step, or of the outcome, than one did, and why; for those who labelled it.
        The label stays as it is. Conflict (`stale_version`) after a change elsewhere."""
        body = {"message_index": None, **self.parsed(shapes.NewRevision)}
        made = discuss.revise(actor=self.user, discussion=self.discussion(pk), **body)
        revision = {
            "message_index": body["message_index"],
            "previous": made.previous,
            "value": made.value,
            "version": body["version"] + 1,
            "created_at": made.created_at,
        }
        return Response(revision, status=status.HTTP_201_CREATED)
