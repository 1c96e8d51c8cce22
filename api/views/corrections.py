"""Corrections of first errors: take one, save what would have been right, and judges' proposals."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.kinds import Feature
from annotation.core.vocabulary import CorrectionState, TokenScope
from annotation.models import ACTIVE_CORRECTIONS, Correction, Judge, Trajectory
from annotation.policies import require, visible
from annotation.policies.corrections import correctable, first_errors
from annotation.services import correct, noted_reads

from ..serializers import corrections as shapes
from . import trajectories
from .base import ProjectView, View, fetch, fetch_all

NOUN = "corrections"
LISTED = Correction.objects.select_related("author", "step", "trajectory")
CORRECTIONS = LISTED.select_related(
    "project", "trajectory__project", "trajectory__subset", "trajectory__task", "trajectory__content"
)


class Corrections(ProjectView):
    """`/projects/<slug>/corrections/`"""

    writes = TokenScope.LABEL
    noun = NOUN

    @extend_schema(
        summary="List corrections",
        parameters=[shapes.CorrectionFilter],
        responses=shapes.Correction(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """One's own corrections, the newest first; admins see everybody's, which is noted, as with labels."""
        project = self.project()
        require(self.user, "correct", project)
        state = self.query(shapes.CorrectionFilter)["state"]
        states = ACTIVE_CORRECTIONS if state == "active" else [CorrectionState(state)]
        rows = visible(self.user, LISTED.filter(project=project, state__in=states))
        part = self.paginate_queryset(rows) or []
        noted_reads.corrected(actor=self.user, trajectories=[row.trajectory_id for row in part])
        return self.get_paginated_response(shapes.Correction(part, many=True).data)

    @extend_schema(
        summary="Take a first error", request=shapes.NewCorrection, responses={201: shapes.Correction}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Take the next first error of the project to correct it, or as an admin a certain `first_error`; the
        correction that one is writing is given again. That one knows the consensus from then on is noted.
        Conflict: `nothing_left`, `taken`, `finish_first`."""
        project = self.project()
        body = self.parsed(shapes.NewCorrection)
        require(self.user, "correct", project)
        project.of_kind.require(Feature.DERIVATION)
        error = None
        if "first_error" in body:
            error = fetch(self.user, first_errors(project), pk=body["first_error"])
        made = correct.take(actor=self.user, project=project, error=error)
        row = fetch(self.user, CORRECTIONS.all(), pk=made.pk)
        return Response(shapes.Correction(row).data, status=status.HTTP_201_CREATED)


