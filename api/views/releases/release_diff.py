"""Two releases of a project beside each other."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.releases.diff import WHATS
from annotation.core.releases.diff_json import change_json
from annotation.services import release as service

from ...serializers import releases as shapes
from .releases import Frozen


class Compared(Frozen):
    """Addresses of a release and another one of its project, with which it is compared."""

    noun = "releases"
    throttle_scope = "costly"
    reading_may_conflict = True

    def comparison(self, version: str, other: str) -> service.Comparison:
        """The comparison of `version` with `other`."""
        return service.compare(actor=self.user, old=self.release(other), new=self.release(version))


class Diff(Compared):
    """`/projects/<slug>/releases/<version>/diff/<other>/`"""

    @extend_schema(summary="Compare two releases", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, version: str, other: str) -> Response:
        """Changes from the release `other` to the release `version`, in counts: records, labels by value
        before and after, by subset, and the figures of agreement of both. For adjudicators and admins.
        Conflict (`damaged`) when a record of either cannot be read."""
        return Response(service.diff_as_json(self.comparison(version, other)))


class Changes(Compared):
    """`/projects/<slug>/releases/<version>/diff/<other>/changes/`"""

    serializer_class = shapes.RecordChange

    @extend_schema(
        summary="List what changed between two releases",
        responses=shapes.RecordChange(many=True),
        parameters=[
            OpenApiParameter("what", enum=WHATS, description="only records in which this changed"),
            OpenApiParameter("subset", description="only records of this subset"),
        ],
    )
    def get(self, request: Request, slug: str, version: str, other: str) -> Response:
        """The records that are not the same in both, by subset and id, with each label that changed, of added
        and removed ones with all labels; of a trajectory that one is labelling oneself, nothing but its name.
        Who reads it is noted as having seen the labels listed."""
        comparison = self.comparison(version, other)
        query = self.query(shapes.ChangesAsked)
        changes = comparison.listed(what=query.get("what"), subset=query["subset"])
        page = self.paginate_queryset(changes)
        changes_ = service.shown(actor=self.user, comparison=comparison, changes=list(page or []))
        return self.get_paginated_response(
            [{**change_json(one.change), "hidden": one.kept} for one in changes_]
        )


class Changelog(Compared):
    """`/projects/<slug>/releases/<version>/diff/<other>/changelog.md`"""

    @extend_schema(summary="Download the changelog", responses={(200, "text/markdown"): OpenApiTypes.STR})
    def get(self, request: Request, slug: str, version: str, other: str) -> HttpResponse:
        """The changes, in counts, as Markdown for the card of a dataset."""
        return HttpResponse(
            self.comparison(version, other).changelog(), content_type="text/markdown; charset=utf-8"
        )
