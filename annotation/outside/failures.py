"""Failures of a call to an outside server, and whether a repetition may mend them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable

TRANSIENT: Final = frozenset({408, 409, 421, 423, 425, 429})


class FailureKind(StrEnum):
    """The cause of a failed call."""

    # transient: a retry may help
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    CONNECTION = "connection"
    NOT_JSON = "not_json"
    # permanent for this call
    TOO_LARGE = "too_large"
    BAD_REQUEST = "bad_request"
    NOT_FOUND = "not_found"
    # permanent for every call
    REDIRECT = "redirect"
    WRONG_ADDRESS = "wrong_address"
    BAD_KEY = "bad_key"
    FORBIDDEN_URL = "forbidden_url"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A call that brought nothing. `permanent`: calling again as it is will not help. `every_call`: every
    other call would fail alike. `message`: one sentence for people, without secrets. `status`: of the reply,
    if there was one."""

    kind: FailureKind
    message: str
    permanent: bool = False
    every_call: bool = False
    retry_after: float | None = None
    status: int | None = None


class OutsideError(Invalid):
    """A call to an outside server that failed for good; `code` is the kind of the failure."""

    def __init__(self, failed: Failed, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(failed.message, code=str(failed.kind), fields=dict(fields or {}))
        self.failed = failed


def redirected(status: int | None = None) -> Failed:
    """The failure of a reply that leads elsewhere."""
    return Failed(
        kind=FailureKind.REDIRECT,
        message=translatable("The server redirects to another address, which is not followed."),
        permanent=True,
        every_call=True,
        status=status,
    )


def led_elsewhere(origin: str) -> Failed:
    """The failure of a reply that leads to a server that the operator does not allow."""
    return Failed(
        kind=FailureKind.FORBIDDEN_URL,
        message=translatable(
            "The server leads to {address}, which is not among the addresses that the operator allows.",
            address=origin[:200],
        ),
        permanent=True,
        every_call=True,
    )


def key_refused(key_name: str, status: int) -> Failed:
    """The failure of a reply that refuses the key; `key_name` is its variable, empty for none."""
    if key_name:
        sentence = translatable(
            "The key in ${name} was refused by the server ({status}).", name=key_name, status=status
        )
    else:
        sentence = translatable("A call without a key was refused by the server ({status}).", status=status)
    return Failed(kind=FailureKind.BAD_KEY, message=sentence, permanent=True, every_call=True, status=status)


def passing(status: int) -> Failed | None:
    """The failure of a status that says to call again later; `None` for another."""
    if status == 429:
        sentence = translatable("The server limits the rate of calls (429).")
        return Failed(kind=FailureKind.RATE_LIMITED, message=sentence, status=status)
    if status in TRANSIENT or status >= 500:
        sentence = translatable("The server failed ({status}).", status=status)
        return Failed(kind=FailureKind.SERVER_ERROR, message=sentence, status=status)
    return None


def failed_with(status: int, *, key_name: str = "") -> Failed:
    """The failure of a reply with a status that is not 2xx, whatever it says."""
    if 300 <= status < 400:
        return redirected(status)
    if status in (401, 403):
        return key_refused(key_name, status)
    if later := passing(status):
        return later
    if status in (404, 405, 410):
        sentence = translatable("The server does not have what was asked for ({status}).", status=status)
        return Failed(kind=FailureKind.NOT_FOUND, message=sentence, permanent=True, status=status)
    return Failed(
        kind=FailureKind.BAD_REQUEST,
        message=translatable("The server refused the request ({status}).", status=status),
        permanent=True,
        status=status,
    )
