"""Leases of background jobs: one worker at a time, for as long as it renews its lease.

Every change is a guarded UPDATE of the job's row (`JobFields`), so it holds between processes and machines.
Which kind of job it is, and when it may begin, is said by the queryset that is passed in.
"""

from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from annotation import dispatch
from annotation.models import JobFields

LEASE = timedelta(seconds=60)
RESENT_AT_ONCE = 100

Job = TypeVar("Job", bound=JobFields)


def take(waiting: QuerySet[Job], **changes: Any) -> bool:
    """Begin the next attempt at the one job that `waiting` selects while it may be begun.

    `changes` are further columns to set, the running state among them. False when there is nothing to begin.
    """
    now = timezone.now()
    changed = waiting.update(
        lease_until=now + LEASE, heartbeat_at=now, attempt=F("attempt") + 1, error="", **changes
    )
    return changed == 1


def mine(job: Job) -> QuerySet[Job]:
    """The row of a job, as long as nobody has begun another attempt since `job` was read."""
    return type(job)._default_manager.filter(pk=job.pk, attempt=job.attempt)


def renew(held: QuerySet[Job], **changes: Any) -> bool:
    """Say that the worker of the row `held` (of `mine`) is alive; False when it is another's by now."""
    now = timezone.now()
    return held.update(heartbeat_at=now, lease_until=now + LEASE, **changes) == 1


def passed(column: str, now: datetime) -> Q:
    """Rows whose time in `column` is over, or was never set."""
    return Q(**{f"{column}__isnull": True}) | Q(**{f"{column}__lt": now})


def send_again(waiting: QuerySet[Job], task: str, *, not_until: str, now: datetime) -> int:
    """Send the job `task` again for rows of `waiting` that nobody has begun; how many (at most 100).

    The column `not_until` says until when a row is left alone, and is set by this: of several reapers one
    sends it.
    """
    due = waiting.filter(passed(not_until, now))
    sent = 0
    for pk in list(due.order_by("pk").values_list("pk", flat=True)[:RESENT_AT_ONCE]):
        if due.filter(pk=pk).update(**{not_until: now + LEASE}):
            dispatch.send(task, pk)
            sent += 1
    return sent
