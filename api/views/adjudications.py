"""The queue of disputes, and the cases that resolve them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.text import unescape
from annotation.core.vocabulary import AdjudicationState, TokenScope
from annotation.models import Adjudication, Decision, Trajectory, User
from annotation.policies import require, visible
from annotation.policies.lookups import CASES, own_case
from annotation.reports.cases import disputes, side_by_side
from annotation.reports.work.item_options import item_options
from annotation.services import adjudicate, noted_reads, replace

from ..serializers import adjudications as shapes
from ..serializers import item_options as options_shapes
from . import trajectories
from .base import ProjectView, View, fetch, fetch_all, refusals, there


class Disputes(ProjectView):
    """`/projects/<slug>/disputes/`"""

    noun = "adjudications"

    @extend_schema(
        summary="List disputes", parameters=[shapes.DisputeFilter], responses=shapes.Dispute(many=True)
    )
    def get(self, request: Request, slug: str) -> Response:
        """Disputed trajectories that nobody has taken: to adjudicators those that they have not labelled, to
        admins all. A filter that does not exist is refused (`unknown_filter`)."""
        project = self.project()
        require(self.user, "disputes.view", project)
        filters = disputes.dispute_filter(
            request.query_params.dict(), project=project, besides=("page", "page_size")
        )
        rows = disputes.filtered(disputes.untaken([project.pk]), filters)
        return self.page(visible(self.user, rows).select_related("subset", "trajectory"), shapes.Dispute)


class Cases(ProjectView):
    """`/projects/<slug>/adjudications/`"""

    writes = TokenScope.LABEL
    noun = "adjudications"

    @extend_schema(summary="List cases", responses=shapes.CaseRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """One's own cases, the newest first; admins see everybody's."""
        return self.page(visible(self.user, CASES.filter(project=self.project())), shapes.CaseRow)

    @extend_schema(summary="Take a dispute", request=shapes.NewCase, responses={201: shapes.Case})
    def post(self, request: Request, slug: str) -> Response:
        """Open the case of a disputed trajectory. For adjudicators who have not labelled it. Conflict
        (`case_taken`) when somebody was faster; one's own open case is simply given again."""
        project = self.project()
        body = self.parsed(shapes.NewCase)
        require(self.user, "adjudicate", project)
        rows = Trajectory.objects.filter(project=project).select_related("project")
        trajectory = fetch(self.user, rows, pk=body["trajectory"])
        made = adjudicate.open_case(actor=self.user, trajectory=trajectory)
        row = there(own_case(self.user, made.pk))
        return Response(shapes.Case(row).data, status=status.HTTP_201_CREATED)


class Assigning(ProjectView):
    """`/projects/<slug>/disputes/assign/`"""

    noun = "adjudications"

    @extend_schema(summary="Assign disputes", request=shapes.NewAssignment, responses=shapes.AssignedCases)
    def post(self, request: Request, slug: str) -> Response:
        """Assign disputed trajectories to an adjudicator, or share them evenly: the fewest open cases first.
        Nobody gets what they have labelled. What is refused (`case_taken`, `case_closed`, `not_disputed`,
        `invalid`) keeps no other from being assigned. For admins."""
        project = self.project()
        require(self.user, "assign", project)
        body = self.parsed(shapes.NewAssignment)
        rows = fetch_all(self.user, Trajectory.objects.filter(project=project), body["trajectories"])
        name = body.get("adjudicator")
        person = None if name is None else fetch(self.user, User.objects.all(), username=name)
        outcome = adjudicate.assign_cases(
            actor=self.user, project=project, trajectories=rows, adjudicator=person
        )
        cases = fetch_all(self.user, CASES.all(), [case.pk for case in outcome.done])
        answer = {"cases": cases, "refused": refusals(outcome.refused, of="record_id")}
        return Response(shapes.AssignedCases(answer).data)


