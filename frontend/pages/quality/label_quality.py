"""Label quality: how often the consensus is wrong, as far as rechecks tell."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_GET

from annotation.core.vocabulary import VALUES, JudgeDoubt, Origin
from annotation.reports.quality import label_quality as report
from frontend.pages.shared.common import open_project
from frontend.pages.shared.figure_cells import figure_column
from frontend.rendering.tables import Column, Table


def _words() -> dict[str, str]:
    return {
        Origin.UNANIMOUS: _("unanimous"),
        Origin.DISCUSSED: _("discussed"),
        Origin.ADJUDICATED: _("adjudicated"),
        JudgeDoubt.UNKNOWN: pgettext("judges", "fewer than two"),
        JudgeDoubt.AGREED: pgettext("judges", "agree"),
        JudgeDoubt.DIFFERED: pgettext("judges", "differ"),
    }


def _person(one: report.PersonsConfusion) -> dict[str, Any]:
    rows = [
        {"value": value, "rates": [(rate, value == said) for said, rate in zip(VALUES, row, strict=True)]}
        for value, row in zip(VALUES, one.rates, strict=False)
    ]
    return {"name": one.name, "n": one.n, "reason": one.reason, "rows": rows}


def _asked_columns() -> list[Column]:
    """Of rows (title, per cent, counts)."""
    return [
        Column("title", _("Labelled once more"), lambda row: row[0]),
        Column("share", _("Share"), lambda row: f"{row[1]} %", look="number"),
        Column("drawn", _("Drawn"), lambda row: row[2].drawn, look="number"),
        Column("done", _("Labelled"), lambda row: row[2].done, look="number"),
        Column("waiting", _("Waiting"), lambda row: row[2].waiting, look="number"),
    ]


def _strata_columns() -> list[Column]:
    words = _words()
    return [
        Column("subset", _("Subset")),
        Column("consensus", _("Consensus"), lambda line: words[line.origin]),
        Column("judges", _("Judges"), lambda line: words[line.doubt]),
        Column("trajectories", _("Trajectories"), look="number"),
        Column("rechecked", _("Rechecked"), look="number"),
        Column("rechecked_steps", _("Steps rechecked"), look="number"),
        Column("wrong", _("Other label"), look="number"),
    ]


def _retests(quality: report.LabelQuality) -> Table:
    columns = [
        Column("annotator", _("Annotator"), lambda one: one.name or _("all annotators")),
        Column("steps", _("Steps"), "agreement.n", look="number"),
        figure_column("agreement", _("Agreement"), attrgetter("agreement"), is_share=True),
        figure_column("kappa", _("Cohen’s κ"), attrgetter("kappa"), is_share=False),
    ]
    title = _("Labelled twice by the same annotator")
    foot = [_("Nobody can be expected to agree with others more than with themselves.")]
    return Table(columns, quality.retests, labelledby="retests", title=title, foot=foot)


@require_GET
def label_quality(request: HttpRequest, slug: str) -> HttpResponse:
    """The page of label error with its bound; counts of rechecks; retests; people."""
    opened = open_project(request, slug, "rechecks.view")
    quality = report.label_quality(viewer=opened.user, project=opened.project)
    asked = [
        (_("By a third person"), opened.project.recheck_percent, quality.third),
        (_("By the same annotator"), opened.project.retest_percent, quality.retest),
    ]
    return opened.render(
        "quality/label_quality.html",
        "label-quality",
        report=quality,
        error=quality.error,
        asked=Table(_asked_columns(), asked, labelledby="asked"),
        strata=Table(_strata_columns(), quality.strata, labelledby="strata", title=_("Strata")),
        retests=_retests(quality),
        people=[_person(person) for person in quality.people],
        values=VALUES,
        retested=quality.retests[0].agreement.n,
    )
