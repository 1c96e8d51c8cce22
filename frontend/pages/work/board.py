"""The board of a project for its admins, and hours by day: for admins everybody's, else one's own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext
from django.views.decorators.http import require_GET

from annotation import policies
from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.vocabulary import Role
from annotation.reports.work import board as report
from annotation.reports.work.board import RECENT_DAYS, Board, BurnUpPoint, PersonWork
from annotation.reports.work.hours import DayOfWork, days_of_work, everybody, pay_of
from annotation.services import kept_figures
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.list_page import Empty, Filter, ListPage, ordered, show
from frontend.rendering import charts
from frontend.rendering.tables import Column, Table, at, cells

PERIODS = (7, RECENT_DAYS, 91, 365)
ALL = "all"
SHARES = charts.Scale(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0))


def _hours(value: float) -> str:
    return number_format(value, 1, force_grouping=True)


def _count(value: int) -> str:
    return number_format(value, 0, force_grouping=True)


def _money(amount: Decimal | float, currency: str) -> str:
    return f"{number_format(amount, 2, force_grouping=True)}\u00a0{currency}"


# ── Pictures ──────────────────────────────
def _timeline(people: Iterable[PersonWork], today: date) -> dict[str, Any]:
    """The people at work on each of the last days, the more the darker."""
    days = [today - timedelta(days=back) for back in reversed(range(RECENT_DAYS))]
    rows = [(one, [one.by_day.get(day) for day in days]) for one in people]
    longest = max((work.active_ms for _one, row in rows for work in row if work), default=0)
    most = max((work.submitted for _one, row in rows for work in row if work), default=0)

    def share(work: report.Work | None) -> float | None:
        # where no time was measured, by what was submitted
        if work is None:
            return None
        return work.active_ms / longest if longest else work.submitted / most

    # Mondays have room for a date
    heads = [
        {"title": date_format(day, "m-d") if day.weekday() == 0 else "", "tile": tile}
        for day, tile in zip(days, charts.tiles([None] * len(days)), strict=True)
    ]
    return {
        "heads": heads,
        "rows": [
            {
                "name": str(one.person),
                "words": _("%(hours)s h on %(days)d of %(all)d days")
                % {
                    "hours": _hours(one.lately(RECENT_DAYS, today).hours),
                    "days": sum(work is not None for work in row),
                    "all": len(days),
                },
                "cells": [
                    {
                        "day": day,
                        "work": work,
                        "tile": tile,
                        "words": work and f"{day}: {_hours(work.hours)} h, {work.submitted}",
                    }
                    for day, work, tile in zip(days, row, charts.tiles(list(map(share, row))), strict=True)
                ],
            }
            for one, row in rows
        ],
    }


def _burn_up(figures: Board) -> dict[str, Any] | None:
    """Two curves: the share of places that are filled, and of trajectories that are resolved."""
    if len(figures.burn_up) < 2:
        return None

    def curve(name: str, total: int) -> charts.Trend:
        shares = [getattr(point, name) / total if total else 0.0 for point in figures.burn_up]
        return charts.trend(SHARES, [(share, None, None) for share in shares])

    points: Sequence[BurnUpPoint] = figures.burn_up
    return {
        "curve": curve("submitted", figures.places),
        "resolved": curve("resolved", figures.trajectories),
        "points": points,
        "first": points[0].day,
        "last": points[-1].day,
        "height": charts.TREND_HEIGHT,
    }


# ── The board ─────────────────────────────
def _people(opened: ProjectPage, figures: Board) -> Table:
    slug, pay = opened.project.slug, pay_of(opened.project)

    def lately(value: str) -> str:
        return cells.soft(_("%(value)s in 28 days") % {"value": value})

    def person(row: PersonWork) -> str:
        query = urlencode({"person": row.person.username})
        return cells.link(str(row.person), f"{at('hours', slug)}?{query}")

    def hours(row: PersonWork) -> str | None:
        work = row.lately(RECENT_DAYS, figures.today)
        return cells.lines(_hours(row.all.hours), lately(_hours(work.hours))) if row.all.active_ms else None

    def submitted(row: PersonWork) -> str:
        work = row.lately(RECENT_DAYS, figures.today)
        more = _("and %(n)d from files") % {"n": row.imported} if row.imported else ""
        return cells.lines(
            _count(row.all.submitted), lately(_count(work.submitted)), more and cells.soft(more)
        )

    def held(row: PersonWork) -> str:
        open_cell = cells.link(str(row.open), at("claims", slug)) if row.open else "0"
        ending = ngettext("%(n)d expires", "%(n)d expire", row.expiring) % {"n": row.expiring}
        return cells.lines(open_cell, cells.badge(ending, "badge--warn") if row.expiring else "")

    def rate(row: PersonWork) -> str | None:
        work = row.lately(RECENT_DAYS, figures.today)
        if not work.active_ms or not row.recent.steps:
            return None
        return number_format(row.recent.steps / work.hours, 0)

    columns = [
        Column("person", _("Annotator"), cell=person, look="main"),
        Column("hours", _("Active hours"), cell=hours, look="number"),
        Column("submitted", pgettext("how many", "Submitted"), cell=submitted, look="number"),
        Column("rate", _("Steps an hour"), rate, look="number"),
        Column("open", _("Unfinished"), cell=held, look="number"),
        *([Column("pay", _("Pay"), lambda row: _money(row.pay, pay.currency), look="number")] if pay else []),
        Column("last", _("Last active")),
    ]
    return Table(columns, figures.people, labelledby="people", title=_("Annotators"))


@require_GET
def board(request: HttpRequest, slug: str) -> HttpResponse:
    """The work of each person, its pace, its expected end, and its cost."""
    opened = open_project(request, slug, "progress.view")
    zone = timezone.get_current_timezone()
    kept = kept_figures.board(actor=opened.user, project=opened.project, zone=zone)
    figures = kept.figures
    return opened.render(
        "work/board.html",
        "board",
        kept=kept,
        board=figures,
        outlook=figures.outlook,
        paces=figures.paces,
        cost=_cost(figures),
        people=_people(opened, figures),
        burn_up=_burn_up(figures),
        timeline=_timeline(figures.people, figures.today),
        zone=str(zone),
    )


def _cost(figures: Board) -> dict[str, Any] | None:
    """The cost so far, and in all with its interval, in words."""
    if figures.cost is None:
        return None
    currency, in_all = figures.cost.pay.currency, figures.cost.in_all

    def money(amount: float | None) -> str:
        return "" if amount is None else _money(amount, currency)

    return {
        "so_far": _money(figures.cost.so_far, currency),
        "in_all": money(in_all.value),
        "low": money(in_all.low) if in_all.low != in_all.high else "",
        "high": money(in_all.high),
        "reason": in_all.reason,
    }


# ── Hours ─────────────────────────────────
def _columns(opened: ProjectPage, zone: str) -> list[Column]:
    pay = pay_of(opened.project)
    everybodys = Role.ADMIN in opened.roles
    return [
        Column("day", _("Day"), cell=lambda row: date_format(row.day, "D Y-m-d"), look="nowrap", sort="-day"),
        Column(
            "person",
            _("Annotator") if everybodys else "",
            "person.username",
            lambda row: str(row.person),
            sort="person",
        ),
        Column("active_seconds", value=lambda row: row.work.active_ms // 1000),
        Column(
            "active_hours",
            _("Active hours"),
            lambda row: round(row.hours, 4),
            lambda row: number_format(row.hours, 2) if row.work.active_ms else None,
            "number",
            "-active_hours",
        ),
        Column(
            "submitted", pgettext("how many", "Submitted"), "work.submitted", look="number", sort="-submitted"
        ),
        Column("steps", _("Steps"), "work.steps", look="number", sort="-steps"),
        *(
            [
                Column("pay", _("Pay"), cell=lambda row: _money(row.pay, pay.currency), look="number"),
                Column("currency", value=lambda row: pay.currency),
            ]
            if pay
            else []
        ),
        Column("time_zone", value=lambda row: zone),
    ]


@require_GET
def hours(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Work by day: of everybody for admins, else one's own with its sums."""
    opened = open_project(request, slug)
    user, project = opened.user, opened.project
    if not opened.may("progress.view"):
        policies.require(user, "claim", project)
    zone = timezone.get_current_timezone()
    today = timezone.localdate()
    columns = _columns(opened, str(zone))
    periods = {
        **{str(days): ngettext("%(n)d day", "%(n)d days", days) % {"n": days} for days in PERIODS},
        ALL: _("all"),
    }

    def rows(asked: dict[str, str]) -> list[DayOfWork]:
        if asked["days"] not in periods:
            raise Invalid(translatable("There is no such period."))
        days = None if asked["days"] == ALL else int(asked["days"])
        person = asked.get("person", "")
        if listed.wants_file:  # what one is paid by is never old
            figures = days_of_work(
                actor=user, project=project, last=today, days=days, zone=zone, person=person
            )
        else:
            of_days = kept_figures.days_of_work(
                actor=user, project=project, days=days, zone=zone, person=person
            )
            kept.append(of_days)
            figures = of_days.figures
        return figures if asked["sort"] == "-day" else ordered(figures, columns, asked["sort"])

    of_whom: list[Filter] = []
    kept: list[kept_figures.Kept[Any]] = []
    if opened.may("progress.view"):
        people = sorted(everybody(project).values(), key=lambda one: str(one).casefold())
        of_whom = [Filter("person", _("Annotator"), [(one.username, str(one)) for one in people])]
    listed = ListPage(
        request,
        columns,
        rows,
        Empty(_("No work on these days"), _("Days on which somebody labels appear here.")),
        filters=[Filter("days", _("Period"), periods.items(), default=str(RECENT_DAYS)), *of_whom],
        order="-day",
        file="hours",
    )
    own: dict[str, Any] = {}
    if Role.ANNOTATOR in opened.roles and not listed.wants_file and _of_oneself(opened, listed):
        part = kept_figures.own_part(actor=user, project=project, zone=zone)
        kept.append(part)
        mine, paces = part.figures
        pay = pay_of(project)
        own = {
            "own": mine,
            "paces": paces,
            "pay": _money(mine.pay, pay.currency) if pay and mine.pay is not None else "",
            "timeline": _timeline([mine], today),
        }
    section = "board" if opened.may("progress.view") else "work"
    title = _("Hours") if section == "board" else _("My hours")
    # asked by the template: the list has read its rows by then
    oldest = partial(kept_figures.oldest, kept)
    return show(opened, section, listed, "work/hours.html", title=title, zone=str(zone), kept=oldest, **own)


def _of_oneself(opened: ProjectPage, listed: ListPage) -> bool:
    return not opened.may("progress.view") or listed.asked["person"] == opened.user.username
