"""The tutorial. For admins."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.policies import require
from annotation.reports.training import tutorial
from annotation.services import training

from ...serializers.training import proficiency as shapes
from ..base import ProjectView


class Tutorial(ProjectView):
    """`/projects/<slug>/tutorial/`"""

    noun = "training"

    @extend_schema(summary="Read the tutorial's items", responses=shapes.Tutorial)
    def get(self, request: Request, slug: str) -> Response:
        """The items in their order. For admins."""
        project = self.project()
        require(self.user, "training.view", project)
        rows = tutorial.items(project).select_related("trajectory__subset")
        return Response(shapes.Tutorial({"items": rows}).data)

    @extend_schema(summary="Set the tutorial", request=shapes.NewTutorial, responses=shapes.Tutorial)
    def post(self, request: Request, slug: str) -> Response:
        """Make these training trajectories the tutorial, in this order. What somebody has done of it stays
        done. 409 `no_key` names one whose key is not whole. For admins."""
        project = self.project()
        require(self.user, "training.change", project)
        chosen = tutorial.chosen(project, self.parsed(shapes.NewTutorial)["trajectories"])
        training.set_tutorial(actor=self.user, project=project, trajectories=chosen)
        return self.get(request, slug)
