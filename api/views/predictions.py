"""Prompts for models of a release, their predictions and their scores."""

from __future__ import annotations

from typing import Any

from django.http import StreamingHttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.asking.settings import PromptSettings
from annotation.core.label_files import MAX_REQUEST
from annotation.models import Judge, PredictionSet, Project, PromptSet, Release, User
from annotation.policies import require, visible
from annotation.reports.evaluation import benchmark, best_of_n, leaderboard, model_scores, size_plan
from annotation.reports.evaluation.outside_numbers import outside_numbers
from annotation.reports.judging.judge_coverage import judge_coverage
from annotation.services import asking, evaluate, noted_reads

from ..parsers import FormData, RawFile, RawJSONLines
from ..serializers import predictions as shapes
from ..serializers import prompts as prompt_shapes
from .base import ProjectView, fetch, spooled
from .releases.releases import Frozen

RAW_OPTIONS = [
    OpenApiParameter(name, str, description="Raw uploads: as in the form.")
    for name in ("model", "subset", "prompt_version", "judged_on", "cost")
] + [OpenApiParameter("filename", str, description="Raw uploads: the file's name.")]


class PredictionSets(Frozen):
    """`/projects/<slug>/releases/<version>/predictions/`"""

    noun = "predictions"
    parser_classes = [FormData, RawFile, RawJSONLines]
    throttle_scope = "costly"

    @staticmethod
    def receives_files(user: User, slug: str, version: str) -> int:
        """The permission to import predictions, and the largest size: asked before the body is read."""
        project = fetch(user, Project.objects.all(), slug=slug)
        require(user, "predictions.change", project)
        fetch(user, Release.objects.filter(project=project), version=version)
        return MAX_REQUEST

    def get_throttles(self) -> list[Any]:
        """Looking is not costly; uploading is."""
        self.throttle_scope = "costly" if self.request.method == "POST" else ""
        return super().get_throttles()

    @extend_schema(summary="List prediction sets", responses=shapes.PredictionSet(many=True))
    def get(self, request: Request, slug: str, version: str) -> Response:
        """The models that have predictions of a release, by name. For adjudicators and admins."""
        rows = PredictionSet.objects.filter(release=self.release(version)).select_related("release")
        return self.page(visible(self.user, rows.defer("labels")).order_by("model"), shapes.PredictionSet)

    @extend_schema(
        summary="Import predictions",
        parameters=RAW_OPTIONS,
        request={
            "multipart/form-data": shapes.PredictionUpload,
            "application/octet-stream": OpenApiTypes.BINARY,
            "application/x-ndjson": OpenApiTypes.BINARY,
        },
        responses=shapes.PredictionImport,
    )
    def post(self, request: Request, slug: str, version: str) -> Response:
        """Send a file of what a model predicts of this release, all of it or nothing: as a form, or as the
        whole body with its options in the query. The same file again changes nothing, and nothing changes the
        release. For admins."""
        release = self.release(version)
        require(self.user, "predictions.change", release)
        file, options = self.uploaded(raw=shapes.RawPredictionOptions, form=shapes.PredictionOptions)
        about = {name: options.get(name) for name in ("prompt_version", "judged_on", "cost")}
        outcome = evaluate.import_predictions(
            actor=self.user,
            release=release,
            model=options["model"],
            stream=spooled(file, _("A file of predictions may have at most 100 MB.")),
            filename=file.name or "upload",
            subset=options.get("subset", ""),
            about=evaluate.PredictionSetDetails(**about),
            strict=options["strict"],
        )
        return Response(shapes.PredictionImport(outcome).data)


