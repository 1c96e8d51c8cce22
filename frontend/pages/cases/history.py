"""The history of a trajectory, or of one of its steps: everything that happened to it, by whom; and the same
as CSV."""

from __future__ import annotations

import json
from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation import policies
from annotation.core.bounds import MAX_INT
from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.kinds import ProjectKind
from annotation.core.text import unescape
from annotation.core.vocabulary import AdjudicationState, AssignmentState, Role
from annotation.language import translated
from annotation.models import Adjudication, Assignment, Step, Trajectory
from annotation.policies.lookups import visible_trajectory
from annotation.policies.rechecks import not_closed
from annotation.reports.cases.history_entries import HistoryEntry, Place
from annotation.services import noted_reads
from annotation.services.judged_steps import step_at
from frontend.pages.shared.common import ProjectPage, page_of, there
from frontend.pages.shared.list_page import Empty, Filter, ListPage, act, show
from frontend.rendering.history_text import details, sentence
from frontend.rendering.identity import title_of
from frontend.rendering.jinja import Macros
from frontend.rendering.run_parts import place_of
from frontend.rendering.step_names import step_inside, step_title
from frontend.rendering.tables import Column, at, cells
from frontend.templatetags.tristep import mark

OUTCOME: Final = "outcome"
LIST: Final = "trajectory.list"
HISTORY_CSV_COLUMNS: Final = (
    *("when", "about", "step", "message_index", "who", "name", "own"),
    *("kind", "what", "value", "note", "details"),
)
history_cells = Macros("history")


def _found(request: HttpRequest, pk: int) -> tuple[ProjectPage, Trajectory]:
    row = there(visible_trajectory(request.user, pk))
    return page_of(request, row.project), row


def _asked(request: HttpRequest) -> str:
    return request.GET.get("step", "")


def _place(request: HttpRequest, trajectory: Trajectory) -> Place:
    """The place in the query: a step by its message, "outcome" (None), or everything. Raises Invalid."""
    text = _asked(request)
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


def _columns(kind: ProjectKind, *, of_one: bool) -> list[Column]:
    def about(entry: HistoryEntry) -> str:
        if entry.number:
            return cells.link(step_title(entry.number, kind), f"?step={entry.message_index}")
        return _("Outcome") if entry.about == OUTCOME else cells.soft(_("the whole trajectory"))

    def what(entry: HistoryEntry) -> str:
        if entry.kind in ("revision", "corrected"):
            change = cells.beside(mark(entry.detail["previous"]), "→", mark(entry.value))
            return cells.cluster(sentence(entry), change)
        return cells.cluster(sentence(entry), "" if entry.value is None else mark(entry.value))

    return [
        Column("when", _("Time"), "at"),
        Column("about", "" if of_one else _("Subject"), "about", about, "nowrap"),
        Column("step", value="number"),
        Column("message_index"),
        Column("who", _("Who"), lambda one: one.letter or (one.voice and one.voice.value), history_cells.who),
        Column("name"),
        Column("own"),
        Column("kind"),
        Column("what", _("Event"), sentence, what),
        Column("value"),
        Column("note"),
        Column(
            "details",
            _("Details"),
            lambda one: json.dumps(one.detail, ensure_ascii=False, sort_keys=True),
            lambda one: history_cells.details(details(one, kind), one.note),
            "main",
        ),
    ]


def _list(opened: ProjectPage, row: Trajectory, steps: list[Step], *, asks: bool) -> ListPage:
    """The entries; where seeing them costs somebody something, a button that shows them."""
    request = opened.request

    def rows(_asked: dict[str, str]) -> list[HistoryEntry]:
        place = _place(request, row)
        return [] if asks else noted_reads.history(actor=opened.user, trajectory=row, place=place)

    empty = Empty(
        _("Nothing has happened yet"),
        _("Labels, comments, decisions and releases will be listed here as they come."),
    )
    if asks:
        empty = Empty(
            _("Labels are hidden"),
            _("Labels are hidden: once you have seen them, you can no longer claim this trajectory."),
            act(request, _("Show the history"), request.get_full_path(), look=""),
        )
    kind = opened.project.of_kind
    choices = [(str(step.message_index), step_title(step.ordinal + 1, kind)) for step in steps]
    return ListPage(
        request,
        _columns(kind, of_one=_asked(request) in dict(choices)),
        rows,
        empty,
        filters=[]
        if asks
        else [Filter("step", translated(kind.names.one), [*choices, (OUTCOME, _("Outcome"))])],
        file=f"history-{row.pk}",
        in_file=HISTORY_CSV_COLUMNS,
    )


@require_http_methods(["GET", "POST"])
def history(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The history of a step or a trajectory, the oldest first. What tells of others' labels is noted; an
    admin who could still claim the trajectory is asked before."""
    opened, row = _found(request, pk)
    steps = list(Step.objects.filter(trajectory=row).order_by("ordinal"))
    listed = _list(opened, row, steps, asks=request.method == "GET" and _asks(opened, row))
    if request.method == "POST" and not listed.refusal:
        return redirect(request.get_full_path())
    record, back = title_of(row.record_id, unescape(row.task.question)), _back(opened, row)
    step = next((step for step in steps if str(step.message_index) == _asked(request)), None)
    title, actions = _("History"), []
    if step is not None:
        title = _("History of %(step)s") % {"step": step_inside(step.ordinal + 1, opened.project.of_kind)}
        there = f"{back}{place_of(step.message_index)}"
        actions = [cells.link(_("Read it there"), there, "button")] if back else []
    elif _asked(request) == OUTCOME:
        title = _("History of the outcome")
    everything = _("All events, oldest first. Nothing here can be changed.")
    sentence = _("All events that you may know of, oldest first.")
    return show(
        opened,
        "trajectories" if opened.may(LIST) else "adjudication" if opened.may("disputes.view") else "work",
        listed,
        title=title,
        trail=[(record, back)] if back else [],
        about=f"{record} · {everything if Role.ADMIN in opened.roles else sentence}",
        actions=actions,
    )


def _back(opened: ProjectPage, row: Trajectory) -> str:
    """The address where this person reads the trajectory; "" when they do so nowhere."""
    if opened.may(LIST):
        return at("trajectory", opened.project.slug, row.pk)
    cases = Adjudication.objects.filter(trajectory=row, adjudicator=opened.user)
    case = cases.exclude(state=AdjudicationState.RELEASED).first()
    if case is not None:
        return at("adjudication", case.pk)
    mine = Assignment.stored.filter(
        trajectory=row,
        annotator=opened.user,
        state__in=(AssignmentState.OPEN, AssignmentState.SUBMITTED),
    )
    own = not_closed(opened.project, mine).order_by("-pk").first()
    return at("workbench", own.pk) if own is not None else ""


@require_GET
def export(request: HttpRequest, pk: int) -> HttpResponseBase:
    """All entries as CSV."""
    opened, row = _found(request, pk)
    if _asks(opened, row):
        return redirect("frontend:history", pk)
    return _list(opened, row, [], asks=False).csv(f"{opened.project.slug}-")
