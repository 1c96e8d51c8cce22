"""Arms by their names, and figures as cells and columns of tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.core.figures.measure import Measure
from annotation.language import translated
from frontend.rendering.tables import Column, cells
from frontend.templatetags.tristep import figure, percent

ARM_NAMES = {
    "sealed": gettext_lazy("Never shown"),
    "after_label": gettext_lazy("Shown after their own label"),
    "always": gettext_lazy("Always shown"),
    "": gettext_lazy("All tasks"),
}


def measure_cell(measure: Measure, *, is_share: bool) -> dict[str, Any]:
    """A figure with its interval, as text, or why there is none."""
    form = percent if is_share else figure
    bounds = measure.interval
    bounded = bounds is not None and bounds.low is not None and bounds.high is not None
    return {
        "value": form(measure.value),
        "reason": translated(measure.reason),
        "low": form(bounds.low) if bounds and bounded else "",
        "high": form(bounds.high) if bounds and bounded else "",
        "why": translated(bounds.reason) if bounds and not bounded else "",
    }


def figure_text(cell: dict[str, Any], *, why: bool = False) -> str:
    """A figure in a cell; `why`: without an interval a dash that tells the reason."""
    return cells.figure(cell, _("95 %% interval") % {}, why)


def figure_column(
    name: str, title: str, measure: Callable[[Any], Measure], *, is_share: bool, why: bool = False
) -> Column:
    """A column of figures with their intervals; `why`: what has none says so in words."""

    def cell(row: Any) -> str:
        if why and (one := measure(row)).value is None and one.reason:
            return translated(one.reason)
        return figure_text(measure_cell(measure(row), is_share=is_share), why=why)

    return Column(name, title, lambda row: measure(row).value, cell, "number")
