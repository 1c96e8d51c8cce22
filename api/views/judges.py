"""Judges, files of their suggestions, and the raw answers behind them. All of it is for admins."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.label_files import MAX_REQUEST
from annotation.models import Judge, JudgeAnswer, Project, User
from annotation.policies import require, visible
from annotation.reports.judging.judge_figures import as_json, judge_agreement
from annotation.reports.judging.judges_first import check_asked, preview, summary
from annotation.reports.judging.recalibration import recalibration
from annotation.services import judges_first, noted_reads, suggest

from ..parsers import FormData, RawFile, RawJSONLines
from ..serializers import judges as shapes
from .base import ProjectView, View, fetch, fetch_all, spooled

RAW_OPTIONS = [
    OpenApiParameter("filename", str, description="Raw uploads: the file's name."),
    OpenApiParameter("subset", str, description="Raw uploads: as in the form."),
]


def _rows() -> QuerySet[Judge]:
    return Judge.objects.select_related("project").annotate(
        suggestion_count=Count("suggestions", distinct=True)
    )


def _found(view: View, pk: int) -> Judge:
    return fetch(view.user, _rows(), pk=pk)


class Judges(ProjectView):
    """`/projects/<slug>/judges/`"""

    noun = "judges"

    @extend_schema(summary="List judges", responses=shapes.Judge(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The judges of a project by name, retired ones too. For admins."""
        project = self.project()
        require(self.user, "judges.change", project)
        return self.page(visible(self.user, _rows().filter(project=project).order_by("name")), shapes.Judge)

    @extend_schema(summary="Make a judge", request=shapes.NewJudge, responses={201: shapes.Judge})
    def post(self, request: Request, slug: str) -> Response:
        """Set a judge up. Its address must begin with one that the operator allows, and its key is named,
        never given. For admins."""
        project = self.project()
        require(self.user, "judges.change", project)
        made = suggest.create_judge(actor=self.user, project=project, **self.parsed(shapes.NewJudge))
        where = reverse("api:judge", args=[made.pk])
        return Response(
            shapes.Judge(_found(self, made.pk)).data,
            status=status.HTTP_201_CREATED,
            headers={"Location": where},
        )


class OneJudge(View):
    """`/judges/<id>/`"""

    noun = "judges"

    @extend_schema(summary="Read a judge", responses=shapes.Judge)
    def get(self, request: Request, pk: int) -> Response:
        """Its settings. For admins."""
        return Response(shapes.Judge(_found(self, pk)).data)

    @extend_schema(summary="Change a judge", request=shapes.JudgeChanges, responses=shapes.Judge)
    def patch(self, request: Request, pk: int) -> Response:
        """Change what is given. What its answers depend on is locked (409) once it has suggestions. For
        admins."""
        judge = _found(self, pk)
        values = self.parsed(shapes.JudgeChanges)
        version = values.pop("version", None)
        suggest.update_judge(actor=self.user, judge=judge, values=values, version=version)
        return Response(shapes.Judge(_found(self, pk)).data)


class Retire(View):
    """`/judges/<id>/retire/`"""

    noun = "judges"

    @extend_schema(summary="Retire a judge", request=None, responses=shapes.Judge)
    def post(self, request: Request, pk: int) -> Response:
        """Take a judge out of use; its suggestions stay. For admins."""
        suggest.retire_judge(actor=self.user, judge=_found(self, pk))
        return Response(shapes.Judge(_found(self, pk)).data)


class Restore(View):
    """`/judges/<id>/restore/`"""

    noun = "judges"

    @extend_schema(summary="Restore a judge", request=None, responses=shapes.Judge)
    def post(self, request: Request, pk: int) -> Response:
        """Take a retired judge into use again. For admins."""
        suggest.restore_judge(actor=self.user, judge=_found(self, pk))
        return Response(shapes.Judge(_found(self, pk)).data)


class JudgeRecalibration(View):
    """`/judges/<id>/recalibration/`"""

    noun = "judges"

    @extend_schema(
        summary="Read a judge's recalibration", parameters=[shapes.OfRun], responses=shapes.Recalibration
    )
    def get(self, request: Request, pk: int) -> Response:
        """Whether it is on, what it was fitted on, and how the judge, or one `run` of it, compares with
        people, raw and recalibrated. For admins."""
        return Response(self._told(_found(self, pk), self.query(shapes.OfRun).get("run")))

    @extend_schema(
        summary="Switch a judge's recalibration",
        request=shapes.RecalibrationSwitch,
        responses=shapes.Recalibration,
    )
    def post(self, request: Request, pk: int) -> Response:
        """Switch it on, fit it anew (`on` once more), or switch it off. It is fitted in the background. 400
        `too_little_consensus`: the judge has labelled too few resolved steps. For admins."""
        body = self.parsed(shapes.RecalibrationSwitch)
        suggest.set_recalibration(actor=self.user, judge=_found(self, pk), on=body["on"])
        return Response(self._told(_found(self, pk)))

    def _told(self, judge: Judge, run: int | None = None) -> Any:
        state = recalibration(viewer=self.user, judge=judge)
        compared = as_json(judge_agreement(viewer=self.user, judge=judge, run=run))
        whole = {name: compared[name]["overall"] for name in ("consensus", "blind")}
        state_json = {"state": state, "fitted_at": judge.recalibrated_at, **whole}
        return shapes.Recalibration(state_json).data


