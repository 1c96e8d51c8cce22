"""An annotator's own assignments, and claiming the next one."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_POST

from annotation import policies
from annotation.core.errors import Conflict, Denied, TristepError
from annotation.core.text import escape, unescape
from annotation.core.vocabulary import AssignmentState, LookReason
from annotation.language import translated
from annotation.models import Assignment, RelabelRequest
from annotation.policies.rechecks import count_own_not_closed, not_closed, own_not_closed
from annotation.reports.cases import home
from annotation.reports.quality import look_again
from annotation.reports.training.proficiency import attempt_over
from annotation.reports.work.crowd import own_progress
from annotation.reports.work.my_progress import (
    OwnWork,
    own_subsets,
    own_work,
    with_progress,
    with_progress_of,
)
from annotation.services import assign, label
from annotation.services.even_time import evened
from frontend.pages.shared.columns import subset_column
from frontend.pages.shared.common import ProjectPage, open_project, page_of, person
from frontend.pages.shared.list_page import Empty, Filter, ListPage, Tabs, act, ordered, show
from frontend.rendering.identity import short_identity
from frontend.rendering.look_reasons import TOLD
from frontend.rendering.tables import Column, at, cells, short_time
from frontend.templatetags.tristep import expiry_text, state_name

SHOWN_OF_REASON = 160
SHOWN_AT_ONCE = 20
"""So much of what is to be looked at again stands on the page; the rest follows as it is done."""

TABS = {
    "open": (AssignmentState.OPEN,),
    "submitted": (AssignmentState.SUBMITTED,),
    "returned": (AssignmentState.RETURNED, AssignmentState.EXPIRED),
}
TIMES = {
    "open": ("claimed_at", gettext_lazy("Claimed")),
    "submitted": ("submitted_at", gettext_lazy("Submitted")),
    "returned": ("returned_at", gettext_lazy("Returned")),
}
EMPTY = {
    "open": Empty(
        gettext_lazy("No open assignment"),
        gettext_lazy("A trajectory that you claim is yours until you submit or return it."),
    ),
    "submitted": Empty(
        gettext_lazy("Nothing submitted yet"),
        gettext_lazy(
            "A trajectory appears here when every step and the outcome have a label and you have "
            "submitted it."
        ),
    ),
    "returned": Empty(
        gettext_lazy("Nothing returned"),
        gettext_lazy("A trajectory that you return keeps your draft and appears here."),
    ),
}


def _columns(request: HttpRequest, tab: str) -> list[Column]:
    def record(row: Assignment) -> str:
        name = short_identity(row.trajectory.record_id)
        shown = (
            cells.broken(name) if tab == "returned" else cells.link(name, at("workbench", row.pk), "break")
        )
        expires = ends = ""
        if tab == "open" and row.expires_at:
            expires = cells.badge(
                _("expires %(when)s unless you continue") % {"when": short_time(row.expires_at)},
                "badge--warn",
            )
        if row.expiry_reason:
            state = cells.badge(state_name(row.state), "badge--outline")
            ends = cells.beside(state, expiry_text(row.expiry_reason))
        why = (
            cells.soft(truncatechars(unescape(row.return_reason), SHOWN_OF_REASON))
            if row.return_reason
            else ""
        )
        return cells.lines(shown, expires, ends, why)

    def progress(row: Any) -> str:
        all_steps = row.trajectory.step_count
        words = _("%(done)d of %(count)d") % {"done": row.done, "count": all_steps}
        return cells.progress(row.done, all_steps, words, _("Labelled"))

    def acts(row: Any) -> str:
        of = short_identity(row.trajectory.record_id)
        if tab == "open":
            return cells.button(_("Continue"), at("workbench", row.pk), of)
        if tab == "returned":
            if not row.trajectory.in_use:
                return ""
            return act(request, _("Resume"), at("resume", row.pk), of=of)
        again = act(request, _("Reopen"), at("assignment-reopen", row.pk), of=of) if row.reopenable else ""
        consensus = cells.button(_("Consensus"), at("own-consensus", row.pk), of)
        return cells.cluster(cells.button(_("View"), at("workbench", row.pk), of), consensus, again)

    time, title = TIMES[tab]
    return [
        Column("record_id", _("Trajectory"), "trajectory.record_id", record, "main"),
        subset_column(),
        Column("done", _("Labelled"), cell=progress, sort="done"),
        Column("steps", value="trajectory.step_count"),
        Column(time, str(title), sort=f"-{time}"),
        Column("", _("Actions"), cell=acts, look="actions"),
    ]


def _list(
    opened: ProjectPage, own: QuerySet[Assignment], mine: OwnWork, tab: str, queue: home.Queue
) -> ListPage:
    columns = _columns(opened.request, tab)
    if tab == "submitted":
        own = own_not_closed(opened.project, opened.user)
    else:
        own = not_closed(opened.project, own.filter(state__in=TABS[tab]))

    def rows(asked: dict[str, str]) -> QuerySet[Assignment]:
        listed = own.only("pk")  # what is shown of them is read of a page alone
        if asked["subset"]:
            listed = listed.filter(trajectory__subset__name=asked["subset"])
        if asked["q"]:
            listed = listed.filter(trajectory__record_id__icontains=escape(asked["q"]))
        if asked["sort"].removeprefix("-") == TIMES[tab][0]:
            # an index is read from one of its ends
            back = "-" if asked["sort"].startswith("-") else ""
            return listed.order_by(asked["sort"], f"{back}pk")
        return ordered(with_progress(listed).select_related(None), columns, asked["sort"])

    open_count = None
    if tab == "submitted":
        open_count = count_own_not_closed(opened.project, opened.user, mine.submitted)
    closed = _closed(opened, mine.submitted - open_count) if open_count is not None else ""
    empty = Empty(_("Nothing submitted lately"), closed) if closed else EMPTY[tab]
    if tab == "open" and queue.has_nothing:
        empty = Empty(empty.title, _("Nothing is left for you to label at the moment."))
    return ListPage(
        opened.request,
        columns,
        rows,
        empty,
        filters=[
            Filter(
                "subset", _("Subset"), [(name, name) for name in own_subsets(opened.user, opened.project)]
            ),
            Filter("q", _("Record contains")),
        ],
        order=f"-{TIMES[tab][0]}",
        file="my-work",
        tabs=Tabs("state", _("State"), [(name, state_name(name), getattr(mine, name)) for name in TABS], tab),
        below=closed and cells.note(closed),
        items=with_progress_of,
        counted=open_count,
    )


def _closed(opened: ProjectPage, n: int) -> str:
    """The number of submitted trajectories that are closed, which the list leaves out."""
    if not n:
        return ""
    text = ngettext(
        "%(count)d trajectory more is closed: it was submitted more than %(days)d days ago and has all of "
        "its labels, and you may be asked to label such work again.",
        "%(count)d trajectories more are closed: they were submitted more than %(days)d days ago and have "
        "all of their labels, and you may be asked to label such work again.",
        n,
    )
    return text % {"count": n, "days": opened.project.retest_days}


def _again(asked: Iterable[RelabelRequest]) -> list[tuple[str, list[RelabelRequest]]]:
    """Requests to look again, by reason."""
    runs = groupby(asked, key=lambda row: row.because)
    return [(str(TOLD[LookReason(because)]), list(rows)) for because, rows in runs]


@require_GET
def work(request: HttpRequest, slug: str) -> HttpResponseBase:
    """My assignments in one project: open, submitted or returned; of one subset, or found by record."""
    opened = open_project(request, slug, "claim")
    user, project = opened.user, opened.project
    asked = request.GET.get("state", "open")
    tab = asked if asked in TABS else "open"
    mine = own_work(user, [project.pk])[project.pk]
    everything = policies.visible(user, Assignment.stored.filter(project=project, annotator=user))
    queue = home.queue_for(user, project)
    return show(
        opened,
        "work",
        _list(opened, everything, mine, tab, queue),
        "work/my_work.html",
        queue=queue,
        own=mine,
        again=_again(look_again.waiting(actor=user, project=project)[:SHOWN_AT_ONCE]),
        open_count=mine.open,
        ended=0 if tab == "returned" else mine.ended,
        claim_key=secrets.token_urlsafe(12),
        crowd=own_progress(user, project),
    )


@require_POST
def claim(request: HttpRequest, slug: str) -> HttpResponse:
    """Go on with what I have not finished, else give me the next trajectory; `another` asks for a new one in
    any case. Pressing twice gives the same one."""
    opened = open_project(request, slug, "claim")
    key = request.POST.get("claim_key", "")[:64] or None
    give = assign.claim_next if "another" in request.POST else assign.label_next
    try:
        if (over := attempt_over(opened.user, request.POST.get("attempt", ""))) is not None:
            return redirect("frontend:attempt", over)
        with evened(opened.project):
            assignment = give(actor=opened.user, project=opened.project, claim_key=key)
    except Conflict as error:
        if error.code == "test_needed":
            messages.info(request, translated(error.message))
            return redirect("frontend:test", slug, error.details["test"])
        if error.code not in ("nothing_left", "claim_limit", "place_over", "place_done", "paused", "pilot"):
            raise
        messages.info(request, translated(error.message))
        return redirect("frontend:work", slug)
    return redirect("frontend:workbench", assignment.pk)


@require_POST
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Take up a returned trajectory again, if a place at it is still free."""
    user = person(request)
    assignments = policies.visible(user, Assignment.stored.filter(annotator=user).select_related("project"))
    assignment = get_object_or_404(assignments, pk=pk)
    page_of(request, assignment.project, "claim")
    try:
        with evened(assignment.project):
            assign.resume_assignment(actor=user, assignment=assignment)
    except (Conflict, Denied) as error:
        return _back(request, assignment, error, "returned")
    return redirect("frontend:workbench", assignment.pk)


@require_POST
def reopen(request: HttpRequest, pk: int) -> HttpResponse:
    """Open my own submission again, as long as nobody else has submitted the trajectory."""
    user = person(request)
    assignments = policies.visible(user, Assignment.stored.filter(annotator=user).select_related("project"))
    assignment = get_object_or_404(assignments, pk=pk)
    page_of(request, assignment.project, "label")
    try:
        with evened(assignment.project):
            label.reopen(actor=user, assignment=assignment)
    except (Conflict, Denied) as error:
        return _back(request, assignment, error, "submitted")
    return redirect("frontend:workbench", assignment.pk)


def _back(request: HttpRequest, assignment: Assignment, error: TristepError, tab: str) -> HttpResponse:
    """To the list of work, with a sentence about what others did meanwhile."""
    messages.error(request, translated(error.message))
    return redirect(f"{reverse('frontend:work', args=[assignment.project.slug])}?state={tab}")
