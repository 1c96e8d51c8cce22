"""Unfinished work of a project's people, which its admins can take back."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from annotation.models import Adjudication, Assignment
from annotation.reports.work import claims as report
from annotation.services import adjudicate, assign
from frontend.pages.shared.columns import person_column, record_column
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.list_page import BulkAct, Empty, Field, ListPage, Tabs, act_on_chosen, show
from frontend.rendering.tables import Column, at, cells, short_time

CLAIMS_VERB = "assign"


def _columns(opened: ProjectPage, *more: Column) -> list[Column]:
    subset = "trajectory.subset.name"
    return [
        record_column(lambda row: at("trajectory", opened.project.slug, row.trajectory_id), note=subset),
        Column("subset", value=subset),
        *more,
    ]


def _claims(opened: ProjectPage, rows: QuerySet[Any], tabs: Tabs) -> ListPage:
    def used(row: Assignment) -> str:
        if row.expires_at is None:
            return cells.when(row.last_used_at)
        ends = cells.badge(_("expires %(when)s") % {"when": short_time(row.expires_at)}, "badge--warn")
        return cells.lines(cells.when(row.last_used_at), ends)

    def progress(row: Any) -> str:
        all_steps = row.trajectory.step_count
        words = _("%(done)d of %(count)d") % {"done": row.done, "count": all_steps}
        return cells.progress(row.done, all_steps, words, _("Labelled"))

    columns = _columns(
        opened,
        person_column("annotator", _("Annotator")),
        Column("done", _("Labelled"), cell=progress, sort="done"),
        Column("steps", value="trajectory.step_count"),
        Column("claimed_at", _("Claimed"), sort="claimed_at"),
        Column("last_used_at", _("Last used"), cell=used, sort="last_used_at"),
    )
    empty = _("Trajectories that people have claimed and not submitted appear here.")
    reason = Field("reason", _("Reason, which they read"), type="text")
    return ListPage(
        opened.request,
        columns,
        rows,
        Empty(_("No unfinished work"), empty),
        order="last_used_at",
        file="claims",
        tabs=tabs,
        bulk=BulkAct(_("Take back"), at("claims-take-back", opened.project.slug), [reason]),
    )


def _cases(opened: ProjectPage, rows: QuerySet[Any], tabs: Tabs) -> ListPage:
    return ListPage(
        opened.request,
        _columns(
            opened,
            person_column("adjudicator", _("Adjudicator")),
            Column("opened_at", _("Since"), sort="opened_at"),
        ),
        rows,
        Empty(_("No open case"), _("Cases that adjudicators have claimed and not decided appear here.")),
        order="opened_at",
        file="open-cases",
        tabs=tabs,
        bulk=BulkAct(_("Take back"), at("cases-take-back", opened.project.slug)),
    )


@require_GET
def claims(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Unfinished trajectories and cases by holder, since when, and until when."""
    opened = open_project(request, slug, CLAIMS_VERB)
    held = report.open_claims(actor=opened.user, project=opened.project)
    cases = report.open_cases(actor=opened.user, project=opened.project)
    tab = "cases" if request.GET.get("tab") == "cases" else "claims"
    counts = [("claims", _("Trajectories"), held.count()), ("cases", _("Cases"), cases.count())]
    tabs = Tabs("tab", _("Unfinished work"), counts, tab)
    listed = _cases(opened, cases, tabs) if tab == "cases" else _claims(opened, held, tabs)
    return show(opened, "board", listed, title=_("Unfinished work"), about=_about(opened, tab))


def _about(opened: ProjectPage, tab: str) -> str:
    if tab == "cases":
        return _("A case that you take back keeps its decisions, and another adjudicator can claim it.")
    kept = _("A trajectory that you take back keeps its draft, and somebody else can claim it.")
    days = opened.project.claim_days
    if days is None:
        return f"{_('Claims do not expire in this project.')} {kept}"
    text = ngettext(
        "A trajectory that nobody works on for %(days)d day expires, after a warning.",
        "A trajectory that nobody works on for %(days)d days expires, after a warning.",
        days,
    )
    return f"{text % {'days': days}} {kept}"


@require_POST
def take_back(request: HttpRequest, slug: str) -> HttpResponse:
    """End chosen claims; the reason stands in their annotators' lists of work."""
    opened = open_project(request, slug, CLAIMS_VERB)
    rows = Assignment.stored.filter(project=opened.project).select_related("trajectory").order_by("pk")
    reason = request.POST.get("reason", "")

    def said(done: list[Assignment]) -> str:
        n = len(done)
        drafts = ngettext(
            "%(n)d trajectory was taken back; its draft is kept.",
            "%(n)d trajectories were taken back; their drafts are kept.",
            n,
        )
        return drafts % {"n": n}

    return act_on_chosen(
        request,
        rows,
        at("claims", slug),
        lambda chosen: assign.take_back(
            actor=opened.user, project=opened.project, assignments=chosen, reason=reason
        ),
        said,
    )


@require_POST
def take_cases_back(request: HttpRequest, slug: str) -> HttpResponse:
    """Hand chosen cases back in their adjudicators' place."""
    opened = open_project(request, slug, CLAIMS_VERB)
    rows = Adjudication.objects.filter(project=opened.project).select_related("trajectory").order_by("pk")

    def said(done: list[Adjudication]) -> str:
        n = len(done)
        return ngettext("%(n)d case was taken back.", "%(n)d cases were taken back.", n) % {"n": n}

    return act_on_chosen(
        request,
        rows,
        at("claims", slug),
        lambda chosen: adjudicate.take_cases_back(
            actor=opened.user, project=opened.project, adjudications=chosen
        ),
        said,
    )
