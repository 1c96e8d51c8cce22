"""More about the models of a release: what they select among several runs, and how their figures relate."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from annotation.core.scoring.best_of_n import RULES, BestOfN
from annotation.core.scoring.figures import FIGURES
from annotation.core.scoring.planning import Plan
from annotation.core.scoring.robustness import ReaderRanking
from annotation.core.vocabulary import VALUES
from annotation.language import translated
from annotation.reports.evaluation.benchmark import (
    DIFFERENCES,
    Benchmark,
    FigureRelation,
    ModelPoint,
    benchmark,
)
from annotation.reports.evaluation.best_of_n import Selections, selections
from frontend.pages.evaluation.leaderboard import LEADERBOARD_VERB, release_of
from frontend.pages.shared.common import open_project, release_trail
from frontend.pages.shared.figure_cells import figure_column, figure_text, measure_cell
from frontend.rendering import charts
from frontend.rendering.tables import Column, Table, cells
from frontend.templatetags.tristep import percent, readable

# the names of the published rules, in every language
TITLES = {"final": "final", "pos_count": "#pos", "pos_share": "%pos", "two_stage": "two-stage"}
MEANINGS = {
    "final": gettext_lazy("a run whose predicted outcome is +1"),
    "pos_count": gettext_lazy("a run with the most steps predicted +1"),
    "pos_share": gettext_lazy("a run with the largest share of steps predicted +1"),
    "two_stage": gettext_lazy("among the runs predicted successful, one with the largest share of +1"),
}
SIDE = 240
"""Of the picture of a relation, in its own units."""
NAMED_POINTS = 8
"""With more models than these, names in the picture would cover each other."""
NAME_HEIGHT = 12.0
MOST_PAIRS = 5
"""So many turned pairs are named."""


def _columns(sort: str) -> list[dict[str, Any]]:
    """Headings of the columns (`sort_heading`)."""
    present = sort.removeprefix("-")
    turned = "" if sort.startswith("-") else "-"
    aria = "descending" if sort.startswith("-") else "ascending"
    return [
        {
            "title": _("Model") if name == "model" else str(TITLES[name]),
            "sort": f"{turned if present == name else '' if name == 'model' else '-'}{name}",
            "aria": aria if present == name else "",
        }
        for name in ("model", *RULES)
    ]


def _ordered(rows: list[tuple[str, BestOfN]], sort: str) -> list[tuple[str, BestOfN]]:
    name, turned = sort.removeprefix("-"), sort.startswith("-")
    if name == "model":
        return sorted(rows, key=lambda row: row[0].casefold(), reverse=turned)

    def key(row: tuple[str, BestOfN]) -> tuple[float, str]:
        share = row[1].rules[name].averaged / max(row[1].tasks, 1)
        return (-share if turned else share), row[0].casefold()

    return sorted(rows, key=key)


def _parts(chosen: list[Selections], subset: str) -> list[tuple[str, BestOfN]]:
    rows = [(one.name, one.overall if not subset else one.subsets.get(subset)) for one in chosen]
    return [(name, part) for name, part in rows if part is not None]


def _only(chosen: list[Selections], subset: str) -> dict[str, list[str]]:
    """The subsets of each model that does not predict something of every one, where all are shown."""
    return {} if subset else {one.name: list(one.subsets) for one in chosen if not one.all_subsets}


@require_GET
def best_of_n(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """The page of tasks solved when a model's labels choose among the runs of each."""
    opened = open_project(request, slug, LEADERBOARD_VERB)
    release = release_of(opened, version)
    chosen = selections(actor=opened.user, release=release)
    predicted = {name for one in chosen for name in one.subsets}
    subsets = [name for name in release.parsed_manifest()["subsets"] if name in predicted]
    subset = request.GET.get("subset", "")
    subset = subset if subset in subsets else ""
    sort = request.GET.get("sort", "")
    if sort.removeprefix("-") not in ("model", *RULES):
        sort = f"-{RULES[0]}"
    drawn = RULES[0] if sort.removeprefix("-") == "model" else sort.removeprefix("-")
    rows, only = _ordered(_parts(chosen, subset), sort), _only(chosen, subset)
    return opened.render(
        "evaluation/best_of_n.html",
        "releases",
        title=_("Best-of-N on %(version)s") % {"version": version},
        trail=release_trail(slug, version),
        release=release,
        columns=_columns(sort),
        drawn=TITLES[drawn],
        rules=[{"title": TITLES[name], "meaning": MEANINGS[name]} for name in RULES],
        rows=[_row(name, part, drawn) | {"only": only.get(name)} for name, part in rows],
        one_run=bool(rows) and all(part.runs == part.tasks for _name, part in rows),
        ticks=[{"value": tick / 100, "x": charts.hundredths(tick)} for tick in (0, 20, 40, 60, 80, 100)],
        subsets=subsets if len(subsets) > 1 else (),
        subset=subset,
    )


