"""Decide how long to wait before a retry: as the server says, else exponential backoff with jitter."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Final

FIRST: Final = 0.5
LONGEST: Final = 30.0


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds from Retry-After (a number of seconds or an HTTP date; `now` in seconds since 1970), or from
    the `retry-after-ms` that some servers add; `None` without a readable one."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if value.replace(".", "", 1).isascii() and value.replace(".", "", 1).isdigit() and len(value) < 12:
            return float(value) * unit
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", "")).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return max(moment - now, 0.0)


class CallWaits:
    """The waits for one server, shared by its callers: one that is told to wait holds the others back too."""

    def __init__(self, clock: Callable[[], float], rng: random.Random) -> None:
        self._clock = clock
        self._rng = rng
        self._lock = threading.Lock()
        self._not_before = float("-inf")

    def backoff(self, attempt: int) -> float:
        """Full jitter: between 0 and ½ s · 2ⁿ, at most 30 s, after failed attempt `n` (from 0)."""
        with self._lock:
            return self._rng.uniform(0.0, min(LONGEST, FIRST * 2.0 ** min(attempt, 20)))

    def hold(self, seconds: float) -> None:
        """The server wants nobody's call for so long."""
        with self._lock:
            self._not_before = max(self._not_before, self._clock() + seconds)

    def left(self) -> float:
        """Seconds until the next call may be made; a little more for each, so that not all go at once."""
        with self._lock:
            left = self._not_before - self._clock()
            return left + self._rng.uniform(0.0, 0.25 * min(left, 4.0)) if left > 0 else 0.0