class Suggestions(View):
    """`/judges/<id>/suggestions/`"""

    noun = "judges"
    parser_classes = [FormData, RawFile, RawJSONLines]
    throttle_scope = "costly"

    @staticmethod
    def receives_files(user: User, pk: int) -> int:
        """The permission to import suggestions, and the largest size: asked before the body is read."""
        judge = fetch(user, Judge.objects.select_related("project"), pk=pk)
        require(user, "judges.change", judge.project)
        return MAX_REQUEST

    @extend_schema(
        summary="Import suggestions",
        parameters=RAW_OPTIONS,
        request={
            "multipart/form-data": shapes.SuggestionUpload,
            "application/octet-stream": OpenApiTypes.BINARY,
            "application/x-ndjson": OpenApiTypes.BINARY,
        },
        responses=shapes.SuggestionImport,
    )
    def post(self, request: Request, pk: int) -> Response:
        """Send a file of an imported judge's suggestions, all of it or nothing: as a form, or as the whole
        body with its options in the query. The same file again changes nothing. For admins."""
        judge = _found(self, pk)
        file, options = self.uploaded(raw=shapes.RawSuggestionOptions, form=shapes.SuggestionOptions)
        outcome = suggest.import_suggestions(
            actor=self.user,
            project=judge.project,
            judge_name=judge.name,
            stream=spooled(file, _("A file of suggestions may have at most 100 MB.")),
            filename=file.name or "upload",
            subset=options.get("subset", ""),
        )
        return Response(shapes.SuggestionImport(outcome).data)


class Answer(View):
    """`/answers/<id>/`"""

    noun = "runs"

    @extend_schema(summary="Read a raw answer", responses=shapes.Answer)
    def get(self, request: Request, pk: UUID) -> Response:
        """Request and response of one call, for audit; keys are redacted. For admins. Reading it is noted: it
        tells what a judge suggests of the trajectory."""
        row = fetch(self.user, JudgeAnswer.objects.select_related("trajectory"), pk=pk)
        texts = noted_reads.judge_answer(actor=self.user, answer=row)
        context = {"request_text": texts.request_text, "response_text": texts.response_text}
        return Response(shapes.Answer(row, context=context).data)


class _JudgesFirst(ProjectView):
    """Settlement by judges before people are asked."""

    noun = "judges"

    def _judges(self, project: Project) -> list[Judge]:
        keys = self.parsed(shapes.ChosenJudges)["judges"]
        return fetch_all(self.user, Judge.objects.filter(project=project), keys)


class JudgesFirst(_JudgesFirst):
    """`/projects/<slug>/judges-first/`"""

    reading_may_conflict = True

    @extend_schema(summary="Read what judges settled", responses=shapes.JudgesFirst)
    def get(self, request: Request, slug: str) -> Response:
        """The number of trajectories that judges settled before people were asked, and people's agreement
        with them. For admins."""
        project = self.project()
        require(self.user, "judges_first.settle", project)
        check_asked(project)
        return Response(shapes.JudgesFirst(summary(project)).data)

    @extend_schema(
        summary="Settle what judges agree on", request=shapes.ChosenJudges, responses=shapes.Settlement
    )
    def post(self, request: Request, slug: str) -> Response:
        """Settle all that these judges have been asked about: what all put in the order of the key is judged,
        what all put in its reverse dropped, and everything else goes to people. For admins."""
        project = self.project()
        require(self.user, "judges_first.settle", project)
        judges = self._judges(project)
        settled = judges_first.settle_judged(actor=self.user, project=project, judges=judges)
        return Response(shapes.Settlement(settled).data)


class JudgesFirstPreview(_JudgesFirst):
    """`/projects/<slug>/judges-first/preview/`"""

    throttle_scope = "costly"

    @extend_schema(
        summary="Preview what judges agree on", request=shapes.ChosenJudges, responses=shapes.Settlement
    )
    def post(self, request: Request, slug: str) -> Response:
        """A preview of settling; nothing is changed. For admins."""
        project = self.project()
        require(self.user, "judges_first.settle", project)
        settlement = preview(viewer=self.user, project=project, judges=self._judges(project))
        return Response(shapes.Settlement(settlement).data)


class JudgesFirstSendBack(_JudgesFirst):
    """`/projects/<slug>/judges-first/send-back/`"""

    @extend_schema(
        summary="Send judged trajectories to people", request=shapes.SendBack, responses=shapes.SentBack
    )
    def post(self, request: Request, slug: str) -> Response:
        """Take the consensus of judges back, and have people label these trajectories, for good. For
        admins."""
        project = self.project()
        require(self.user, "judges_first.settle", project)
        sent = judges_first.send_back(
            actor=self.user, project=project, trajectories=self.parsed(shapes.SendBack).get("trajectories")
        )
        return Response({"sent": sent})
