"""Label quality: what an audit proves of the labels, and what people say twice. For admins."""

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
        """The certificate of the newest audit (with 95 % confidence, `bound_after_correction` is the largest
        share of wrong steps), how far it is, agreement of people with themselves and with one another, what
        judges as the second reader save, and people's confusion: unrounded, null with a reason where
        undefined. For admins."""
        return Response(as_json(label_quality(viewer=self.user, project=self.project())))