class Mine(View):
    """Addresses of one case of one's own."""

    writes = TokenScope.LABEL
    noun = "adjudications"

    def case(self, pk: int) -> Adjudication:
        """The case. Raises NotFound for anybody else's: admins read labels at the trajectory."""
        return there(own_case(self.user, pk))

    def again(self, pk: int) -> Response:
        """The case after what was done to it."""
        return Response(shapes.Case(self.case(pk)).data)


class Case(Mine):
    """`/adjudications/<id>/`"""

    @extend_schema(
        summary="Read a case", parameters=[trajectories.shapes.MessageWindow], responses=shapes.CaseDetail
    )
    def get(self, request: Request, pk: int) -> Response:
        """One's own case: the labels of A and B side by side, the decisions so far, and the trajectory; of
        a long one a part of its messages (`messages_from`, `messages_limit`)."""
        row, part = self.case(pk), trajectories.window(self)
        if row.state == AdjudicationState.RELEASED:
            closed: dict[str, Any] = {"annotators": [], "steps": [], "outcome": None, "trajectory": None}
            return Response({"case": shapes.Case(row).data, **closed})
        page = noted_reads.case(actor=self.user, adjudication=row)
        return Response(
            {
                "case": shapes.Case(row).data,
                "annotators": trajectories.sides(page),
                "steps": [_item(item) for item in trajectories.steps_in(page, part)],
                "outcome": _item(page.outcome),
                "trajectory": trajectories.shape(page.trajectory, page.access, page.transcript, part),
            }
        )


def decision(row: Decision, message_index: int | None) -> dict[str, Any]:
    """A decision as the API sends it; it comes with its root."""
    return {
        "message_index": message_index,
        "value": row.value,
        "kind": row.kind,
        "root": row.root.message_index if row.root is not None else None,
        "reason": row.reason,
        "note": unescape(row.note),
        "version": row.version,
        "updated_at": row.updated_at,
    }


def _item(item: side_by_side.SideBySideItem) -> dict[str, Any]:
    index = item.step.message_index if item.step else None
    decided = decision(item.decision, index) if item.decision is not None else None
    return {**trajectories.item(item), "decision": decided}


class Decisions(Mine):
    """`/adjudications/<id>/decisions/`"""

    @extend_schema(summary="Decide", request=shapes.NewDecision, responses=shapes.Decision)
    def post(self, request: Request, pk: int) -> Response:
        """Decide one disputed step, or with `message_index` null the outcome; again, to change one's mind.
        Conflict (`stale_version`) when the decision was changed elsewhere."""
        row = self.case(pk)
        body = self.parsed(shapes.NewDecision)
        made = adjudicate.decide(actor=self.user, adjudication=row, **body)
        return Response(decision(made, body["message_index"]))


class Majority(Mine):
    """`/adjudications/<id>/majority/`"""

    @extend_schema(summary="Let the majority stand", request=shapes.NewMajority, responses=shapes.Decision)
    def post(self, request: Request, pk: int) -> Response:
        """Decide that what most annotators say of a disputed step (null: the outcome) stands. 400
        (`no_majority`) without more than half of at least three."""
        body = self.parsed(shapes.NewMajority)
        made = adjudicate.let_majority_stand(actor=self.user, adjudication=self.case(pk), **body)
        return Response(decision(made, body["message_index"]))


class Withdraw(Mine):
    """`/adjudications/<id>/withdraw/`"""

    @extend_schema(summary="Take a decision back", request=shapes.Withdrawal, responses=shapes.Case)
    def post(self, request: Request, pk: int) -> Response:
        """Take the decision on a step (null: the outcome) back; what the annotators agree on counts again.
        Conflict (`stale_version`) when it was changed elsewhere."""
        body = self.parsed(shapes.Withdrawal)
        adjudicate.withdraw_decision(actor=self.user, adjudication=self.case(pk), **body)
        return self.again(pk)


