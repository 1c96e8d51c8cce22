"""Suggestions, sealed until somebody reveals them to themselves; every reveal is noted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.vocabulary import TokenScope
from annotation.models import Adjudication, Assignment
from annotation.policies import own, visible
from annotation.reports.judging.suggestions import StepSuggestions, revealed, revealed_in_case
from annotation.services import adjudicate, label

from ..serializers import reveals as shapes
from .base import View, only_row


class Reveals(View):
    """`/assignments/<id>/reveals/`"""

    writes = TokenScope.LABEL
    reading_may_conflict = True

    noun = "assignments"

    def assignment(self, pk: int) -> Assignment:
        """One's own assignment. Raises NotFound for anybody else's."""
        return only_row(own(self.user, Assignment.stored.filter(pk=pk).select_related("trajectory")))

    @extend_schema(summary="Read the suggestions that I have revealed", responses=shapes.Reveals)
    def get(self, request: Request, pk: int) -> Response:
        """The suggestions one has revealed of one's own trajectory so far, and nothing else."""
        return Response(shape(revealed(actor=self.user, assignment=self.assignment(pk))))

    @extend_schema(summary="Reveal suggestions", request=shapes.Reveal, responses=shapes.Reveals)
    def post(self, request: Request, pk: int) -> Response:
        """Show what judges suggest for a step, for the outcome, or for all that may be seen now. It is noted:
        the label that is stored at this moment stays the blind one, whatever follows. Refused with 409
        `label_first` or `submit_first` where the project's policy does not allow it yet, with 403 `sealed`
        where it never does."""
        row = self.assignment(pk)
        return Response(shape(label.reveal(actor=self.user, assignment=row, **request_of(self))))


class CaseReveals(View):
    """`/adjudications/<id>/reveals/`"""

    writes = TokenScope.LABEL
    reading_may_conflict = True

    noun = "adjudications"

    def case(self, pk: int) -> Adjudication:
        """One's own case. Raises NotFound for anybody else's."""
        rows = Adjudication.objects.filter(pk=pk, adjudicator=self.user).select_related(
            "project", "trajectory"
        )
        return only_row(visible(self.user, rows))

    @extend_schema(summary="Read the suggestions revealed in a case", responses=shapes.Reveals)
    def get(self, request: Request, pk: int) -> Response:
        """The suggestions one has revealed of one's own case so far."""
        return Response(shape(revealed_in_case(actor=self.user, adjudication=self.case(pk))))

    @extend_schema(summary="Reveal suggestions in a case", request=shapes.Reveal, responses=shapes.Reveals)
    def post(self, request: Request, pk: int) -> Response:
        """Show what judges suggest, before or after deciding; it is noted."""
        row = self.case(pk)
        return Response(shape(adjudicate.reveal(actor=self.user, adjudication=row, **request_of(self))))


def request_of(view: View) -> dict[str, Any]:
    """The body, as the services take it."""
    body = view.parsed(shapes.Reveal)
    return {
        "message_index": body.get("message_index"),
        "outcome": body.get("outcome", False),
        "everything": body.get("all", False),
    }


def shape(items: Iterable[StepSuggestions]) -> dict[str, Any]:
    """Revealed suggestions as the API sends them: judges by number, whoever asks."""
    return {
        "revealed": [
            {
                "message_index": item.message_index,
                "suggestions": [
                    {
                        "judge": _("Judge {number}").format(number=suggestion.number),
                        "value": suggestion.value,
                        "recalibrated": suggestion.recalibrated,
                        "reason": suggestion.reason,
                    }
                    for suggestion in item.suggestions
                ],
            }
            for item in items
        ]
    }
