"""Figures of a judge, or of one of its runs, against people: raw, recalibrated, and beside always +1."""

from __future__ import annotations

from typing import Any, Final

from django.utils.translation import gettext as _

from annotation.core.figures.figure import Figure
from annotation.core.kinds import available
from annotation.core.scoring.figures import JUDGE_FIGURES
from annotation.language import translated
from annotation.models import Judge
from annotation.reports.judging.judge_figures import SubsetScores, judge_agreement
from frontend.pages.shared.common import ProjectPage
from frontend.pages.shared.figure_cells import measure_cell

SHOWN: Final = ("step_accuracy", "first_error_accuracy", "kappa", "quadratic_kappa")


def compared(
    opened: ProjectPage, judge: Judge, run: int | None = None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows and columns of the comparison with people, of one run if given; empty without anything to compare
    with."""
    judge.project = opened.project  # the same row: spares a query
    report = judge_agreement(viewer=opened.user, judge=judge, run=run)
    parts = [
        (_("Resolved labels"), report.consensus[0]),
        (_("Each annotator’s own blind labels"), report.blind[0]),
    ]
    figures = available(opened.project.of_kind, JUDGE_FIGURES)
    there = [(title, part) for title, part in parts if part.steps.steps]
    rows = [
        {
            "title": translated(figure.title),
            "percent": figure.percent,
            "cells": [cell for _title, part in there for cell in _cells(part, figure)],
        }
        for figure in (figures[name] for name in SHOWN if name in figures)
    ]
    columns = [
        {
            "title": title,
            "steps": part.steps.steps,
            "missing": part.steps.missing,
            "span": 2 if part.recalibrated is None else 3,
        }
        for title, part in there
    ]
    return (rows if there else []), columns


def _cells(part: SubsetScores, figure: Figure) -> list[dict[str, Any]]:
    """A figure of the judge, raw and recalibrated, and the same for somebody who says +1 to everything."""
    cells = []
    for figures in (part.steps, part.recalibrated, part.always_plus):
        if figures is not None:
            measure = figures.figures[figure.name]
            ends = measure_cell(measure, is_share=figure.percent)
            cells.append({**ends, "measure": measure, "reference": figures is part.always_plus})
    return cells
