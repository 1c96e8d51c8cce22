"""Remarks to admins: an annotator asks them to look at a step; their list, and the answer."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import policies
from annotation.core.errors import Conflict, Invalid
from annotation.core.kinds import ProjectKind
from annotation.core.text import unescape
from annotation.language import translated
from annotation.models import AdminRemark, Assignment
from annotation.services import noted_reads
from annotation.services import remarks as service
from frontend.pages.shared.common import open_project, page_of, person, whole_number
from frontend.pages.shared.list_page import Empty, Filter, ListPage, show
from frontend.rendering.identity import short_identity
from frontend.rendering.run_parts import place_of
from frontend.rendering.tables import Column, at, cells

WITH = ("project", "assignment__annotator", "assignment__trajectory", "step", "closed_by")
SHOWN = 200


def _columns(kind: ProjectKind) -> list[Column]:
    def said(row: AdminRemark) -> str:
        text = cells.content(truncatechars(unescape(row.text), SHOWN))
        answer = cells.soft(truncatechars(unescape(row.answer), SHOWN)) if row.answer else ""
        return cells.stack(text, answer)

    def state(row: AdminRemark) -> str:
        if row.closed_at is None:
            return cells.badge(_("open"), "badge--warn")
        return cells.badge(_("answered") if row.answer else _("closed"), "badge--good")

    return [
        Column(
            "",
            _("Record"),
            cell=lambda row: cells.link(
                short_identity(row.assignment.trajectory.record_id), at("remark", row.pk), "break"
            ),
            look="record",
        ),
        Column("", translated(kind.names.one), lambda row: row.step and row.step.ordinal + 1, look="number"),
        Column("", _("Remark"), cell=said, look="main"),
        Column("", _("Annotator"), "assignment.annotator"),
        Column("", _("Time"), "created_at"),
        Column("", _("State"), cell=state),
    ]


@require_GET
def remarks(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The remarks of a project, for admins: the open ones, or all."""
    opened = open_project(request, slug, "trajectory.list")
    rows = policies.visible(opened.user, AdminRemark.objects.filter(project=opened.project))

    def asked(filters: dict[str, str]) -> object:
        of_state = {"open": {"closed_at__isnull": True}, "closed": {"closed_at__isnull": False}}
        return rows.filter(**of_state.get(filters["state"], {})).select_related(*WITH)

    states = (("open", _("open")), ("closed", _("closed")), ("all", _("all")))
    text = _("Annotators ask you to look at something from the menu of a message on the workbench.")
    listed = ListPage(
        request,
        _columns(opened.project.of_kind),
        asked,
        Empty(_("No remarks"), text),
        filters=[Filter("state", _("State"), states, default="open")],
        items=lambda page: noted_reads.remarks(actor=opened.user, rows=page),
    )
    about = _("Only admins and its author read a remark. Reading one is noted, as with labels.")
    return show(opened, "remarks", listed, about=about)


@require_http_methods(["GET", "POST"])
def remark(request: HttpRequest, pk: int) -> HttpResponse:
    """One remark, and its answer, which closes it."""
    rows = policies.visible(person(request), AdminRemark.objects.select_related(*WITH))
    row = get_object_or_404(rows, pk=pk)
    opened = page_of(request, row.project, "trajectory.list")
    problem = ""
    if request.method == "POST":
        try:
            service.close_remark(actor=opened.user, row=row, answer=request.POST.get("answer", ""))
        except (Invalid, Conflict) as error:
            problem = translated(error.message)
        else:
            messages.success(request, _("The remark is closed."))
            return redirect("frontend:remarks", row.project.slug)
    (row,) = noted_reads.remarks(actor=opened.user, rows=[row])
    trajectory = row.assignment.trajectory
    place = place_of(row.step.message_index) if row.step else ""
    return opened.render(
        "cases/remark.html",
        "remarks",
        title=short_identity(trajectory.record_id),
        status=400 if problem else 200,
        row=row,
        problem=problem,
        typed=request.POST.get("answer", ""),
        address=reverse("frontend:trajectory", args=[row.project.slug, trajectory.pk]) + place,
    )


@require_POST
def write(request: HttpRequest, pk: int) -> HttpResponse:
    """Write a remark on a step of one's own assignment; back to the workbench."""
    user = person(request)
    mine = Assignment.stored.filter(annotator=user).select_related("project", "trajectory")
    assignment = get_object_or_404(policies.visible(user, mine), pk=pk)
    index = whole_number(request, "message_index")
    try:
        service.remark(
            actor=user, assignment=assignment, text=request.POST.get("text", ""), message_index=index
        )
    except Invalid as error:
        messages.error(request, translated(error.message))
    else:
        messages.success(request, _("The admins are told. Their answer comes as a notice."))
    place = place_of(index) if index is not None else ""
    return redirect(reverse("frontend:workbench", args=[pk]) + place)
