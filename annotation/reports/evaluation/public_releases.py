"""Public reading of a release whose public address is switched on."""

from __future__ import annotations

from typing import Any

from annotation.models import Release
from annotation.policies import OPERATOR, require_published

from .leaderboard import Leaderboard, LeaderboardRow, leaderboard
from .leaderboard_entries import ALWAYS_PLUS, BASELINES, MAJORITY, STACKED, TRAINED

# rows that are no model and no person either: nobody's labels are scored in public
RULES = (ALWAYS_PLUS, MAJORITY, TRAINED, STACKED)


def public_leaderboard(release: Release) -> Leaderboard | None:
    """The leaderboard of a release that everybody may read; None where that is not switched on. `release`
    comes with its public address. Raises NotFound when the address is off. One query more than the
    leaderboard."""
    require_published(release)
    if not release.public_release.shows_leaderboard:
        return None
    return leaderboard(actor=OPERATOR, release=release)


def public_rows(board: Leaderboard) -> list[LeaderboardRow]:
    """The models, and the baselines that are a rule and no person."""
    return [row for row in board.rows if row.row is not None or row.name in RULES]


def as_json(board: Leaderboard) -> list[dict[str, Any]]:
    """The same as JSON: names and figures, and nothing of who brought them or what they cost."""
    return [
        {
            "model": row.name,
            "baseline": row.row is None and row.name in BASELINES,
            "all_subsets": row.all_subsets,
            "overall": row.overall.as_json(),
            "subsets": {name: cell.as_json() for name, cell in row.subsets.items()},
        }
        for row in public_rows(board)
    ]
