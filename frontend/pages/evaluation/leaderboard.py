"""The leaderboard of a release, what is uploaded to it, and one model on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation import policies
from annotation.core.errors import Invalid, TristepError
from annotation.core.figures.figure import Figure
from annotation.core.figures.measure import MIN_TASKS, Measure
from annotation.core.i18n import translatable
from annotation.core.kinds import Feature
from annotation.core.label_files import MAX_REQUEST
from annotation.core.scoring.figures import FIGURES
from annotation.core.scoring.prediction_powered import COLUMNS, Powered
from annotation.core.scoring.scores import too_few_tasks
from annotation.language import translated
from annotation.models import Release, User
from annotation.reports.evaluation import leaderboard as report
from annotation.reports.evaluation.leaderboard_entries import STACKED, title_of
from annotation.services import evaluate
from frontend.forms.predictions import MAX_TABLE, OutsideNumbersForm, PredictionFileForm
from frontend.pages.evaluation.leaderboard_pairs import pairs_of
from frontend.pages.evaluation.question_parts import letters_of, part_choices
from frontend.pages.shared.common import ProjectPage, may_send, open_project, receives_files
from frontend.rendering import charts
from frontend.templatetags.tristep import number

LEADERBOARD_VERB = "release.view"
CHANGE = "predictions.change"
POLICY_FIGURES = {
    "success_rate": translatable("Success rate of the policy model"),
    "plus_share": translatable("Share of +1 of the policy model"),
}


def release_of(opened: ProjectPage, version: str) -> Release:
    """A release of the project. Raises Http404."""
    rows = Release.objects.filter(project=opened.project).select_related("project", "withdrawal")
    return get_object_or_404(policies.visible(opened.user, rows), version=version)


def _name(row: report.LeaderboardRow) -> str:
    return row.name if row.row is not None else translated(title_of(row.name))


AnyCell = report.LeaderboardCell | report.RecalibratedCell


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of a release that is shown: a subset, or of decisions the part of a cut (report.CUTS); all of
    it with neither."""

    subset: str = ""
    cut: str = ""
    name: str = ""

    @classmethod
    def of(cls, board: report.Leaderboard, asked: QueryDict) -> _Part:
        """The part that is asked for, if there is such a one: `category`, or `part` as "cut:name"."""
        cut, _colon, name = asked.get("part", "").partition(":")
        if category := asked.get("category", ""):
            cut, name = report.CATEGORY, category
        if name in board.cuts.get(cut, ()):
            return cls(cut=cut, name=name)
        subset = asked.get("subset", "")
        return cls(subset if subset in board.subsets else "")

    @property
    def category(self) -> str:
        """The category, if it is one."""
        return self.name if self.cut == report.CATEGORY else ""

    @property
    def value(self) -> str:
        """As it is asked for."""
        return f"{self.cut}:{self.name}" if self.cut else ""


def _cell(row: report.LeaderboardRow, part: _Part, recalibrated: bool) -> AnyCell | None:
    """The shown cell of a row: a model after recalibration, if that is asked for, all else as it is."""
    if part.cut:
        return row.cuts.get(part.cut, {}).get(part.name)
    shown: report.LeaderboardRow | report.Recalibrated | None = (
        row.recalibrated if recalibrated and row.row is not None else row
    )
    if shown is None:
        return None
    return shown.subsets.get(part.subset) if part.subset else shown.overall


def _ordered(
    board: report.Leaderboard, part: _Part, sort: str, recalibrated: bool
) -> list[tuple[report.LeaderboardRow, AnyCell]]:
    """Every row that is scored on the part, in order; undefined figures last."""
    rows = [(row, _cell(row, part, recalibrated)) for row in board.rows]
    # what stands beside the models is scored on choices alone
    shown = [
        (row, cell)
        for row, cell in rows
        if cell is not None and (row.row or cell.scores.questions is None or cell.scores.questions.questions)
    ]
    name = sort.removeprefix("-")
    if name == "model":
        return sorted(shown, key=lambda pair: _name(pair[0]).casefold(), reverse=sort.startswith("-"))

    def key(pair: tuple[report.LeaderboardRow, AnyCell]) -> tuple[bool, float]:
        value = pair[1].scores.figures[name].value
        return value is None, 0.0 if value is None else -value if sort.startswith("-") else value

    return sorted(shown, key=key)


