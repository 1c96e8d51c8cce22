"""Label error: how often the consensus is wrong, as far as rechecks tell. For admins."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.reports.quality.label_quality import as_json, label_quality

from .base import ProjectView


class LabelQuality(ProjectView):
    """`/projects/<slug>/label-quality/`"""

    noun = "label quality"
    throttle_scope = "costly"

    @extend_schema(summary="Read label quality", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """The certified label error with its bound, by stratum what was rechecked, agreement of people with
        themselves, their confusion, and effective labels per person-hour: unrounded, null with a reason where
        undefined. For admins."""
        return Response(as_json(label_quality(viewer=self.user, project=self.project())))
