"""Agreement of annotators: the figures, the steps behind them, and one annotator's."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.reports.agreement import differing_steps as step_lists
from annotation.reports.agreement.cuts import CUTS, LISTED
from annotation.reports.agreement.report import agreement, as_json
from annotation.reports.quality import annotators
from annotation.services import noted_reads

from ..serializers import agreement as shapes
from .base import ProjectView

CUT_PARAMETERS = [OpenApiParameter(cut, description="only one part of this cut, by its key") for cut in CUTS]
PAGING = ("page", "page_size")


class Agreement(ProjectView):
    """`/projects/<slug>/agreement/`"""

    noun = "agreement"
    throttle_scope = "costly"

    @extend_schema(
        summary="Read agreement figures",
        responses=OpenApiTypes.OBJECT,
        parameters=[
            OpenApiParameter(
                "by", enum=CUTS, description="what the figure of `cut` is cut by; default: subset"
            ),
            *CUT_PARAMETERS,
        ],
    )
    def get(self, request: Request, slug: str) -> Response:
        """Agreement of the annotators over everything whose labels are all in: unrounded, overall and by
        subset, null with a reason where a figure is undefined. Filters take one part of a cut each, and
        combine. For adjudicators, who may cut by subset and by attributes of steps only, and admins."""
        filters = {name: str(value) for name, value in request.query_params.items() if name != "by"}
        by = request.query_params.get("by", "")
        return Response(as_json(agreement(viewer=self.user, project=self.project(), asked=filters, by=by)))


class AgreementSteps(ProjectView):
    """`/projects/<slug>/agreement/steps/`"""

    noun = "agreement"
    throttle_scope = "costly"
    serializer_class = shapes.LabelsOfStep

    @extend_schema(
        summary="List the steps behind a number",
        responses=shapes.LabelsOfStep(many=True),
        parameters=[
            *CUT_PARAMETERS,
            *(OpenApiParameter(name, description="as links of the agreement page say it") for name in LISTED),
            OpenApiParameter("sort", enum=step_lists.STEP_SORTS, description="default: record"),
        ],
    )
    def get(self, request: Request, slug: str) -> Response:
        """The steps that a figure, cell, bar or dot of the agreement page is made of, with both blind labels,
        as many as it says: the same filters as in the addresses of that page. Reading them is noted. For
        admins."""
        project = self.project()
        filters = {name: str(value) for name, value in request.query_params.items() if name not in PAGING}
        sort = filters.pop("sort", "") or step_lists.STEP_SORTS[0]
        steps = step_lists.steps(viewer=self.user, project=project, asked=filters, sort=sort)
        chosen = self.paginate_queryset(range(steps.count))
        rows = noted_reads.agreement_steps(actor=self.user, project=project, steps=steps, chosen=chosen or [])
        return self.get_paginated_response(shapes.LabelsOfStep(rows, many=True).data)


class Annotator(ProjectView):
    """`/projects/<slug>/annotators/<id>/`"""

    noun = "agreement"
    throttle_scope = "costly"

    @extend_schema(summary="Read one annotator's figures", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Pace, agreement with others and with the consensus, leaning and weeks of one annotator, by the
        account's id: null, or with a reason, where there is too little to say. Admins read everybody's, with
        the drift that rechecks show; annotators their own, which are renewed when five more of their
        trajectories are resolved, rounded, and without counts of labels."""
        figures = annotators.annotator_figures(viewer=self.user, project=self.project(), annotator=pk)
        return Response(annotators.as_json(figures))
