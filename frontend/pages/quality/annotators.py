"""The page of one annotator's figures: for admins, and for annotators of themselves."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from annotation.core.kinds import ProjectKind
from annotation.language import translated
from annotation.reports.quality.annotators import FEWEST, FEWEST_PAIRS, AnnotatorFigures
from annotation.reports.quality.drift import Drift
from annotation.services import kept_figures
from frontend.pages.shared.common import open_project
from frontend.pages.shared.figure_cells import figure_text, measure_cell
from frontend.rendering import charts
from frontend.rendering.tables import Column, Table, cells
from frontend.templatetags.tristep import figure, percent

LEANINGS = {
    "lenient": gettext_lazy("lenient: labels are higher than the others’ on the same steps"),
    "strict": gettext_lazy("strict: labels are lower than the others’ on the same steps"),
    "neutral-shy": gettext_lazy("neutral-shy: says 0 at most half as often as the others on the same steps"),
}


def _drift_chart(drift: Drift) -> dict[str, Any] | None:
    """The sum by week, with its limit; none where there is too little."""
    if not drift.weeks:
        return None
    on = charts.sum_scale((week.cusum for week in drift.weeks), drift.limit)
    curve = charts.trend(on, [(week.cusum, None, None) for week in drift.weeks])
    return {
        "curve": curve,
        "points": list(zip(curve.points, drift.weeks, strict=True)),
        "limit": charts.hundredths(charts.trend_y(on, drift.limit)),
        "height": charts.TREND_HEIGHT,
    }


def _figures(figures: AnnotatorFigures, kind: ProjectKind) -> Table:
    """Three figures; of one's own without the number of pairs, from which others' labels could be told."""
    rows = [
        (_("Same label as another annotator"), figures.agreement, True),
        (_("Cohen’s κ"), figures.kappa, False),
        (_("Consensus equal to their label, where annotators differed"), figures.with_consensus, True),
    ]
    columns = [
        Column("figure", _("Figure"), lambda row: row[0]),
        Column(
            "value",
            translated(kind.names.many),
            cell=lambda row: figure_text(measure_cell(row[1], is_share=row[2]), why=True),
            look="number",
        ),
        Column("n", "n", lambda row: None if row[1].value is None else row[1].n, look="number"),
    ]
    return Table(columns[:2] if figures.own else columns, rows, labelledby="beside")


def _weeks(figures: AnnotatorFigures) -> Table:
    columns = [
        Column("week", _("Week from"), lambda week: date_format(week.monday, "Y-m-d"), look="nowrap"),
        Column(
            "agreement",
            _("Same label as another annotator"),
            cell=lambda week: cells.soft(_("too few")) if week.agreement is None else percent(week.agreement),
            look="number",
        ),
        Column(
            "shift",
            _("Own minus other’s label"),
            cell=lambda week: None if week.agreement is None else figure(week.shift),
            look="number",
        ),
        Column("n", "n", look="number"),
    ]
    columns = columns[:3] if figures.own else columns
    return Table(columns, figures.weeks, labelledby="weeks", title=_("By week"))


@require_GET
def annotator(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One annotator's labels, alone and against others'."""
    opened = open_project(request, slug)
    kept = kept_figures.annotator_figures(actor=opened.user, project=opened.project, annotator=pk)
    figures = kept.figures
    return opened.render(
        "quality/annotator.html",
        "work" if figures.own and not opened.may("agreement.pairs") else "agreement",
        title=str(figures.person),
        kept=kept,
        found=figures,
        figures=_figures(figures, opened.project.of_kind),
        weeks=_weeks(figures),
        leaning=figures.leaning,
        own=figures.own,
        leanings=[LEANINGS[word] for word in figures.leaning.words] if figures.leaning else [],
        fewest=FEWEST_PAIRS,
        batch=FEWEST,
        drift=figures.drift,
        chart=_drift_chart(figures.drift) if figures.drift else None,
    )
