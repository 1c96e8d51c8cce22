"""Run an import: take the lease, read, write in batches, make the rows live."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Protocol

from django.db import IntegrityError, InterfaceError, OperationalError, transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from annotation.core.errors import Conflict, ImportRefused, TristepError, Unavailable
from annotation.core.i18n import translatable
from annotation.core.jsonio.file_errors import FileErrors
from annotation.core.kinds import Feature
from annotation.core.label_files import LABEL_FORMAT
from annotation.core.rechecks import sampling
from annotation.core.vocabulary import ImportState, QueueTurn
from annotation.importers import Importer, ReadContext, RecordError, by_name
from annotation.importers.limits import read_within_limits
from annotation.importers.options import ReadOptions
from annotation.models import (
    Assignment,
    ImportFile,
    Project,
    Reservation,
    Step,
    Subset,
    Task,
    Trajectory,
    in_use,
)
from annotation.policies import OPERATOR, Actor

from .. import audit, planner_stats
from ..cursors import lower_cursors
from . import files, lease
from .context import read_context
from .reaper import fail, sweep
from .rows import ImportTally, PreparedDraft, prepare, write_batch

BATCH_RECORDS = 100
BATCH_BYTES = 8 * 1024 * 1024
HEARTBEAT_SECONDS = 1.0
RETIRED_AT_ONCE = 500
OVERTAKEN = "overtaken"

Progress = Callable[[int, int], None]


class DerivedReader(Importer, Protocol):
    """The reader of an import that is derived from a release; `stream` has a `position` in bytes."""

    stream: Any

    def written(self) -> None:
        """Note that what was read since the last time has been written, or was there already."""

    def finish(self, context: ReadContext) -> None:
        """Everything has been read and written. Raises what forbids to publish it."""


Derived = Callable[[ImportFile, Callable[[int], None]], DerivedReader]


class CountingStream:
    """A seekable binary stream that knows how far it has been read: what was read twice counts once."""

    def __init__(
        self, stream: BinaryIO, size: int, on_read: Callable[[int], None] = lambda position: None
    ) -> None:
        self._stream = stream
        self._size = size
        self._read = 0
        self._on_read = on_read

    @property
    def position(self) -> int:
        """The number of bytes read so far, at most the size of the file."""
        return min(self._read, self._size)

    def seek(self, offset: int, whence: int = 0) -> int:
        """To another place: archives have their directory at the end."""
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        """The place in the file."""
        return self._stream.tell()

    def seekable(self) -> bool:
        """Return True, as `zipfile` asks of a stream."""
        return True

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, as of any stream."""
        data = self._stream.read(size)
        self._read += len(data)
        self._on_read(self.position)
        return data

    def readline(self, size: int = -1) -> bytes:
        """One line, or at most `size` bytes of it."""
        data = self._stream.readline(size)
        self._read += len(data)
        self._on_read(self.position)
        return data


class _Heartbeat:
    """Renews the lease about once a second, also while a reader gathers a file that yields nothing yet."""

    def __init__(self, source: ImportFile) -> None:
        self._source = source
        self._last = time.monotonic()

    def __call__(self, position: int) -> None:
        if time.monotonic() - self._last >= HEARTBEAT_SECONDS:
            lease.renew(self._source, position)
            self._last = time.monotonic()


def run_import(
    *,
    source_id: int,
    actor: Actor = OPERATOR,
    progress: Progress | None = None,
    resumable: bool = False,
    labels: Callable[[ImportFile], None] | None = None,
    derived: Derived | None = None,
) -> ImportFile:
    """Import a received file to its end: published, or failed with everything that is wrong with it.

    Idempotent: one that is leased by somebody else or has ended is left alone, one that died half-way is
    begun anew. `progress(done, total)` is called in bytes. `resumable`: when the database or the store of
    files fails under it, the import is left to the reaper, which queues it again; otherwise whatever stops it
    ends it. `labels` does the work for a file of labels, `derived` reads what is derived from a release.
    Raises ImportRefused (with the report) when the file is refused, StaleState when it was abandoned
    meanwhile.
    """
    claimed = lease.take(source_id)
    source = ImportFile.objects.select_related("project", "subset").get(pk=source_id)
    if not claimed:
        return source
    sweep(source)
    written = 0
    try:
        if source.format == LABEL_FORMAT and labels is not None:
            labels(source)
        else:
            written = _import(source, progress, actor, derived).written
    except ImportRefused as refusal:
        report = refusal.report
        fail(source, refusal.message, errors=report["errors"], count=report["count"])
        raise
    except TristepError as error:
        # a store that is away is no reason to end an import that can be begun anew
        if not (resumable and isinstance(error, Unavailable)):
            _stop(source, error)
        raise
    except FileNotFoundError as error:
        gone = Conflict(translatable("The uploaded file is gone; upload it again."), code="file_gone")
        _stop(source, gone)
        raise gone from error
    except BaseException as error:
        transient = isinstance(error, OperationalError | InterfaceError) or not isinstance(error, Exception)
        if not (resumable and transient):
            fail(source, translatable("The import was interrupted; nothing was imported."))
        raise
    files.discard(source.stored_as)
    if written:
        planner_stats.analyse(Trajectory, Task, Step, added=written)
    source.refresh_from_db()
    return source


