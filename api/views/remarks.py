"""Remarks: annotators ask the admins to look at a step; an admin answers."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import AdminRemark
from annotation.policies import require, visible
from annotation.services import noted_reads, remarks

from ..serializers import remarks as shapes
from .assignments import Mine
from .base import ProjectView, View, fetch

NOUN = "remarks"
REMARKS = AdminRemark.objects.select_related(
    "project", "assignment__annotator", "assignment__trajectory", "step"
)


class Remarks(ProjectView):
    """`/projects/<slug>/remarks/`"""

    noun = NOUN

    @extend_schema(
        summary="List remarks", parameters=[shapes.RemarkFilter], responses=shapes.Remark(many=True)
    )
    def get(self, request: Request, slug: str) -> Response:
        """Remarks of annotators to the admins, the newest first: the open ones, unless `state` says
        otherwise. For admins; none of trajectories that they label or could still claim. Reading one is
        noted, as with labels."""
        project = self.project()
        require(self.user, "trajectory.list", project)
        state = self.query(shapes.RemarkFilter)["state"]
        rows = visible(self.user, REMARKS.filter(project=project)).order_by("-pk")
        if state != "all":
            rows = rows.filter(closed_at__isnull=state == "open")
        part = self.paginate_queryset(rows) or []
        shown = noted_reads.remarks(actor=self.user, rows=part)
        return self.get_paginated_response(shapes.Remark(shown, many=True).data)


class OwnRemarks(Mine):
    """`/assignments/<id>/remarks/`"""

    noun = NOUN

    @extend_schema(summary="List my remarks on an assignment", responses=shapes.Remark(many=True))
    def get(self, request: Request, pk: int) -> Response:
        """One's own remarks on one's own assignment, with the answers, the newest first."""
        assignment = self.assignment(pk)
        require(self.user, "label", assignment)
        rows = visible(self.user, REMARKS.filter(assignment=assignment))
        return self.page(rows.order_by("-pk"), shapes.Remark)

    @extend_schema(summary="Write a remark", request=shapes.NewRemark, responses={201: shapes.Remark})
    def post(self, request: Request, pk: int) -> Response:
        """Ask the admins to look at a step of one's own assignment, or at the whole. Conflict (`not_open`)
        when it is not in one's hands any more."""
        body = self.parsed(shapes.NewRemark)
        made = remarks.remark(actor=self.user, assignment=self.assignment(pk), **body)
        answer = shapes.Remark(fetch(self.user, REMARKS.all(), pk=made.pk))
        return Response(answer.data, status=status.HTTP_201_CREATED)


class CloseRemark(View):
    """`/remarks/<id>/close/`"""

    noun = NOUN

    @extend_schema(summary="Answer or close a remark", request=shapes.Answer, responses=shapes.Remark)
    def post(self, request: Request, pk: int) -> Response:
        """Close a remark, with an answer that its author is told or without. For admins. Conflict (`closed`)
        when somebody has closed it already."""
        row = fetch(self.user, REMARKS.all(), pk=pk)
        remarks.close_remark(actor=self.user, row=row, **self.parsed(shapes.Answer))
        (shown,) = noted_reads.remarks(actor=self.user, rows=[row])
        return Response(shapes.Remark(shown).data)
