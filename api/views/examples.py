"""Examples: resolved cases that teach."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Example
from annotation.policies.lookups import CASES
from annotation.services import adjudicate, noted_reads

from ..serializers import examples as shapes
from .base import ProjectView, View, fetch


class Examples(ProjectView):
    """`/projects/<slug>/examples/`"""

    noun = "guidelines"

    @extend_schema(summary="List examples", responses=shapes.Example(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The examples of the guidelines, as far as they tell one nothing that one must not know: none of a
        task of which one has a run open; to annotators none before all runs of its task have their labels.
        Seeing them is noted, as the consensus."""
        rows: Any = noted_reads.examples(actor=self.user, project=self.project())
        return self.page(rows, shapes.Example)

    @extend_schema(summary="Mark an example", request=shapes.NewExample, responses={201: shapes.Marked})
    def post(self, request: Request, slug: str) -> Response:
        """Show a decided case, or one step of it, with the guidelines. For the adjudicator who decided it,
        and admins. Conflict (`not_decided`, `marked`, `too_many`)."""
        project = self.project()
        body = self.parsed(shapes.NewExample)
        case = fetch(self.user, CASES.filter(project=project), pk=body.pop("adjudication"))
        made = adjudicate.mark_example(actor=self.user, adjudication=case, **body)
        return Response(shapes.Marked(made).data, status=status.HTTP_201_CREATED)


class OneExample(View):
    """`/examples/<id>/`"""

    noun = "guidelines"

    @extend_schema(summary="Remove an example", responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """Take an example out of the guidelines. For the adjudicator who decided its case, and admins."""
        rows = Example.objects.select_related("project", "adjudication__project", "step")
        adjudicate.unmark_example(actor=self.user, example=fetch(self.user, rows, pk=pk))
        return Response(status=status.HTTP_204_NO_CONTENT)
