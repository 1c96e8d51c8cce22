"""Runs of judges: estimated, started, watched, steered. All of it is for admins."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Judge, Project, PromptSet, SuggestionRun
from annotation.policies import require, visible
from annotation.reports.judging import estimates, judge_overview
from annotation.reports.judging import runs as reports
from annotation.reports.judging.run_selection import RunSelection
from annotation.services import suggest

from ..serializers import runs as shapes
from .base import ProjectView, View, fetch


def _prompts(view: View, project: Project, body: dict[str, Any]) -> PromptSet | None:
    """The prompts that a request names, if it does; those of another release are not there."""
    name, version = body.pop("prompts", ""), body.get("release", "")
    if not name:
        return None
    release = fetch(view.user, project.releases.all(), version=version)
    return fetch(view.user, release.prompt_sets.select_related("release"), name=name)


def _chosen(view: View, project: Project, body: dict[str, Any]) -> dict[str, Any]:
    """The judge, the selection and the options of a request; a judge of another project is not there."""
    judge = fetch(view.user, Judge.objects.filter(project=project), pk=body.pop("judge"))
    options = body.pop("options", None)
    body = {name: value for name, value in body.items() if name != "budget" and value is not None}
    return {"judge": judge, "selection": RunSelection.of(body), "options": options}


class Runs(ProjectView):
    """`/projects/<slug>/runs/`"""

    noun = "runs"

    @extend_schema(summary="List runs", parameters=[shapes.RunFilter], responses=shapes.Run(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The runs of a project, the newest first. For admins."""
        project = self.project()
        require(self.user, "suggest", project)
        rows = SuggestionRun.objects.filter(project=project).select_related("judge", "prompts__release")
        if judge_pk := self.query(shapes.RunFilter).get("judge"):
            rows = rows.filter(judge=judge_pk)
        return self.page(visible(self.user, rows), shapes.Run)

    @extend_schema(summary="Start a run", request=shapes.NewRun, responses={201: shapes.Run})
    def post(self, request: Request, slug: str) -> Response:
        """Have a judge look at what it has no suggestion for yet, or write distractors for questions that
        have too few options, or answer the prompts of a release, in the background. A judge has one
        unfinished run at a time, and a project one that writes distractors. For admins."""
        project = self.project()
        require(self.user, "suggest", project)
        body = self.parsed(shapes.NewRun)
        budget = body.get("budget")
        prompts = _prompts(self, project, body)
        chosen = {"prompts": prompts} | _chosen(self, project, body)
        run = suggest.start_run(actor=self.user, budget=budget, **chosen)
        where = reverse("api:run", args=[run.pk])
        return Response(shapes.Run(run).data, status=status.HTTP_201_CREATED, headers={"Location": where})


class Estimate(ProjectView):
    """`/projects/<slug>/runs/estimate/`"""

    noun = "runs"
    throttle_scope = "costly"

    @extend_schema(summary="Estimate a run", request=shapes.Selection, responses=shapes.Estimate)
    def post(self, request: Request, slug: str) -> Response:
        """Tokens and cost of a run, without asking anybody and without starting it. For admins."""
        project = self.project()
        require(self.user, "suggest", project)
        chosen = _chosen(self, project, self.parsed(shapes.Selection))
        estimate = estimates.estimate(viewer=self.user, **chosen)
        return Response(shapes.Estimate(estimate).data)


def _found(view: View, pk: int) -> SuggestionRun:
    rows = SuggestionRun.objects.select_related("judge", "project", "prompts__release")
    return fetch(view.user, rows, pk=pk)


def _run_detail(view: View, pk: int) -> Response:
    run = _found(view, pk)
    progress = reports.progress(viewer=view.user, run=run)
    kinds = reports.failures(viewer=view.user, run=run)
    return Response(shapes.RunDetail(progress.run, context={"known": progress, "failures": kinds}).data)


class Run(View):
    """`/runs/<id>/`"""

    noun = "runs"

    @extend_schema(summary="Watch a run", responses=shapes.RunDetail)
    def get(self, request: Request, pk: int) -> Response:
        """State, progress, cost, rate, time left and failures by kind. For admins."""
        return _run_detail(self, pk)


class Failures(View):
    """`/runs/<id>/failures/`"""

    noun = "runs"

    @extend_schema(summary="List what failed", responses=shapes.Failed(many=True))
    def get(self, request: Request, pk: int) -> Response:
        """The trajectories that failed in a run, with the reason and the raw answer. For admins."""
        return self.page(judge_overview.failed(viewer=self.user, run=_found(self, pk)), shapes.Failed)


class Pause(View):
    """`/runs/<id>/pause/`"""

    noun = "runs"

    @extend_schema(summary="Pause a run", request=None, responses=shapes.RunDetail)
    def post(self, request: Request, pk: int) -> Response:
        """Begin no further call; calls under way are still stored. For admins."""
        suggest.pause_run(actor=self.user, run=_found(self, pk))
        return _run_detail(self, pk)


class Resume(View):
    """`/runs/<id>/resume/`"""

    noun = "runs"

    @extend_schema(summary="Go on with a run", request=shapes.Resume, responses=shapes.RunDetail)
    def post(self, request: Request, pk: int) -> Response:
        """Go on with a run that was paused, stopped or ran out of budget, perhaps with another budget. For
        admins."""
        run = _found(self, pk)
        budget = self.parsed(shapes.Resume).get("budget")
        suggest.resume_run(actor=self.user, run=run, budget=budget)
        return _run_detail(self, pk)


class Cancel(View):
    """`/runs/<id>/cancel/`"""

    noun = "runs"

    @extend_schema(summary="Cancel a run", request=None, responses=shapes.RunDetail)
    def post(self, request: Request, pk: int) -> Response:
        """End a run for good; what it has brought stays. For admins."""
        suggest.cancel_run(actor=self.user, run=_found(self, pk))
        return _run_detail(self, pk)


class Retry(View):
    """`/runs/<id>/retry/`"""

    noun = "runs"

    @extend_schema(summary="Retry what failed", request=None, responses=shapes.RunDetail)
    def post(self, request: Request, pk: int) -> Response:
        """Ask again about the trajectories that failed, and only those. For admins."""
        suggest.retry_failed(actor=self.user, run=_found(self, pk))
        return _run_detail(self, pk)
