"""Influence of suggestions on people: the experiment, its figures, and the triage of the queue. For
admins."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.reports.influence.report import as_json
from annotation.reports.influence.triage import triage_so_far
from annotation.reports.shared.experiment import experiment
from annotation.services import interim, projects

from ..serializers import influence as shapes
from .base import ProjectView


class Influence(ProjectView):
    """`/projects/<slug>/influence/`"""

    noun = "influence"
    throttle_scope = "costly"

    @extend_schema(summary="Read influence figures", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """Agreement of people with each other and with judges in each arm of the experiment, differences
        between arms with what they could have shown, and which way labels moved after a look: unrounded, null
        with a reason where undefined. Without an experiment, what was observed. Reading a running experiment
        is a look at it, which is noted and costs a part of the level. For admins."""
        return Response(as_json(interim.influence(actor=self.user, project=self.project())))


class Experiment(ProjectView):
    """`/projects/<slug>/experiment/`"""

    noun = "influence"

    @extend_schema(summary="Look at the experiment", responses=shapes.Experiment)
    def get(self, request: Request, slug: str) -> Response:
        """Whether chance decides who sees suggestions, by which seed, and what is in each arm. For admins."""
        return Response(shapes.Experiment(experiment(viewer=self.user, project=self.project())).data)

    @extend_schema(summary="Randomise exposure", request=shapes.Randomisation, responses=shapes.Experiment)
    def post(self, request: Request, slug: str) -> Response:
        """Deal each person on each task to one of three arms: suggestions never, after the own label, always;
        or to one of two: never, always. Refused (409, `experiment_locked`) once somebody has labelled or seen
        suggestions. For admins."""
        changed = projects.randomise(
            actor=self.user, project=self.project(), **self.parsed(shapes.Randomisation)
        )
        return Response(shapes.Experiment(experiment(viewer=self.user, project=changed)).data)

    @extend_schema(summary="End the experiment", responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Let the project's setting decide for every task again. Refused (409) as above. For admins."""
        projects.stop_randomising(actor=self.user, project=self.project())
        return Response(status=status.HTTP_204_NO_CONTENT)


class Triage(ProjectView):
    """`/projects/<slug>/triage/`"""

    noun = "influence"

    def get_throttles(self) -> list:
        """Looking is not costly; reading every suggestion is."""
        self.throttle_scope = "costly" if self.request.method == "POST" else ""
        return super().get_throttles()

    @extend_schema(summary="Look at the order of the queue", responses=shapes.Triage)
    def get(self, request: Request, slug: str) -> Response:
        """The order in which trajectories are served, and its results so far. For admins."""
        return Response(shapes.Triage(triage_so_far(viewer=self.user, project=self.project())).data)

    @extend_schema(
        summary="Put contested trajectories first", request=shapes.NewTriage, responses=shapes.Triaged
    )
    def post(self, request: Request, slug: str) -> Response:
        """Put batches of the trajectories that judges contest first, shuffled within each batch. What
        somebody has begun stays in its place. For admins."""
        done = projects.triage(actor=self.user, project=self.project(), **self.parsed(shapes.NewTriage))
        return Response(shapes.Triaged(done).data)

    @extend_schema(summary="Serve in an order of chance", responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Bring what nobody has begun back into the order that chance gave it. For admins."""
        projects.undo_triage(actor=self.user, project=self.project())
        return Response(status=status.HTTP_204_NO_CONTENT)