class Close(Mine):
    """`/adjudications/<id>/close/`"""

    @extend_schema(summary="Close a case", request=shapes.Close, responses=shapes.Case)
    def post(self, request: Request, pk: int) -> Response:
        """Close a case in which everything disputed is decided (else 400, `incomplete`); the consensus is
        written."""
        row = self.case(pk)
        adjudicate.close_case(actor=self.user, adjudication=row, **self.parsed(shapes.Close))
        return self.again(pk)


class HandBack(Mine):
    """`/adjudications/<id>/release/`"""

    @extend_schema(summary="Hand a case back", request=None, responses=shapes.Case)
    def post(self, request: Request, pk: int) -> Response:
        """Hand a case back undecided; another adjudicator may take it."""
        adjudicate.release_case(actor=self.user, adjudication=self.case(pk))
        return self.again(pk)


class TakeBack(ProjectView):
    """`/projects/<slug>/adjudications/take-back/`"""

    noun = "adjudications"

    @extend_schema(summary="Take cases back", request=shapes.CasesTakenBack, responses=shapes.ReleasedCases)
    def post(self, request: Request, slug: str) -> Response:
        """Hand open cases back in their adjudicators' place; others may take them. Those that are not open
        any more are refused (`case_closed`), and keep no other from being handed back. For admins."""
        project = self.project()
        require(self.user, "assign", project)
        keys = self.parsed(shapes.CasesTakenBack)["adjudications"]
        cases = fetch_all(self.user, CASES.filter(project=project), keys)
        outcome = adjudicate.take_cases_back(actor=self.user, project=project, adjudications=cases)
        answer = {"released": [row.pk for row in outcome.done], "refused": refusals(outcome.refused)}
        return Response(shapes.ReleasedCases(answer).data)


class Reopen(View):
    """`/adjudications/<id>/reopen/`"""

    writes = TokenScope.LABEL
    noun = "adjudications"

    @extend_schema(summary="Open a decided case again", request=None, responses=shapes.CaseRow)
    def post(self, request: Request, pk: int) -> Response:
        """Open a decided case again, to correct it; its consensus is erased until it is closed again. For its
        adjudicator, another who has not labelled it (who has it from then on), and admins (it goes back into
        the queue). Conflict (`frozen`) once a release holds the trajectory."""
        # who has labelled it does not even learn that there is a case
        others = Trajectory.objects.exclude(assignments__annotator=self.user)
        fetch(self.user, others, adjudications=pk)
        row = adjudicate.reopen_case(actor=self.user, adjudication=CASES.get(pk=pk))
        return Response(shapes.CaseRow(row).data)


class Options(View):
    """`/trajectories/<id>/options/`"""

    writes = TokenScope.LABEL
    reading_may_conflict = True
    noun = "adjudications"

    def item(self, pk: int) -> Trajectory:
        """The item."""
        return fetch(self.user, Trajectory.objects.select_related("project", "content"), pk=pk)

    @extend_schema(summary="Read the options of an item", responses=options_shapes.ItemOptions)
    def get(self, request: Request, pk: int) -> Response:
        """The options of a decision, to be edited, and of how many people the work ends when it is replaced.
        For admins, and the adjudicator who has its case; not while they are labelling it."""
        options = item_options(viewer=self.user, trajectory=self.item(pk))
        return Response(options_shapes.ItemOptions(options).data)

    @extend_schema(
        summary="Replace the options of an item",
        request=options_shapes.NewOptions,
        responses=options_shapes.ReplacedItem,
    )
    def post(self, request: Request, pk: int) -> Response:
        """Put an item with these options in the place of one: all labels, its case and its consensus end, and
        it is labelled anew. The answer is the trajectory that it is from then on. 400 (`bad_options`) for
        equal, empty or too many ones; Conflict (`more_ends`) when the work of more people would end than
        `ends` says, (`replaced`) when it was replaced meanwhile, (`audited`) while an audit holds it. For the
        same people."""
        body = self.parsed(options_shapes.NewOptions)
        row = self.item(pk)
        new = replace.edit_options(
            actor=self.user, trajectory=row, changes=body["options"], ends=body.get("ends")
        )
        return Response(options_shapes.ReplacedItem(new).data)
