"""An annotator's own assignments, and claiming the next one."""

from __future__ import annotations

import secrets

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET, require_POST

from annotation import policies
from annotation.core.errors import Conflict
from annotation.core.text import escape
from annotation.core.vocabulary import AssignmentState
from annotation.language import translated
from annotation.models import Assignment
from annotation.policies.rechecks import not_closed
from annotation.reports.cases import home
from annotation.reports.quality import look_again
from annotation.reports.work.my_progress import own_work, with_progress
from annotation.services import assign, label
from frontend.pages.shared.common import open_project, page_of, paginate, person

SHOWN_AT_ONCE = 20
"""So much of what is to be looked at again stands on the page; the rest follows as it is done."""

MAX_SEARCH = 200
TABS = {
    "open": (AssignmentState.OPEN,),
    "submitted": (AssignmentState.SUBMITTED,),
    "returned": (AssignmentState.RETURNED, AssignmentState.EXPIRED),
}


@require_GET
def work(request: HttpRequest, slug: str) -> HttpResponse:
    """My assignments in one project: open, submitted or returned; of one subset, or found by record."""
    opened = open_project(request, slug, "claim")
    user, project = opened.user, opened.project
    tab = request.GET.get("state", "open")
    tab = tab if tab in TABS else "open"
    mine = own_work(user, [project.pk])[project.pk]
    everything = policies.visible(user, Assignment.stored.filter(project=project, annotator=user))
    own = not_closed(project, everything)
    rows, asked = _filtered(own.filter(state__in=TABS[tab]), request)
    subsets = own.order_by("trajectory__subset__name").values_list("trajectory__subset__name", flat=True)
    return opened.render(
        "work/list.html",
        "work",
        page=paginate(request, with_progress(rows).order_by("-claimed_at", "-pk")),
        tab=tab,
        tabs=[("open", mine.open), ("submitted", mine.submitted), ("returned", mine.returned)],
        asked=asked,
        filtered=any(asked.values()),
        subsets=subsets.distinct(),
        can_claim=home.can_claim(user, project),
        own=mine,
        again=list(look_again.waiting(actor=user, project=project)[:SHOWN_AT_ONCE]),
        open_count=mine.open,
        closed=mine.submitted - own.filter(state=AssignmentState.SUBMITTED).count()
        if tab == "submitted"
        else 0,
        ended=mine.ended,
        claim_key=secrets.token_urlsafe(12),
    )


def _filtered(
    rows: QuerySet[Assignment], request: HttpRequest
) -> tuple[QuerySet[Assignment], dict[str, str]]:
    """The rows that fit the query string, and what it asked for."""
    asked = {name: request.GET.get(name, "").strip()[:MAX_SEARCH] for name in ("subset", "q")}
    asked = {name: value.replace("\x00", "") for name, value in asked.items()}
    if asked["subset"]:
        rows = rows.filter(trajectory__subset__name=asked["subset"])
    if asked["q"]:
        rows = rows.filter(trajectory__record_id__icontains=escape(asked["q"]))
    return rows, asked


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
    found = policies.visible(user, Assignment.stored.filter(annotator=user).select_related("project"))
    assignment = get_object_or_404(found, pk=pk)
    page_of(request, assignment.project, "claim")
    assign.resume_assignment(actor=user, assignment=assignment)
    return redirect("frontend:workbench", assignment.pk)


@require_POST
def reopen(request: HttpRequest, pk: int) -> HttpResponse:
    """Open my own submission again, as long as nobody else has submitted the trajectory."""
    user = person(request)
    found = policies.visible(user, Assignment.stored.filter(annotator=user).select_related("project"))
    assignment = get_object_or_404(found, pk=pk)
    page_of(request, assignment.project, "label")
    label.reopen(actor=user, assignment=assignment)
    return redirect("frontend:workbench", assignment.pk)
