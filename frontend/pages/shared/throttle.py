"""A limit on what one address may send, for pages that people come to without an account."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from rest_framework.throttling import SimpleRateThrottle

from annotation.core.errors import TooMany
from annotation.core.i18n import translatable


class _ByAddress(SimpleRateThrottle):
    def __init__(self, scope: str) -> None:
        self.scope = scope
        super().__init__()

    def get_cache_key(self, request: Any, view: Any) -> str:
        """By address."""
        return str(self.cache_format % {"scope": self.scope, "ident": self.get_ident(request)})


def by_address(request: HttpRequest, scope: str) -> None:
    """Count a request at the rate of a scope (`DEFAULT_THROTTLE_RATES`). Raises TooMany."""
    limit = _ByAddress(scope)
    if not limit.allow_request(request, None):  # type: ignore[arg-type]
        sentence = translatable("Too many requests came from your address. Try again in a minute.")
        raise TooMany(sentence, seconds=int(limit.wait() or 60) + 1)
