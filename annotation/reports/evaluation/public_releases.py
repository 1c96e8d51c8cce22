"""Public reading of a release whose public address is switched on."""

from __future__ import annotations

from typing import Any

from annotation.models import Release
from annotation.policies import OPERATOR, require_published

from .leaderboard import Leaderboard, LeaderboardRow, cuts_json, leaderboard


def public_leaderboard(release: Release) -> Leaderboard | None:
    """The leaderboard of a release that everybody may read; None where that is not switched on. `release`
    comes with its public address. Raises NotFound when the address is off. One query more than the
    leaderboard."""
    require_published(release)
    if not release.public_release.shows_leaderboard:
        return None
    return leaderboard(actor=OPERATOR, release=release)


def public_rows(board: Leaderboard) -> list[LeaderboardRow]:
    """The models, and the baselines that are a rule and no person: nobody's labels are scored in public."""
    rules = [board.stacked] if board.stacked is not None else []
    return [*board.models, *rules, *board.baselines]


def as_json(board: Leaderboard) -> list[dict[str, Any]]:
    """The same as JSON: names and figures, and nothing of who brought them or what they cost."""
    return [
        {
            "model": row.name,
            "baseline": row in board.baselines,
            "all_subsets": row.all_subsets,
            "overall": row.overall.as_json(),
            "subsets": {name: cell.as_json() for name, cell in row.subsets.items()},
            **(cuts_json(row.cuts) if board.of_questions else {}),
        }
        for row in public_rows(board)
    ]