def _row(name: str, part: BestOfN, drawn: str) -> dict[str, Any]:
    n = max(part.tasks, 1)

    def at(solved: float) -> str:
        return charts.hundredths(100 * solved / n)

    return {
        "name": name,
        "part": part,
        "random": part.random / n,
        "oracle": part.oracle / n,
        "vote": None
        if part.majority is None
        else {"share": part.majority.averaged / n, "lowest": part.majority.lowest},
        "vote_at": None if part.majority is None else at(part.majority.averaged),
        "rules": [
            {"title": TITLES[rule], "share": one.averaged / n, "lowest": one.lowest}
            for rule, one in part.rules.items()
        ],
        "drawn": part.rules[drawn].averaged / n,
        "dot": charts.Dot(at(part.rules[drawn].averaged), at(part.random), at(part.oracle)),
    }


@require_GET
def reading(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """The page of how a release's figures relate over its models, and of its composition."""
    opened = open_project(request, slug, LEADERBOARD_VERB)
    release = release_of(opened, version)
    report = benchmark(actor=opened.user, release=release)
    return opened.render(
        "evaluation/benchmark.html",
        "releases",
        title=_("Reading the benchmark %(version)s") % {"version": version},
        trail=release_trail(slug, version),
        release=release,
        relations=[_relation(one, slug, version) for one in report.relations],
        parts=_composition(report),
        plan=None if report.plan is None else _plan(report.plan, report.planned_for),
        readers=_readers(report),
        shifts=_shifts(report),
        reasons=_reasons(report),
        in_order=report.in_order,
        side=SIDE,
    )


def _readers(report: Benchmark) -> Table:
    """Rankings by each reader's blind labels, beside that by the consensus."""

    def tau(one: ReaderRanking) -> str:
        return figure_text(measure_cell(one.tau, is_share=False))

    def turned(one: ReaderRanking) -> str:
        names = [" > ".join(readable(report.models[at]) for at in pair) for pair in one.turned[:MOST_PAIRS]]
        return "; ".join([*names, "…"] if len(one.turned) > MOST_PAIRS else names)

    columns = [
        Column("reader", _("Annotator"), lambda one: _("Annotator %(n)d") % {"n": one.reader}, look="main"),
        Column("tau", _("Kendall’s τ"), cell=tau, look="number"),
        Column("pairs", _("Turned pairs"), lambda one: len(one.turned), look="number"),
        Column("turned", _("Ahead by the consensus, behind by the annotator"), turned),
        Column("records", _("Trajectories"), look="number"),
    ]
    return Table(columns, report.readers, labelledby="readers")


def _shifts(report: Benchmark) -> Table:
    columns = [
        Column("model", _("Model"), lambda one: readable(one.model), look="main"),
        figure_column("shift", _("Shift of StepAcc"), attrgetter("shift"), is_share=True),
        Column("records", _("Trajectories whose annotators saw its suggestions"), look="number"),
    ]
    return Table(columns, report.shifts, labelledby="shifts")


def _reasons(report: Benchmark) -> list[str]:
    """The reasons for dashes, each once."""
    measures = [*(one.tau for one in report.readers), *(one.shift for one in report.shifts)]
    return list(dict.fromkeys(translated(one.reason) for one in measures if one.reason))


def _plan(plan: Plan, models: tuple[str, ...]) -> dict[str, Any]:
    titles = {
        "now": _("As it is"),
        "tasks": _("Twice the tasks"),
        "runs": _("Twice the runs of each task"),
        "readers": _("One annotator more"),
    }
    return {
        "models": models,
        "rows": [
            {"title": titles[more], "design": design, "difference": plan.components.detectable(design)}
            for more, design in plan.options().items()
        ],
        "needed": [
            {"difference": difference, "tasks": plan.components.tasks_for(difference, plan.design)}
            for difference in DIFFERENCES
        ],
    }


def _relation(one: FigureRelation, slug: str, version: str) -> dict[str, Any]:
    def model(point: ModelPoint) -> str:
        page = reverse("frontend:model", args=[slug, version, point.pk])
        return cells.link(readable(point.model), page)

    title = translated(FIGURES[one.figure].title)
    columns = [
        Column("model", _("Model"), cell=model),
        Column("step_accuracy", "StepAcc", cell=lambda point: percent(point.step_accuracy), look="number"),
        Column(one.figure, title, cell=lambda point: percent(point.other), look="number"),
    ]
    values = [value for point in one.points for value in (point.step_accuracy, point.other)]
    on = charts.scale(values)
    places = [
        (on.place(point.step_accuracy) * SIDE / 100, SIDE - on.place(point.other) * SIDE / 100)
        for point in one.points
    ]
    return {
        "figure": FIGURES[one.figure],
        "r": one.r,
        "table": Table(columns, one.points, look="table--dense"),
        "points": [
            {"point": point, "x": charts.hundredths(x), "y": charts.hundredths(y), "name": name}
            for point, (x, y), name in zip(one.points, places, names_at(places), strict=True)
        ],
        "ticks": [
            {
                "value": tick,
                "x": charts.hundredths(on.place(tick) * SIDE / 100),
                "y": charts.hundredths(SIDE - on.place(tick) * SIDE / 100),
            }
            for tick in on.ticks
        ],
    }


def names_at(places: Sequence[tuple[float, float]]) -> list[dict[str, Any] | None]:
    """The place of each point's name (x, y): right of it, or left of it in the right half; of names on one
    side that would touch, the later moves down. None for each: there are too many to be named."""
    named: list[dict[str, Any] | None] = [None] * len(places)
    if len(places) > NAMED_POINTS:
        return named

    def order(at: int) -> tuple[int, float]:
        """From the top; of points side by side first the one over which the others' names would run."""
        x, y = places[at]
        return round(y / NAME_HEIGHT), x if x > SIDE / 2 else -x

    lowest = {True: -NAME_HEIGHT, False: -NAME_HEIGHT}
    for at in sorted(range(len(places)), key=order):
        x, y = places[at]
        left = x > SIDE / 2
        lowest[left] = max(y, lowest[left] + NAME_HEIGHT)
        named[at] = {
            "left": left,
            "x": charts.hundredths(x - 9 if left else x + 9),
            "y": charts.hundredths(lowest[left] + 4),
        }
    return named


def _composition(report: Benchmark) -> list[dict[str, Any]]:
    return [
        {
            "part": part,
            "labels": charts.stacked(zip(("plus", "zero", "minus"), reversed(part.labels), strict=True)),
            "counts": [
                {"value": value, "count": count}
                for value, count in zip(reversed(VALUES), reversed(part.labels), strict=True)
            ],
            "errors": charts.stacked(
                zip(("first", "second", "last", "none"), (*part.thirds, part.error_free), strict=True)
            ),
            "erroneous": (part.records - part.error_free) / part.records if part.records else None,
        }
        for part in report.parts
    ]
