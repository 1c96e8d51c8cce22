"""Throttling: default rates for everybody, and lower ones for costly requests."""

from rest_framework.throttling import ScopedRateThrottle


class ByScope(ScopedRateThrottle):
    """The rate of the view's `throttle_scope`: `costly` is for uploads, agreement figures, freezing,
    verifying."""
