"""Pull of a store: files that are new or have changed go, each by itself, the way of every import.

A file appears whole or not at all. What is pulled is remembered with the mark that the store gave it, in the
transaction that starts its import, so that a pull may be killed anywhere, and the next goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotation.connections import LeftOut, Store
from annotation.connections.stores import PIECE_BYTES, LeaveOut, StoredFile
from annotation.core.errors import Invalid, StaleState
from annotation.core.i18n import translatable
from annotation.core.kinds import refuse_other
from annotation.core.vocabulary import ImportState
from annotation.importers import HEAD_BYTES, Importer, RecordError, by_name, kind_of, sniff
from annotation.importers.limits import read_within_limits
from annotation.importers.options import ReadOptions
from annotation.models import Connection, ImportFile, PulledFile, Transfer
from annotation.policies import Actor

from .. import ingest
from ..ingest.archives import is_archive_of_logs
from ..ingest.context import read_context
from ..ingest.rows import PreparedDraft, prepare
from .lease import Beat, held
from .pulling import fate_of, known_records

AT_ONCE: Final = 100
MAX_NAMED: Final = 1_000
_LOST: Final = (ImportState.FAILED, ImportState.ABANDONED)
TOO_LARGE: Final = translatable("is larger than {limit} MB (TRISTEP_MAX_UPLOAD_BYTES)")
NOTHING: Final = translatable("holds nothing to label")
HELD_BACK: Final = translatable(
    "records that changed since somebody began to label them here: {n}; they stay as they were, and their "
    "new versions can be pulled into another subset"
)
NOT_APART: Final = translatable(
    "has records that changed since somebody began to label them here, and the others cannot be taken out of "
    "a file of this format"
)


@dataclass(slots=True)
class _Read:
    """A file that has been looked through: the records by their fate, and why it cannot come in (`reason`).
    `part`: its bytes without the records that are not to come; `None`: it comes as it is."""

    fates: Counter[str] = field(default_factory=Counter)
    reason: str = ""
    part: BinaryIO | None = None

    @property
    def comes(self) -> bool:
        """Whether there is anything to bring in."""
        return not self.reason and (self.fates["new"] + self.fates["replaced"] > 0)


def pull_files(actor: Actor, row: Transfer, store: Store, beat: Beat) -> None:
    """Go through the files of a store, and bring in what is new unless it is dry."""
    files = _known(row.connection)
    for listed in store.listed():
        if listed.left_out:
            beat.leave_out(listed.left_out)
        for file in listed.files:
            beat.done += 1
            beat()
            if _is_known(row, files.get(file.path), file):
                beat.counts["files_known"] += 1
                continue
            try:
                _pull(actor, row, store, beat, file, fresh=file.path not in files)
            except LeaveOut as left:
                beat.leave_out([LeftOut(file.path, left.args[0])])
        beat()


def _known(connection: Connection) -> dict[str, tuple[str, bool]]:
    """The mark of every file that was pulled and whether records were held back, but for those whose import
    has failed."""
    rows = PulledFile.objects.filter(connection=connection).exclude(imports__state__in=_LOST)
    return {
        path: (mark, held_back) for path, mark, held_back in rows.values_list("path", "mark", "held_back")
    }


def _is_known(row: Transfer, before: tuple[str, bool] | None, file: StoredFile) -> bool:
    if row.versions:
        return before is None or not before[1]  # only what was held back has versions to bring
    return before is not None and before[0] == _mark(file)


def _mark(file: StoredFile) -> str:
    return f"{file.size}:{file.mark}"[:250]


def _pull(actor: Actor, row: Transfer, store: Store, beat: Beat, file: StoredFile, *, fresh: bool) -> None:
    if file.size > settings.MAX_UPLOAD_BYTES:
        raise LeaveOut(translatable(TOO_LARGE, limit=settings.MAX_UPLOAD_BYTES // 1024**2))
    settings.UPLOAD_DIR.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=settings.UPLOAD_DIR) as stream, TemporaryFile(dir=settings.UPLOAD_DIR) as part:
        for piece in store.read(file):
            stream.write(piece)
            beat()
        stream.seek(0)
        head = stream.read(HEAD_BYTES)
        archive = is_archive_of_logs(head)
        read = _Read(Counter(new=1)) if archive else _look(row, file, stream, head, part, beat)
        if read.reason:
            raise LeaveOut(read.reason)
        if not archive:
            beat.counts.update(
                {name: n for name, n in read.fates.items() if name in ("new", "known", "replaced")}
            )
        held_back = read.fates["version"]
        if held_back and not row.versions:
            beat.counts["versions"] += held_back
            beat.leave_out([LeftOut(file.path, translatable(HELD_BACK, n=f"{held_back:,}"))])
        beat.counts["files_new" if fresh else "files_changed"] += 1
        imports: list[ImportFile] = []
        if not row.dry and read.comes:
            imports = _received(actor, row, file, read.part or stream, beat)
        _name(beat, file, "new" if fresh else "changed", read, imports)
        if not row.dry:
            _begin(actor, row, beat, file, imports, bool(held_back))


def _name(beat: Beat, file: StoredFile, what: str, read: _Read, imports: Sequence[ImportFile]) -> None:
    if len(beat.files) < MAX_NAMED:
        beat.files.append(
            {
                "name": file.path,
                "what": what,
                "records": {name: n for name, n in read.fates.items() if n},
                "imports": [source.pk for source in imports],
            }
        )


def _look(
    row: Transfer, file: StoredFile, stream: BinaryIO, head: bytes, part: BinaryIO, beat: Beat
) -> _Read:
    """Read a file as an import will, and sort its records by what is here."""
    try:
        importer = by_name(row.connection.format) if row.connection.format else sniff(head)
        refuse_other(row.project.of_kind, kind_of(importer))
    except Invalid as error:
        return _Read(reason=error.message)
    read, digests = _Read(), []
    drafts = _drafts(importer, stream, file.path)
    while batch := list(islice(drafts, AT_ONCE)):
        beat()
        errors = [item for item in batch if isinstance(item, RecordError)]
        if errors:
            return _Read(reason=_sentence(errors[0]))
        good = [item for item in batch if isinstance(item, PreparedDraft)]
        for draft, fate in zip(good, _fates(row, good), strict=True):
            read.fates[fate] += 1
            if fate in ("new", "replaced"):
                part.write(draft.draft.raw.rstrip(b"\n") + b"\n")
                digests.append((draft.record_id, draft.digest))
    if not read.fates:
        return _Read(reason=NOTHING)
    if read.comes and (row.versions or read.fates["version"]):
        if not _reads_as(importer, part, file.path, digests):
            return _Read(reason=NOT_APART)
        read.part = part
    return read


def _fates(row: Transfer, drafts: Sequence[PreparedDraft]) -> list[str]:
    ids = [draft.record_id for draft in drafts]
    here = known_records(row, row.connection.subset, ids)
    fates = [fate_of([draft], here) for draft in drafts]
    if not row.versions:
        return fates
    there = known_records(row, row.subset, ids)
    return [
        fate_of([draft], there) if fate == "version" else "known"
        for draft, fate in zip(drafts, fates, strict=True)
    ]


def _drafts(importer: Importer, stream: BinaryIO, path: str) -> Iterator[PreparedDraft | RecordError]:
    stream.seek(0)
    for item in read_within_limits(importer, stream, read_context(_called(path), {}), ReadOptions()):
        yield item if isinstance(item, RecordError) else prepare(item)


def _reads_as(importer: Importer, part: BinaryIO, path: str, digests: Sequence[tuple[str, str]]) -> bool:
    """Whether the records that were taken out of a file are, by themselves, read as what they were in it."""
    expected = iter(digests)
    for item in _drafts(importer, part, path):
        if isinstance(item, RecordError) or (item.record_id, item.digest) != next(expected, None):
            return False
    return next(expected, None) is None


def _sentence(error: RecordError) -> str:
    reason = f"{error.field}: {error.reason}" if error.field else error.reason
    return translatable("cannot be read: line {line}: {reason}", line=error.line, reason=reason)


def _called(path: str) -> str:
    """The name of its import, which tells files of the same name in different folders apart."""
    return " › ".join(path.split("/"))[-255:]


def _received(
    actor: Actor, row: Transfer, file: StoredFile, stream: BinaryIO, beat: Beat
) -> list[ImportFile]:
    """The file, or the logs of an archive, received as imports that nobody has begun."""
    stream.seek(0)
    try:
        received = ingest.receive_upload(
            actor=actor,
            project=row.project,
            subset=row.subset,
            filename=_called(file.path),
            chunks=iter(lambda: stream.read(PIECE_BYTES), b""),
            format=row.connection.format,
            replace=True,
            enqueue=False,
        )
    except Invalid as error:
        raise LeaveOut(error.message) from error
    if received.refused:
        beat.leave_out([LeftOut(name, reason) for name, reason in received.refused])
    return received.files


def _begin(
    actor: Actor, row: Transfer, beat: Beat, file: StoredFile, imports: Sequence[ImportFile], held_back: bool
) -> None:
    """Remember the file and start its imports, in one transaction, while this worker still has the
    transfer."""
    values: dict[str, Any] = {"mark": _mark(file), "pulled_at": timezone.now()}
    if not row.versions:
        values["held_back"] = held_back
    try:
        with transaction.atomic():
            if not held(row).select_for_update().exists():
                raise StaleState(translatable("This transfer was stopped."), code="transfer_stopped")
            pulled, _made = PulledFile.objects.update_or_create(
                connection=row.connection, path=file.path, defaults=values
            )
            if row.versions:
                pulled.imports.add(*imports)
            else:
                pulled.imports.set(imports)
            for source in imports:
                ingest.start(actor=actor, source=source)
    except BaseException:
        for source in imports:
            ingest.abandon(actor=actor, source=source)
        raise
