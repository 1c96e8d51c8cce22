"""Receive a file: store and checksum its bytes before anything is read."""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path

from django.core.validators import slug_re
from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from annotation import dispatch
from annotation.core.errors import Invalid, StaleState
from annotation.core.i18n import translatable
from annotation.core.kinds import refuse_other
from annotation.core.text import escape
from annotation.core.vocabulary import ImportState
from annotation.importers import FORMATS, kind_of, sniff
from annotation.importers.options import ReadOptions
from annotation.models import ImportFile, Project
from annotation.policies import Actor, recorded, require

from .. import audit, projects
from ..transitions import advance_all
from . import files

MAX_SUBSET = 64
# How long a queued import may wait before the reaper sends its job again.
QUEUE_PATIENCE = timedelta(seconds=30)
NO_OPTIONS = ReadOptions()
UNFINISHED = (ImportState.UPLOADED, ImportState.QUEUED, ImportState.RUNNING)


def default_subset(filename: str) -> str:
    """The subset of a file that comes without one: its name up to the first dot.

    A name that no subset may have is made a slug ("My runs.jsonl" is `my-runs`), or `upload` when nothing is
    left of it.
    """
    stem = _base_name(filename).split(".")[0]
    if len(stem) <= MAX_SUBSET and slug_re.match(stem):
        return stem
    return slugify(stem)[:MAX_SUBSET] or "upload"


def _base_name(filename: str) -> str:
    return Path(filename.replace("\\", "/")).name


def receive_file(
    *,
    actor: Actor,
    project: Project,
    subset: str,
    filename: str,
    chunks: Iterable[bytes],
    format: str = "",
    replace: bool = False,
    policy_models: Mapping[int, str] | None = None,
    options: ReadOptions = NO_OPTIONS,
    enqueue: bool = True,
) -> ImportFile:
    """Store a file and queue its import into `subset` (made when missing).

    `chunks` are its bytes in order. `format` names an importer; empty: it is sniffed from the first bytes.
    `policy_models` names sample indexes. With `enqueue` False the caller runs it (`run_import`) in its own
    process, or `start` queues it once somebody has looked at its preview. Raises Invalid for an empty file,
    an unknown format, one that cannot be told, or one of another kind than the project; who shows several
    files says which.
    """
    require(actor, "import", project)
    if format and format not in FORMATS:
        names = ", ".join(sorted(FORMATS))
        raise Invalid(
            translatable("Unknown format “{format}”; choose one of {known}.", format=format, known=names),
            fields={"format": translatable("One of {known}.", known=names)},
        )

    def columns(head: bytes) -> Mapping[str, object]:
        importer = FORMATS[format] if format else sniff(head)
        refuse_other(project.of_kind, kind_of(importer))
        return {
            "format": importer.name,
            "subset": projects.ensure_subset(actor=actor, project=project, name=subset),
            "replace": replace,
            "policy_models": {str(index): model for index, model in (policy_models or {}).items()},
            "options": options.as_dict(),
        }

    return receive(actor, project, filename, chunks, enqueue, columns)


def receive(
    actor: Actor,
    project: Project,
    filename: str,
    chunks: Iterable[bytes],
    enqueue: bool,
    columns: Callable[[bytes], Mapping[str, object]],
) -> ImportFile:
    """Store a file of any kind as an import; `columns` says from its first bytes what its row has besides.
    The caller has asked permission. Raises Invalid for an empty file."""
    stored_as = files.unused_name()
    try:
        arrived = files.save(stored_as, chunks)
        if arrived.size == 0:
            raise Invalid(
                translatable("The file is empty."),
                code="empty_file",
                fields={"file": translatable("The file is empty.")},
            )
        with transaction.atomic():
            source = ImportFile.objects.create(
                project=project,
                filename=escape(_base_name(filename))[:255] or "upload",
                stored_as=stored_as,
                sha256=arrived.sha256,
                size=arrived.size,
                state=ImportState.QUEUED if enqueue else ImportState.UPLOADED,
                progress_total=arrived.size,
                lease_until=timezone.now() + QUEUE_PATIENCE if enqueue else None,
                created_by=recorded(actor),
                created_at=timezone.now(),
                **columns(arrived.head),
            )
            audit.record(
                actor=actor,
                verb="import.receive",
                project=project,
                obj=source,
                sha256=source.sha256,
                size=source.size,
            )
            if enqueue:
                dispatch.send("run_import", source.pk)
            return source
    except BaseException:
        files.discard(stored_as)
        raise


@transaction.atomic
def abandon(*, actor: Actor, source: ImportFile) -> None:
    """Stop an import that has not ended; what it has written so far is swept away.

    Raises StaleState when it has ended already.
    """
    require(actor, "import", source)
    if source.state not in UNFINISHED:
        raise StaleState(translatable("This import has already ended."), code="import_ended")
    _abandon(actor, [source], UNFINISHED)


@transaction.atomic
def discard_previews(*, actor: Actor, project: Project) -> list[ImportFile]:
    """Abandon all files of a project that were uploaded to be looked at first and are not imported yet."""
    require(actor, "import", project)
    waiting = ImportFile.objects.filter(project=project, state=ImportState.UPLOADED).select_related("project")
    rows = list(waiting.select_for_update(no_key=True, of=("self",)).order_by("pk"))
    _abandon(actor, rows, (ImportState.UPLOADED,))
    return rows


def _abandon(actor: Actor, sources: list[ImportFile], states: tuple[ImportState, ...]) -> None:
    ended = {"finished_at": timezone.now(), "lease_until": None}
    advance_all(ImportFile, [row.pk for row in sources], states, ImportState.ABANDONED, **ended)
    for row in sources:
        audit.record(actor=actor, verb="import.abandon", project=row.project, obj=row)
        transaction.on_commit(partial(files.discard, row.stored_as))
    dispatch.send("reap")
