"""Authentication: a program with a personal token, or a signed-in person's browser (with CSRF)."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.translation import gettext as _
from rest_framework import authentication, exceptions
from rest_framework.request import Request

from annotation.models import ApiToken, User
from annotation.services.accounts import TOKEN_PREFIX, user_of_token

SCHEME = "Bearer"
MAX_TOKEN_LENGTH = 200


def bearer(request: HttpRequest | Request) -> str | None:
    """The bearer token of a request; None without one."""
    scheme, _space, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return secret.strip() if scheme.lower() == SCHEME.lower() else None


def _of_secret(secret: str) -> tuple[User, ApiToken] | None:
    plausible = secret.startswith(TOKEN_PREFIX) and len(secret) <= MAX_TOKEN_LENGTH and secret.isascii()
    return user_of_token(secret=secret) if plausible else None


def user_of(request: HttpRequest) -> User | None:
    """The sender of a request, by token or session, before the body is read; None for an anonymous
    visitor."""
    if (secret := bearer(request)) is not None:
        user_and_token = _of_secret(secret)
        return user_and_token[0] if user_and_token else None
    return request.user if isinstance(request.user, User) else None


class TokenAuthentication(authentication.BaseAuthentication):
    """`Authorization: Bearer tri_…`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """The token's person; None when no bearer token was sent, 401 when it is not valid (any more)."""
        secret = bearer(request)
        if secret is None:
            return None
        user_and_token = _of_secret(secret)
        if user_and_token is None:
            raise exceptions.AuthenticationFailed(
                _("This token is not valid: unknown, revoked or expired."), code="invalid_token"
            )
        return user_and_token

    def authenticate_header(self, request: Request) -> str:
        """Makes DRF answer 401, not 403, to whoever is not known."""
        return f'{SCHEME} realm="tristep"'


class SessionAuthentication(authentication.SessionAuthentication):
    """The cookie of a signed-in browser; writing needs the CSRF token too."""

    def enforce_csrf(self, request: Request) -> None:
        """403 when the CSRF token is missing or wrong."""
        try:
            super().enforce_csrf(request)
        except exceptions.PermissionDenied as error:
            raise exceptions.PermissionDenied(
                _("The CSRF token is missing or wrong; send it as X-CSRFToken."), code="csrf_failed"
            ) from error
