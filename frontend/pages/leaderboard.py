"""The leaderboard of a release, what is uploaded to it, and one model on it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation import policies
from annotation.core.agreement.measure import Measure
from annotation.core.errors import TristepError
from annotation.core.label_files import MAX_REQUEST
from annotation.core.scoring.figures import FIGURES, RANKED
from annotation.language import translated
from annotation.models import Release, User
from annotation.reports import leaderboard as report
from annotation.reports.leaderboard_entries import TITLES
from annotation.services import evaluate
from frontend.forms.predictions import PredictionFileForm
from frontend.pages.common import ProjectPage, may_send, open_project, receives_files
from frontend.rendering import charts

VERB = "release.view"
CHANGE = "predictions.change"
COLUMNS = (
    *("step_accuracy", "first_error_accuracy", "strict_first_error_accuracy", "exact_match"),
    *("macro_f1", "kappa", "outcome_accuracy"),
)


def release_of(opened: ProjectPage, version: str) -> Release:
    """A release of the project. Raises Http404."""
    rows = Release.objects.filter(project=opened.project).select_related("project", "withdrawal")
    return get_object_or_404(policies.visible(opened.user, rows), version=version)


def _name(row: report.Row) -> str:
    return row.name if row.row is not None else translated(TITLES[row.name])


def _ordered(board: report.Leaderboard, subset: str, sort: str) -> list[tuple[report.Row, report.Cell]]:
    """Every row that is scored on the subset (all: ""), in order; undefined figures last."""
    rows = [(row, row.overall if not subset else row.subsets.get(subset)) for row in board.rows]
    shown = [(row, cell) for row, cell in rows if cell is not None]
    name = sort.removeprefix("-")
    if name == "model":
        return sorted(shown, key=lambda pair: _name(pair[0]).casefold(), reverse=sort.startswith("-"))

    def key(pair: tuple[report.Row, report.Cell]) -> tuple[bool, float]:
        value = pair[1].scores.figures[name].value
        return value is None, 0.0 if value is None else -value if sort.startswith("-") else value

    return sorted(shown, key=key)


def _columns(sort: str) -> list[dict[str, Any]]:
    """What the heading of each column needs (`sort_heading`)."""
    found = []
    for name in ("model", *COLUMNS):
        natural = "" if name == "model" else "-"
        present = sort.removeprefix("-") == name
        turned = "" if sort.startswith("-") else "-"
        aria = "descending" if sort.startswith("-") else "ascending"
        title = _("Model") if name == "model" else translated(FIGURES[name].title)
        found.append(
            {
                "title": title,
                "sort": f"{turned if present else natural}{name}",
                "aria": aria if present else "",
            }
        )
    return found


def _ends(one: Measure) -> tuple[float | None, float | None]:
    found = one.interval
    return (None, None) if found is None else (found.low, found.high)


def dots_of(measures: Sequence[Measure]) -> tuple[list[charts.Dot | None], list[dict[str, Any]]]:
    """The figures with their intervals on one scale, and its ticks."""
    on = charts.scale(end for one in measures for end in (one.value, *_ends(one)) if end is not None)
    dots = [charts.dot(on, one.value, *_ends(one)) for one in measures]
    return dots, [{"value": tick, "x": on.at(tick)} for tick in on.ticks]


def _page(opened: ProjectPage, release: Release, status: int = 200, **extra: Any) -> HttpResponse:
    board = report.leaderboard(actor=opened.user, release=release)
    asked = opened.request.GET
    subset = asked.get("subset", "") if asked.get("subset", "") in board.subsets else ""
    sort = asked.get("sort", "")
    if sort.removeprefix("-") not in ("model", *COLUMNS):
        sort = f"-{COLUMNS[0]}"
    drawn = COLUMNS[0] if sort.removeprefix("-") == "model" else sort.removeprefix("-")
    rows = _ordered(board, subset, sort)
    dots, ticks = dots_of([cell.scores.figures[drawn] for _row, cell in rows])
    if opened.may(CHANGE):
        extra.setdefault("form", PredictionFileForm(subsets=board.subsets))
    return opened.render(
        "results/leaderboard.html",
        "releases",
        status=status,
        release=release,
        withdrawal=getattr(release, "withdrawal", None),
        columns=_columns(sort),
        drawn=FIGURES[drawn],
        ticks=ticks,
        rows=[
            {
                "row": row,
                "name": _name(row),
                "cell": cell,
                "measures": [
                    {"measure": cell.scores.figures[name], "figure": FIGURES[name]} for name in COLUMNS
                ],
                "rank": cell.ranks.get(drawn) if drawn in RANKED else None,
                "drawn": cell.scores.figures[drawn],
                "dot": dot,
            }
            for (row, cell), dot in zip(rows, dots, strict=True)
        ],
        subsets=board.subsets if len(board.subsets) > 1 else (),
        subset=subset,
        models=len(board.models),
        may_score=opened.may(CHANGE),
        **extra,
    )


@require_GET
def leaderboard(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """The models that were scored on a release, and the baselines."""
    opened = open_project(request, slug, VERB)
    return _page(opened, release_of(opened, version))


def _gate(user: User, slug: str, version: str) -> int:
    may_send(user, slug, CHANGE)
    return MAX_REQUEST


@receives_files(_gate)
@require_POST
def import_file(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """Bring in a file of predictions, all of it or nothing, and show what came of it."""
    opened = open_project(request, slug, CHANGE)
    release = release_of(opened, version)
    subsets = json.loads(release.manifest)["subsets"]
    form = PredictionFileForm(request.POST, request.FILES, subsets=subsets)
    if not form.is_valid():
        return _page(opened, release, 400, form=form)
    given = form.cleaned_data
    try:
        outcome = evaluate.import_predictions(
            actor=opened.user,
            release=release,
            model=given["model"],
            stream=given["file"],
            filename=given["file"].name or "upload",
            subset=given["subset"],
            about=evaluate.About(given["prompt_version"] or None, given["judged_on"], given["cost"]),
        )
    except TristepError as error:
        form.add_error("file", translated(error.message))
        return _page(opened, release, 400, form=form, refused=getattr(error, "report", None))
    return _page(opened, release, outcome=outcome)
