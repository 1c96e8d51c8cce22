"""Clear up after imports that failed, were abandoned, or lost their worker."""

import contextlib
import logging
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotation.core.errors import Unavailable
from annotation.core.i18n import translatable
from annotation.core.vocabulary import ImportState
from annotation.models import Exposure, ImportFile, Step, Subset, Task, Trajectory, TrajectoryContent

from .. import job_lease
from . import files
from .lease import MAX_ATTEMPTS, mine
from .receive import UNFINISHED

log = logging.getLogger(__name__)

SWEEP_ROWS = 500
# A file that no unfinished import needs, or an import that nobody began, is left over after this.
FORGOTTEN = timedelta(hours=1)


def fail(
    source: ImportFile, message: str, *, errors: list[dict[str, object]] | None = None, count: int = 0
) -> bool:
    """End this attempt at an import as failed and sweep it away; False when it is not ours to end any
    more."""
    ended = mine(source).update(
        state=ImportState.FAILED,
        error=message,
        errors=errors or [],
        error_count=count,
        lease_until=None,
        finished_at=timezone.now(),
    )
    if ended:
        sweep(source)
        files.discard(source.stored_as)
    return ended == 1


def sweep(source: ImportFile) -> None:
    """Delete the unpublished rows of an import, a few at a time, and the tasks that only they had."""
    hidden = Trajectory.objects.filter(source=source, live=False).exclude(source__state=ImportState.PUBLISHED)
    while True:
        with transaction.atomic():
            part = list(hidden.values_list("pk", flat=True)[:SWEEP_ROWS])
            if not part:
                break
            # Straight deletes: nothing else can refer to rows that were never live, so no cascade has to be
            # sought. What is derived is noted as seen before it is live.
            for rows in (
                Exposure.objects.filter(trajectory__in=part),
                Step.objects.filter(trajectory__in=part),
                TrajectoryContent.objects.filter(trajectory__in=part),
                Trajectory.objects.filter(pk__in=part),
            ):
                rows._raw_delete(rows.db)
    if source.subset_id is None:
        return
    with transaction.atomic():
        Subset.objects.select_for_update(no_key=True).get(pk=source.subset_id)
        Task.objects.filter(
            ~Exists(Trajectory.objects.filter(task=OuterRef("pk"))), subset=source.subset_id
        ).delete()


def reap(*, now: datetime | None = None) -> int:
    """Queue again what a dead worker left running, send again what was never begun, sweep what was abandoned.

    Every worker calls this now and then. Returns the number of imports it did something about.
    """
    now = now or timezone.now()
    touched = _requeue_dead(now) + _send_again(now) + _sweep_ended(now)
    _delete_forgotten_files(now)
    return touched


def _requeue_dead(now: datetime) -> int:
    touched = 0
    for source in ImportFile.objects.filter(state=ImportState.RUNNING, lease_until__lt=now):
        if source.attempt >= MAX_ATTEMPTS:
            touched += fail(
                source,
                translatable(
                    "The import stopped unexpectedly {n} times; see the server’s log.", n=MAX_ATTEMPTS
                ),
            )
        else:
            dead = mine(source).filter(lease_until__lt=now)
            touched += dead.update(state=ImportState.QUEUED, lease_until=None)
    return touched


def _send_again(now: datetime) -> int:
    waiting = ImportFile.objects.filter(state=ImportState.QUEUED)
    # the lease of a queued import says until when not to send it again
    return job_lease.send_again(waiting, "run_import", not_until="lease_until", now=now)


def _sweep_ended(now: datetime) -> int:
    ImportFile.objects.filter(state=ImportState.UPLOADED, created_at__lt=now - FORGOTTEN).update(
        state=ImportState.ABANDONED, finished_at=now
    )
    leftovers = ImportFile.objects.filter(
        Exists(Trajectory.objects.filter(source=OuterRef("pk"), live=False)),
        state__in=(ImportState.ABANDONED, ImportState.FAILED),
    )
    touched = 0
    for source in leftovers:
        sweep(source)
        touched += 1
    return touched


def _delete_forgotten_files(now: datetime) -> None:
    """Bytes that a killed process left: of imports that ended or never began, and of files still arriving."""
    limit = now - FORGOTTEN
    for path in Path(settings.FILE_UPLOAD_TEMP_DIR).glob("*"):
        # another process may have been quicker
        with contextlib.suppress(FileNotFoundError):
            if path.is_file() and path.stat().st_mtime < limit.timestamp():
                path.unlink()
    needed = frozenset(ImportFile.objects.filter(state__in=UNFINISHED).values_list("stored_as", flat=True))
    try:
        for name in files.older_than(limit, needed):
            files.discard(name)
    except Unavailable as away:
        log.warning("forgotten files stay for now", extra={"why": away.message})
