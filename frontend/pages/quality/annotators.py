"""The page of one annotator's figures: for admins, and for annotators of themselves."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from annotation.reports.quality.annotators import FEWEST, FEWEST_PAIRS, annotator_figures
from annotation.reports.quality.drift import Drift
from frontend.pages.shared.common import open_project
from frontend.rendering import charts

LEANINGS = {
    "lenient": _("lenient: labels are higher than the others’ on the same steps"),
    "strict": _("strict: labels are lower than the others’ on the same steps"),
    "neutral-shy": _("neutral-shy: says 0 at most half as often as the others on the same steps"),
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


@require_GET
def annotator(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One annotator's labels, alone and against others'."""
    opened = open_project(request, slug)
    figures = annotator_figures(viewer=opened.user, project=opened.project, annotator=pk)
    return opened.render(
        "quality/annotator.html",
        "work" if figures.own and not opened.may("agreement.pairs") else "agreement",
        title=str(figures.person),
        found=figures,
        leaning=figures.leaning,
        own=figures.own,
        leanings=[LEANINGS[word] for word in figures.leaning.words] if figures.leaning else [],
        fewest=FEWEST_PAIRS,
        batch=FEWEST,
        drift=figures.drift,
        chart=_drift_chart(figures.drift) if figures.drift else None,
    )
