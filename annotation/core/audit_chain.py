"""The chain of the audit log: each link is a SHA-256 over one row and the link before it.

So a row that is changed, taken away, put in or moved does not fit, and neither does anything after it. The
chain has no secret: whoever may lift the triggers can also compute it anew from there on, and is found out by
a link that was noted elsewhere (docs/operations.md, "The audit log").
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from .jsonio.canonical import canonical_json, sha256_hex

FIRST: Final = "0" * 64
"""The checksum before the first link."""

FIELDS: Final = (
    *("pk", "actor_id", "project_id", "verb", "object_type", "object_id"),
    *("detail", "created_at"),
)
"""The hashed columns of a row, in this order."""


def linked(previous: str, row: tuple[Any, ...]) -> str:
    """The link of a row (the values of FIELDS) after `previous`, in 64 lower-case hex digits."""
    *plain, detail, created_at = row
    return sha256_hex(canonical_json([previous, *plain, _settled(detail), _moment(created_at)]))


def _moment(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def _settled(value: Any) -> Any:
    """JSON as every database gives it back: PostgreSQL makes 1e22 an integer, and SQLite leaves it."""
    if isinstance(value, dict):
        return {name: _settled(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_settled(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
