"""Every figure of the agreement page as tables: of steps and of outcomes, of blind labels and beside them of
what is said after discussion, and of untouched labels; each n opens the steps that it counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotation.core.agreement.figures import FIGURES, OUTCOME_FIGURES
from annotation.core.agreement.summary import Summary
from annotation.core.figures.figure import Figure
from annotation.core.kinds import Feature, ProjectKind
from frontend.pages.agreement.charts import Charts


@dataclass(frozen=True, slots=True)
class FigureColumn:
    """A set of labels that figures are made of, and the filter that lists them."""

    title: str
    steps: Summary
    outcomes: Summary
    listed: Mapping[str, str]


def columns(charts: Charts) -> list[FigureColumn]:
    """All blind labels, and what is not the same."""
    part = charts.found.overall
    shown = [FigureColumn(_("Blind labels"), part.steps, part.outcomes, {})]
    if after := part.after_discussion:
        shown.append(FigureColumn(_("After discussion"), after.steps, after.outcomes, {"when": "after"}))
    if alone := part.untouched:
        shown.append(
            FigureColumn(_("Untouched labels"), alone.steps, alone.outcomes, {"exposure": "untouched"})
        )
    return shown


def tables(charts: Charts, kind: ProjectKind) -> list[dict[str, Any]]:
    """The tables; none of outcomes where a filter of steps leaves none."""
    shown = columns(charts)

    def table(key: str, title: str, figures: Mapping[str, Figure], of: Mapping[str, str]) -> dict[str, Any]:
        made = [(one, one.outcomes if of else one.steps) for one in shown]
        return {
            "key": key,
            "title": title,
            "several": len(shown) > 1,
            "rows": [_row(charts, figures[name], made, of) for name in made[0][1].figures],
        }

    title = _("Every figure, of options") if kind.has(Feature.PAIRS) else _("Every figure, of steps")
    parts = [table("figures", title, FIGURES, {})]
    if charts.found.overall.outcomes.n:
        title = _("Every figure, of outcomes")
        parts.append(table("outcome-figures", title, OUTCOME_FIGURES, {"of": "outcome"}))
    return parts


def _row(
    charts: Charts, figure: Figure, shown: list[tuple[FigureColumn, Summary]], listed: Mapping[str, str]
) -> dict[str, Any]:
    cells = []
    for column, summary in shown:
        measure = summary.figures[figure.name]
        url = charts.steps_url(figure=figure.name, **listed, **column.listed) if measure.n else ""
        cells.append({"title": column.title, "measure": measure, "url": url})
    about = "" if "of" in listed else figure.convention
    return {"title": figure.title, "about": about, "percent": figure.percent, "cells": cells}
