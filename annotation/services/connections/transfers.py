"""Transfers: asked for, run by a worker under a lease, stopped, and begun anew when their worker died."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Final, cast

from django.db import IntegrityError, InterfaceError, OperationalError, transaction
from django.utils import timezone

from annotation import dispatch
from annotation.connections import Connected, Store, kind_named
from annotation.core.errors import Conflict, Invalid, StaleState, TristepError
from annotation.core.i18n import translatable
from annotation.core.vocabulary import UNFINISHED_TRANSFERS, Direction, TransferState
from annotation.models import Connection, Release, Transfer
from annotation.policies import OPERATOR, Actor, recorded, require

from .. import audit, job_lease
from ..ingest.receive import MAX_SUBSET
from ..release import admit
from .lease import Beat, ending, held
from .pulling import pull
from .pulling_files import pull_files
from .pushing import push
from .pushing_releases import options_of, push_releases
from .setting_up import opened

log = logging.getLogger(__name__)

CALL_SECONDS: Final = 30.0
"""The time of one call: with the waits between calls, which renew the lease, a worker is never silent for as
long as its lease lasts."""
MAX_ATTEMPTS: Final = 3
QUEUE_PATIENCE: Final = timedelta(seconds=30)
State = TransferState


@transaction.atomic
def ask_for(
    *,
    actor: Actor,
    connection: Connection,
    direction: str,
    dry: bool = False,
    subset: str = "",
    versions: bool = False,
    release: Release | None = None,
    enqueue: bool = True,
) -> Transfer:
    """Queue a pull or push. A pull brings what is new into `subset` (empty: the connection's); with
    `versions` what has changed since it was labelled, into another. A push to a store takes `release` there,
    `None` for the newest, and notes that the person now knows what is in it. With `enqueue` False the caller
    runs it (`run_transfer`). Raises Conflict while another one of the connection is under way, and
    Invalid."""
    require(actor, "connections.change", connection)
    if direction == Direction.PULL:
        require(actor, "import", connection)
    subset = subset.strip() or connection.subset
    if versions and subset == connection.subset:
        sentence = translatable("New versions go into another subset; the labels stay with the old ones.")
        raise Invalid(sentence, fields={"subset": sentence})
    if len(subset) > MAX_SUBSET:
        sentence = translatable("At most {n} characters.", n=MAX_SUBSET)
        raise Invalid(sentence, fields={"subset": sentence})
    pushed = _release(actor, connection, release, dry) if direction == Direction.PUSH else None
    try:
        with transaction.atomic():
            row = Transfer.objects.create(
                connection=connection,
                project=connection.project,
                direction=Direction(direction),
                dry=dry,
                versions=versions and direction == Direction.PULL,
                subset=subset if direction == Direction.PULL else "",
                release=pushed,
                lease_until=timezone.now() + QUEUE_PATIENCE if enqueue else None,
                created_by=recorded(actor),
                created_at=timezone.now(),
            )
    except IntegrityError as error:
        raise Conflict(
            translatable("Another transfer of this connection is under way."), code="at_work"
        ) from error
    verb = "connection.pull" if direction == Direction.PULL else "connection.push"
    audit.record(actor=actor, verb=verb, project=connection.project, obj=connection, dry=dry)
    if enqueue:
        dispatch.send("run_transfer", row.pk)
    return row


def _release(actor: Actor, connection: Connection, release: Release | None, dry: bool) -> Release | None:
    """The release that a push takes to a store; `None` where labels are pushed. Raises Invalid."""
    if not kind_named(connection.kind).store:
        if release is not None:
            sentence = translatable("Labels are pushed over this connection, and no releases.")
            raise Invalid(sentence, fields={"release": sentence})
        return None
    release = release or Release.objects.filter(project=connection.project_id).order_by("-number").first()
    if release is None or release.project_id != connection.project_id:
        sentence = translatable("The project has no release yet; freeze one first.")
        raise Invalid(sentence, code="no_release", fields={"release": sentence})
    if dry:
        require(actor, "release.view", release)
    else:
        admit(actor=actor, release=release, options=options_of(connection))
    return release


@transaction.atomic
def cancel(*, actor: Actor, transfer: Transfer) -> None:
    """Stop a transfer. A pull has brought nothing then; a push leaves what it has pushed, and the next one
    goes on from there. Raises StaleState when it has ended."""
    require(actor, "connections.change", transfer)
    stopped = Transfer.objects.filter(pk=transfer.pk, state__in=UNFINISHED_TRANSFERS).update(
        state=State.CANCELLED, lease_until=None, finished_at=timezone.now()
    )
    if not stopped:
        raise StaleState(translatable("This transfer has already ended."), code="transfer_ended")
    audit.record(actor=actor, verb="connection.stop", project=transfer.project, obj=transfer.connection)


def run_transfer(*, transfer_id: int) -> Transfer:
    """Run a queued transfer to its end: done, or failed with the reason in its row.

    Idempotent: one that another worker has or that has ended is left alone, and one that died half-way is
    begun anew. When the database fails under it, it is left to the reaper.
    """
    waiting = Transfer.objects.filter(pk=transfer_id, state=State.QUEUED)
    begun = job_lease.take(waiting, state=State.RUNNING, progress_done=0)
    row = Transfer.objects.select_related("connection__project", "created_by").get(pk=transfer_id)
    if not begun:
        return row
    beat = Beat(row)
    try:
        _run(row, beat)
    except StaleState:
        log.info("transfer %s was stopped, or is another worker's", row.pk)
    except TristepError as error:
        _end(beat, State.FAILED, error=error.message)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        _end(beat, State.FAILED, error=translatable("The transfer failed; see the server’s log."))
        raise
    row.refresh_from_db()
    return row


def _run(row: Transfer, beat: Beat) -> None:
    from annotation.outside.server import Patience  # loads httpx, which only workers need

    actor: Actor = row.created_by or OPERATOR
    require(actor, "connections.change", row.connection)
    connected, closing = opened(row.connection, Patience(seconds=CALL_SECONDS, sleep=beat.sleep))
    with closing:
        connected.check()
        beat(now=True)
        if kind_named(row.connection.kind).store:
            store = cast(Store, connected)
            if row.is_pull:
                pull_files(actor, row, store, beat)
            else:
                push_releases(actor, row, store, beat)
        elif row.is_pull:
            pull(actor, row, cast(Connected, connected), beat)
            return
        else:
            push(row, cast(Connected, connected), beat)
        _end(beat, State.DONE)


def _end(beat: Beat, state: TransferState, *, error: str = "") -> None:
    held(beat.row).update(**ending(beat, state), error=error)


def reap(*, now: datetime | None = None) -> int:
    """Queue again what a dead worker left running, and send again what was never begun; how many."""
    now = now or timezone.now()
    touched = 0
    for row in Transfer.objects.filter(state=State.RUNNING, lease_until__lt=now):
        dead = held(row).filter(lease_until__lt=now)
        if row.attempt >= MAX_ATTEMPTS:
            message = translatable(
                "The transfer stopped unexpectedly {n} times; see the server’s log.", n=MAX_ATTEMPTS
            )
            touched += dead.update(state=State.FAILED, error=message, lease_until=None, finished_at=now)
        else:
            touched += dead.update(state=State.QUEUED, lease_until=None)
    waiting = Transfer.objects.filter(state=State.QUEUED)
    return touched + job_lease.send_again(waiting, "run_transfer", not_until="lease_until", now=now)
