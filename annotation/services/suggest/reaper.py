"""Queue runs again whose worker died, and send jobs that were never sent."""

from datetime import datetime

from django.db.models import F, Q
from django.utils import timezone

from annotation.core import workflow
from annotation.core.i18n import translatable
from annotation.core.vocabulary import SuggestionRunState
from annotation.models import SuggestionRun

from .. import job_lease
from .lease import MAX_DEATHS

State = SuggestionRunState


def reap(*, now: datetime | None = None) -> int:
    """Queue again what a dead worker left running, and send again what nobody has begun; how many runs."""
    now = now or timezone.now()
    return _requeue_dead(now) + _send_again(now)


def _requeue_dead(now: datetime) -> int:
    dead = SuggestionRun.objects.filter(state=State.RUNNING, lease_until__lt=now)
    workflow.check(State.RUNNING, State.STOPPED)
    stopped = dead.filter(deaths__gte=MAX_DEATHS - 1).update(
        state=State.STOPPED,
        deaths=F("deaths") + 1,
        lease_until=None,
        finished_at=now,
        stop_reason=translatable(
            "The worker stopped unexpectedly {n} times without an answer in between; see the server’s log.",
            n=MAX_DEATHS,
        ),
    )
    workflow.check(State.RUNNING, State.QUEUED)
    queued = dead.update(state=State.QUEUED, deaths=F("deaths") + 1, lease_until=None, resend_at=None)
    return stopped + queued


def _send_again(now: datetime) -> int:
    waiting = SuggestionRun.objects.filter(
        job_lease.passed("lease_until", now),
        Q(not_before__isnull=True) | Q(not_before__lte=now),
        state=State.QUEUED,
    )
    return job_lease.send_again(waiting, "run_suggestions", not_until="resend_at", now=now)