class FirstErrors(ProjectView):
    """`/projects/<slug>/first-errors/`"""

    reading_may_conflict = True
    noun = NOUN

    @extend_schema(summary="List first errors to correct", responses=shapes.FirstError(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The first errors that one may take. For admins; reading them is noted, as with labels."""
        project = self.project()
        require(self.user, "trajectory.list", project)
        project.of_kind.require(Feature.DERIVATION)
        rows = visible(self.user, correctable(self.user, project)).select_related(
            "step", "trajectory__subset"
        )
        part = self.paginate_queryset(rows) or []
        noted_reads.corrected(actor=self.user, trajectories=[row.trajectory_id for row in part])
        return self.get_paginated_response(shapes.FirstError(part, many=True).data)


class Mine(View):
    """Addresses of one correction."""

    writes = TokenScope.LABEL
    noun = NOUN

    def correction(self, pk: int) -> Correction:
        """The correction. Raises NotFound for one that is not one's own and not to be seen."""
        return fetch(self.user, CORRECTIONS.all(), pk=pk)

    def again(self, pk: int) -> Response:
        """The correction after what was done to it."""
        row = self.correction(pk)
        noted_reads.corrected(actor=self.user, trajectories=[row.trajectory_id])
        return Response(shapes.Correction(row).data)


class OneCorrection(Mine):
    """`/corrections/<id>/`"""

    @extend_schema(
        summary="Read a correction",
        parameters=[trajectories.shapes.MessageWindow],
        responses=shapes.CorrectionDetail,
    )
    def get(self, request: Request, pk: int) -> Response:
        """The history, the wrong action and why it was wrong, and right actions of other runs; of a long
        history a part (`messages_from`, `messages_limit`). For its author while it is not withdrawn, and for
        admins. Reading it is noted."""
        case = noted_reads.correction(actor=self.user, row=self.correction(pk))
        row = case.correction
        return Response(
            shapes.CorrectionDetail(
                {
                    "correction": row,
                    "wrong": case.resolved,
                    "siblings": case.siblings,
                    "trajectory": trajectories.shape(
                        row.trajectory, case.access, case.shown, trajectories.window(self)
                    ),
                }
            ).data
        )

    @extend_schema(summary="Save a correction", request=shapes.CorrectionDraft, responses=shapes.Correction)
    def post(self, request: Request, pk: int) -> Response:
        """Save what would have been right, for the first time or again. A call that does not fit the schema
        of its tool is refused by field. The same again changes nothing. Conflict: `stale_version` (the
        details say what is there), `withdrawn`, `no_first_error`."""
        row = self.correction(pk)
        body = self.parsed(shapes.CorrectionDraft)
        version = body.pop("version")
        correct.save_correction(actor=self.user, correction=row, draft=correct.Draft(**body), version=version)
        return self.again(pk)


class Check(Mine):
    """`/corrections/<id>/check/`"""

    @extend_schema(summary="Check an action", request=shapes.Action, responses=shapes.Checked)
    def post(self, request: Request, pk: int) -> Response:
        """Hold an action against the limits and the schemas of its tools; nothing is stored."""
        row = self.correction(pk)
        require(self.user, "correct", row)
        body = self.parsed(shapes.Action)
        return Response(checked(row, **body))


def checked(row: Correction, text: str = "", calls: Any = ()) -> dict[str, Any]:
    """The faults of an action, as the API sends them."""
    check = correct.check_draft(row, text, calls)
    faults = correct.fields_of(check, len(calls))
    answer: dict[str, Any] = shapes.Checked(
        {
            "faults": [{"field": name, "message": sentence} for name, sentence in faults.items()],
            "unchecked": check.unchecked,
        }
    ).data
    return answer


class Withdraw(Mine):
    """`/corrections/<id>/withdraw/`"""

    @extend_schema(summary="Withdraw a correction", request=None, responses=shapes.Correction)
    def post(self, request: Request, pk: int) -> Response:
        """Give one's own correction up, or as an admin anybody's: others may correct the step, and nothing
        is derived of it any more."""
        correct.withdraw(actor=self.user, correction=self.correction(pk))
        return self.again(pk)


class Restore(Mine):
    """`/corrections/<id>/restore/`"""

    @extend_schema(summary="Restore a correction", request=None, responses=shapes.Correction)
    def post(self, request: Request, pk: int) -> Response:
        """Take one's own withdrawn correction up again, as it was. Conflict (`taken`) when somebody else has
        the step."""
        correct.restore(actor=self.user, correction=self.correction(pk))
        return self.again(pk)


class Proposals(Mine):
    """`/corrections/<id>/proposals/`"""

    @extend_schema(summary="Reveal judges' proposals", request=None, responses=shapes.Revealed)
    def post(self, request: Request, pk: int) -> Response:
        """The proposals of judges for the step of one's own saved correction. Conflict (`save_first`) before.
        Noted."""
        proposals = correct.reveal(actor=self.user, correction=self.correction(pk))
        return Response(shapes.Revealed({"proposals": proposals}).data)


class JudgeProposals(View):
    """`/judges/<id>/corrections/`"""

    noun = NOUN

    @extend_schema(
        summary="Propose corrections", request=shapes.NewProposals, responses=shapes.StoredProposals
    )
    def post(self, request: Request, pk: int) -> Response:
        """Store what a judge proposes for first errors, in the place of what it proposed before; nobody is
        shown it before they have saved a correction of their own. What is refused (`no_first_error`, `seen`,
        `invalid`) keeps no other from being stored. For admins."""
        judge = fetch(self.user, Judge.objects.select_related("project"), pk=pk)
        require(self.user, "suggest", judge.project)
        given = self.parsed(shapes.NewProposals)["proposals"]
        rows = Trajectory.objects.filter(project=judge.project).select_related("content")
        runs = {row.pk: row for row in fetch_all(self.user, rows, [one["trajectory"] for one in given])}
        outcome = correct.propose(
            actor=self.user,
            judge=judge,
            given=[correct.Proposal(**{**one, "trajectory": runs[one["trajectory"]]}) for one in given],
        )
        refused = [
            {
                "trajectory": one.trajectory.pk,
                "message_index": one.message_index,
                "code": error.code,
                "message": error.message,
            }
            for one, error in outcome.refused
        ]
        return Response(shapes.StoredProposals({"stored": len(outcome.done), "refused": refused}).data)
