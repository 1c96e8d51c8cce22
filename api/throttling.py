"""Throttling: default rates for everybody, and lower ones for costly requests."""

from __future__ import annotations

from typing import Any

from django.core.cache import caches
from rest_framework.request import Request
from rest_framework.throttling import (
    AnonRateThrottle,
    ScopedRateThrottle,
    SimpleRateThrottle,
    UserRateThrottle,
)


class Counted(SimpleRateThrottle):
    """Counts the requests of each minute of the clock (or second, hour, day) in one number of the cache.

    DRF keeps the times of all of them, which are read and written whole at each request, and of two that
    come at once one is forgotten.
    """

    num_requests: int
    duration: int

    def allow_request(self, request: Request, view: Any) -> bool:
        """Count it; False beyond the rate."""
        key = None if self.rate is None else self.get_cache_key(request, view)
        if key is None:
            return True
        window, gone = divmod(self.timer(), self.duration)
        self.left = self.duration - gone
        cache: Any = caches["default"]
        return int(cache.count(f"{key}:{window:.0f}", self.duration)) <= self.num_requests

    def wait(self) -> float:
        """Seconds until the next minute begins."""
        return self.left


class ByAddress(Counted, AnonRateThrottle):
    """The rate `anon` of an address that is not signed in."""


class ByPerson(Counted, UserRateThrottle):
    """The rate `user` of a person."""


class ByScope(ScopedRateThrottle, Counted):
    """The rate of the view's `throttle_scope`: `costly` is for uploads, agreement figures, freezing,
    verifying."""
