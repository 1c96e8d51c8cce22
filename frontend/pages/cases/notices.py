"""Notices: what one has been told of, and marking it as read."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from annotation.core.vocabulary import AssignmentState, NoticeKind
from annotation.models import Notice
from annotation.reports.cases import notices as report
from annotation.services import notices as service
from frontend.pages.shared.common import person, whole_number
from frontend.pages.shared.list_page import Empty, ListPage, act, show_site
from frontend.rendering.identity import short_identity
from frontend.rendering.run_parts import place_of
from frontend.rendering.tables import Column, at, cells

NOTICE_SENTENCES: Final = {
    NoticeKind.OPENED: gettext_lazy("A discussion of a trajectory that you labelled was opened."),
    NoticeKind.COMMENT: gettext_lazy("There is a new comment in a discussion of yours."),
    NoticeKind.MENTION: gettext_lazy("You are mentioned in a discussion."),
    NoticeKind.REVISION: gettext_lazy("Somebody changed their mind in a discussion of yours."),
    NoticeKind.RESOLVED: gettext_lazy("A case that you discussed is decided."),
    NoticeKind.REOPENED: gettext_lazy("A case that you discussed was opened again."),
    NoticeKind.CLAIM_WARNED: gettext_lazy("A claim of yours ends soon unless you work on it."),
    NoticeKind.CLAIM_ENDED: gettext_lazy("A claim of yours has ended; its draft is kept."),
    NoticeKind.CASE_GIVEN: gettext_lazy("A case was assigned to you."),
    NoticeKind.LOOK_AGAIN: gettext_lazy(
        "The guidelines changed: you are asked to look at a trajectory of yours again."
    ),
}


def _columns(request: HttpRequest) -> list[Column]:
    def what(row: Notice) -> str:
        link = cells.link(NOTICE_SENTENCES[NoticeKind(row.kind)], at("notice", row.pk), "break")
        return link if row.read_at else cells.beside(link, cells.badge(_("new"), "badge--warn"))

    def mark_read(row: Notice) -> str:
        said = {"name": "only", "value": row.pk, "of": NOTICE_SENTENCES[NoticeKind(row.kind)]}
        return "" if row.read_at else act(request, _("Mark as read"), at("notices-read"), **said)

    return [
        Column("", _("Event"), cell=what, look="main"),
        Column("", _("Project"), "project.name"),
        Column("", _("Record"), cell=lambda row: short_identity(report.record_of(row)), look="slug"),
        Column("", _("Time"), "created_at"),
        Column("", _("Actions"), cell=mark_read, look="actions"),
    ]


@require_GET
def notices(request: HttpRequest) -> HttpResponseBase:
    """The notices of a person, the newest first. What one may not see any more counts as read."""
    user = person(request)
    rows = report.notices(user)
    service.read_unlisted(user=user, listed=rows, now=timezone.now())
    text = _(
        "Notices tell you when a discussion of yours continues, a claim ends, or a case is assigned to you."
    )
    listed = ListPage(request, _columns(request), rows, Empty(_("No notices yet"), text))
    newest = max((row.pk for row in listed.page), default=0)
    unread = any(row.read_at is None for row in listed.page)
    mark_all = {"name": "newest", "value": newest, "look": ""}
    return show_site(
        request,
        _("Notices"),
        listed,
        about=_("News about your claims, your cases and your discussions."),
        actions=[act(request, _("Mark all as read"), at("notices-read"), **mark_all)] if unread else [],
    )


@require_GET
def notice(request: HttpRequest, pk: int) -> HttpResponse:
    """Go to what a notice is about; it is read then."""
    user = person(request)
    row = get_object_or_404(report.notices(user), pk=pk)
    service.read_one(user=user, notice=row, now=timezone.now())
    return redirect(_target(row))


def _target(row: Notice) -> str:
    if row.discussion_id is not None:
        index = getattr(row, "message_index", None)
        place = "" if index is None else place_of(index)
        return reverse("frontend:discussion", args=[row.discussion_id]) + place
    if row.adjudication_id is not None:
        return reverse("frontend:adjudication", args=[row.adjudication_id])
    claim = row.assignment
    assert claim is not None
    if claim.state == AssignmentState.OPEN:
        return reverse("frontend:workbench", args=[claim.pk])
    return reverse("frontend:work", args=[claim.project.slug])


@require_POST
def read(request: HttpRequest) -> HttpResponse:
    """Mark all notices up to one of them as read; of one alone with `only`."""
    user = person(request)
    only = whole_number(request, "only")
    if only is not None:
        row = get_object_or_404(report.notices(user), pk=only)
        service.read_one(user=user, notice=row, now=timezone.now())
    else:
        service.read_up_to(user=user, notice=whole_number(request, "newest") or 0, now=timezone.now())
    return redirect("frontend:notices")
