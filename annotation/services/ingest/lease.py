"""Leases of imports: the worker of the present attempt, and nobody else, may write for it."""

from django.db.models import QuerySet

from annotation.core.errors import StaleState
from annotation.core.i18n import translatable
from annotation.core.vocabulary import ImportState
from annotation.models import ImportFile

from .. import job_lease

MAX_ATTEMPTS = 3


def take(source_id: int) -> bool:
    """Begin the next attempt at a waiting import; False when it is not waiting (any more)."""
    waiting = ImportFile.objects.filter(pk=source_id, state__in=(ImportState.UPLOADED, ImportState.QUEUED))
    return job_lease.take(waiting, state=ImportState.RUNNING, progress_done=0)


def mine(source: ImportFile) -> QuerySet[ImportFile]:
    """The row of an import, as long as it is in the attempt that `source` was read in."""
    return job_lease.mine(source).filter(state=ImportState.RUNNING)


def renew(source: ImportFile, done: int) -> None:
    """Say that this attempt is alive and has read `done` bytes.

    As the first statement of a transaction it keeps anybody else from ending the attempt until that ends.
    Raises StaleState when the import was abandoned, or given to another worker because this one was silent
    for too long.
    """
    if not job_lease.renew(mine(source), progress_done=done):
        raise StaleState(translatable("This import was stopped."), code="import_stopped")