def _columns(sort: str, figures: Sequence[Figure]) -> list[dict[str, Any]]:
    """Headings of the columns (`sort_heading`)."""
    columns = []
    titles = {"model": _("Model")} | {figure.name: translated(figure.title) for figure in figures}
    for name, title in titles.items():
        natural = "" if name == "model" else "-"
        present = sort.removeprefix("-") == name
        turned = "" if sort.startswith("-") else "-"
        aria = "descending" if sort.startswith("-") else "ascending"
        columns.append(
            {
                "title": title,
                "sort": f"{turned if present else natural}{name}",
                "aria": aria if present else "",
            }
        )
    return columns


def _orders(columns: list[dict[str, Any]], sort: str, figures: Sequence[str]) -> list[dict[str, Any]]:
    """The same as a list to choose from, for narrow windows: each figure from its best on."""
    names = zip(("model", *figures), columns, strict=True)
    orders = [("" if name == "model" else "-", name, column["title"]) for name, column in names]
    return [
        {"sort": f"{natural}{name}", "title": title, "chosen": name == sort.removeprefix("-")}
        for natural, name, title in orders
    ]


def _ends(one: Measure) -> tuple[float | None, float | None]:
    interval = one.interval
    return (None, None) if interval is None else (interval.low, interval.high)


def _scale(measures: Sequence[Measure], *more: float | None) -> tuple[charts.Scale, list[dict[str, Any]]]:
    """A scale that holds figures with their intervals and what is more, and its ticks."""
    ends = (end for one in measures for end in (one.value, *_ends(one)))
    on = charts.scale(end for end in (*ends, *more) if end is not None)
    return on, [{"value": tick, "x": on.at(tick)} for tick in on.ticks]


def dots_of(measures: Sequence[Measure]) -> tuple[list[charts.Dot | None], list[dict[str, Any]]]:
    """The figures with their intervals on one scale, and its ticks."""
    on, ticks = _scale(measures)
    return [charts.dot(on, one.value, *_ends(one)) for one in measures], ticks


def _before(row: report.LeaderboardRow, part: _Part, drawn: str) -> float | None:
    """A model's figure without recalibration, to be drawn beside the other."""
    cell = _cell(row, part, recalibrated=False)
    return None if row.row is None or cell is None else cell.scores.figures[drawn].value


def _line(row: report.LeaderboardRow, cell: AnyCell, drawn: str, shown: Sequence[Figure]) -> dict[str, Any]:
    """A row as the table and the picture show it."""
    changes = cell.changes if isinstance(cell, report.RecalibratedCell) else None
    ranks = cell.ranks if isinstance(cell, report.LeaderboardCell) else {}
    return {
        "row": row,
        "name": _name(row),
        "stacked": row.row is None and row.name == STACKED,
        "cell": cell,
        "measures": [
            {
                "measure": cell.scores.figures[figure.name],
                "figure": figure,
                "change": changes[figure.name] if changes is not None else None,
            }
            for figure in shown
        ],
        "rank": ranks.get(drawn),
        "drawn": cell.scores.figures[drawn],
        "change": changes[drawn] if changes is not None else None,
    }


