"""Leases of imports: only the worker of the present attempt may write for one."""

from datetime import timedelta

from django.db.models import F, QuerySet
from django.utils import timezone

from annotation.core.errors import StaleState
from annotation.core.i18n import translatable
from annotation.core.vocabulary import ImportState
from annotation.models import ImportFile

LEASE = timedelta(seconds=60)
MAX_ATTEMPTS = 3


def take(source_id: int) -> bool:
    """Begin the next attempt at a waiting import; False when it is not waiting (any more)."""
    now = timezone.now()
    waiting = ImportFile.objects.filter(pk=source_id, state__in=(ImportState.UPLOADED, ImportState.QUEUED))
    changed = waiting.update(
        state=ImportState.RUNNING,
        lease_until=now + LEASE,
        heartbeat_at=now,
        attempt=F("attempt") + 1,
        progress_done=0,
        error="",
    )
    return changed == 1


def mine(source: ImportFile) -> QuerySet[ImportFile]:
    """The row of an import, as long as it is in the attempt that `source` was read in."""
    return ImportFile.objects.filter(pk=source.pk, state=ImportState.RUNNING, attempt=source.attempt)


def renew(source: ImportFile, done: int) -> None:
    """Say that this attempt is alive and has read `done` bytes.

    As the first statement of a transaction it keeps anybody else from ending the attempt until that ends.
    Raises StaleState when the import was abandoned, or given to another worker because this one was silent
    for too long.
    """
    now = timezone.now()
    alive = mine(source).update(heartbeat_at=now, lease_until=now + LEASE, progress_done=done)
    if not alive:
        raise StaleState(translatable("This import was stopped."), code="import_stopped")
