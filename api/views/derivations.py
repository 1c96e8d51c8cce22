"""Deriving decisions from a release."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Project
from annotation.services import derive

from ..serializers import derivations as shapes
from ..serializers.imports import Import
from .base import fetch
from .releases import Frozen


class Derivations(Frozen):
    """`/projects/<slug>/releases/<version>/decisions/`"""

    reading_may_conflict = True
    throttle_scope = "costly"

    def _asked(self, version: str, options: dict[str, Any]) -> dict[str, Any]:
        """The keyword arguments of the service."""
        return {
            "actor": self.user,
            "release": self.release(version),
            "project": fetch(self.user, Project.objects.all(), slug=options.pop("into")),
            "request": derive.DerivationRequest.of(**options),
        }

    @extend_schema(
        summary="Preview derived decisions",
        parameters=[shapes.PreviewedDerivation],
        responses=shapes.DerivationPreview,
    )
    def get(self, request: Request, slug: str, version: str) -> Response:
        """What a derivation would bring, and for how many items too few people would be left; nothing is
        stored. For admins of both projects. Conflict (`nothing_to_derive`; `too_large` for a release of more
        than 2,000 trajectories, which are counted while they are derived)."""
        preview = derive.preview_derivation(**self._asked(version, self.query(shapes.PreviewedDerivation)))
        return Response(shapes.DerivationPreview(preview.as_json()).data)

    @extend_schema(summary="Derive decisions", request=shapes.NewDerivation, responses={202: Import})
    def post(self, request: Request, slug: str, version: str) -> Response:
        """Derive decisions into a set of another project, in the background, all of it or nothing: follow the
        address in `Location`, where the counts stand among the notes. For admins of both projects. Whoever
        labelled, discussed or decided an item's source cannot claim the item; where that leaves too few, the
        import fails unless `anyway` is given."""
        options = self.parsed(shapes.NewDerivation)
        subset = options.pop("set")
        source = derive.derive(subset=subset, **self._asked(version, options))
        where = reverse("api:import", args=[source.pk])
        return Response(Import(source).data, status=status.HTTP_202_ACCEPTED, headers={"Location": where})