def _page(opened: ProjectPage, release: Release, status: int = 200, **extra: Any) -> HttpResponse:
    asked = opened.request.GET
    board = report.leaderboard(actor=opened.user, release=release, by_pairs=asked.get("by") == "pairs")
    part, by_steps = _Part.of(board, asked), opened.project.of_kind.has(Feature.STEP_SCORES)
    sort, recalibrated = asked.get("sort", ""), by_steps and asked.get("recalibrated") == "1"
    powered = by_steps and asked.get("powered") == "1" and bool(board.models)
    chosen = asked.getlist("figure")
    shown = tuple(name for name in board.figures if name in chosen) or tuple(
        name for name in board.scheme.shown if name in board.figures
    )
    if sort.removeprefix("-") not in ("model", *shown):
        sort = f"-{shown[0]}"
    drawn = shown[0] if sort.removeprefix("-") == "model" else sort.removeprefix("-")
    rows = _ordered(board, part, sort, recalibrated)
    in_table = [board.figures[name] for name in shown]
    lines = [_line(row, cell, drawn, in_table) for row, cell in rows]
    before = [_before(row, part, drawn) if recalibrated else None for row, _cell in rows]
    on, ticks = _scale([line["drawn"] for line in lines], *before)
    columns = _columns(sort, in_table)
    if opened.may(CHANGE):
        form = extra.setdefault("form", PredictionFileForm(subsets=board.subsets))
        form.explain(board.scheme, mixed=board.switches)
        extra.setdefault("outside_form", OutsideNumbersForm())
    return opened.render(
        "evaluation/leaderboard.html",
        "releases",
        status=status,
        release=release,
        withdrawal=getattr(release, "withdrawal", None),
        columns=columns,
        orders=_orders(columns, sort, shown),
        figures=[(figure, figure.name in shown) for figure in board.figures.values()],
        n_figures=len(shown),
        drawn=board.figures[drawn],
        by_steps=by_steps,
        ticks=ticks,
        rows=[
            line
            | {
                "dot": charts.dot(on, line["drawn"].value, *_ends(line["drawn"])),
                "old": None if old is None else on.at(old),
            }
            for line, old in zip(lines, before, strict=True)
        ],
        plain=not recalibrated and not powered,
        recalibrated=recalibrated and not powered,
        powered=powered_of(board) if powered else None,
        pending=board.pending,
        left_out=sum(row.recalibrated is None for row in board.models) if not board.pending else 0,
        subsets=board.subsets if len(board.subsets) > 1 else (),
        subset=part.subset,
        categories=() if board.of_questions else board.cuts.get(report.CATEGORY, ()),
        category=part.category,
        parts=part_choices(board.cuts) if board.of_questions else [],
        part=part.value,
        letters=letters_of(board.positions) if board.positions else [],
        models=len(board.models),
        may_score=opened.may(CHANGE),
        board=board,
        human_reason=_human_reason(board),
        few_tasks=too_few_tasks(cell.scores for _row, cell in rows),
        least_tasks=MIN_TASKS,
        pairs=pairs_of(board, asked),
        outside=outside_of(board, asked.get("outside", ""), shown, part.subset),
        **extra,
    )


def powered_of(board: report.Leaderboard) -> dict[str, Any]:
    """The prediction-powered figures, and the differences of neighbours by StepAcc."""
    powered = board.powered
    names = [row.model for row in powered.rows if row.figures]
    by_models = {pair.models: pair.figures for pair in powered.pairs}
    pairs = [(pair, by_models[pair]) for pair in pairwise(names)]
    return {
        "records": powered.records,
        "reason": powered.reason,
        "figures": [FIGURES[name] for name in COLUMNS if name in board.figures],
        "rows": [
            {
                "names": [row.model],
                "figures": row.figures,
                "reason": row.reason or _no_interval(row.figures.get("step_accuracy")),
            }
            for row in powered.rows
        ],
        "pairs": [
            {"names": pair, "figures": figures, "reason": _no_interval(figures.get("step_accuracy"))}
            for pair, figures in pairs
        ],
    }


def _no_interval(one: Powered | None) -> str | None:
    return one.interval.reason if one is not None and one.interval is not None else None


