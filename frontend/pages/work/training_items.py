"""The act on the list of trajectories that makes training items of resolved ones."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from annotation import policies
from annotation.models import Subset, Trajectory
from annotation.services import training
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.list_page import BulkAct, Field, act_on_chosen
from frontend.rendering.tables import at


def act(opened: ProjectPage) -> list[BulkAct]:
    """Making training items of chosen trajectories, where there is a training subset. One query."""
    rows = Subset.objects.filter(project=opened.project, training=True).order_by("name")
    names = [(row.name, row.name) for row in policies.visible(opened.user, rows)]
    address = at("training-make", opened.project.slug)
    return [BulkAct(_("Copy as training items"), address, [Field("into", _("Into"), names)])] if names else []


@require_POST
def make(request: HttpRequest, slug: str) -> HttpResponse:
    """Make training items of chosen resolved trajectories; what was refused is said by name."""
    opened = open_project(request, slug, "training.change")
    trained = Subset.objects.filter(project=opened.project, training=True)
    name = request.POST.get("into", "").replace("\x00", "")
    subset = get_object_or_404(policies.visible(opened.user, trained), name=name)

    def said(made: list[Trajectory]) -> str:
        words = ngettext(
            "%(n)d training item was made, in “%(name)s”.",
            "%(n)d training items were made, in “%(name)s”.",
            len(made),
        )
        return words % {"n": len(made), "name": subset.name}

    return act_on_chosen(
        request,
        Trajectory.objects.filter(project=opened.project).select_related("project", "task"),
        at("trajectories", slug),
        lambda rows: training.make_items(
            actor=opened.user, project=opened.project, trajectories=rows, subset=subset
        ),
        said,
        record="record_id",
    )
