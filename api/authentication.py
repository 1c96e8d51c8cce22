"""Authentication: a program with a personal token, or a signed-in person's browser (with CSRF)."""

from __future__ import annotations

from django.utils.translation import gettext as _
from rest_framework import authentication, exceptions
from rest_framework.request import Request

from annotation.models import ApiToken, User
from annotation.services.accounts import TOKEN_PREFIX, user_of_token

SCHEME = "Bearer"
MAX_TOKEN_LENGTH = 200


class TokenAuthentication(authentication.BaseAuthentication):
    """`Authorization: Bearer tri_…`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """The token's person; None when no bearer token was sent, 401 when it is not valid (any more)."""
        scheme, _space, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme.lower() != SCHEME.lower():
            return None
        secret = secret.strip()
        found = None
        if secret.startswith(TOKEN_PREFIX) and len(secret) <= MAX_TOKEN_LENGTH and secret.isascii():
            found = user_of_token(secret=secret)
        if found is None:
            raise exceptions.AuthenticationFailed(
                _("This token is not valid: unknown, revoked or expired."), code="invalid_token"
            )
        return found

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
