"""Arms by their names, and figures as cells of tables."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy

from annotation.core.figures.measure import Measure
from annotation.language import translated
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
    known = bounds is not None and bounds.low is not None and bounds.high is not None
    return {
        "value": form(measure.value),
        "reason": translated(measure.reason),
        "low": form(bounds.low) if bounds and known else "",
        "high": form(bounds.high) if bounds and known else "",
    }
