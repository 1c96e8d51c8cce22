"""An annotator's own assignments, and claiming the next one."""

from __future__ import annotations

import secrets

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from annotation import policies
from annotation.core.errors import Conflict
from annotation.core.vocabulary import AssignmentState
from annotation.language import translated
from annotation.models import Assignment
from annotation.reports import home
from annotation.services import assign, label
from frontend.pages.common import open_project, page_of, paginate, person

TABS = {
    "open": (AssignmentState.OPEN,),
    "submitted": (AssignmentState.SUBMITTED,),
    "returned": (AssignmentState.RETURNED, AssignmentState.EXPIRED),
}


@require_GET
def work(request: HttpRequest, slug: str) -> HttpResponse:
    """My assignments in one project: open, submitted, returned."""
    opened = open_project(request, slug, "claim")
    user, project = opened.user, opened.project
    tab = request.GET.get("state", "open")
    tab = tab if tab in TABS else "open"
    own = policies.visible(user, Assignment.objects.filter(project=project, annotator=user))
    known = list(own.values_list("state", "returned_at"))
    states = [state for state, _moment in known]
    rows = home.with_progress(own.filter(state__in=TABS[tab])).order_by("-claimed_at", "-pk")
    return opened.render(
        "work/list.html",
        "work",
        page=paginate(request, rows),
        tab=tab,
        tabs=[(name, sum(state in wanted for state in states)) for name, wanted in TABS.items()],
        can_claim=home.can_claim(user, project),
        open_count=states.count(AssignmentState.OPEN),
        ended=home.ended_lately(known, timezone.now()),
        claim_key=secrets.token_urlsafe(12),
    )


@require_POST
def claim(request: HttpRequest, slug: str) -> HttpResponse:
    """Go on with what I have not finished, else give me the next trajectory; `another` asks for a new one in
    any case. Pressing twice gives the same one."""
    opened = open_project(request, slug, "claim")
    key = request.POST.get("claim_key", "")[:64] or None
    give = assign.claim_next if "another" in request.POST else assign.label_next
    try:
        assignment = give(actor=opened.user, project=opened.project, claim_key=key)
    except Conflict as error:
        if error.code not in ("nothing_left", "claim_limit"):
            raise
        messages.info(request, translated(error.message))
        return redirect("frontend:work", slug)
    return redirect("frontend:workbench", assignment.pk)


@require_POST
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Take up a returned trajectory again, if a place at it is still free."""
    user = person(request)
    found = policies.visible(user, Assignment.objects.filter(annotator=user).select_related("project"))
    assignment = get_object_or_404(found, pk=pk)
    page_of(request, assignment.project, "claim")
    assign.resume_assignment(actor=user, assignment=assignment)
    return redirect("frontend:workbench", assignment.pk)


@require_POST
def reopen(request: HttpRequest, pk: int) -> HttpResponse:
    """Open my own submission again, as long as nobody else has submitted the trajectory."""
    user = person(request)
    found = policies.visible(user, Assignment.objects.filter(annotator=user).select_related("project"))
    assignment = get_object_or_404(found, pk=pk)
    page_of(request, assignment.project, "label")
    label.reopen(actor=user, assignment=assignment)
    return redirect("frontend:workbench", assignment.pk)
