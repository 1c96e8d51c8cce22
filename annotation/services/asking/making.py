"""Make the prompts of a release, in the background or at the command line."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation import dispatch
from annotation.core.asking.drawing import drawn_json
from annotation.core.asking.making import PromptCounts, PromptMaking
from annotation.core.asking.settings import PromptSettings
from annotation.core.errors import Conflict, Invalid, StaleState, TristepError
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.kinds import Feature
from annotation.core.vocabulary import PromptSetState
from annotation.models import PromptSet, Release
from annotation.policies import Actor, recorded, require
from annotation.reports.releases.prompts import reader

from .. import audit, job_lease

log = logging.getLogger(__name__)

BEAT_SECONDS: Final = 5.0
MAX_ATTEMPTS: Final = 3
MAX_NAME: Final = 64
QUEUE_PATIENCE: Final = timedelta(seconds=30)
_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
State = PromptSetState


@transaction.atomic
def make_prompts(
    *, actor: Actor, release: Release, name: str, options: PromptSettings, enqueue: bool = True
) -> PromptSet:
    """Queue a set of prompts under a name. The same one asked for twice (a double click) is one, and one that
    failed is made anew. With `enqueue` False the caller makes it (`run_prompts`) in its own process.

    Raises Invalid for a name that cannot be, or a text for a subset that the release has not; Conflict for a
    release that is withdrawn or has no decisions, and where the name is taken.
    """
    require(actor, "prompts.make", release)
    release.project.of_kind.require(Feature.PAIRS)
    if hasattr(release, "withdrawal"):
        raise Conflict(
            translatable("Release {version} is withdrawn; ask from another.", version=release.version),
            code="withdrawn",
        )
    _check(release, name, options)
    kept = canonical_json(options.as_json()).decode()
    now = timezone.now()
    fresh = {
        "options": kept,
        "state": State.QUEUED,
        "error": "",
        "progress_done": 0,
        "progress_total": 2 * release.record_count,
        "lease_until": now + QUEUE_PATIENCE,
        "created_by": recorded(actor),
        "created_at": now,
    }
    row, made = PromptSet.objects.select_for_update().get_or_create(
        release=release, name=name, defaults=fresh
    )
    if not made:
        if row.options == kept and row.state != State.FAILED:
            return row
        if row.state != State.FAILED:
            taken = translatable("This release has other prompts called “{name}”.", name=name)
            raise Conflict(taken, code="name_taken")
        PromptSet.objects.filter(pk=row.pk).update(**fresh)
        row.refresh_from_db()
    audit.record(
        actor=actor,
        verb="prompts.make",
        project=release.project,
        obj=row,
        release=release.version,
        name=name,
        shots=options.shots,
        seed=options.seed,
        split=options.split,
        tokens=options.tokens,
    )
    if enqueue:
        dispatch.send("run_prompts", row.pk)
    return row


def _check(release: Release, name: str, options: PromptSettings) -> None:
    problems = {}
    if not name or len(name) > MAX_NAME or _NAME.fullmatch(name) is None:
        problems["name"] = translatable("Letters, digits, hyphens and underscores, at most {n}.", n=MAX_NAME)
    subsets = release.parsed_manifest()["subsets"]
    for subset in options.templates:
        if subset not in subsets:
            problems[f"templates.{subset}"] = translatable(
                "The release has no subset “{subset}”.", subset=subset[:64]
            )
    if problems:
        raise Invalid(next(iter(problems.values())), fields=problems)


Progress = Callable[[int, int], None]


def run_prompts(*, set_id: int, progress: Progress = lambda _done, _total: None) -> PromptSet:
    """Make a queued set to its end: made, or failed with the reason in its row.

    Idempotent: one that another worker has or that has ended is left alone, and one that died half-way is
    begun anew. When the database fails under it, it is left to the reaper.
    """
    waiting = PromptSet.objects.filter(pk=set_id, state=State.QUEUED)
    begun = job_lease.take(waiting, state=State.RUNNING, progress_done=0)
    row = PromptSet.objects.select_related("release__project").get(pk=set_id)
    if not begun:
        return row
    try:
        _make(row, progress)
    except StaleState:
        log.info("prompts %s are made by another worker", row.pk)
    except TristepError as error:
        _fail(row, error.message)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        _fail(row, translatable("The prompts could not be made; see the server’s log."))
        raise
    row.refresh_from_db()
    return row


def _make(row: PromptSet, progress: Progress) -> None:
    done, beaten = 0, time.monotonic()

    def on_read(n: int) -> None:
        nonlocal done, beaten
        done += n
        progress(done, row.progress_total)
        if time.monotonic() - beaten >= BEAT_SECONDS:
            beaten = time.monotonic()
            if not job_lease.renew(_held(row), progress_done=done):
                raise StaleState(translatable("Another worker makes these prompts."))

    settings, counts = row.parsed_settings, PromptCounts()
    making = PromptMaking(reader(row.release, on_read), settings)
    making.look()
    for line in making.lines():
        counts.add(line, settings.shots)
    _held(row).update(
        state=State.MADE,
        drawn=canonical_json(drawn_json(making.drawn)).decode(),
        counts=canonical_json(counts.as_json(making)).decode(),
        marked=making.marked.packed(),
        digest=counts.digest,
        progress_done=row.progress_total,
        lease_until=None,
        finished_at=timezone.now(),
    )


def _held(row: PromptSet) -> QuerySet[PromptSet]:
    """The row, as long as it is in the attempt that `row` was read in."""
    return job_lease.mine(row).filter(state=State.RUNNING)


def _fail(row: PromptSet, message: str) -> None:
    _held(row).update(state=State.FAILED, error=message, lease_until=None, finished_at=timezone.now())


def reap(*, now: datetime | None = None) -> int:
    """Queue again what a dead worker left running, and send again what was never begun; how many."""
    now = now or timezone.now()
    touched = 0
    for row in PromptSet.objects.filter(state=State.RUNNING, lease_until__lt=now):
        dead = _held(row).filter(lease_until__lt=now)
        if row.attempt >= MAX_ATTEMPTS:
            message = translatable(
                "Making the prompts stopped unexpectedly {n} times; see the server’s log.", n=MAX_ATTEMPTS
            )
            touched += dead.update(state=State.FAILED, error=message, lease_until=None, finished_at=now)
        else:
            touched += dead.update(state=State.QUEUED, lease_until=None)
    waiting = PromptSet.objects.filter(state=State.QUEUED)
    return touched + job_lease.send_again(waiting, "run_prompts", not_until="lease_until", now=now)
