"""Gold, pauses and pilots. For admins."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Membership, Pilot, Subset, Trajectory
from annotation.policies import require
from annotation.policies.training import training_items
from annotation.reports.training import gold as report
from annotation.reports.training import pilots as pilot_report
from annotation.services import training

from ...serializers.training import gold as shapes
from ..base import ProjectView, fetch, refusals

NOUN = "training"


class Gold(ProjectView):
    """`/projects/<slug>/training/gold/`"""

    noun = NOUN

    @extend_schema(summary="Read accuracy on gold", responses=shapes.AnnotatorGold(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The accuracy of each annotator on gold, with an interval that holds however often one looks. For
        admins."""
        return self.page(
            report.annotators_on_gold(actor=self.user, project=self.project()), shapes.AnnotatorGold
        )

    @extend_schema(summary="Mix in gold", request=shapes.NewGold, responses=shapes.GoldMade)
    def post(self, request: Request, slug: str) -> Response:
        """Mix copies of training items into what is claimed of a subset. What is refused keeps no other from
        being done. For admins."""
        project = self.project()
        require(self.user, "training.change", project)
        body = self.parsed(shapes.NewGold)
        subset = fetch(self.user, Subset.objects.filter(project=project), name=body["subset"])
        items = Trajectory.objects.filter(project=project).select_related(
            "project", "task", "subset", "copy_of"
        )
        chosen = training_items(self.user, items).filter(pk__in=body["items"])
        outcome = training.make_gold(
            actor=self.user, project=project, trajectories=list(chosen), subset=subset
        )
        answer = {
            "made": [row.pk for row in outcome.done],
            "refused": refusals(outcome.refused, of="record_id"),
        }
        return Response(shapes.GoldMade(answer).data)


class OfMember(ProjectView):
    """Base of the views about a member of a project, for admins."""

    noun = NOUN

    def member(self, pk: int) -> Membership:
        """A member of the project."""
        project = self.project()
        require(self.user, "members.change", project)
        rows = Membership.objects.filter(project=project).select_related("user", "project")
        return fetch(self.user, rows, pk=pk)


class Pause(OfMember):
    """`/projects/<slug>/members/<id>/pause/`"""

    @extend_schema(summary="Pause a member", request=None, responses={204: None})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Give a member nothing new; what they have begun they can finish. For admins. Conflict: `paused`."""
        training.pause(actor=self.user, membership=self.member(pk))
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(summary="Resume a member", responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Give a paused member work again; their accuracy is counted anew. For admins. Conflict:
        `not_paused`."""
        training.resume(actor=self.user, membership=self.member(pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class Pilots(ProjectView):
    """`/projects/<slug>/training/pilot/`"""

    noun = NOUN

    def _newest(self, **of: Any) -> Pilot:
        rows = Pilot.objects.filter(project=self.project(), **of).select_related("project", "subset")
        newest = rows.order_by("-pk").values_list("pk", flat=True).first()
        return fetch(self.user, rows, pk=newest or 0)

    @extend_schema(summary="Read the newest pilot", responses=shapes.Pilot)
    def get(self, request: Request, slug: str) -> Response:
        """The progress of each person, and Krippendorff's α so far. For admins."""
        require(self.user, "training.view", self.project())
        return Response(shapes.Pilot(pilot_report.pilot_shown(actor=self.user, pilot=self._newest())).data)

    @extend_schema(summary="Begin a pilot", request=shapes.NewPilot, responses={201: shapes.Pilot})
    def post(self, request: Request, slug: str) -> Response:
        """Ask all annotators for the labels of a training subset before the queue opens. For admins.
        Conflict: `running`."""
        project = self.project()
        require(self.user, "training.change", project)
        body = self.parsed(shapes.NewPilot)
        rows = Subset.objects.filter(project=project, training=True)
        subset = fetch(self.user, rows, name=body.pop("subset"))
        made = training.begin_pilot(actor=self.user, project=project, subset=subset, **body)
        progress = pilot_report.pilot_shown(actor=self.user, pilot=made)
        return Response(shapes.Pilot(progress).data, status=status.HTTP_201_CREATED)

    @extend_schema(summary="Open the queue", responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Open the queue without waiting for the running pilot. For admins."""
        require(self.user, "training.change", self.project())
        training.stop_pilot(actor=self.user, pilot=self._newest(state="running"))
        return Response(status=status.HTTP_204_NO_CONTENT)
