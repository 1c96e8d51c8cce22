"""Pilots: begin one, read how far it is, open the queue."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotation import policies
from annotation.core.errors import Conflict, Invalid
from annotation.language import translated
from annotation.models import Pilot, Subset
from annotation.reports.training import pilots as report
from annotation.services import training
from frontend.pages.shared.common import open_project
from frontend.pages.shared.errors import status_of
from frontend.pages.shared.figure_cells import figure_text, measure_cell
from frontend.pages.shared.list_page import Empty, ListPage, show
from frontend.rendering.identity import short_identity
from frontend.rendering.tables import Column, Table, at, cells

VERB = "training.view"
CHANGE = "training.change"


def _bound(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return float("nan")


@require_http_methods(["GET", "POST"])
def pilot(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The newest pilot: who is how far, α, and where people differ; POST begins one."""
    opened = open_project(request, slug, CHANGE if request.method == "POST" else VERB)
    problem, status = "", 200
    subsets = policies.visible(opened.user, Subset.objects.filter(project=opened.project, training=True))
    if request.method == "POST":
        subset = get_object_or_404(subsets, name=request.POST.get("subset", ""))
        try:
            training.begin_pilot(
                actor=opened.user,
                project=opened.project,
                subset=subset,
                bound=_bound(request.POST.get("bound", "")),
                new_guidelines="new_guidelines" in request.POST,
            )
        except (Conflict, Invalid) as error:
            problem, status = translated(error.message), status_of(error)
        else:
            messages.success(request, _("The pilot has begun."))
            return redirect("frontend:pilot", slug)
    rows = policies.visible(opened.user, Pilot.objects.filter(project=opened.project))
    newest = rows.select_related("project", "subset").first()
    progress = report.pilot_shown(actor=opened.user, pilot=newest) if newest is not None else None
    columns = [
        Column("username", _("Annotator"), "person.username", lambda row: str(row.person), "main"),
        Column("done", _("Labelled"), look="number"),
    ]
    empty = Empty(_("No pilot yet"), _("In a pilot everybody labels the same few trajectories first."))
    differing = [
        Column(
            "record_id",
            _("Trajectory"),
            cell=lambda row: cells.link(
                short_identity(row.trajectory.record_id),
                f"{at('training-item', slug, row.trajectory.pk)}#m{row.message_index}",
                "break",
            ),
            look="main",
        ),
        Column("number", _("Step"), look="number"),
        Column("votes", _("Labels"), lambda row: ", ".join(f"{who} {value:+d}" for who, value in row.votes)),
    ]
    return show(
        opened,
        "training",
        ListPage(request, columns, list(progress.people) if progress else [], empty, file="pilot"),
        "training/pilot.html",
        status=status,
        title=_("Pilot"),
        problem=problem,
        found=progress,
        alpha=figure_text(measure_cell(progress.alpha, is_share=False), why=True) if progress else "",
        differing=Table(
            differing,
            progress.differing if progress else (),
            labelledby="differing",
            title=_("Differing steps"),
        ),
        subsets=subsets,
    )


@require_POST
def stop(request: HttpRequest, slug: str) -> HttpResponse:
    """Open the queue without waiting for the running pilot."""
    opened = open_project(request, slug, CHANGE)
    rows = policies.visible(opened.user, Pilot.objects.filter(project=opened.project, state="running"))
    training.stop_pilot(actor=opened.user, pilot=get_object_or_404(rows.select_related("project", "subset")))
    messages.success(request, _("The queue is open."))
    return redirect("frontend:pilot", slug)
