"""Data of the pictures on a release's page: labels by subset and policy model, lengths, first errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from annotation.core.kinds import ProjectKind
from annotation.core.releases.statistics import LengthBin, ModelSuccess, ReleaseStatistics, RootReasons
from annotation.core.vocabulary import PLAIN_SIGNS, VALUE_NAMES, VALUES
from annotation.language import translated
from frontend.rendering import charts
from frontend.templatetags.tristep import reason_title

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


def pictures(figures: ReleaseStatistics, kind: ProjectKind) -> dict[str, Any]:
    """The context of `releases/release_pictures.html`, for the release of a project of a kind."""
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
        "by_outcome": [
            {
                "row": row,
                "first": at > 0 and figures.by_outcome[at - 1].subset != row.subset,
                "title": translated(kind.outcomes[row.outcome]),
                "steps": distribution(row.steps),
            }
            for at, row in enumerate(figures.by_outcome)
        ],
        "success": _success(figures.models),
        "reasons": _reasons(figures.root_reasons),
        "lengths": _bars(figures.lengths, figures.records),
        "first_errors": _bars([*figures.first_errors, *_none(figures)], figures.records),
    }


def _success(models: Sequence[ModelSuccess]) -> dict[str, Any]:
    """The success rate of each policy model as a dot, the share of +1 among its steps as a hollow one."""
    values = [value for one in models for value in (one.success_rate, one.plus_share) if value is not None]
    on = charts.scale(values)
    return {
        "ticks": [{"value": tick, "x": on.at(tick)} for tick in on.ticks],
        "rows": [
            {
                "model": one,
                "dot": charts.dot(on, one.success_rate, None, None),
                "plus": None if one.plus_share is None else on.at(one.plus_share),
            }
            for one in models
        ],
    }


def _reasons(rows: Sequence[RootReasons]) -> dict[str, Any]:
    """Reason codes in columns, the errors of each policy model and subset in rows; nothing where nobody gave
    a reason."""
    every = Counter[str]()
    for row in rows:
        every.update(row.reasons)
    codes = [code for code, n in every.items() if n]
    if not any(codes):
        return {}
    return {
        "titles": [reason_title(code) if code else _("no reason given") for code in codes],
        "rows": [
            {
                "row": row,
                "errors": row.reasons.total(),
                "cells": [
                    {"title": reason_title(code) if code else _("no reason given"), "n": row.reasons[code]}
                    for code in codes
                ],
            }
            for row in rows
        ],
    }


def _none(statistics: ReleaseStatistics) -> list[LengthBin]:
    return [LengthBin(0, 0, statistics.without_error)] if statistics.records else []


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
