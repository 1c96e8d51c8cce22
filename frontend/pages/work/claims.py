"""Unfinished work of a project's people, which its admins can take back."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation import policies
from annotation.models import Adjudication, Assignment
from annotation.reports.work import claims as report
from annotation.services import adjudicate, assign
from frontend.pages.shared.common import open_project, page_of, paginate, person

CLAIMS_VERB = "assign"


@require_GET
def claims(request: HttpRequest, slug: str) -> HttpResponse:
    """Who holds which trajectory and which case unfinished, since when, and until when."""
    opened = open_project(request, slug, CLAIMS_VERB)
    user, project = opened.user, opened.project
    return opened.render(
        "work/claims.html",
        "overview",
        page=paginate(request, report.open_claims(actor=user, project=project)),
        cases=report.open_cases(actor=user, project=project),
        max_reason=assign.MAX_REASON,
    )


@require_POST
def take_back(request: HttpRequest, pk: int) -> HttpResponse:
    """End somebody's claim; the reason stands in their list of work."""
    found = Assignment.stored.select_related("project", "annotator")
    claim = get_object_or_404(policies.visible(request.user, found), pk=pk)
    page_of(request, claim.project, CLAIMS_VERB)
    reason = request.POST.get("reason", "")
    assign.take_back(actor=person(request), assignment=claim, reason=reason)
    messages.success(
        request,
        _("The trajectory was taken back from %(name)s; the draft is kept.") % {"name": claim.annotator},
    )
    return redirect("frontend:claims", claim.project.slug)


@require_POST
def take_case_back(request: HttpRequest, pk: int) -> HttpResponse:
    """Hand somebody's case back in their place."""
    found = Adjudication.objects.select_related("project", "adjudicator")
    case = get_object_or_404(policies.visible(request.user, found), pk=pk)
    page_of(request, case.project, CLAIMS_VERB)
    adjudicate.take_case_back(actor=person(request), adjudication=case)
    messages.success(request, _("The case was taken back from %(name)s.") % {"name": case.adjudicator})
    return redirect("frontend:claims", case.project.slug)
