"""Leases of runs: one worker at a time holds a run, for as long as it renews its lease."""

from datetime import datetime

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.core import workflow
from annotation.core.vocabulary import ENDED_RUNS, SuggestionItemState, SuggestionRunState, WebhookEvent
from annotation.models import SuggestionItem, SuggestionRun
from annotation.policies import OPERATOR

from .. import audit, job_lease, webhooks

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
        job_lease.passed("lease_until", now),
        Q(not_before__isnull=True) | Q(not_before__lte=now),
        pk=run_id,
        state=SuggestionRunState.QUEUED,
    )
    return job_lease.take(
        waiting,
        state=SuggestionRunState.RUNNING,
        started_at=Coalesce(F("started_at"), now),
        finished_at=None,
        not_before=None,
        stop_reason="",
    )


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
    return job_lease.mine(run)


def renew(run: SuggestionRun) -> bool:
    """Say that this attempt is alive, whatever has become of the run's state; False when it is another's."""
    return job_lease.renew(mine(run))


def release(run: SuggestionRun) -> None:
    """Let go of the run: everything that this attempt asked for is stored or given up."""
    mine(run).update(lease_until=None)


@transaction.atomic
def end(
    run: SuggestionRun, state: SuggestionRunState, reason: str, *, not_before: datetime | None = None
) -> None:
    """Write down how this attempt ended and let go of the run; what somebody made of it meanwhile stands.

    `reason` is one sentence for people; `not_before` is when a run that is queued again may go on.
    """
    workflow.check(SuggestionRunState.RUNNING, state)
    over = state in ENDED_RUNS
    running = mine(run).filter(state=SuggestionRunState.RUNNING)
    ended = running.update(
        state=state,
        stop_reason=reason,
        finished_at=timezone.now() if over else None,
        not_before=not_before,
        resend_at=None,
    )
    release(run)
    if ended and over:
        webhooks.note_each(WebhookEvent.RUN_FINISHED, project=run.project_id, keys=[run.pk])
        audit.record(
            actor=run.created_by or OPERATOR,
            verb="suggestions.end",
            project=run.project,
            obj=run,
            state=state.value,
        )
