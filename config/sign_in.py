"""Against floods of sign-ins: few hashes at a time, few wrong passwords from one address and in all."""

from __future__ import annotations

import ipaddress
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.core.cache import cache
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext

from annotation.core.errors import TooMany
from annotation.core.i18n import translatable
from annotation.models import User
from annotation.services import accounts
from config.client import client_ip

# At a time in one process: hashes, and requests that wait for their turn. More would take others' threads.
HASHING = 2
WAITING = 3
WINDOW_SECONDS = 15 * 60
IN_ALL_SECONDS = 60
NAME_NOTED = 255
FEWEST_CHARACTERS = 5
# all of it one short piece, repeated
REPEATED = re.compile(r"(.{1,16})\1+", re.DOTALL)


class Gate:
    """Lets `inside` callers in at a time while `waiting` more wait. Raises TooMany for everybody else."""

    def __init__(self, inside: int, waiting: int) -> None:
        self._turn = threading.Semaphore(inside)
        self._room = threading.Semaphore(inside + waiting)

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Wait for the turn, and take it."""
        if not self._room.acquire(blocking=False):
            raise TooMany(
                translatable("Many people are signing in right now. Try again in a few seconds."),
                seconds=5,
            )
        try:
            with self._turn:
                yield
        finally:
            self._room.release()


_gate = Gate(HASHING, WAITING)


class Argon2(Argon2PasswordHasher):
    """Argon2id with the memory that OWASP recommends (46 MiB) and one pass more: 84 ms of one core.

    Django's own setting takes 100 MiB and eight threads. Hashes made with it are renewed at the next sign-in.
    """

    time_cost = 2
    memory_cost = 46 * 1024
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        """In turn. Raises TooMany."""
        with _gate.passed():
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        """In turn. Raises TooMany."""
        with _gate.passed():
            return super().verify(password, encoded)


class Variety:
    """Refuses passwords of few characters, or of one piece over and over ("aaaaaaaaaaaa")."""

    def validate(self, password: str, user: User | None = None) -> None:
        """Raises ValidationError."""
        folded = password.casefold()
        if len(set(folded)) < FEWEST_CHARACTERS or REPEATED.fullmatch(folded):
            raise ValidationError(
                gettext("This password repeats itself: use at least %(n)s different characters.")
                % {"n": FEWEST_CHARACTERS},
                code="password_without_variety",
            )

    def get_help_text(self) -> str:
        """Stands with the rules for passwords."""
        return gettext(
            "Your password must have at least %(n)s different characters and no repeated pattern."
        ) % {"n": FEWEST_CHARACTERS}


class TokensEnd:
    """Ends a person's API tokens with their password: whoever had learnt it may have made one.

    Django calls `password_changed` of each validator whichever way a password changes (a page, its admin, a
    command), and not when a hash is only renewed.
    """

    def validate(self, password: str, user: User | None = None) -> None:
        """Any password will do here."""

    def get_help_text(self) -> str:
        """Stands with the rules for passwords."""
        return gettext("Changing your password revokes your API tokens.")

    def password_changed(self, password: str, user: User | None = None) -> None:
        """End the tokens."""
        if user is not None:
            accounts.revoke_all_tokens(user=user)


def tried_name(request: HttpRequest | None, credentials: Mapping[str, Any] | None = None) -> str | None:
    """The name that somebody tries to sign in with, as axes notes it: PostgreSQL refuses one that is longer
    than its column."""
    fields = credentials if credentials else getattr(request, "POST", {})
    name = fields.get("username")
    return name if name is None else str(name)[:NAME_NOTED]


def origin_of(request: HttpRequest | None) -> str:
    """The origin of a request, by which failures are counted: an address, of IPv6 the network that one
    customer has."""
    address = client_ip(request) if request is not None else ""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    # how a socket for both writes an IPv4 address: all of them are in one network
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    if parsed.version == 6:
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)


def _counters(request: HttpRequest | None) -> tuple[tuple[str, int, int], ...]:
    """(key, limit, seconds) of each counter that a failure moves."""
    return (
        (f"sign-in:{origin_of(request)}", settings.SIGN_IN_FAILURES_ADDRESS, WINDOW_SECONDS),
        ("sign-in", settings.SIGN_IN_FAILURES_TOTAL, IN_ALL_SECONDS),
    )


class Throttle:
    """Comes before the passwords are looked at: after too many failures nothing is hashed for a while."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> None:
        """Knows nobody. Raises TooMany."""
        here, in_all = (int(cache.get(key, 0)) >= limit for key, limit, _seconds in _counters(request))
        if here:
            sentence = translatable(
                "Too many wrong passwords came from your address. Try again in 15 minutes."
            )
            raise TooMany(sentence, seconds=WINDOW_SECONDS)
        if in_all:
            sentence = translatable(
                "Too many wrong passwords came in the last minute. Try again in a minute."
            )
            raise TooMany(sentence, seconds=IN_ALL_SECONDS)


class LocalAccounts:
    """Where people sign in through their organisation only, takes the passwords of the accounts that the
    operator names, at whichever door."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None
    ) -> None:
        """Knows nobody. Raises PermissionDenied, which ends the search for somebody who does."""
        organisation = settings.ORGANISATION
        user = getattr(request, "user", None)
        if user is not None and user.is_authenticated and user.get_username() == username:
            # asked once more, before something that a stranger at their desk must not do
            return
        if organisation is not None and not organisation.may_use_password(str(username or "")):
            raise PermissionDenied


class CountFailure:
    """Comes last, when no backend knew the person: counts the failure."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> None:
        """Knows nobody."""
        for key, _limit, seconds in _counters(request):
            cache.add(key, 0, seconds)
            cache.incr(key)
