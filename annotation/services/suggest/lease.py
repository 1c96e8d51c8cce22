"""Leases of runs: one worker at a time holds a run, for as long as it renews its lease."""

from datetime import timedelta

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.core import workflow
from annotation.core.vocabulary import SuggestionItemState, SuggestionRunState
from annotation.models import SuggestionItem, SuggestionRun

LEASE = timedelta(seconds=60)
# So many workers may die one after the other without storing an answer before the run is taken to kill them.
MAX_DEATHS = 3


def take(run_id: int) -> bool:
    """Begin the next attempt at a queued run; False when it is not waiting, or somebody still holds it.

    A worker that waits for calls in flight after a pause holds the run until they are stored, so that nothing
    is asked twice when it is resumed at once.
    """
    now = timezone.now()
    workflow.check(SuggestionRunState.QUEUED, SuggestionRunState.RUNNING)
    waiting = SuggestionRun.objects.filter(
        Q(lease_until__isnull=True) | Q(lease_until__lt=now),
        Q(not_before__isnull=True) | Q(not_before__lte=now),
        pk=run_id,
        state=SuggestionRunState.QUEUED,
    )
    changed = waiting.update(
        state=SuggestionRunState.RUNNING,
        lease_until=now + LEASE,
        heartbeat_at=now,
        attempt=F("attempt") + 1,
        started_at=Coalesce(F("started_at"), now),
        finished_at=None,
        not_before=None,
        stop_reason="",
        error="",
    )
    return changed == 1


def load(run_id: int) -> SuggestionRun:
    """The run that was just taken, its figures counted anew."""
    run = SuggestionRun.objects.select_related("judge", "project", "created_by").get(pk=run_id)
    _recount(run)
    return run


def _recount(run: SuggestionRun) -> None:
    """Begin with figures that are exactly those of the items."""
    items = SuggestionItem.objects.filter(run=run)
    run.progress_total = items.count()
    run.progress_failed = items.filter(state=SuggestionItemState.FAILED).count()
    due = items.filter(state=SuggestionItemState.DUE).count()
    run.progress_done = run.progress_total - run.progress_failed - due
    mine(run).update(
        progress_total=run.progress_total,
        progress_failed=run.progress_failed,
        progress_done=run.progress_done,
    )


def mine(run: SuggestionRun) -> QuerySet[SuggestionRun]:
    """The row of a run, as long as nobody has begun another attempt since `run` was taken."""
    return SuggestionRun.objects.filter(pk=run.pk, attempt=run.attempt)


def renew(run: SuggestionRun) -> bool:
    """Say that this attempt is alive, whatever has become of the run's state; False when it is another's."""
    now = timezone.now()
    return mine(run).update(heartbeat_at=now, lease_until=now + LEASE) == 1


def release(run: SuggestionRun) -> None:
    """Let go of the run: everything that this attempt asked for is stored or given up."""
    mine(run).update(lease_until=None)