def outside_of(
    board: report.Leaderboard, title: str, figures: Sequence[str], subset: str
) -> dict[str, Any] | None:
    """The numbers of one title (by default the first) and their correlations; None where there are none."""
    chosen = next((one for one in board.outside if one.title == title), next(iter(board.outside), None))
    if chosen is None:
        return None
    models = {row.name for row in board.models} | {model.policy_model for model in board.policy_models}
    correlated = board.correlations(chosen.numbers, figures, subset)
    return {
        "titles": [one.title for one in board.outside],
        "title": chosen.title,
        "numbers": [
            {"model": model, "value": number(value), "known": model in models}
            for model, value in chosen.numbers.items()
        ],
        "correlations": [
            {"title": POLICY_FIGURES.get(one.figure) or board.figures[one.figure].title, "correlation": one}
            for one in correlated
        ],
    }


def _human_reason(board: report.Leaderboard) -> str:
    """The reason for a missing blind human, where there is none."""
    if not board.human_known:
        return _("Its blind labels are looked up when the first predictions come.")
    return _("No trajectory of this release was labelled blind by two people.")


@require_GET
def leaderboard(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """The models that were scored on a release, and the baselines."""
    opened = open_project(request, slug, LEADERBOARD_VERB)
    return _page(opened, release_of(opened, version))


def _gate(user: User, slug: str, version: str) -> int:
    may_send(user, slug, CHANGE)
    return MAX_REQUEST


@receives_files(_gate)
@require_POST
def import_file(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """Bring in files of predictions, each as a whole or not at all, and show what came of them."""
    opened = open_project(request, slug, CHANGE)
    release = release_of(opened, version)
    subsets = release.parsed_manifest()["subsets"]
    form = PredictionFileForm(request.POST, request.FILES, subsets=subsets)
    if not form.is_valid():
        return _page(opened, release, 400, form=form)
    given = form.cleaned_data
    about = evaluate.PredictionSetDetails(given["prompt_version"] or None, given["judged_on"], given["cost"])
    outcomes: list[tuple[str, evaluate.PredictionImport]] = []
    refused: list[tuple[str, Any]] = []
    for file in given["file"]:
        name = file.name or "upload"
        try:
            outcome = evaluate.import_predictions(
                actor=opened.user,
                release=release,
                model=given["model"],
                stream=file,
                filename=name,
                subset=given["subset"],
                about=about,
                strict=given["strict"],
            )
        except TristepError as error:
            form.add_error("file", f"{name}: {translated(error.message)}")
            refused.append((name, getattr(error, "report", None)))
        else:
            outcomes.append((name, outcome))
    if refused:
        shown = [(name, report) for name, report in refused if report]
        return _page(opened, release, 400, form=form, refused=shown, outcomes=outcomes)
    return _page(opened, release, outcomes=outcomes)


def _table_gate(user: User, slug: str, version: str) -> int:
    may_send(user, slug, CHANGE)
    return 2 * MAX_TABLE


@receives_files(_table_gate)
@require_POST
def set_outside(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """Set numbers of models that come from elsewhere, or say what of them cannot be read."""
    opened = open_project(request, slug, CHANGE)
    release = release_of(opened, version)
    form = OutsideNumbersForm(request.POST, request.FILES)
    if form.is_valid():
        title, numbers = form.cleaned_data["title"], form.cleaned_data["numbers"]
        try:
            evaluate.set_outside_numbers(actor=opened.user, release=release, title=title, numbers=numbers)
        except Invalid as error:
            form.add_error(None, translated(error.message))
        else:
            messages.success(request, _("Numbers set: {n}.").format(n=len(numbers)))
            place = reverse("frontend:leaderboard", args=[slug, version])
            return redirect(f"{place}?{urlencode({'outside': title.strip()})}#outside")
    return _page(opened, release, 400, outside_form=form)