def _import(
    source: ImportFile, progress: Progress | None, actor: Actor, derived: Derived | None
) -> ImportTally:
    """Read and publish a file, and once more when another import overtook it.

    An archive may hold the same log twice, and two workers import both at the same time. What the other has
    added is unchanged at the second reading, or refused in words.
    """
    for last in (False, True):
        tally, errors = _read(source, progress, derived)
        if errors:
            raise errors.refusal()
        try:
            _publish(source, tally, actor)
        except Conflict as error:
            if last or error.code != OVERTAKEN:
                raise
            sweep(source)
        else:
            break
    return tally


def _stop(source: ImportFile, error: TristepError) -> None:
    """Leave nothing of an attempt that cannot go on; what another worker has begun since is left alone."""
    if not fail(source, error.message):
        source.refresh_from_db(fields=["state"])
        if source.state == ImportState.ABANDONED:
            sweep(source)


def _read(
    source: ImportFile, progress: Progress | None, derived: Derived | None
) -> tuple[ImportTally, FileErrors]:
    """Read the whole file; write batches until the first error, then only look for more errors."""
    tally, errors = ImportTally(), FileErrors(source.filename)
    batch: list[PreparedDraft] = []
    held = 0
    beat = _Heartbeat(source)
    context = read_context(
        source.filename, {int(index): name for index, name in source.policy_models.items()}
    )
    with _opened(source, beat, derived) as (importer, stream, made):
        for item in read_within_limits(importer, stream, context, ReadOptions.of(source.options)):
            if isinstance(item, RecordError):
                errors.add(item)
            elif not errors:
                batch.append(prepare(item))
                held += len(item.raw)
                if len(batch) >= BATCH_RECORDS or held >= BATCH_BYTES:
                    _flush(source, batch, tally, errors, stream.position, made)
                    held = 0
            beat(stream.position)
            if progress is not None:
                progress(stream.position, source.size)
        if batch and not errors:
            _flush(source, batch, tally, errors, stream.position, made)
        if made is not None and not errors:
            made.finish(context)
    if not errors and not tally.created and not tally.unchanged and not tally.replaced:
        errors.add(
            RecordError(
                file=source.filename,
                line=1,
                field="",
                reason=translatable("This file contains no records."),
            )
        )
    tally.notes, tally.left_out = +context.notes, context.left_out
    return tally, errors


@contextmanager
def _opened(
    source: ImportFile, on_read: Callable[[int], None], derived: Derived | None
) -> Iterator[tuple[Importer, Any, DerivedReader | None]]:
    """The reader of an import and what it reads: a file that was received, or the release that it is derived
    from, whose reader is the third."""
    if source.derived_from and derived is not None:
        made = derived(source, on_read)
        yield made, made.stream, made
        return
    with files.opened(source.stored_as, sha256=source.sha256) as file:
        yield by_name(source.format), CountingStream(file, source.size, on_read), None


def _flush(
    source: ImportFile,
    batch: list[PreparedDraft],
    tally: ImportTally,
    errors: FileErrors,
    done: int,
    made: DerivedReader | None,
) -> None:
    errors.extend(write_batch(source, batch, tally, done=done))
    batch.clear()
    if made is not None and not errors:
        made.written()


def _publish(source: ImportFile, tally: ImportTally, actor: Actor) -> None:
    """Make the rows live together, in one transaction whose first statement decides who may."""
    try:
        with transaction.atomic():
            # N cannot change between the counting of free slots and the rows' appearance.
            project = Project.objects.select_for_update(no_key=True).get(pk=source.project_id)
            propagates = project.of_kind.has(Feature.PROPAGATION)
            lease.renew(source, source.size)
            lease.mine(source).update(
                state=ImportState.PUBLISHED,
                created_count=tally.created,
                unchanged_count=tally.unchanged,
                replaced_count=len(tally.replaced),
                step_count=tally.steps,
                standalone_turns_count=tally.standalone_turns if propagates else 0,
                notes=dict(tally.notes),
                left_out=sorted(tally.left_out),
                lease_until=None,
                finished_at=timezone.now(),
            )
            _retire(tally.replaced)
            # the subset as it is now: it may have been changed since the file was received
            subset = Subset.objects.select_for_update(no_key=True).get(pk=source.target.pk)
            trains = subset.training
            Trajectory.objects.filter(source=source, copy_of=None).update(
                live=not trains,
                training=trains,
                free_slots=project.annotators_per_trajectory,
                position=F("position") % sampling.PLACES + sampling.level(QueueTurn(subset.turn)),
            )
            if tally.written and not trains:
                lower_cursors(project_id=source.project_id, position=0)
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
            translatable("Another import has added the same records in the meantime; import the file again."),
            code=OVERTAKEN,
        ) from error


def _retire(replaced: list[int]) -> None:
    """Take the replaced rows out of sight; none may have been claimed since it was looked at."""
    for start in range(0, len(replaced), RETIRED_AT_ONCE):
        part = replaced[start : start + RETIRED_AT_ONCE]
        claimed = Assignment.stored.filter(trajectory=OuterRef("pk"))
        unused = Trajectory.objects.filter(in_use(), ~Exists(claimed), pk__in=part)
        gone = unused.update(live=False, training=False, reserved=0)
        Reservation.objects.filter(trajectory__in=part).delete()
        if gone != len(part):
            raise Conflict(
                translatable("A record was claimed while its replacement was being imported."),
                code=OVERTAKEN,
            )
