"""Expiry of unused claims, and the warning before it (services.claim_expiry).

A claim expires `days` after its last use, and never sooner than the warning period after the warning: a
server that was off for a month warns first.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

LONGEST_WARNING: Final = timedelta(days=3)


def warning_period(days: int) -> timedelta:
    """The time between a warning and the end: three days, and at most half the time there is."""
    return min(LONGEST_WARNING, timedelta(days=days) / 2)


def warned_before(days: int, now: datetime) -> datetime:
    """A claim that was last used before this moment is to be warned of."""
    return now - timedelta(days=days) + warning_period(days)


def expires_at(days: int | None, last_used_at: datetime, warned_at: datetime | None) -> datetime | None:
    """The end of a claim unless it is used; None: not without a warning, which has not been given yet."""
    if days is None or warned_at is None:
        return None
    return max(last_used_at + timedelta(days=days), warned_at + warning_period(days))
