"""Tags: those of a project, and acts that put them on trajectories and take them off."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from annotation import policies
from annotation.core.errors import Conflict, Invalid
from annotation.language import translated
from annotation.models import Tag, Trajectory
from annotation.models.data import MAX_TAG
from annotation.reports.work import tags as report
from annotation.services import tags as service
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.list_page import Empty, ListPage, act_on_chosen, show
from frontend.rendering.tables import Column, at, cells

TAG_VERB = "trajectory.tag"


def of_trajectory(opened: ProjectPage, row: Trajectory) -> dict[str, Any]:
    """The tags of a trajectory with the addresses of all that bear them, and the names to choose among. Two
    queries."""
    listed = at("trajectories", opened.project.slug)
    bearing = report.tags_of(opened.user, [row]).get(row.pk, [])
    names = policies.visible(opened.user, Tag.objects.filter(project=opened.project))
    return {
        "tags": [(name, f"{listed}?{urlencode({'tag': name})}") for name in bearing],
        "other_tags": [tag.name for tag in names if tag.name not in bearing],
        "longest_tag": MAX_TAG,
    }


@require_GET
def tags(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The tags of a project, how many trajectories bear each, and forms that rename, merge and delete it."""
    opened = open_project(request, slug, TAG_VERB)
    token, listed = get_token(request), at("trajectories", slug)

    def acts(row: Tag) -> str:
        sure = _("It is taken off all trajectories. This cannot be undone.")
        question = _("Delete the tag “%(name)s”?") % {"name": row.name}
        address = at("tag-delete", slug, row.pk)
        return cells.asked_act(token, _("Delete"), address, question, sure, f"delete-{row.pk}")

    columns = [
        Column(
            "tag",
            _("Tag"),
            "name",
            lambda row: cells.link(row.name, f"{listed}?{urlencode({'tag': row.name})}", "break"),
        ),
        Column("trajectories", _("Trajectories"), look="number"),
        Column(
            "",
            _("Rename or merge"),
            cell=lambda row: cells.renamed(token, at("tag-rename", slug, row.pk), row.name, MAX_TAG),
            look="nowrap",
        ),
        Column("", _("Delete"), cell=acts, look="actions"),
    ]
    empty = Empty(
        _("No tags yet"),
        _("Choose trajectories in the list, and put a tag on them."),
        cells.link(_("Trajectories"), listed, "button button--primary"),
    )
    rows = list(report.counted_tags(opened.user, opened.project))
    about = _(
        "Only admins see tags, and adjudicators those of disputes. A tag that gets another’s name becomes "
        "one with it. On trajectories that you could still label you see your own tags only."
    )
    return show(
        opened,
        "trajectories",
        ListPage(request, columns, rows, empty, file="tags"),
        title=_("Tags"),
        about=about,
    )


@require_POST
def rename(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Rename a tag; with the name of another, the two become one."""
    opened, row = _tag(request, slug, pk)
    try:
        kept = service.rename_tag(actor=opened.user, row=row, name=request.POST.get("name", ""))
    except (Invalid, Conflict) as error:
        messages.error(request, translated(error.message))
    else:
        text = _("The tag is called “%(name)s” now.")
        if kept.pk != row.pk:
            text = _("The two tags are one now: “%(name)s”.")
        messages.success(request, text % {"name": kept.name})
    return redirect("frontend:tags", slug)


@require_POST
def delete(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Delete a tag."""
    opened, row = _tag(request, slug, pk)
    service.delete_tag(actor=opened.user, row=row)
    messages.success(request, _("The tag “%(name)s” is deleted.") % {"name": row.name})
    return redirect("frontend:tags", slug)


def _tag(request: HttpRequest, slug: str, pk: int) -> tuple[ProjectPage, Tag]:
    opened = open_project(request, slug, TAG_VERB)
    rows = policies.visible(opened.user, Tag.objects.filter(project=opened.project))
    return opened, get_object_or_404(rows.select_related("project"), pk=pk)


@require_POST
def tag_chosen(request: HttpRequest, slug: str) -> HttpResponse:
    """Put a tag on the chosen trajectories of the list, or take it off."""
    opened = open_project(request, slug, TAG_VERB)
    act = service.untag if request.POST.get("act") == "untag" else service.tag
    name = request.POST.get("name", "")

    def said(done: list[Trajectory]) -> str:
        n = len(done)
        if act is service.untag:
            words = ngettext("%(n)d trajectory lost the tag.", "%(n)d trajectories lost the tag.", n)
        else:
            words = ngettext("%(n)d trajectory got the tag.", "%(n)d trajectories got the tag.", n)
        return words % {"n": n}

    return act_on_chosen(
        request,
        Trajectory.objects.filter(project=opened.project),
        at("trajectories", slug),
        lambda rows: act(actor=opened.user, project=opened.project, trajectories=rows, name=name),
        said,
        record="record_id",
    )


@require_POST
def tag_one(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Put a tag on a trajectory (`tag`), or take one off (`untag`); back to its page."""
    opened = open_project(request, slug, TAG_VERB)
    rows = policies.visible(opened.user, Trajectory.objects.filter(project=opened.project))
    row = get_object_or_404(rows, pk=pk)
    off = request.POST.get("untag", "")
    act, name = (service.untag, off) if off else (service.tag, request.POST.get("tag", ""))
    try:
        done = act(actor=opened.user, project=opened.project, trajectories=[row], name=name)
        for _row, refused in done.refused:
            messages.warning(request, translated(refused.message))
    except (Invalid, Conflict) as error:
        messages.error(request, translated(error.message))
    return redirect("frontend:trajectory", slug, pk)
