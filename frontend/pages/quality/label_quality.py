"""Label quality: how often the consensus is wrong, as far as rechecks tell."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_GET

from annotation.core.vocabulary import VALUES, JudgeDoubt, Origin
from annotation.reports.quality import label_quality as report
from frontend.pages.shared.common import open_project


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


@require_GET
def label_quality(request: HttpRequest, slug: str) -> HttpResponse:
    """The page of label error with its bound; counts of rechecks; retests; people."""
    opened = open_project(request, slug, "rechecks.view")
    quality = report.label_quality(viewer=opened.user, project=opened.project)
    words = _words()
    asked = [
        {"title": _("By a third person"), "percent": opened.project.recheck_percent, "asked": quality.third},
        {
            "title": _("By the same annotator"),
            "percent": opened.project.retest_percent,
            "asked": quality.retest,
        },
    ]
    return opened.render(
        "quality/label_quality.html",
        "label-quality",
        report=quality,
        error=quality.error,
        asked=asked,
        strata=[(line, words[line.origin], words[line.doubt]) for line in quality.strata],
        people=[_person(person) for person in quality.people],
        values=VALUES,
        retested=quality.retests[0].agreement.n,
    )
