"""Label quality, for admins; audits of labels: planning, beginning, adding draws and ending for admins, cases
for adjudicators."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.vocabulary import TokenScope
from annotation.models import AuditedTrajectory, LabelAudit
from annotation.policies import require
from annotation.reports.cases import side_by_side
from annotation.reports.quality.audit_planning import plan
from annotation.reports.quality.audited_labels import to_decide
from annotation.reports.quality.label_quality import as_json, label_quality
from annotation.services import label_audits
from annotation.services.label_audits.ruling import StepRuling

from ..serializers import label_audits as shapes
from . import trajectories
from .base import ProjectView, View, fetch

AUDITS = LabelAudit.objects.select_related("project")
CASES = AuditedTrajectory.objects.select_related(
    "audit__project", "trajectory__project", "trajectory__subset", "trajectory__task"
)


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


class LabelAudits(ProjectView):
    """`/projects/<slug>/label-audits/`"""

    noun = "label audits"

    @extend_schema(summary="List audits of labels", responses=shapes.LabelAudit(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The audits of a project, the newest first. For admins."""
        project = self.project()
        require(self.user, "label_audit.change", project)
        return self.page(AUDITS.filter(project=project), shapes.LabelAudit)

    @extend_schema(
        summary="Begin an audit of labels", request=shapes.NewLabelAudit, responses={201: shapes.LabelAudit}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Draw trajectories from all that are resolved, and ask two readers for each. Conflict (`running`)
        while another audit runs, (`nothing`) when nothing is resolved. For admins."""
        project = self.project()
        require(self.user, "label_audit.change", project)
        body = self.parsed(shapes.NewLabelAudit)
        made = label_audits.begin_audit(actor=self.user, project=project, **body)
        return Response(shapes.LabelAudit(made).data, status=status.HTTP_201_CREATED)


class AuditPlanning(ProjectView):
    """`/projects/<slug>/label-audits/plan/`"""

    noun = "label audits"
    throttle_scope = "costly"

    @extend_schema(
        summary="Plan an audit of labels", parameters=[shapes.AuditPlanAsked], responses=shapes.AuditPlan
    )
    def get(self, request: Request, slug: str) -> Response:
        """The number of draws that a wished bound takes. For admins."""
        project = self.project()
        require(self.user, "label_audit.change", project)
        asked = self.query(shapes.AuditPlanAsked)
        return Response(shapes.AuditPlan(plan(viewer=self.user, project=project, **asked)).data)


class OneLabelAudit(View):
    """Addresses of one audit."""

    noun = "label audits"

    def audit(self, pk: int) -> LabelAudit:
        """The audit. Raises NotFound for whoever may not see it."""
        return fetch(self.user, AUDITS, pk=pk)


class AuditDraws(OneLabelAudit):
    """`/label-audits/<id>/draws/`"""

    @extend_schema(summary="Add draws to an audit", request=shapes.MoreDraws, responses=shapes.LabelAudit)
    def post(self, request: Request, pk: int) -> Response:
        """Draw more, where the sequence of its secret seed goes on. Conflict (`ended`) once it has ended."""
        audit = self.audit(pk)
        draws = self.parsed(shapes.MoreDraws)["draws"]
        return Response(
            shapes.LabelAudit(label_audits.add_draws(actor=self.user, audit=audit, draws=draws)).data
        )


class EndAudit(OneLabelAudit):
    """`/label-audits/<id>/end/`"""

    @extend_schema(summary="End an audit of labels", request=None, responses=shapes.LabelAudit)
    def post(self, request: Request, pk: int) -> Response:
        """Ask for no further readings; what is being read or decided still counts."""
        ended = label_audits.end_audit(actor=self.user, audit=self.audit(pk))
        return Response(shapes.LabelAudit(ended).data)


class TakeAuditCase(ProjectView):
    """`/projects/<slug>/audit-cases/`"""

    writes = TokenScope.LABEL
    noun = "label audits"

    @extend_schema(summary="Take a case of an audit", request=None, responses=shapes.TakenCase)
    def post(self, request: Request, slug: str) -> Response:
        """The next case of an audit, for adjudicators who have neither labelled nor decided the trajectory,
        nor seen its labels; the one that they have taken already, if there is one. Conflict (`nothing_left`)
        without one."""
        project = self.project()
        case = label_audits.take_case(actor=self.user, project=project)
        return Response(shapes.TakenCase(case).data)


class AuditCase(View):
    """`/audit-cases/<id>/`"""

    writes = TokenScope.LABEL
    noun = "label audits"

    @extend_schema(
        summary="Read a case of an audit",
        parameters=[trajectories.shapes.MessageWindow],
        responses=shapes.AuditCase,
    )
    def get(self, request: Request, pk: int) -> Response:
        """One's own case: three unnamed labels of each step that is to be decided, and the trajectory; of a
        long one a part of its messages (`messages_from`, `messages_limit`)."""
        row, part = fetch(self.user, CASES, pk=pk), trajectories.window(self)
        page = side_by_side.plain(actor=self.user, trajectory=row.trajectory)
        return Response(
            {
                "id": row.pk,
                "to_decide": [
                    {"message_index": one.step.message_index if one.step else None, "labels": one.values}
                    for one in to_decide(row)
                ],
                "trajectory": trajectories.shape(page.trajectory, page.access, page.transcript, part),
            }
        )

    @extend_schema(
        summary="Decide a case of an audit", request=shapes.AuditRulings, responses=shapes.DecidedCase
    )
    def post(self, request: Request, pk: int) -> Response:
        """Decide all that is to be decided; what turns out wrong in the consensus is corrected at once."""
        row = fetch(self.user, CASES, pk=pk)
        sent = self.parsed(shapes.AuditRulings)["rulings"]
        rulings = {one["message_index"]: StepRuling(one["value"], one["note"]) for one in sent}
        if len(rulings) < len(sent):
            message = translatable("A step is decided once.")
            raise Invalid(message, fields={"rulings": message})
        done = label_audits.decide_case(actor=self.user, audited=row, rulings=rulings)
        return Response(shapes.DecidedCase(done).data)
