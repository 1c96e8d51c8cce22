"""Expected failures, by name. Services raise these; pages, API and commands each map them once.

Every error carries a stable machine-readable `code` and one plain sentence, `message`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class TristepError(Exception):
    """Base of all expected failures.

    `code`: short, stable, for programs. `message`: one sentence for people.
    `details`: anything JSON-ready that helps a program (or `None`).
    """

    default_code: ClassVar[str] = "error"

    def __init__(self, message: str, *, code: str | None = None, details: Any = None) -> None:
        super().__init__(message)
        self.message: str = message
        self.code: str = code or self.default_code
        self.details: Any = details

    def __str__(self) -> str:
        return self.message


class Invalid(TristepError):
    """The input cannot be accepted (400). `fields` says why, field by field, where that is known."""

    default_code = "invalid"

    def __init__(
        self,
        message: str,
        *,
        fields: Mapping[str, str] | None = None,
        code: str | None = None,
        details: Any = None,
    ) -> None:
        super().__init__(message, code=code, details=details)
        self.fields: dict[str, str] = dict(fields or {})


class Denied(TristepError):
    """The actor may see the object but not do this to it (403)."""

    default_code = "denied"


class NotFound(TristepError):
    """There is no such object, or the actor may not know that there is (404)."""

    default_code = "not_found"


class Conflict(TristepError):
    """The request was fine, but not in the present state (409)."""

    default_code = "conflict"


class StaleState(Conflict):
    """A guarded change of state found its object in another state than expected (409)."""

    default_code = "stale_state"


class StaleVersion(Conflict):
    """A save was based on an older version than the one stored (409)."""

    default_code = "stale_version"


class Locked(Conflict):
    """The object is fixed by what already depends on it (409)."""

    default_code = "locked"


class TooLarge(TristepError):
    """The input is larger than the limit it meets (413)."""

    default_code = "too_large"


class TooMany(TristepError):
    """Too many ask for the same at once (429); `seconds` says when to come back."""

    default_code = "too_many"

    def __init__(self, message: str, *, seconds: int) -> None:
        super().__init__(message, details={"seconds": seconds})
        self.seconds = seconds


class Unavailable(TristepError):
    """A server that this needs cannot be reached; the same may work later (503), in so many `seconds`."""

    default_code = "unavailable"
    seconds = 60


class ImportRefused(Invalid):
    """A file was refused as a whole; nothing of it was imported.

    `report`: JSON-ready findings, by convention `{"errors": [{file, line, field, reason}…], "count": n}`
    with the first 1,000 errors listed and the count of all.
    """

    default_code = "import_refused"

    def __init__(
        self, message: str, *, report: Mapping[str, Any] | None = None, code: str | None = None
    ) -> None:
        super().__init__(message, code=code, details=dict(report) if report is not None else None)
        self.report: dict[str, Any] = dict(report or {})
