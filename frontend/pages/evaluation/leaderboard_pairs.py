"""Differences between models, and the share of wrong labels up to which each holds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any

from django.http import QueryDict

from annotation.reports.evaluation.leaderboard import Leaderboard, ModelPair

MOST = 50.0
"""Per cent of wrong labels that can be asked about."""


@dataclass(frozen=True, slots=True)
class ShownPair:
    """Two models; whether their difference holds with the share of wrong labels that is asked about."""

    pair: ModelPair
    holds: bool


def pairs_of(board: Leaderboard, asked: QueryDict) -> dict[str, Any]:
    """The pairs of neighbours, or those of one model (`with`), and the share of wrong labels (`error`, in per
    cent) that is asked about."""
    by_names = {frozenset((pair.better, pair.worse)): pair for pair in board.pairs}
    compared = {name for pair in board.pairs for name in (pair.better, pair.worse)}
    names = [row.name for row in board.models if row.name in compared]
    chosen = asked.get("with", "")
    if chosen in names:
        wanted = [(chosen, name) for name in names if name != chosen]
    else:
        chosen, wanted = "", list(pairwise(names))
    error = _error(asked.get("error", ""))
    pairs = [by_names[frozenset(names)] for names in wanted if frozenset(names) in by_names]
    return {
        "rows": [ShownPair(pair, _holds(pair, error / 100)) for pair in pairs],
        "names": names,
        "chosen": chosen,
        "error": error,
        "given": asked.get("error", "") if error else "",
    }


def _holds(pair: ModelPair, error: float) -> bool:
    limit = pair.tolerated
    return limit is not None and (error < limit or limit >= 1)


def _error(text: str) -> float:
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return 0.0
    return min(max(value, 0.0), MOST) if isfinite(value) else 0.0
