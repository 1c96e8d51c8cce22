"""Notices: what one has been told of, and marking it as read."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_POST

from annotation.core.vocabulary import AssignmentState, NoticeKind
from annotation.models import Notice
from annotation.reports.cases import notices as report
from annotation.services import notices as service
from frontend.pages.shared.common import paginate, person, whole_number
from frontend.rendering.identity import short_identity

SENTENCES: Final = {
    NoticeKind.OPENED: _("A discussion of a trajectory that you labelled was opened."),
    NoticeKind.COMMENT: _("There is a new comment in a discussion of yours."),
    NoticeKind.MENTION: _("You are mentioned in a discussion."),
    NoticeKind.REVISION: _("Somebody changed their mind in a discussion of yours."),
    NoticeKind.RESOLVED: _("A case that you discussed is decided."),
    NoticeKind.REOPENED: _("A case that you discussed was opened again."),
    NoticeKind.CLAIM_WARNED: _("A claim of yours ends soon unless you work on it."),
    NoticeKind.CLAIM_ENDED: _("A claim of yours has ended; its draft is kept."),
    NoticeKind.CASE_GIVEN: _("A case was assigned to you."),
    NoticeKind.LOOK_AGAIN: _("The guidelines changed: you are asked to look at a trajectory of yours again."),
}


@require_GET
def notices(request: HttpRequest) -> HttpResponse:
    """What one has been told of, the newest first. What one may not see any more counts as read."""
    user = person(request)
    rows = report.notices(user)
    service.read_unlisted(user=user, listed=rows, now=timezone.now())
    page = paginate(request, rows)
    return render(
        request,
        "frontend/cases/notices.html",
        {
            "page": page,
            "rows": [
                {
                    "notice": row,
                    "what": SENTENCES[NoticeKind(row.kind)],
                    "record": short_identity(report.record_of(row)),
                }
                for row in page
            ],
            "newest": max((row.pk for row in page), default=0),
            "unread": any(row.read_at is None for row in page),
        },
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
        return reverse("frontend:discussion", args=[row.discussion_id]) + (
            "" if index is None else f"#m{index}"
        )
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
