"""Discussions of disputed trajectories: one's own list, one discussion, and what is said in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation import policies
from annotation.core.errors import Conflict, Invalid
from annotation.language import translated
from annotation.models import Adjudication, Comment, Discussion, Trajectory, User
from annotation.reports.cases import discussions as reports
from annotation.reports.cases.error_graphs import error_graphs
from annotation.services import discuss, noted_reads
from frontend.pages.cases.error_origins import error_origin, error_reasons
from frontend.pages.shared.columns import question_column, record_column, subset_column
from frontend.pages.shared.common import page_of, person, whole_number
from frontend.pages.shared.errors import status_of
from frontend.pages.shared.list_page import Empty, ListPage, show_site
from frontend.pages.work.reading import is_part, reading, run
from frontend.rendering.run_parts import place_of
from frontend.rendering.tables import Column, at, cells

VALUES = ((1, "plus"), (0, "zero"), (-1, "minus"))
WITH_DISCUSSIONS = ("project", "trajectory__project", "trajectory__subset", "trajectory__task")
"""The relations of a discussion for its report."""


def _columns() -> list[Column]:
    def comments(row: Any) -> str:
        new = cells.badge(_("%(n)s new") % {"n": row.unread}, "badge--warn") if row.unread else ""
        return cells.beside(row.comment_count, new)

    return [
        record_column(lambda row: at("discussion", row.pk)),
        question_column(),
        Column("project", _("Project"), "project.name"),
        subset_column(),
        Column("", _("Comments"), cell=comments),
    ]


@require_GET
def mine(request: HttpRequest) -> HttpResponseBase:
    """The discussions that concern oneself, in all projects: what is unread first."""
    text = _("The adjudicator of a case opens a discussion with those who labelled it.")
    listed = ListPage(
        request, _columns(), reports.mine(person(request)), Empty(_("No discussions yet"), text)
    )
    about = _("Disputed trajectories that you labelled, or whose case you have.")
    return show_site(request, _("My discussions"), listed, about=about)


def _found(request: HttpRequest, pk: int) -> Discussion:
    return get_object_or_404(
        policies.visible(request.user, Discussion.objects.select_related(*WITH_DISCUSSIONS)), pk=pk
    )


@require_GET
def discussion(request: HttpRequest, pk: int) -> HttpResponse:
    """One discussion: the trajectory with a thread in every disputed step. What is shown is read then."""
    return _page(request, _found(request, pk))


def _page(
    request: HttpRequest, row: Discussion, *, refused: dict[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    opened = page_of(request, row.project)
    talk = noted_reads.discussion(actor=opened.user, row=row)
    mark_all_read(opened.user, talk)
    shown = talk.shown
    steps = [item.step for item in shown.steps if item.step is not None]
    threads = threads_of(talk)
    first = min((index for index in threads["spoken"] if index is not None), default=None)
    read = run(request, shown.transcript, steps, opened.project.of_kind, first=first)
    return opened.render(
        "cases/discussions/part.html" if is_part(request) else "cases/discussions/discussion.html",
        "work",
        status=status,
        nav=None,
        notices=messages.get_messages(request),
        refused=refused,
        typed={name: {refused["index"]: refused[name]} for name in ("text", "note") if name in refused}
        if refused
        else {},
        shown=shown,
        values=VALUES,
        error_reasons=error_reasons(),
        graphs=error_graphs(shown),
        settled=shown.access.consensus,
        numbers={step.message_index: step.ordinal + 1 for step in steps},
        items={item.step.message_index: item for item in shown.steps if item.step is not None},
        **threads,
        **read,
        **reading(row.trajectory, shown.transcript, read["parts"]),
    )


def threads_of(talk: reports.ReadableDiscussion) -> dict[str, Any]:
    """The context of `cases/discussions/thread.html`; `spoken` are the message indexes (None: the
    outcome) where labels differ or something was said."""
    return {
        "talk": talk,
        "threads": {thread.message_index: thread for thread in talk.threads},
        "spoken": {
            thread.message_index
            for thread in talk.threads
            if thread.item.disputed or thread.remarks or thread.changes
        },
    }


def mark_all_read(user: User, talk: reports.ReadableDiscussion) -> None:
    """Mark all shown threads as read."""
    for thread in talk.threads:
        if thread.unread:
            discuss.mark_read(
                actor=user,
                discussion=talk.discussion,
                message_index=thread.message_index,
                comment=thread.last,
            )
    newest = max((thread.last for thread in talk.threads), default=0)
    discuss.see_discussion(actor=user, discussion=talk.discussion, comment=newest)


def _said(
    request: HttpRequest, row: Discussion, field: str, say: Callable[[int | None], object]
) -> HttpResponse:
    """Do it, and go back to where it was said; what is refused stays in its form."""
    index = whole_number(request, "message_index")
    try:
        say(index)
    except (Conflict, Invalid) as error:
        typed = request.POST.get(field, "")
        refused = {"index": index, field: typed, "reason": translated(error.message)}
        return _page(request, row, refused=refused, status=status_of(error))
    cases = Adjudication.objects.filter(trajectory=row.trajectory_id, adjudicator=person(request))
    case = policies.visible(request.user, cases).exclude(state="released").first()
    if case is not None:
        return redirect(reverse("frontend:adjudication", args=[case.pk]) + place_of(index))
    return redirect(reverse("frontend:discussion", args=[row.pk]) + place_of(index))


@require_POST
def comment(request: HttpRequest, pk: int) -> HttpResponse:
    """Say something about a step, or about the whole."""
    row = _found(request, pk)
    text = request.POST.get("text", "").replace("\r\n", "\n")
    return _said(
        request,
        row,
        "text",
        lambda index: discuss.comment(actor=person(request), discussion=row, text=text, message_index=index),
    )


@require_POST
def revise(request: HttpRequest, pk: int) -> HttpResponse:
    """Change one's mind about a step, or the outcome, and say why."""
    row = _found(request, pk)

    def change(index: int | None) -> None:
        value = whole_number(request, "value")
        if value is None:
            raise Invalid(_("Choose +1, 0 or −1."))
        discuss.revise(
            actor=person(request),
            discussion=row,
            message_index=index,
            value=value,
            note=request.POST.get("note", "").replace("\r\n", "\n"),
            version=whole_number(request, "version") or 0,
            **error_origin(request, value),
        )

    return _said(request, row, "note", change)


@require_POST
def retract(request: HttpRequest, pk: int) -> HttpResponse:
    """Take back a comment of one's own."""
    rows = Comment.objects.select_related("discussion__trajectory", "step")
    comment = get_object_or_404(policies.visible(request.user, rows), pk=pk)
    discuss.retract(actor=person(request), comment=comment)
    return redirect("frontend:discussion", comment.discussion_id)


@require_POST
def start(request: HttpRequest, pk: int) -> HttpResponse:
    """Open the discussion of a disputed trajectory; the annotators are told."""
    rows = Trajectory.objects.select_related("project")
    trajectory = get_object_or_404(policies.visible(request.user, rows), pk=pk)
    made = discuss.open_discussion(actor=person(request), trajectory=trajectory)
    messages.success(request, _("Discussion opened. The annotators are told."))
    return redirect("frontend:discussion", made.pk)
