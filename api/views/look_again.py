"""Looking again at what was labelled under older guidelines, or since the last good gold."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.language import translated
from annotation.models import Assignment
from annotation.policies import own
from annotation.reports.quality import look_again as report
from annotation.reports.quality.since_check import since_check
from annotation.services import label
from annotation.services.even_time import evened

from ..serializers import look_again as shapes
from .base import ProjectView, View, only_row
from .training.gold import OfMember


class LookAgain(ProjectView):
    """`/projects/<slug>/look-again/`"""

    noun = "guidelines"

    @extend_schema(
        summary="Preview what to look at again",
        parameters=[shapes.LookAgainFilter],
        responses=shapes.LookAgain,
    )
    def get(self, request: Request, slug: str) -> Response:
        """Submitted work that was labelled under older guidelines than those in force, as far as it fits: how
        much of it can be given back to its own annotators, and why the rest cannot. For admins."""
        project = self.project()
        filters = self.query(shapes.LookAgainFilter)
        preview = report.preview(actor=self.user, project=project, filters=filters)
        row = {
            "ready": len(preview.ready),
            "trajectories": preview.trajectories,
            "people": preview.people,
            "left_out": preview.left_out,
            "versions": report.versions(actor=self.user, project=project),
            "batches": report.batches(actor=self.user, project=project),
        }
        return Response(shapes.LookAgain(row).data)

    @extend_schema(summary="Queue for another look", request=shapes.Queue, responses={201: shapes.Queued})
    def post(self, request: Request, slug: str) -> Response:
        """Ask the annotators of all that fits to look at it again. For admins. Conflict (`nothing`; `changed`
        when it is another number than `expected`)."""
        project = self.project()
        body = self.parsed(shapes.Queue)
        expected = body.pop("expected")
        batch = label.queue_again(actor=self.user, project=project, filters=body, expected=expected)
        return Response(shapes.Queued({"batch": batch}).data, status=status.HTTP_201_CREATED)


class SinceCheck(OfMember):
    """`/projects/<slug>/members/<id>/look-again/`"""

    @extend_schema(summary="Preview what was labelled since the last good gold", responses=shapes.SinceCheck)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """The submissions of a member since their last good gold: how many they can be asked to look at
        again, and why not the rest. For admins."""
        member = self.member(pk)
        check = since_check(actor=self.user, membership=member)
        row = {
            "last_good": check.last_good,
            "since": check.since,
            "ready": len(check.preview.ready),
            "resolved": check.resolved,
            "disputed": check.disputed,
            "hidden": check.hidden,
            "left_out": check.preview.left_out,
            "refusal": translated(check.refusal),
            "batches": report.batches(actor=self.user, project=member.project, annotator=member.user),
        }
        return Response(shapes.SinceCheck(row).data)

    @extend_schema(
        summary="Queue what was labelled since the last good gold",
        request=shapes.Expected,
        responses={201: shapes.Queued},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Ask a member to look again at all of it; while they are paused it waits. For admins. Conflict
        (`nothing`; `changed` when it is another number than `expected`; `gone` for who is no annotator any
        more)."""
        member = self.member(pk)
        batch = label.queue_since_check(actor=self.user, membership=member, **self.parsed(shapes.Expected))
        return Response(shapes.Queued({"batch": batch}).data, status=status.HTTP_201_CREATED)


class OneBatch(ProjectView):
    """`/projects/<slug>/look-again/<batch>/`"""

    noun = "guidelines"

    @extend_schema(summary="Take back what is queued", responses={204: None})
    def delete(self, request: Request, slug: str, batch: UUID) -> Response:
        """Take back what nobody of a batch has begun. For admins. Conflict when all have (`nothing`)."""
        label.unqueue(actor=self.user, project=self.project(), batch=batch)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Begin(View):
    """`/assignments/<id>/look-again/`"""

    noun = "assignments"

    @extend_schema(summary="Look again", request=None, responses={204: None})
    def post(self, request: Request, pk: int) -> Response:
        """Open one's own submitted assignment again, as one was asked to. Conflict (`not_asked`, `frozen`,
        `paused`)."""
        mine = Assignment.stored.filter(pk=pk).select_related("project", "trajectory")
        assignment = only_row(own(self.user, mine))
        with evened(assignment.project):
            label.look_again(actor=self.user, assignment=assignment)
        return Response(status=status.HTTP_204_NO_CONTENT)
