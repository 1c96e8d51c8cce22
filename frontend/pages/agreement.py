"""The agreement page."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from annotation.core.agreement.summary import Figures
from annotation.core.vocabulary import SETTLED, VALUES
from annotation.language import translated
from annotation.reports import agreement as report
from frontend.pages.common import open_project
from frontend.rendering.charts import CELL, heat
from frontend.templatetags.tristep import SIGNS

# What the page shows, in order: attribute of `Figures`, title, what it says in a few words.
ROWS = (
    ("agreement", _("Percent agreement"), _("share of steps with the same label")),
    ("kappa", _("Cohen’s κ"), _("corrected for chance")),
    ("kappa_linear", _("κ, linear weights"), _("−1 against +1 counts twice as far as −1 against 0")),
    ("kappa_quadratic", _("κ, quadratic weights"), _("… four times as far")),
)


def _figures(figures: Figures) -> list[dict[str, Any]]:
    return [
        {"title": title, "about": about, "percent": name == "agreement", "measure": getattr(figures, name)}
        for name, title, about in ROWS
    ]


def _matrix(confusion: Any) -> dict[str, Any]:
    """A 3 × 3 table for the template: rows with sums, and the cells of the heat map."""
    counts = [[int(count) for count in row] for row in confusion]
    return {
        "signs": [SIGNS[value] for value in VALUES],
        "axis": [
            {"sign": SIGNS[value], "at": CELL + CELL // 2 + index * CELL}
            for index, value in enumerate(VALUES)
        ],
        "rows": [
            {"sign": SIGNS[value], "counts": row, "sum": sum(row), "y": CELL + index * CELL}
            for index, (value, row) in enumerate(zip(VALUES, counts, strict=True))
        ],
        "sums": [sum(column) for column in zip(*counts, strict=True)],
        "total": sum(map(sum, counts)),
        "cells": heat(counts),
    }


def _part(part: report.Part, people: dict[int, str]) -> dict[str, Any]:
    steps = part.steps
    return {
        "name": part.name,
        "summary": steps,
        "states": part.states,
        "figures": _figures(steps.figures),
        "outcome": _figures(part.outcomes.figures),
        "outcomes": part.outcomes,
        "matrix": _matrix(steps.confusion),
        "pairs": [
            {
                "names": (people.get(pair.first, "?"), people.get(pair.second, "?")),
                "n": pair.n,
                "figures": _figures(pair.figures),
            }
            for pair in steps.pairs
        ],
    }


def _undefined(parts: list[dict[str, Any]], with_people: bool) -> list[tuple[str, str]]:
    """(what, why) for every figure of a subset that is undefined; one line a reason."""
    why: dict[str, list[str]] = {}
    for part in parts:
        if not with_people and not part["summary"].n and any(part["states"][state] for state in SETTLED):
            why.setdefault(str(_("too few to show")), []).append(part["name"])
            continue
        lacking = [row for row in part["figures"] if row["measure"].value is None]
        for reason in dict.fromkeys(row["measure"].reason for row in lacking):
            titles = [str(row["title"]) for row in lacking if row["measure"].reason == reason]
            everything = len(titles) == len(part["figures"])
            why.setdefault(reason, []).append(
                part["name"] if everything else f"{part['name']} ({', '.join(titles)})"
            )
    return [("; ".join(what), translated(reason)) for reason, what in why.items()]


@require_GET
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """How far the annotators agree, over all and by subset; what cannot be said is said in words."""
    opened = open_project(request, slug, "agreement.view")
    figures = report.agreement(viewer=opened.user, project=opened.project)
    filled = [part for part in figures.subsets if any(part.states.values())]
    parts = [_part(part, figures.people) for part in (figures.overall, *filled)]
    chosen = request.GET.get("subset", "")
    shown = next((part for part in parts if part["name"] == chosen), parts[0])
    return opened.render(
        "results/agreement.html",
        "agreement",
        parts=parts,
        shown=shown,
        rows=ROWS,
        undefined=_undefined(parts[1:], figures.with_people),
        with_people=figures.with_people,
        fewest=report.FEWEST,
        settled=sum(figures.overall.states[state] for state in SETTLED),
        policy_always=opened.project.experiment_seed is None and opened.project.suggestion_policy == "always",
    )
