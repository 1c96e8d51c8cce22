"""What can go wrong: each failure is an exception with a sentence that can be shown as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class TristepError(Exception):
    """Every failure of this package."""


class NotConfigured(TristepError):
    """There is no address or no token to use."""


class Unreachable(TristepError):
    """The server did not answer, or what answered is not Tristep."""


class MissingPackage(TristepError):
    """An optional package is needed and is not installed."""


class WorkFailed(TristepError):
    """Long work ended otherwise than it should; `answer` says all that the server knows of it."""

    def __init__(self, sentence: str, answer: Mapping[str, Any]) -> None:
        super().__init__(sentence)
        self.answer = answer


class StillGoing(TristepError, TimeoutError):
    """Long work was not over in the time that one would wait; it goes on."""


class ApiError(TristepError):
    """The server said no: a status, a code for programs, a sentence for people.

    `fields` says of each field of what was sent why it was refused; `details` is more, where there is more.
    """

    def __init__(self, status: int, code: str, message: str, fields: Mapping[str, str], details: Any) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.fields = dict(fields)
        self.details = details


class Invalid(ApiError):
    """400: what was sent cannot be accepted."""


class NotSignedIn(ApiError):
    """401: the token is missing, unknown, expired or revoked."""


class Denied(ApiError):
    """403: one may not do this, or the token's scope does not cover it."""


class NotFound(ApiError):
    """404: it is not there, or one may not see it."""


class Conflict(ApiError):
    """409: it cannot be done in the state that things are in."""


class TooLarge(ApiError):
    """413: it is larger than the server takes."""


class TooMany(ApiError):
    """429: too many requests, even after waiting as long as the server asked for."""


class Unavailable(ApiError):
    """503: the server cannot answer at this moment."""


KINDS: dict[int, type[ApiError]] = {
    400: Invalid,
    401: NotSignedIn,
    403: Denied,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    429: TooMany,
    503: Unavailable,
}


def api_error(status: int, body: Any) -> ApiError:
    """The exception for an answer's status and its parsed body (None: it was no JSON)."""
    said = body.get("error") if isinstance(body, dict) else None
    kind = KINDS.get(status, ApiError)
    if not isinstance(said, dict):
        return kind(status, "unknown", f"The server answered with status {status} and no reason.", {}, None)
    fields = said.get("fields") or {}
    message = str(said.get("message", ""))
    return kind(status, str(said.get("code", "unknown")), message, fields, said.get("details"))
