"""The agreement page: a verdict, figures, and pictures whose parts open the steps that they are made of."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from annotation.core.agreement.figures import FIGURES
from annotation.core.agreement.verdict import verdict
from annotation.core.vocabulary import SETTLED
from annotation.reports.agreement import report
from frontend.pages.agreement.charts import CUT_TITLES, Charts, part_title
from frontend.pages.agreement.figures import tables as figure_tables
from frontend.pages.shared.common import ProjectPage, open_project

VIEW = "agreement.view"
PEOPLE = "agreement.pairs"
OTHER_KEYS = frozenset({"by", "page"})


def _asked(request: HttpRequest) -> dict[str, str]:
    """The filters of the query string."""
    return {name: str(value) for name, value in request.GET.items() if name not in OTHER_KEYS and value}


def _found(request: HttpRequest, opened: ProjectPage) -> report.Agreement:
    return report.agreement(
        viewer=opened.user,
        project=opened.project,
        asked=_asked(request),
        by=request.GET.get("by", ""),
        details=False,
    )


def _filters(view: report.LabelView, asked: Mapping[str, str]) -> list[dict[str, Any]]:
    """One choice a cut; cuts with one part only are left out, unless they are asked for."""
    choices = []
    for cut in view.cuts:
        parts = view.parts(cut)
        if len(parts) > 1 or cut in asked:
            options = [{"key": part.key, "title": part_title(cut, part)} for part in parts]
            choices.append(
                {"name": cut, "title": CUT_TITLES[cut], "options": options, "chosen": asked.get(cut)}
            )
    return choices


def _headlines(part: report.AgreementPart) -> list[dict[str, Any]]:
    """The figures that come first, without that of the verdict above them."""
    return [
        {"title": figure.title, "percent": figure.percent, "measure": part.steps.figures[name]}
        for name, figure in FIGURES.items()
        if figure.headline and name != part.steps.headline and name in part.steps.figures
    ]


@require_GET
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """The page of agreement, cut as asked for, with reasons for undefined figures."""
    opened = open_project(request, slug, VIEW)
    figures = _found(request, opened)
    filters = dict(figures.selection.asked)
    overall = figures.overall
    headline = FIGURES[overall.steps.headline]
    charts = Charts(opened.project.slug, figures, filters)
    return opened.render(
        "agreement/agreement.html",
        "agreement",
        found=figures,
        asked=filters,
        filters=_filters(figures.view, filters),
        overall=overall,
        headline=headline,
        measure=overall.steps.figures[headline.name],
        verdict=verdict(overall.steps.figures[headline.name]),
        rows=_headlines(overall),
        charts=charts,
        tables=figure_tables(charts, opened.project.of_kind),
        with_people=figures.with_people,
        fewest=report.FEWEST,
        settled=0 if overall.steps.n else sum(overall.states[state] for state in SETTLED),
        query=request.GET.urlencode(),
        policy_always=opened.project.experiment_seed is None and opened.project.suggestion_policy == "always",
    )


@require_GET
def csv_file(request: HttpRequest, slug: str, chart: str) -> HttpResponse:
    """The numbers of one chart as CSV, unrounded."""
    opened = open_project(request, slug, VIEW)
    tables = Charts(opened.project.slug, _found(request, opened), _asked(request)).tables
    if chart not in tables:
        raise Http404
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="agreement-{chart}.csv"'
    writer = csv.writer(answer)
    for row in tables[chart]():
        writer.writerow([_harmless(cell) for cell in row])
    return answer


def _harmless(cell: Any) -> Any:
    """A text that no spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell
