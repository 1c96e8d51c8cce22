"""Adjudication: the queue of disputes, and one case."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation import policies
from annotation.core.errors import Conflict, Invalid, TristepError
from annotation.core.vocabulary import AdjudicationState
from annotation.language import translated
from annotation.models import Adjudication, Trajectory
from annotation.reports import cases, home
from annotation.services import adjudicate, sights
from frontend.pages.common import open_project, page_of, paginate, person
from frontend.pages.errors import status_of
from frontend.pages.trajectories import laid_out

TABS = ("waiting", "mine", "decided")
VALUES = ((1, "plus"), (0, "zero"), (-1, "minus"))
CASE_STATES = {"mine": AdjudicationState.OPEN, "decided": AdjudicationState.DECIDED}


@require_GET
def queue(request: HttpRequest, slug: str) -> HttpResponse:
    """Disputes nobody has taken, my open cases, and what I have decided."""
    opened = open_project(request, slug, "adjudicate")
    user, project = opened.user, opened.project
    tab = request.GET.get("tab", "waiting")
    tab = tab if tab in TABS else "waiting"
    waiting = policies.visible(user, home.disputes(user, [project.pk])).select_related("subset", "task")
    own = policies.visible(user, Adjudication.objects.filter(project=project, adjudicator=user))
    states = list(own.values_list("state", flat=True))
    counts = {name: states.count(state) for name, state in CASE_STATES.items()}
    rows: QuerySet[Any] = waiting
    if tab != "waiting":
        rows = own.filter(state=CASE_STATES[tab]).select_related("trajectory__subset", "trajectory__task")
    page = paginate(request, rows)
    shown = [row if tab == "waiting" else row.trajectory for row in page]
    extents = cases.extents(shown)
    return opened.render(
        "work/adjudication_queue.html",
        "adjudication",
        page=page,
        rows=[
            {
                "trajectory": trajectory,
                "case": None if tab == "waiting" else row,
                "extent": extents[trajectory.pk],
            }
            for row, trajectory in zip(page, shown, strict=True)
        ],
        tab=tab,
        tabs=[("waiting", waiting.count()), *counts.items()],
        first=waiting.first(),
    )


@require_POST
def take(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take one disputed trajectory; when somebody was faster, back to the queue."""
    opened = open_project(request, slug, "adjudicate")
    found = Trajectory.objects.filter(project=opened.project).select_related("project")
    trajectory = get_object_or_404(policies.visible(opened.user, found), pk=pk)
    try:
        case = adjudicate.open_case(actor=opened.user, trajectory=trajectory)
    except Conflict as error:
        messages.warning(request, translated(error.message))
        return redirect("frontend:adjudication-queue", slug)
    return redirect("frontend:adjudication", case.pk)


def _case(request: HttpRequest, pk: int) -> Adjudication:
    found = Adjudication.objects.select_related(
        "project", "adjudicator", "trajectory__project", "trajectory__subset", "trajectory__task"
    )
    return get_object_or_404(policies.visible(request.user, found), pk=pk)


@require_GET
def adjudication(request: HttpRequest, pk: int) -> HttpResponse:
    """One case: what A and B disagree on first, then the trajectory with all their labels."""
    row = _case(request, pk)
    opened = page_of(request, row.project)
    shown = sights.case(actor=opened.user, adjudication=row)
    mine = row.adjudicator_id == opened.user.pk
    return opened.render(
        "work/adjudication.html",
        "adjudication",
        case=row,
        mine=mine,
        open=mine and row.state == AdjudicationState.OPEN,
        disputed=shown.disputed,
        values=VALUES,
        **laid_out(shown),
    )


def _number(request: HttpRequest, name: str) -> int | None:
    """A whole number of the form, None when the field is empty. Raises Invalid for anything else."""
    text = request.POST.get(name, "").strip()
    if not text:
        return None
    try:
        return int(text[:12])
    except ValueError as error:
        raise Invalid(
            _("This is not a whole number."), fields={name: _("This is not a whole number.")}
        ) from error


def _to_decision(pk: int, message_index: int | None) -> HttpResponse:
    """Back to the case, where one step is decided, or with None the outcome."""
    here = "outcome" if message_index is None else f"m{message_index}"
    return redirect(f"{reverse('frontend:adjudication', args=[pk])}#decide-{here}")


@require_POST
def decide(request: HttpRequest, pk: int) -> HttpResponse:
    """Decide one disputed step, or the outcome. Scripts get JSON, forms come back to the case."""
    row = _case(request, pk)
    opened = page_of(request, row.project)
    wants_json = not request.accepts("text/html")
    try:
        index, value = _number(request, "message_index"), _number(request, "value")
        if value is None:
            raise Invalid(_("Choose +1, 0 or −1."), fields={"value": _("Choose +1, 0 or −1.")})
        decision = adjudicate.decide(
            actor=opened.user,
            adjudication=row,
            message_index=index,
            value=value,
            note=request.POST.get("note", "").replace("\r\n", "\n"),
            version=_number(request, "version") or 0,
        )
    except TristepError as error:
        if not wants_json:
            raise
        return JsonResponse(
            {"error": {"code": error.code, "message": translated(error.message)}}, status=status_of(error)
        )
    if wants_json:
        return JsonResponse({"value": decision.value, "version": decision.version})
    return _to_decision(pk, index)


@require_POST
def reveal(request: HttpRequest, pk: int) -> HttpResponse:
    """See what judges suggest for one step, or for the outcome, of one's own case; it is noted."""
    row = _case(request, pk)
    opened = page_of(request, row.project)
    index = _number(request, "message_index")
    shown = adjudicate.reveal(actor=opened.user, adjudication=row, message_index=index, outcome=index is None)
    if not any(one.tells for one in shown):
        messages.info(request, _("No judge has suggested anything here."))
    return _to_decision(pk, index)


@require_POST
def close(request: HttpRequest, pk: int) -> HttpResponse:
    """Finish a case: the consensus is written. What is missing is named, and comes into view."""
    row = _case(request, pk)
    opened = page_of(request, row.project)
    try:
        adjudicate.close_case(actor=opened.user, adjudication=row, note=request.POST.get("note", ""))
    except Invalid as error:
        messages.error(request, translated(error.message))
        if error.code != "incomplete":
            return redirect("frontend:adjudication", pk)
        return _to_decision(pk, next(iter(error.details["missing"]), None))
    messages.success(request, _("The case is decided; its labels are the consensus now."))
    return redirect("frontend:adjudication-queue", row.project.slug)


@require_POST
def hand_back(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a case back undecided."""
    row = _case(request, pk)
    adjudicate.release_case(actor=page_of(request, row.project).user, adjudication=row)
    messages.success(request, _("The case is back in the queue."))
    return redirect("frontend:adjudication-queue", row.project.slug)


@require_POST
def reopen(request: HttpRequest, pk: int) -> HttpResponse:
    """Take one's own decision back, to correct it."""
    row = _case(request, pk)
    adjudicate.reopen_case(actor=person(request), adjudication=row)
    messages.success(request, _("The case is open again; its consensus is erased until you finish it."))
    return redirect("frontend:adjudication", pk)
