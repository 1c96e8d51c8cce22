"""The tutorial, for admins: which training trajectories it shows, and in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.core.errors import Conflict, Invalid
from annotation.language import translated
from annotation.models import Trajectory
from annotation.policies.training import keyed
from annotation.reports.training import tutorial as report
from annotation.services import training
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.errors import status_of
from frontend.rendering.identity import short_identity
from frontend.rendering.jinja import Macros
from frontend.rendering.tables import Column, Table

MOST_SHOWN = 200
training_cells = Macros("training")


@require_http_methods(["GET", "POST"])
def tutorial(request: HttpRequest, slug: str) -> HttpResponse:
    """The items of the tutorial and what else could be one; POST sets them, by the places that are given."""
    verb = "training.change" if request.method == "POST" else "training.view"
    opened = open_project(request, slug, verb)
    problem, status = "", 200
    places = {row.trajectory_id: row.place + 1 for row in report.items(opened.project)}
    if request.method == "POST":
        places = _places(request)
        order = sorted(places, key=lambda pk: (places[pk], pk))
        try:
            chosen = report.chosen(opened.project, order)
            training.set_tutorial(actor=opened.user, project=opened.project, trajectories=chosen)
        except (Invalid, Conflict) as error:
            problem, status = translated(error.message), status_of(error)
        else:
            messages.success(request, _("The tutorial is saved."))
            return redirect("frontend:tutorial", slug)
    rows = list(keyed(report.choices(opened.project))[:MOST_SHOWN])
    rows.sort(key=lambda row: places.get(row.pk, len(rows) + 1))
    return opened.render(
        "training/tutorial.html",
        "training",
        status,
        title=_("Tutorial"),
        tab="tutorial",
        table=_table(opened, rows, places),
        problem=problem,
    )


def _table(opened: ProjectPage, rows: Sequence[Trajectory], places: Mapping[int, int]) -> Table:
    def place(row: Trajectory) -> str:
        return training_cells.place(row.pk, places.get(row.pk, ""), short_identity(row.record_id))

    columns = [
        Column("record_id", _("Trajectory"), cell=lambda row: short_identity(row.record_id), look="main"),
        Column("place", _("Place"), lambda row: places.get(row.pk, ""), place),
        Column("subset", _("Subset"), "subset.name"),
        Column("steps", translated(opened.project.of_kind.names.many), "step_count", look="number"),
    ]
    return Table(columns, rows, title=_("Tutorial"))


def _places(request: HttpRequest) -> dict[int, int]:
    """The place of each chosen trajectory, by pk; what has no number is not chosen."""
    places = {}
    for name, value in request.POST.items():
        pk = name.removeprefix("place-")
        text = str(value).strip()
        if name != pk and pk.isdecimal() and len(pk) < 18 and text.isdecimal() and len(text) < 9:
            places[int(pk)] = int(text)
    return places
