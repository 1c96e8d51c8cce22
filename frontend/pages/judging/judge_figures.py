"""Figures of a judge, or of one of its runs, against people: raw, recalibrated, and beside always +1."""

from __future__ import annotations

from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Judge
from annotation.reports.judging.judge_figures import SubsetScores, judge_agreement
from frontend.pages.shared.common import ProjectPage
from frontend.templatetags.tristep import figure, percent

FIGURES: Final = (
    ("step_accuracy", "StepAcc", True),
    ("first_error", "FirstErrAcc", True),
    ("kappa", gettext_lazy("Cohen’s κ"), False),
    ("kappa_quadratic", gettext_lazy("Quadratic κ"), False),
)


def compared(
    opened: ProjectPage, judge: Judge, run: int | None = None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows and columns of the comparison with people, of one run if given; empty without anything to compare
    with."""
    report = judge_agreement(viewer=opened.user, judge=judge, run=run)
    parts = [
        (_("Resolved labels"), report.consensus[0]),
        (_("Each annotator’s own blind labels"), report.blind[0]),
    ]
    there = [(title, part) for title, part in parts if part.steps.steps]
    rows = [
        {"title": title, "percent": percent, "cells": [c for _t, part in there for c in _cells(part, name)]}
        for name, title, percent in FIGURES
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


def _cells(part: SubsetScores, name: str) -> list[dict[str, Any]]:
    """A figure of the judge, and the same for somebody who says +1 to everything."""
    return [
        *(
            {"measure": getattr(said, name), "reference": False, **_bounds(getattr(said, name), name)}
            for said in (part.steps, part.recalibrated)
            if said is not None
        ),
        {"measure": getattr(part.always_plus, name), "reference": True, "low": None},
    ]


def _bounds(measure: Any, name: str) -> dict[str, Any]:
    interval = measure.interval
    if interval is None or interval.low is None:
        return {"low": None, "high": None}
    form = figure if "kappa" in name else percent
    return {"low": form(interval.low), "high": form(interval.high)}
