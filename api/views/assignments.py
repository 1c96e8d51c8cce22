"""Claiming, labelling, submitting, giving back: one's own assignments and nobody else's."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.vocabulary import TokenScope
from annotation.models import Assignment
from annotation.policies import require, visible
from annotation.policies.lookups import ASSIGNMENTS, own_assignment
from annotation.policies.rechecks import not_closed
from annotation.reports.training import tutorial
from annotation.reports.work import claims
from annotation.reports.work.workbench import Workbench, workbench
from annotation.services import assign, label, noted_reads, training
from annotation.services.even_time import evened

from ..serializers import assignments as shapes
from ..serializers.base import sentence
from . import trajectories
from .base import ProjectView, View, fetch_all, refusals, there


class Claim(ProjectView):
    """`/projects/<slug>/claim/`"""

    writes = TokenScope.LABEL
    noun = "assignments"

    @extend_schema(
        summary="Claim the next trajectory", request=shapes.Claim, responses={201: shapes.Assignment}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Get the next trajectory to label. For annotators. Conflict when there is none (`nothing_left`),
        or to whoever holds as many unfinished ones as the project allows (`claim_limit`); the same
        `claim_key` gives the same assignment again, and in another project a refusal (`claim_key_reused`)."""
        project = self.project()
        body = self.parsed(shapes.Claim)
        give = assign.label_next if body["resume"] else assign.claim_next
        with evened(project):
            made = give(actor=self.user, project=project, claim_key=body["claim_key"] or None)
        row = there(own_assignment(self.user, made.pk))
        return Response(shapes.Assignment(row).data, status=status.HTTP_201_CREATED)