class OnePredictionSet(Frozen):
    """`/projects/<slug>/releases/<version>/predictions/<id>/`"""

    noun = "predictions"
    reading_may_conflict = True

    def row(self, version: str, pk: int) -> PredictionSet:
        """The set, with its release and project."""
        rows = PredictionSet.objects.filter(release=self.release(version)).select_related("release__project")
        return fetch(self.user, rows, pk=pk)

    @extend_schema(
        summary="Read a prediction set",
        parameters=[shapes.ScoredBy],
        responses=shapes.PredictionSetDetail,
    )
    def get(self, request: Request, slug: str, version: str, pk: int) -> Response:
        """Facts of the set, and its scores in detail: every figure, the confusion (release in the rows; −1,
        0, +1, none), the places of its first errors, scores by length and position, and the trajectories on
        which it errs most, without those that one is labelling; having seen their consensus is noted. For
        adjudicators and admins. Conflict (`damaged`) when a record of the release cannot be read."""
        row, by_pairs = self.row(version, pk), self.query(shapes.ScoredBy)["by"] == "pairs"
        scores = model_scores.as_json(noted_reads.model_scores(actor=self.user, row=row, by_pairs=by_pairs))
        return Response(shapes.PredictionSetDetail(row, context={"scores": scores}).data)

    @extend_schema(summary="Delete a prediction set", request=None, responses={204: None})
    def delete(self, request: Request, slug: str, version: str, pk: int) -> Response:
        """Take the predictions of a model away. The release stays as it is. For admins."""
        evaluate.delete_predictions(actor=self.user, prediction_set=self.row(version, pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ScoredJudges(Frozen):
    """`/projects/<slug>/releases/<version>/judges/`"""

    noun = "predictions"
    reading_may_conflict = True
    throttle_scope = "costly"

    @extend_schema(summary="List the judges to score", responses=shapes.JudgeCoverage(many=True))
    def get(self, request: Request, slug: str, version: str) -> Response:
        """The judges of the project by name, and how many trajectories of the release each has judged. For
        admins. Conflict (`damaged`) when a record of the release cannot be read."""
        rows = judge_coverage(actor=self.user, release=self.release(version))
        return self.page(rows, shapes.JudgeCoverage)

    @extend_schema(summary="Score a judge", request=shapes.JudgeToScore, responses={200: shapes.ScoredJudge})
    def post(self, request: Request, slug: str, version: str) -> Response:
        """Make what a judge suggests its predictions of the release, or add what has come since; nothing
        changes the release. For admins. Conflict (`predicted_otherwise`) when the set of that name says
        something else already."""
        release = self.release(version)
        require(self.user, "predictions.change", release)
        judges = Judge.objects.filter(project=release.project_id)
        judge = fetch(self.user, judges, pk=self.parsed(shapes.JudgeToScore)["judge"])
        scored = evaluate.score_judge(actor=self.user, release=release, judge=judge)
        return Response(shapes.ScoredJudge(scored).data)


class Leaderboard(Frozen):
    """`/projects/<slug>/releases/<version>/leaderboard/`"""

    noun = "predictions"
    reading_may_conflict = True
    throttle_scope = "costly"

    @extend_schema(
        summary="Read the leaderboard", parameters=[shapes.ScoredBy], responses=OpenApiTypes.OBJECT
    )
    def get(self, request: Request, slug: str, version: str) -> Response:
        """Scores of models that label the steps of a release, choose among options, or answer questions, the
        best first: every figure as a fraction
        under its name, overall and by subset, with n, 95 % intervals, reasons where one is undefined, and
        ranks as intervals; below `recalibrated` the same after recalibration, with the change of each figure;
        the judge `stacked` of all models; and baselines. What is still being fitted is null or missing, and
        `pending` true. Of questions also by ability, language and length, and where the keys stand. For
        adjudicators and admins. Conflict (`damaged`) when a record of the release cannot be read."""
        by_pairs = self.query(shapes.ScoredBy)["by"] == "pairs"
        board = leaderboard.leaderboard(actor=self.user, release=self.release(version), by_pairs=by_pairs)
        return Response(leaderboard.as_json(board))


class OutsideNumbers(Frozen):
    """`/projects/<slug>/releases/<version>/outside-numbers/`"""

    noun = "predictions"

    @extend_schema(summary="List outside numbers", responses=shapes.OutsideNumbers(many=True))
    def get(self, request: Request, slug: str, version: str) -> Response:
        """Numbers of models that come from elsewhere, such as their own scores on the task, by title; how
        figures go together with them says the leaderboard. For adjudicators and admins."""
        return self.page(list(outside_numbers(self.release(version))), shapes.OutsideNumbers)

    @extend_schema(
        summary="Set outside numbers",
        request=shapes.SetOutsideNumbers,
        responses=shapes.OutsideNumbers(many=True),
    )
    def patch(self, request: Request, slug: str, version: str) -> Response:
        """Set numbers of models under a title; null takes one away. A name is that of a model on the
        leaderboard or of a policy model of the release. For admins."""
        release = self.release(version)
        require(self.user, "predictions.change", release)
        evaluate.set_outside_numbers(
            actor=self.user, release=release, **self.parsed(shapes.SetOutsideNumbers)
        )
        return Response(shapes.OutsideNumbers(outside_numbers(release), many=True).data)


class BestOfN(Frozen):
    """`/projects/<slug>/releases/<version>/best-of-n/`"""

    noun = "predictions"
    reading_may_conflict = True
    throttle_scope = "costly"

    @extend_schema(summary="Read best-of-N", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, version: str) -> Response:
        """Tasks solved when a model's labels choose among the runs of each task, by rule, overall and by
        subset; random choice and the oracle beside it. For adjudicators and admins. Conflict (`damaged`) when
        a record of the release cannot be read."""
        release = self.release(version)
        return Response(best_of_n.as_json(release, best_of_n.selections(actor=self.user, release=release)))


class SizePlan(ProjectView):
    """`/projects/<slug>/size-plan/`"""

    noun = "size plans"
    throttle_scope = "costly"

    @extend_schema(
        summary="Plan the size of the benchmark",
        parameters=[shapes.PlannedSize],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, slug: str) -> Response:
        """The precision of StepAcc of a model (`half_width` of its 95 % interval) and the difference of two
        models that is found in 80 % of benchmarks, by number of tasks; and the number of tasks that either
        takes. From the labels so far of 20 resolved tasks and two judges (`from_labels`), until then from
        published ones. For adjudicators and admins."""
        asked = self.query(shapes.PlannedSize)
        return Response(
            size_plan.as_json(size_plan.size_plan(viewer=self.user, project=self.project(), **asked))
        )


class Benchmark(Frozen):
    """`/projects/<slug>/releases/<version>/benchmark/`"""

    noun = "predictions"
    reading_may_conflict = True
    throttle_scope = "costly"

    @extend_schema(summary="Read the benchmark", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, version: str) -> Response:
        """Relations of StepAcc with FirstErrAcc and with binary outcome accuracy over the models (Pearson's
        r, undefined below three), the labels and first errors of the release by policy model and subset, and
        the smallest difference that it and a larger one can show (`plan`, null below two models or 20 tasks).
        For adjudicators and admins. Conflict (`damaged`) when a record of the release cannot be read."""
        report = benchmark.benchmark(actor=self.user, release=self.release(version))
        return Response(benchmark.as_json(report))


class Prompts(Frozen):
    """`/projects/<slug>/releases/<version>/prompts/`"""

    noun = "prompts"

    @extend_schema(summary="List the prompts of a release", responses=prompt_shapes.PromptSet(many=True))
    def get(self, request: Request, slug: str, version: str) -> Response:
        """The sets of prompts of a release, the newest first. For adjudicators and admins."""
        rows = PromptSet.objects.filter(release=self.release(version)).order_by("-created_at", "-pk")
        return self.page(visible(self.user, rows), prompt_shapes.PromptSet)

    @extend_schema(
        summary="Make prompts of a release",
        request=prompt_shapes.NewPrompts,
        responses={202: prompt_shapes.PromptSet},
    )
    def post(self, request: Request, slug: str, version: str) -> Response:
        """Make a prompt for every question of a release of decisions, in the background: follow the address
        in `Location`. For admins. The same asked for twice is made once; Conflict (`name_taken`) when there
        are other prompts of that name."""
        settings: dict[str, Any] = self.parsed(prompt_shapes.NewPrompts)
        row = asking.make_prompts(
            actor=self.user,
            release=self.release(version),
            name=settings.pop("name"),
            options=PromptSettings.of(**settings),
        )
        where = reverse("api:prompt-set", args=[slug, version, row.name])
        return Response(
            prompt_shapes.PromptSet(row).data, status=status.HTTP_202_ACCEPTED, headers={"Location": where}
        )


class OnePromptSet(Frozen):
    """`/projects/<slug>/releases/<version>/prompts/<name>/`"""

    noun = "prompts"

    def row(self, version: str, name: str) -> PromptSet:
        """The set of that name."""
        release = self.release(version)
        prompts: PromptSet = fetch(self.user, PromptSet.objects.filter(release=release), name=name)
        prompts.release = release
        return prompts

    @extend_schema(summary="Look at prompts", responses=prompt_shapes.PromptSet)
    def get(self, request: Request, slug: str, version: str, name: str) -> Response:
        """The progress of a set of prompts; in the end what it comes to, or the reason why there is none."""
        return Response(prompt_shapes.PromptSet(self.row(version, name)).data)


class PromptFile(OnePromptSet):
    """`/projects/<slug>/releases/<version>/prompts/<name>/prompts.jsonl`"""

    reading_may_conflict = True
    throttle_scope = "costly"

    @extend_schema(summary="Download prompts", responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY})
    def get(  # type: ignore[override]
        self, request: Request, slug: str, version: str, name: str
    ) -> StreamingHttpResponse:
        """The prompts as JSON Lines, streamed; the same bytes each time. A line holds `record_id`, `uuid`,
        `subset`, `kind`, `language`, `split`, `shots` (its examples), `cut` (characters left out of its
        history) and `prompt`, and not what is right. Conflict (`not_made`) until they are made."""
        return StreamingHttpResponse(
            asking.prompt_lines(actor=self.user, row=self.row(version, name)),
            content_type="application/x-ndjson",
            headers={
                "Content-Disposition": f'attachment; filename="{name}.jsonl"',
                "X-Content-Type-Options": "nosniff",
            },
        )
