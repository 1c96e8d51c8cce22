"""A second look at what somebody has submitted since their last good gold: what that is, and queueing it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from annotation.core.errors import Conflict
from annotation.core.vocabulary import LookReason
from annotation.language import translated
from annotation.reports.quality import look_again
from annotation.reports.quality import since_check as report
from annotation.services import label
from frontend.pages.quality.look_again import left_out
from frontend.pages.shared.common import whole_number
from frontend.pages.shared.errors import status_of
from frontend.rendering.look_reasons import TOLD

from .gold import member_of


@require_http_methods(["GET", "POST"])
def since_check(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The submissions of a member since their last good gold, the number of them that can be looked at again,
    and queueing these."""
    opened, member = member_of(request, slug, pk)
    problem, status = "", 200
    if request.method == "POST":
        expected = whole_number(request, "expected") or 0
        try:
            label.queue_since_check(actor=opened.user, membership=member, expected=expected)
        except Conflict as error:
            problem, status = translated(error.message), status_of(error)
        else:
            text = ngettext("%(n)s assignment is queued.", "%(n)s assignments are queued.", expected)
            messages.success(request, text % {"n": expected})
            return redirect("frontend:member-look-again", slug, pk)
    check = report.since_check(actor=opened.user, membership=member)
    trail = [(_("Gold"), reverse("frontend:gold", args=[slug]))]
    return opened.render(
        "training/since_check.html",
        "training",
        status=status,
        title=_("Look again: %(name)s") % {"name": member.user},
        trail=trail,
        member=member,
        found=check,
        ready=len(check.preview.ready),
        left_out=left_out(check.preview),
        refusal=translated(check.refusal),
        problem=problem if problem != translated(check.refusal) else "",
        told=TOLD[LookReason.CHECK],
        batches=look_again.batches(actor=opened.user, project=opened.project, annotator=member.user),
    )
