"""Acts on the list of trajectories that assign them to annotators."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from annotation import policies
from annotation.models import Trajectory, User
from annotation.services import assign as service
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.list_page import BulkAct, Field, act_on_chosen
from frontend.rendering.tables import at

EVENLY, NOBODY = "*evenly", "*nobody"
"""No user name has an asterisk."""


def act(opened: ProjectPage) -> BulkAct:
    """Assigning chosen trajectories. One query."""
    members = {"memberships__project": opened.project, "memberships__is_annotator": True}
    people = User.objects.filter(**members, is_active=True).order_by("username")
    to = [
        (EVENLY, _("all annotators, evenly")),
        *((person.username, person) for person in policies.visible(opened.user, people)),
        (NOBODY, _("nobody any more")),
    ]
    address = at("trajectories-assign", opened.project.slug)
    return BulkAct(_("Assign"), address, [Field("assignee", _("Assign to"), to)])


@require_POST
def assign(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep places of chosen trajectories for an annotator, or for all of them evenly, or for nobody any more;
    what was refused is said by name."""
    opened = open_project(request, slug, "assign")
    name = request.POST.get("assignee", "").replace("\x00", "")
    of_it: dict[str, Any] = {"actor": opened.user, "project": opened.project}
    rows = Trajectory.objects.filter(project=opened.project)
    back = at("trajectories", slug)

    def withdrawn(done: list[Any]) -> str:
        text = ngettext(
            "%(n)d trajectory is assigned to nobody any more.",
            "%(n)d trajectories are assigned to nobody any more.",
            len(done),
        )
        return text % {"n": len(done)}

    if name == NOBODY:
        take = lambda chosen: service.withdraw(**of_it, trajectories=chosen)  # noqa: E731
        return act_on_chosen(request, rows, back, take, withdrawn, record="record_id")
    visible = policies.visible(opened.user, User.objects.all())
    people = [] if name == EVENLY else [get_object_or_404(visible, username=name)]

    def assigned(done: list[Any]) -> str:
        whose = Counter(str(one.annotator) for one in done)
        shares = ", ".join(f"{person} {count}" for person, count in sorted(whose.items()))
        text = ngettext("%(n)d place is assigned: %(to)s.", "%(n)d places are assigned: %(to)s.", len(done))
        return text % {"n": len(done), "to": shares}

    return act_on_chosen(
        request,
        rows,
        back,
        lambda chosen: service.assign_trajectories(
            **of_it, trajectories=chosen, annotators=people, evenly=name == EVENLY
        ),
        assigned,
        record="record_id",
    )
