"""The hold of a worker on a transfer, and what the transfer has come to."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from django.db.models import QuerySet
from django.utils import timezone

from annotation.connections import LeftOut
from annotation.core.errors import StaleState
from annotation.core.i18n import translatable
from annotation.core.vocabulary import TransferState
from annotation.models import Transfer

from .. import job_lease

BEAT_SECONDS: Final = 2.0
NAP_SECONDS: Final = 5.0
MAX_LEFT_OUT: Final = 1_000


class Beat:
    """A worker's hold on a transfer: says now and then that it is alive, and how far it is. Every call raises
    StaleState once the transfer is stopped, or another worker's."""

    def __init__(self, row: Transfer) -> None:
        self.row = row
        self.done = 0
        self.counts: Counter[str] = Counter()
        self.left_out: list[dict[str, str]] = []
        self.files: list[dict[str, Any]] = []
        self._last = time.monotonic()

    def leave_out(self, items: Sequence[LeftOut]) -> None:
        """Count what does not come along, and keep the first of it with the reason."""
        self.counts["left_out"] += len(items)
        for item in items[: MAX_LEFT_OUT - len(self.left_out)]:
            self.left_out.append({"id": item.trace_id, "reason": item.reason})

    def __call__(self, *, now: bool = False) -> None:
        if now or time.monotonic() - self._last >= BEAT_SECONDS:
            self._last = time.monotonic()
            changes: dict[str, Any] = {"progress_done": self.done, "counts": dict(self.counts)}
            if not job_lease.renew(held(self.row), **changes):
                raise StaleState(translatable("This transfer was stopped."), code="transfer_stopped")

    def sleep(self, seconds: float) -> None:
        """Wait, and say meanwhile that one is alive."""
        while seconds > 0:
            self(now=True)
            time.sleep(min(seconds, NAP_SECONDS))
            seconds -= NAP_SECONDS


def held(row: Transfer) -> QuerySet[Transfer]:
    """The row, as long as it is in the attempt that `row` was read in."""
    return job_lease.mine(row).filter(state=TransferState.RUNNING)


def ending(beat: Beat, state: TransferState) -> dict[str, Any]:
    """Columns of a transfer that ends."""
    return {
        "state": state,
        "progress_done": beat.done,
        "counts": dict(beat.counts),
        "left_out": beat.left_out,
        "files": beat.files,
        "lease_until": None,
        "finished_at": timezone.now(),
    }
