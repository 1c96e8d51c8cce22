"""How often: everybody by the default rates, and costly things by rates of their own."""

from rest_framework.throttling import ScopedRateThrottle


class ByScope(ScopedRateThrottle):
    """The rate of the view's `throttle_scope`: `costly` is for uploads, agreement figures, freezing,
    verifying."""