class Assignments(ProjectView):
    """`/projects/<slug>/assignments/`"""

    noun = "assignments"

    @extend_schema(
        summary="List my assignments",
        parameters=[shapes.AssignmentFilter],
        responses=shapes.Assignment(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """One's own assignments in a project, the newest first; without those that are closed."""
        project = self.project()
        rows = visible(self.user, ASSIGNMENTS.filter(project=project, annotator=self.user))
        rows = not_closed(project, rows)
        return self.page(rows.filter(**self.query(shapes.AssignmentFilter)), shapes.Assignment)


class OpenClaims(ProjectView):
    """`/projects/<slug>/claims/`"""

    noun = "assignments"

    @extend_schema(summary="List unfinished assignments", responses=shapes.OpenClaim(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Unfinished trajectories with their holders, the longest unused first. For admins; without the
        trajectories that one is labelling oneself."""
        return self.page(claims.open_claims(actor=self.user, project=self.project()), shapes.OpenClaim)


class TakeBack(ProjectView):
    """`/projects/<slug>/claims/take-back/`"""

    noun = "assignments"

    @extend_schema(summary="Take assignments back", request=shapes.TakeBack, responses=shapes.TakenBack)
    def post(self, request: Request, slug: str) -> Response:
        """End unfinished assignments of people, so that others can claim their places; the drafts are kept.
        For admins. Those that are not open any more are refused (`not_open`), and keep no other from being
        taken back."""
        project = self.project()
        require(self.user, "assign", project)
        body = self.parsed(shapes.TakeBack)
        claims = fetch_all(self.user, ASSIGNMENTS.filter(project=project), body.pop("assignments"))
        outcome = assign.take_back(actor=self.user, project=project, assignments=claims, **body)
        ended = {"expired": [row.pk for row in outcome.done], "refused": refusals(outcome.refused)}
        return Response(shapes.TakenBack(ended).data)


class Mine(View):
    """Addresses of one assignment of one's own."""

    writes = TokenScope.LABEL
    noun = "assignments"

    def assignment(self, pk: int) -> Assignment:
        """The assignment. Raises NotFound for anybody else's."""
        return there(own_assignment(self.user, pk))

    def again(self, row: Assignment) -> Response:
        """The assignment after what was done to it."""
        return Response(shapes.Assignment(self.assignment(row.pk)).data)


class OneAssignment(Mine):
    """`/assignments/<id>/`"""

    reading_may_conflict = True

    @extend_schema(
        summary="Open an assignment",
        parameters=[trajectories.shapes.MessageWindow],
        responses=shapes.AssignmentDetail,
    )
    def get(self, request: Request, pk: int) -> Response:
        """One's own assignment with its trajectory and its labels; of a long one those of a part of its
        messages (`messages_from`, `messages_limit`). Conflict when it was given back."""
        bench = workbench(actor=self.user, assignment=self.assignment(pk))
        return Response(sheet(bench, trajectories.window(self)))


def sheet(bench: Workbench, part: range) -> dict[str, Any]:
    """An assignment with a part of its trajectory, and the labels of that."""
    row = bench.assignment
    return {
        "assignment": shapes.Assignment(row).data,
        "open": bench.open,
        "guideline_version": bench.guidelines.version if bench.guidelines else 0,
        **bench.state,
        "steps": [step for step in bench.state["steps"] if step["message_index"] in part],
        "trajectory": trajectories.shape(row.trajectory, bench.access, bench.transcript, part),
    }


class Labels(Mine):
    """`/assignments/<id>/labels/`"""

    @extend_schema(summary="Save labels", request=shapes.SaveShape, responses=shapes.Saved)
    def post(self, request: Request, pk: int) -> Response:
        """Save a batch of changes. Each change names the version it is based on and the whole new content
        of one label, and is saved, found stale or refused by itself. The same `op_id` again changes
        nothing."""
        saved = label.save_labels(actor=self.user, assignment=pk, **self.parsed(shapes.Save))
        for result in saved["results"]:
            result["reason"] = sentence(result["reason"])
        # in the shape of `Saved`, which a test holds: there is a save at every key press
        return Response(saved)


class Submit(Mine):
    """`/assignments/<id>/submit/`"""

    @extend_schema(summary="Submit an assignment", request=None, responses=shapes.Assignment)
    def post(self, request: Request, pk: int) -> Response:
        """Hand in. Every step needs a label and the outcome must be set: the refusal (`incomplete`) names
        what is missing."""
        row = self.assignment(pk)
        with evened(row.project):
            return self.again(label.submit(actor=self.user, assignment=row))


class Return(Mine):
    """`/assignments/<id>/return/`"""

    @extend_schema(summary="Give an assignment back", request=shapes.Return, responses=shapes.Assignment)
    def post(self, request: Request, pk: int) -> Response:
        """Give a trajectory back unfinished. The draft is kept; somebody else may claim it."""
        row = self.assignment(pk)
        body = self.parsed(shapes.Return)
        with evened(row.project):
            return self.again(assign.return_assignment(actor=self.user, assignment=row, **body))


class Resume(Mine):
    """`/assignments/<id>/resume/`"""

    @extend_schema(summary="Take an assignment up again", request=None, responses=shapes.Assignment)
    def post(self, request: Request, pk: int) -> Response:
        """Take up what was given back, draft included, if there is still a place."""
        row = self.assignment(pk)
        with evened(row.project):
            return self.again(assign.resume_assignment(actor=self.user, assignment=row))


class Reopen(Mine):
    """`/assignments/<id>/reopen/`"""

    @extend_schema(summary="Take a submission back", request=None, responses=shapes.Assignment)
    def post(self, request: Request, pk: int) -> Response:
        """Open one's own submission again, as long as no other annotator has submitted this trajectory
        (else 409, `too_late`)."""
        row = self.assignment(pk)
        with evened(row.project):
            return self.again(label.reopen(actor=self.user, assignment=row))


class Marks(Mine):
    """`/assignments/<id>/marks/`"""

    @extend_schema(summary="Mark a trajectory as a whole", request=shapes.Marks, responses=shapes.Assignment)
    def post(self, request: Request, pk: int) -> Response:
        """Say that it needs discussion, or that it is broken."""
        row = self.assignment(pk)
        return self.again(label.set_flags(actor=self.user, assignment=row, **self.parsed(shapes.Marks)))


class Activity(Mine):
    """`/assignments/<id>/activity/`"""

    @extend_schema(summary="Report time at work", request=shapes.Activity, responses={204: None})
    def post(self, request: Request, pk: int) -> Response:
        """Add milliseconds of work to one's own open assignment."""
        row = self.assignment(pk)
        label.add_activity(actor=self.user, assignment=row, **self.parsed(shapes.Activity))
        return Response(status=status.HTTP_204_NO_CONTENT)


class OwnConsensus(View):
    """`/assignments/<id>/consensus/`"""

    noun = "assignments"

    @extend_schema(summary="Read the consensus beside my labels", responses=shapes.OwnConsensus)
    def get(self, request: Request, pk: int) -> Response:
        """The consensus of a trajectory that one has submitted, step by step with one's own labels and the
        outcome last; `why_not` says why it is not shown. Seeing it is noted."""
        row = there(own_assignment(self.user, pk))
        consensus = noted_reads.own_consensus(actor=self.user, assignment=row)
        return Response(shapes.OwnConsensus(consensus).data)


class Feedback(Mine):
    """`/assignments/<id>/feedback/`"""

    reading_may_conflict = True

    @extend_schema(summary="Read the feedback I was given", responses=shapes.FeedbackGiven)
    def get(self, request: Request, pk: int) -> Response:
        """The feedback on one's own item of the tutorial so far, step by step and the outcome last."""
        feedback = tutorial.feedback_given(actor=self.user, assignment=self.assignment(pk))
        return Response(shapes.FeedbackGiven({"feedback": feedback}).data)

    @extend_schema(summary="Ask for feedback", request=None, responses=shapes.FeedbackGiven)
    def post(self, request: Request, pk: int) -> Response:
        """Feedback on every label that is stored, and on nothing that has none; what the label was at this
        moment is kept. Refused with 403 `sealed` outside the tutorial."""
        feedback = training.give_feedback(actor=self.user, assignment=self.assignment(pk))
        return Response(shapes.FeedbackGiven({"feedback": feedback}).data)
