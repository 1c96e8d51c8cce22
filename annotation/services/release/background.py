"""Freeze in the background: ask for a release, work at it, stop it, and see to what a dead worker left.

The row of a `Freeze` is the truth about it. While a worker reads and writes records, in one transaction on
PostgreSQL, a thread with a connection of its own says that it is alive and how far it is; the row becomes
`frozen` in the very transaction that freezes the release, so that whoever was stopped freezes nothing.
"""

import logging
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import Error, InterfaceError, OperationalError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation import dispatch
from annotation.core.errors import Conflict, StaleState, TristepError
from annotation.core.i18n import translatable
from annotation.core.text import escape, unescape
from annotation.core.vocabulary import UNFINISHED_FREEZES, FreezeState
from annotation.models import Freeze, Project, Release
from annotation.policies import OPERATOR, Actor, recorded, require

from .. import audit, job_lease
from ..transitions import advance
from . import contents
from .contents import Progress
from .freeze import freeze, nothing, taken
from .freeze_request import FreezeRequest, wanted
from .outline import outline

log = logging.getLogger(__name__)

BEAT_SECONDS = 1.0
MAX_ATTEMPTS = 3
QUEUE_PATIENCE = timedelta(seconds=30)
STOPPED = translatable("This freeze was stopped; nothing was frozen.")


@transaction.atomic
def start_freeze(
    *,
    actor: Actor,
    project: Project,
    version: str,
    note: str = "",
    title: str = "",
    licence: str = "",
    leave_out: Collection[str] = (),
    difficulty: Sequence[float] | None = None,
) -> Freeze:
    """Queue the freezing of a release. The same release asked for twice (a double click) is one.

    Raises what `freeze` raises beforehand, and Conflict (code "freezing") while another one of the project is
    being frozen.
    """
    require(actor, "release.freeze", project)
    request = wanted(
        project=project,
        version=version,
        note=note,
        title=title,
        licence=licence,
        leave_out=leave_out,
        difficulty=difficulty,
    )
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if Release.objects.filter(project=project, version=request.version).exists():
        raise taken(request.version)
    unfinished = Freeze.objects.filter(project=project, state__in=UNFINISHED_FREEZES).first()
    if unfinished is not None:
        if _same(unfinished, request):
            return unfinished
        message = translatable(
            "Release {version} is being frozen right now; wait for it, or stop it.",
            version=unfinished.version,
        )
        raise Conflict(message, code="freezing")
    everything = contents.chosen(project, request.leave_out)
    if not (everything.exists() if request.difficulty is None else contents.picked(project, request)[0]):
        raise nothing(request)
    now = timezone.now()
    job = Freeze.objects.create(
        project=project,
        version=request.version,
        title=request.title,
        licence=escape(request.licence),
        note=escape(request.note),
        leave_out=list(request.leave_out),
        difficulty=_ends(request),
        lease_until=now + QUEUE_PATIENCE,
        created_by=recorded(actor),
        created_at=now,
    )
    audit.record(actor=actor, verb="freeze.start", project=project, obj=job, version=job.version)
    dispatch.send("run_freeze", job.pk)
    return job


def _same(job: Freeze, request: FreezeRequest) -> bool:
    words = (job.version, unescape(job.note), job.title, unescape(job.licence))
    asked = (request.version, request.note, request.title, request.licence)
    picks = (tuple(job.leave_out), job.difficulty)
    return words == asked and picks == (request.leave_out, _ends(request))


def _ends(request: FreezeRequest) -> list[float] | None:
    band = request.difficulty
    return None if band is None else [band.low, band.high]


@transaction.atomic
def cancel_freeze(*, actor: Actor, job: Freeze) -> None:
    """Stop a freeze that has not come to its end; nothing of it stays. Raises StaleState when it has."""
    require(actor, "release.freeze", job.project)
    now = timezone.now()
    advance(Freeze, job.pk, UNFINISHED_FREEZES, FreezeState.CANCELLED, finished_at=now, lease_until=None)
    audit.record(actor=actor, verb="freeze.cancel", project=job.project, obj=job, version=job.version)


