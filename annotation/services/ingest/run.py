"""Running an import: lease, read, write in batches, publish; and sweeping up after those that ended
otherwise."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import BinaryIO

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from annotation import dispatch
from annotation.core.errors import Conflict, ImportRefused, StaleState, TristepError
from annotation.core.vocabulary import ImportState
from annotation.importers import FORMATS, ReadContext, RecordError
from annotation.models import (
    Assignment,
    ImportFile,
    Project,
    Step,
    Subset,
    Task,
    Trajectory,
    TrajectoryContent,
)
from annotation.policies import OPERATOR, Actor

from .. import audit, projects
from ..transitions import advance
from .receive import stored_path
from .rows import POSITIONS, Prepared, Tally, prepare, write_batch

log = logging.getLogger(__name__)

BATCH_RECORDS = 100
BATCH_BYTES = 8 * 1024 * 1024
LEASE = timedelta(seconds=60)
HEARTBEAT_SECONDS = 1.0
MAX_ATTEMPTS = 3
LISTED_ERRORS = 1_000
SWEEP_ROWS = 500

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Findings:
    """The errors of a file: the first 1,000 as rows to show, and the count of all."""

    count: int = 0
    listed: list[dict[str, object]] = field(default_factory=list)

    def add(self, error: RecordError) -> None:
        """Count an error, and list it while there is room."""
        self.count += 1
        if len(self.listed) < LISTED_ERRORS:
            self.listed.append({"line": error.line, "field": error.field, "reason": error.reason})


class CountingStream:
    """A binary stream that knows how far it has been read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.position = 0

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, as of any stream."""
        data = self._stream.read(size)
        self.position += len(data)
        return data

    def readline(self, size: int = -1) -> bytes:
        """One line, or at most `size` bytes of it."""
        data = self._stream.readline(size)
        self.position += len(data)
        return data

    def readable(self) -> bool:
        """Always."""
        return True


def run_import(*, source_id: int, actor: Actor = OPERATOR, progress: Progress | None = None) -> ImportFile:
    """Import a received file to its end: published, or failed with everything that is wrong with it.

    Idempotent: one that is leased by somebody else or has ended is left alone, one that died half-way is
    begun anew. `progress(done, total)` is called in bytes. Raises ImportRefused (with the report) when the
    file is refused.
    """
    lease = timezone.now() + LEASE
    claimed = ImportFile.objects.filter(
        pk=source_id, state__in=(ImportState.UPLOADED, ImportState.QUEUED)
    ).update(
        state=ImportState.RUNNING,
        lease_until=lease,
        heartbeat_at=timezone.now(),
        attempt=F("attempt") + 1,
        progress_done=0,
        error="",
    )
    source = ImportFile.objects.select_related("project", "subset").get(pk=source_id)
    if not claimed:
        return source
    sweep(source)
    try:
        tally, findings = _read(source, progress)
        if findings.count:
            return _refuse(source, findings)
        _publish(source, tally, actor)
    except (StaleState, FileNotFoundError) as error:
        # Abandoned or taken over while it ran, or its bytes are gone: nothing of it stays.
        _fail(
            source,
            str(error) if isinstance(error, TristepError) else "The uploaded file is gone; upload it again.",
        )
    except Conflict as error:
        _fail(source, error.message)
    source.refresh_from_db()
    if source.state in (ImportState.PUBLISHED, ImportState.FAILED):
        stored_path(source).unlink(missing_ok=True)
    if source.state == ImportState.FAILED:
        raise ImportRefused(source.error, report={"errors": source.errors, "count": source.error_count})
    return source


def _read(source: ImportFile, progress: Progress | None) -> tuple[Tally, Findings]:
    """Read the whole file; write batches until the first error, then only look for more errors."""
    tally, findings = Tally(), Findings()
    batch: list[Prepared] = []
    held = 0
    beat = time.monotonic()
    context = ReadContext(
        filename=source.filename,
        policy_models={int(index): name for index, name in source.policy_models.items()},
    )
    with stored_path(source).open("rb") as file:
        stream = CountingStream(file)
        for item in FORMATS[source.format].read(stream, context):  # type: ignore[arg-type]
            if isinstance(item, RecordError):
                findings.add(item)
            elif not findings.count:
                batch.append(prepare(item))
                held += len(item.raw)
                if len(batch) >= BATCH_RECORDS or held >= BATCH_BYTES:
                    _flush(source, batch, tally, findings)
                    held = 0
            if time.monotonic() - beat >= HEARTBEAT_SECONDS:
                _heartbeat(source, stream.position)
                beat = time.monotonic()
            if progress is not None:
                progress(stream.position, source.size)
        if batch and not findings.count:
            _flush(source, batch, tally, findings)
    if not findings.count and not tally.created and not tally.unchanged and not tally.replaced:
        findings.add(
            RecordError(file=source.filename, line=1, field="", reason="There is no record in this file.")
        )
    return tally, findings


def _flush(source: ImportFile, batch: list[Prepared], tally: Tally, findings: Findings) -> None:
    for error in write_batch(source, batch, tally):
        findings.add(error)
    batch.clear()


def _heartbeat(source: ImportFile, done: int) -> None:
    now = timezone.now()
    alive = ImportFile.objects.filter(pk=source.pk, state=ImportState.RUNNING, attempt=source.attempt).update(
        heartbeat_at=now, lease_until=now + LEASE, progress_done=done
    )
    if not alive:
        raise StaleState("This import was stopped.", code="import_stopped")


def _publish(source: ImportFile, tally: Tally, actor: Actor) -> None:
    """Make the rows live together, in one transaction whose first statement decides who may."""
    try:
        with transaction.atomic():
            advance(
                ImportFile,
                source.pk,
                ImportState.RUNNING,
                ImportState.PUBLISHED,
                created_count=tally.created,
                unchanged_count=tally.unchanged,
                replaced_count=len(tally.replaced),
                step_count=tally.steps,
                progress_done=source.size,
                lease_until=None,
                finished_at=timezone.now(),
            )
            _retire(tally.replaced)
            slots = Project.objects.values_list("annotators_per_trajectory", flat=True).get(
                pk=source.project_id
            )
            Trajectory.objects.filter(source=source).update(live=True, free_slots=slots)
            if tally.written:
                projects.lower_cursors(project_id=source.project_id, position=source.pk * POSITIONS)
            audit.record(
                actor=source.created_by or actor,
                verb="import.publish",
                project=source.project,
                obj=source,
                created=tally.created,
                unchanged=tally.unchanged,
                replaced=len(tally.replaced),
            )
    except IntegrityError as error:
        raise Conflict(
            "Another import brought the same records in the meantime; import the file again.",
            code="overtaken",
        ) from error


def _retire(replaced: list[int]) -> None:
    """Take the replaced rows out of sight; none may have been claimed since it was looked at."""
    for start in range(0, len(replaced), SWEEP_ROWS):
        part = replaced[start : start + SWEEP_ROWS]
        claimed = Assignment.objects.filter(trajectory=OuterRef("pk"))
        gone = Trajectory.objects.filter(~Exists(claimed), pk__in=part, live=True).update(live=False)
        if gone != len(part):
            raise Conflict("A record was claimed while its replacement was being imported.", code="overtaken")


def _refuse(source: ImportFile, findings: Findings) -> ImportFile:
    """End a refused import: its rows are swept away, its errors kept. Raises ImportRefused."""
    count = f"{findings.count:,} error{'' if findings.count == 1 else 's'}"
    message = f"{source.filename} was refused, nothing was imported: {count}."
    _fail(source, message, findings)
    stored_path(source).unlink(missing_ok=True)
    raise ImportRefused(message, report={"errors": findings.listed, "count": findings.count})


def _fail(source: ImportFile, message: str, findings: Findings | None = None) -> None:
    findings = findings or Findings()
    ImportFile.objects.filter(pk=source.pk, state=ImportState.RUNNING, attempt=source.attempt).update(
        state=ImportState.FAILED,
        error=message,
        errors=findings.listed,
        error_count=findings.count,
        lease_until=None,
        finished_at=timezone.now(),
    )
    sweep(source)


def sweep(source: ImportFile) -> None:
    """Delete the unpublished rows of an import, a few at a time, and the tasks that only they had."""
    hidden = Trajectory.objects.filter(source=source, live=False).exclude(source__state=ImportState.PUBLISHED)
    while True:
        with transaction.atomic():
            part = list(hidden.values_list("pk", flat=True)[:SWEEP_ROWS])
            if not part:
                break
            # Straight deletes: nothing else can refer to rows that were never live, so no cascade has to be
            # sought.
            for rows in (
                Step.objects.filter(trajectory__in=part),
                TrajectoryContent.objects.filter(trajectory__in=part),
                Trajectory.objects.filter(pk__in=part),
            ):
                rows._raw_delete(rows.db)
    with transaction.atomic():
        Subset.objects.select_for_update().get(pk=source.subset_id)
        Task.objects.filter(
            ~Exists(Trajectory.objects.filter(task=OuterRef("pk"))), subset=source.subset_id
        ).delete()


def reap(*, now: datetime | None = None) -> int:
    """Queue again what a dead worker left running, send again what was never begun, sweep what was abandoned.

    Every worker calls this now and then. Returns the number of imports it did something about.
    """
    now = now or timezone.now()
    unfinished = ImportFile.objects.filter(
        state__in=(ImportState.UPLOADED, ImportState.QUEUED, ImportState.RUNNING)
    )
    touched = 0
    for source in unfinished.filter(state=ImportState.RUNNING, lease_until__lt=now):
        if source.attempt >= MAX_ATTEMPTS:
            _fail(source, f"The import died {MAX_ATTEMPTS} times; see the server's log.")
            continue
        touched += ImportFile.objects.filter(
            pk=source.pk, state=ImportState.RUNNING, lease_until__lt=now
        ).update(state=ImportState.QUEUED, lease_until=None)
    for source in unfinished.filter(state=ImportState.QUEUED).filter(
        Q(lease_until=None) | Q(lease_until__lt=now)
    )[:100]:
        # The lease of a queued row says until when not to send it again.
        ImportFile.objects.filter(pk=source.pk, state=ImportState.QUEUED).update(lease_until=now + LEASE)
        dispatch.send("run_import", source.pk)
        touched += 1
    leftovers = ImportFile.objects.filter(
        Exists(Trajectory.objects.filter(source=OuterRef("pk"), live=False)), state=ImportState.ABANDONED
    )
    for source in leftovers:
        sweep(source)
        stored_path(source).unlink(missing_ok=True)
        touched += 1
    return touched
