"""The prompt workshop of a judge. All of it is for admins."""

from __future__ import annotations

from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Judge, WorkshopSample
from annotation.policies import require
from annotation.reports.judging import prompt_workshop as report
from annotation.services import noted_reads, suggest

from ..serializers import runs as run_shapes
from ..serializers import workshop as shapes
from .base import View, fetch


class Samples(View):
    """`/judges/<id>/samples/`"""

    noun = "judges"

    @extend_schema(summary="List a judge's samples", responses=shapes.Sample(many=True))
    def get(self, request: Request, pk: int) -> Response:
        """The samples of its prompt workshop, the newest first. For admins."""
        return self.page(report.samples(viewer=self.user, judge=self._judge(pk)), shapes.Sample)

    @extend_schema(summary="Draw a sample", request=shapes.NewSample, responses={201: shapes.Sample})
    def post(self, request: Request, pk: int) -> Response:
        """Draw resolved trajectories that the judge has suggestions for; the same seed draws the same from
        the same. For admins."""
        made = suggest.draw_sample(actor=self.user, judge=self._judge(pk), **self.parsed(shapes.NewSample))
        where = reverse("api:sample", args=[made.pk])
        return Response(shapes.Sample(made).data, status=status.HTTP_201_CREATED, headers={"Location": where})

    def _judge(self, pk: int) -> Judge:
        return fetch(self.user, Judge.objects.select_related("project"), pk=pk)


def _sample(view: View, pk: int) -> WorkshopSample:
    return fetch(view.user, WorkshopSample.objects.select_related("judge__project"), pk=pk)


class OneSample(View):
    """`/samples/<id>/`"""

    noun = "judges"

    @extend_schema(summary="Read a sample", responses=shapes.SampleWithPrompts)
    def get(self, request: Request, pk: int) -> Response:
        """The sample, and comparisons of prompts with its resolved labels. For admins."""
        sample = _sample(self, pk)
        prompts = report.as_json(report.tried(viewer=self.user, sample=sample))
        drawn = sample.trajectories.order_by("pk").values_list("pk", flat=True)
        sample_json = {**shapes.Sample(sample).data, "trajectories": list(drawn), "prompts": prompts}
        return Response(sample_json)


class SampleEstimate(View):
    """`/samples/<id>/estimate/`"""

    noun = "judges"
    throttle_scope = "costly"

    @extend_schema(summary="Estimate a trial", request=shapes.TrialEstimate, responses=run_shapes.Estimate)
    def post(self, request: Request, pk: int) -> Response:
        """Tokens and cost of a prompt on what of the sample it has not been asked about, without asking
        anybody. For admins."""
        body = self.parsed(shapes.TrialEstimate)
        estimate = report.estimate(viewer=self.user, sample=_sample(self, pk), **body)
        return Response(run_shapes.Estimate(estimate).data)


class SampleRuns(View):
    """`/samples/<id>/runs/`"""

    noun = "judges"

    @extend_schema(summary="Try a prompt", request=shapes.NewTrial, responses={201: run_shapes.Run})
    def post(self, request: Request, pk: int) -> Response:
        """Run a prompt on what of the sample it has not been asked about, in the background. What it suggests
        is shown in the workshop alone. For admins."""
        sample = _sample(self, pk)
        run = suggest.try_prompt(actor=self.user, sample=sample, **self.parsed(shapes.NewTrial))
        where = reverse("api:run", args=[run.pk])
        return Response(run_shapes.Run(run).data, status=status.HTTP_201_CREATED, headers={"Location": where})


class SampleChanges(View):
    """`/samples/<id>/changes/`"""

    noun = "judges"

    @extend_schema(
        summary="List the labels that a prompt changes",
        parameters=[shapes.ChangeFilter],
        responses=shapes.ChangedLabel(many=True),
    )
    def get(self, request: Request, pk: int) -> Response:
        """Every label of the sample that is another than that of the judge as it is, beside the resolved one.
        Reading it is noted. For admins."""
        sample = _sample(self, pk)
        require(self.user, "suggest", sample.judge)
        prompt_version = self.query(shapes.ChangeFilter)["prompt_version"]
        trial = Judge.stored.filter(sample=sample, prompt_version=prompt_version).first()
        if trial is None:
            raise Http404
        changes = noted_reads.changed_labels(actor=self.user, sample=sample, trial=trial)
        return self.page(changes, shapes.ChangedLabel)