def run_freeze(*, job_id: int) -> Freeze:
    """Work at a queued freeze to its end: frozen, or failed with the reason in its row.

    Idempotent: one that another worker has or that has ended is left alone; one that died half-way is begun
    anew, and on SQLite takes up the records that lie there. When the database fails under it, it is left to
    the reaper.
    """
    waiting = Freeze.objects.filter(pk=job_id, state=FreezeState.QUEUED)
    begun = job_lease.take(waiting, state=FreezeState.RUNNING, progress_done=0)
    job = Freeze.objects.select_related("project", "created_by").get(pk=job_id)
    if not begun:
        return job
    try:
        with _beating(job) as progress:
            made = freeze(
                actor=job.created_by or OPERATOR,
                project=job.project,
                version=job.version,
                note=unescape(job.note),
                title=job.title,
                licence=unescape(job.licence),
                leave_out=job.leave_out,
                difficulty=job.difficulty,
                progress=progress,
                frozen=lambda release: _end(job, release),
            )
    except StaleState:
        log.info("freeze %s was stopped", job.pk)
    except TristepError as error:
        _fail(job, error.message)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        _fail(job, translatable("The release could not be frozen; see the server’s log."))
        raise
    else:
        # so that whoever looks at the release first does not wait for it
        outline(made)
    job.refresh_from_db()
    return job


def _held(job: Freeze) -> QuerySet[Freeze]:
    """The row, as long as it is in the attempt that `job` was read in."""
    return job_lease.mine(job).filter(state=FreezeState.RUNNING)


def _end(job: Freeze, release: Release) -> None:
    """Part of the transaction that freezes the release: who was stopped by now undoes it."""
    ended = _held(job).update(
        state=FreezeState.FROZEN,
        release=release,
        progress_done=release.record_count,
        progress_total=release.record_count,
        lease_until=None,
        finished_at=timezone.now(),
    )
    if not ended:
        raise StaleState(STOPPED, code="freeze_stopped")


def _fail(job: Freeze, message: str) -> int:
    return _held(job).update(
        state=FreezeState.FAILED, error=message, lease_until=None, finished_at=timezone.now()
    )


@contextmanager
def _beating(job: Freeze) -> Iterator[Progress]:
    """Renew the lease beside the work, and write down how far it is. The progress that is given raises
    StaleState when the freeze was stopped, or given to another worker."""
    at, lost, over = [0, 0], threading.Event(), threading.Event()

    def beat() -> None:
        try:
            while not over.wait(BEAT_SECONDS):
                try:
                    held = job_lease.renew(_held(job), progress_done=at[0], progress_total=at[1])
                except Error as error:  # tried again in a second; the lease lasts for a minute
                    log.warning("freeze %s: no heartbeat (%s)", job.pk, type(error).__name__)
                    continue
                if not held:
                    lost.set()
                    return
        finally:
            connection.close()

    def progress(done: int, total: int) -> None:
        at[:] = done, total
        if lost.is_set():
            raise StaleState(STOPPED, code="freeze_stopped")

    thread = threading.Thread(target=beat, name=f"freeze-{job.pk}", daemon=True)
    thread.start()
    try:
        yield progress
    finally:
        over.set()
        thread.join()


def reap(*, now: datetime | None = None) -> int:
    """Queue again what a dead worker left running, and send again what was never begun; how many."""
    now = now or timezone.now()
    touched = 0
    for job in Freeze.objects.filter(state=FreezeState.RUNNING, lease_until__lt=now):
        dead = _held(job).filter(lease_until__lt=now)
        if job.attempt >= MAX_ATTEMPTS:
            message = translatable(
                "Freezing stopped unexpectedly {n} times; see the server’s log.", n=MAX_ATTEMPTS
            )
            touched += dead.update(state=FreezeState.FAILED, error=message, lease_until=None, finished_at=now)
        else:
            touched += dead.update(state=FreezeState.QUEUED, lease_until=None)
    waiting = Freeze.objects.filter(state=FreezeState.QUEUED)
    # the lease of a queued freeze says until when not to send it again
    return touched + job_lease.send_again(waiting, "run_freeze", not_until="lease_until", now=now)
