"""Data of the pictures on a release's page: labels by subset and policy model, lengths, first errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.core.releases.statistics import LengthBin, ReleaseStatistics
from annotation.core.vocabulary import PLAIN_SIGNS, VALUE_NAMES, VALUES
from frontend.rendering import charts

SHOWN_PARTS = 24
"""So many rows of policy models stand in the picture; the others are folded."""


def distribution(counts: Mapping[Any, int]) -> dict[str, Any]:
    """Counts by value (−1, 0, 1, or as a manifest writes them) as rows with shares, and as a bar."""
    by_value = {
        value: int(counts.get(value, counts.get(PLAIN_SIGNS[value], 0))) for value in reversed(VALUES)
    }
    total = sum(by_value.values())
    return {
        "total": total,
        "rows": [
            {"value": value, "count": count, "share": count / total if total else None}
            for value, count in by_value.items()
        ],
        "bars": charts.stacked([(VALUE_NAMES[value], count) for value, count in by_value.items()]),
    }


def pictures(figures: ReleaseStatistics) -> dict[str, Any]:
    """The context of `releases/release_pictures.html`."""
    parts = [
        {
            "part": part,
            "first": at == 0 or figures.parts[at - 1].subset != part.subset,
            "steps": distribution(part.steps),
            "outcomes": distribution(part.outcomes),
            "with_error": part.with_error / part.records,
        }
        for at, part in enumerate(figures.parts)
    ]
    return {
        "statistics": figures,
        "parts": parts[:SHOWN_PARTS],
        "more_parts": parts[SHOWN_PARTS:],
        "lengths": _bars(figures.lengths, figures.records),
        "first_errors": _bars([*figures.first_errors, *_none(figures)], figures.records),
    }


def _none(found: ReleaseStatistics) -> list[LengthBin]:
    return [LengthBin(0, 0, found.without_error)] if found.records else []


def _bars(bins: Sequence[LengthBin], total: int) -> list[dict[str, Any]]:
    most = max((size_class.n for size_class in bins), default=0)
    return [
        {
            "bin": size_class,
            "width": charts.bar(size_class.n, most),
            "share": size_class.n / total if total else None,
        }
        for size_class in bins
    ]
