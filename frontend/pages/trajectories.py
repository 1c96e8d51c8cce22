"""Trajectories as admins read them: the list, and one with everything that is known about it."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET, require_http_methods

from annotation import policies
from annotation.core.text import escape
from annotation.core.vocabulary import TrajectoryState
from annotation.models import Subset, Trajectory
from annotation.reports import cases
from annotation.services import sights
from frontend.pages.common import open_project, paginate
from frontend.rendering.transcript import escape_control_chars, facts, lay_out, tools

VERB = "trajectory.list"
MAX_SEARCH = 200


def _filtered(
    rows: QuerySet[Trajectory], request: HttpRequest
) -> tuple[QuerySet[Trajectory], dict[str, str]]:
    """The rows that fit the query string, and what it asked for."""
    asked = {
        name: request.GET.get(name, "").strip()[:MAX_SEARCH] for name in ("subset", "state", "model", "q")
    }
    asked = {name: value.replace("\x00", "") for name, value in asked.items()}
    if asked["subset"]:
        rows = rows.filter(subset__name=asked["subset"])
    if asked["state"]:
        rows = rows.filter(state=asked["state"])
    if asked["model"]:
        rows = rows.filter(policy_model=asked["model"])
    if asked["q"]:
        words = escape(asked["q"])
        rows = rows.filter(Q(record_id__icontains=words) | Q(task__question__icontains=words))
    return rows, asked


@require_GET
def trajectories(request: HttpRequest, slug: str) -> HttpResponse:
    """The trajectories of a project, by subset, state and policy model, or found by id and question."""
    opened = open_project(request, slug, VERB)
    everything = policies.visible(opened.user, Trajectory.objects.filter(project=opened.project))
    rows, asked = _filtered(everything, request)
    models = everything.order_by("policy_model").values_list("policy_model", flat=True).distinct()
    return opened.render(
        "data/trajectories.html",
        "trajectories",
        page=paginate(request, rows.select_related("subset", "task")),
        asked=asked,
        filtered=any(asked.values()),
        subsets=policies.visible(opened.user, Subset.objects.filter(project=opened.project)),
        models=[name for name in models if name],
        states=[state.value for state in TrajectoryState],
    )


@require_http_methods(["GET", "POST"])
def trajectory(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One trajectory with its labels. Seeing them is noted; an admin who also labels is asked first."""
    opened = open_project(request, slug, VERB)
    found = Trajectory.objects.filter(project=opened.project).select_related(
        "project", "subset", "task", "source"
    )
    row = get_object_or_404(policies.visible(opened.user, found), pk=pk)
    sealed = not policies.field_access(opened.user, row).others_labels
    costs = not sealed and sights.costs_the_claim(actor=opened.user, trajectory=row)
    asks = costs and request.method == "GET"
    read = cases.plain if sealed or asks else sights.inspection
    shown = read(actor=opened.user, trajectory=row)
    if request.method == "POST":
        return redirect("frontend:trajectory", slug, pk)
    return opened.render("data/trajectory.html", "trajectories", asks=asks, sealed=sealed, **laid_out(shown))


def laid_out(shown: cases.SideBySide) -> dict[str, Any]:
    """What the partials of a trajectory need, with the labels of each step beside its message."""
    transcript = shown.transcript
    items = {item.step.message_index: item for item in shown.steps if item.step}
    messages = lay_out(transcript, [item.step for item in shown.steps if item.step])
    return {
        "shown": shown,
        "trajectory": shown.trajectory,
        "items": items,
        "run": messages,
        "question": escape_control_chars(transcript.question),
        "tools": tools(transcript),
        "task_description": facts(transcript.task_description),
        "reference_answer": facts(transcript.reference_answer),
        "hints": facts(transcript.hints),
    }
