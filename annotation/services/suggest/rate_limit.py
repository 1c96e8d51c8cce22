"""Keep a judge's rate limit: moments to call at are taken from the database, a second's worth at a time, and
handed to the threads that call."""

import queue
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from annotation.models import Judge
from annotation.providers import Stopped

AHEAD = timedelta(seconds=1)
# A moment further off than this was written by a clock that was wrong.
LONGEST_RESERVATION = timedelta(minutes=2)
ROUND_SECONDS = 0.1


def reserve(judge: Judge, most: int, *, now: datetime | None = None) -> list[datetime]:
    """Take up to `most` moments at which this judge may be called, evenly spaced, nobody else's.

    No more than begin within the next second. A guarded UPDATE: of two workers that ask at the same time each
    gets its own, and after a crash the next one goes on where the moments ended, without a burst.
    """
    assert judge.rate_per_minute is not None
    now = now or timezone.now()
    gap = timedelta(minutes=1) / judge.rate_per_minute
    row = Judge.stored.filter(pk=judge.pk)
    while True:
        stored = row.values_list("next_call_at", flat=True).get()
        first = stored if stored is not None and now < stored < now + LONGEST_RESERVATION else now
        count = min(most, max(0, -((first - now - AHEAD) // gap)))
        if count <= 0:
            return []
        unchanged = Q(next_call_at=stored) if stored is not None else Q(next_call_at__isnull=True)
        if row.filter(unchanged).update(next_call_at=first + count * gap):
            return [first + number * gap for number in range(count)]


class RateLimiter:
    """Lets calls begin when the rate limit allows it. `admit` is for the calling threads; `replenish` is for
    the job's own, which alone talks to the database."""

    def __init__(self, judge: Judge, halt: threading.Event) -> None:
        self._judge = judge
        self._halt = halt
        self._moments: queue.SimpleQueue[float] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._waiting = 0

    @property
    def limited(self) -> bool:
        """Is there a limit at all?"""
        return self._judge.rate_per_minute is not None

    def admit(self) -> None:
        """Wait until one more call may begin. Raises Stopped when the run is to end first."""
        if self._halt.is_set():
            raise Stopped
        if not self.limited:
            return
        with self._lock:
            self._waiting += 1
        try:
            moment = self._moment()
        finally:
            with self._lock:
                self._waiting -= 1
        if self._halt.wait(max(0.0, moment - time.monotonic())):
            raise Stopped

    def _moment(self) -> float:
        while True:
            try:
                return self._moments.get(timeout=ROUND_SECONDS)
            except queue.Empty:
                if self._halt.is_set():
                    raise Stopped from None

    def replenish(self, patiently: Callable[[Callable[[], list[datetime]]], list[datetime]]) -> None:
        """Take moments for the threads that wait for one. Called every few hundredths of a second."""
        if not self.limited or self._halt.is_set():
            return
        missing = self._waiting - self._moments.qsize()
        if missing <= 0:
            return
        for moment in patiently(lambda: reserve(self._judge, missing)):
            ahead = (moment - timezone.now()).total_seconds()
            self._moments.put(time.monotonic() + ahead)
