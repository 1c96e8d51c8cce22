"""The history of a trajectory, or of one of its steps: everything that happened to it, by whom; and the same
as CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation import policies
from annotation.core.bounds import MAX_INT
from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.text import unescape
from annotation.core.vocabulary import AdjudicationState, AssignmentState
from annotation.language import translated
from annotation.models import Adjudication, Assignment, Step, Trajectory
from annotation.policies.rechecks import not_closed
from annotation.reports.cases.history_entries import Entry, Place
from annotation.services import noted_reads
from annotation.services.judged_steps import step_at
from frontend.pages.shared.common import ProjectPage, page_of, paginate
from frontend.rendering import csv_lines
from frontend.rendering.history_text import sentence, written
from frontend.rendering.identity import title_of

OUTCOME: Final = "outcome"
CSV_HEADING: Final = (
    *("when", "about", "step", "message_index", "who", "name", "own"),
    *("kind", "what", "value", "note", "details"),
)


def _found(request: HttpRequest, pk: int) -> tuple[ProjectPage, Trajectory]:
    rows = Trajectory.objects.select_related("project", "subset", "task")
    row = get_object_or_404(policies.visible(request.user, rows), pk=pk)
    return page_of(request, row.project), row


def _place(request: HttpRequest, trajectory: Trajectory) -> Place:
    """What is asked for: a step by its message, "outcome" (None), or everything. Raises Invalid."""
    text = request.GET.get("step", "")
    if not text:
        return "everything"
    if text == OUTCOME:
        return None
    if not text.isdecimal() or int(text[:12]) > MAX_INT:
        raise Invalid(translatable("There is no step “{text}”.", text=text[:40]))
    return step_at(trajectory.pk, int(text))


def _asks(opened: ProjectPage, row: Trajectory) -> bool:
    """Whether somebody would lose something by looking, and is asked first."""
    sees = policies.field_access(opened.user, row).others_labels
    return sees and noted_reads.costs_the_claim(actor=opened.user, trajectory=row)


@require_http_methods(["GET", "POST"])
def history(request: HttpRequest, pk: int) -> HttpResponse:
    """What happened, the oldest first. What tells of others' labels is noted; an admin who could still claim
    the trajectory is asked before."""
    opened, row = _found(request, pk)
    refusal, place = "", None
    entries: list[Entry] = []
    asks = False
    try:
        place = _place(request, row)
    except Invalid as error:
        refusal = translated(error.message)
    else:
        asks = request.method == "GET" and _asks(opened, row)
        entries = [] if asks else noted_reads.history(actor=opened.user, trajectory=row, place=place)
    if request.method == "POST" and not refusal:
        return redirect(request.get_full_path())
    page = paginate(request, entries)
    section = "trajectories" if opened.may("trajectory.list") else "adjudication"
    return opened.render(
        "cases/history.html",
        section if opened.may("disputes.view") else "work",
        status=400 if refusal else 200,
        trajectory=row,
        record_id=title_of(row.record_id, unescape(row.task.question)),
        steps=Step.objects.filter(trajectory=row).order_by("ordinal"),
        step=place if isinstance(place, Step) else None,
        asked=request.GET.get("step", ""),
        refusal=refusal,
        asks=asks,
        page=page,
        rows=[written(entry) for entry in page],
        back=_back(opened, row),
        export=f"{reverse('frontend:history-export', args=[row.pk])}?{request.GET.urlencode()}",
    )


def _back(opened: ProjectPage, row: Trajectory) -> str:
    """Where this person reads the trajectory; "" when they do so nowhere."""
    if opened.may("trajectory.list"):
        return reverse("frontend:trajectory", args=[opened.project.slug, row.pk])
    cases = Adjudication.objects.filter(trajectory=row, adjudicator=opened.user)
    case = cases.exclude(state=AdjudicationState.RELEASED).first()
    if case is not None:
        return reverse("frontend:adjudication", args=[case.pk])
    mine = Assignment.stored.filter(
        trajectory=row,
        annotator=opened.user,
        state__in=(AssignmentState.OPEN, AssignmentState.SUBMITTED),
    )
    own = not_closed(opened.project, mine).order_by("-pk").first()
    return reverse("frontend:workbench", args=[own.pk]) if own is not None else ""


@require_GET
def export(request: HttpRequest, pk: int) -> HttpResponseBase:
    """All entries as CSV."""
    opened, row = _found(request, pk)
    place = _place(request, row)
    if _asks(opened, row):
        return redirect("frontend:history", pk)
    entries = noted_reads.history(actor=opened.user, trajectory=row, place=place)
    return csv_lines.download(f"{opened.project.slug}-history-{row.pk}.csv", CSV_HEADING, _csv_rows(entries))


def _csv_rows(entries: list[Entry]) -> Iterator[tuple[Any, ...]]:
    for one in entries:
        who = one.letter or (one.voice.value if one.voice is not None else "")
        details = json.dumps(one.detail, ensure_ascii=False, sort_keys=True)
        place = (one.at.isoformat(), one.about, one.number, one.message_index)
        yield (*place, who, one.name, one.own, one.kind, sentence(one), one.value, one.note, details)
