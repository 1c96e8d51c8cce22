"""Files of people's labels on their way in: received, looked at, and imported in the background."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

from django.utils import timezone

from annotation.core.errors import Invalid, NotFound
from annotation.core.i18n import translatable
from annotation.core.jsonio.file_errors import FileErrors
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.label_files import LABEL_FORMAT, LabelLine, label_lines
from annotation.core.text import escape, unescape
from annotation.core.vocabulary import ImportState
from annotation.models import ImportFile, Membership, Project, Subset, User
from annotation.policies import OPERATOR, Actor, require

from .. import ingest, job_lease
from ..ingest import lease
from ..ingest.previews import opened
from ..ingest.receive import receive
from ..ingest.run import Derived, Progress
from .import_file import NewPerson, check_lines, import_labels, no_annotator
from .import_rows import STORING

LOOKED_AT = 200
SHOWN_LINES = 10
MAX_NAME = 120
HEARTBEAT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class LabelPreview:
    """The beginning of a label file: how many records and steps it labels, some of its records, and what
    would refuse it. No label is shown: whoever looks at it may be labelling the same trajectories."""

    records: int
    steps: int
    whole: bool
    lines: list[LabelLine]
    errors: list[RecordError]


def receive_labels(
    *,
    actor: Actor,
    project: Project,
    filename: str,
    chunks: Iterable[bytes],
    annotator: str = "",
    name: str = "",
    subset: str = "",
    enqueue: bool = True,
) -> ImportFile:
    """Store a label file. Its labels are those of the project's annotator of the user name `annotator`, or
    of somebody called `name`, who gets an account that nobody can sign in to. Records are looked for in
    `subset`, or in all. Raises Invalid with the fields that are wrong."""
    require(actor, "import", project)
    options = _options(project, annotator, name)
    where = Subset.objects.filter(project=project, name=subset).first() if subset else None
    if subset and where is None:
        reason = translatable("This project has no such subset.")
        raise Invalid(reason, fields={"subset": reason})
    row = {"format": LABEL_FORMAT, "subset": where, "options": options}
    return receive(actor, project, filename, chunks, enqueue, lambda _head: row)


def _options(project: Project, annotator: str, name: str) -> dict[str, object]:
    if annotator:
        members = Membership.objects.filter(project=project, is_annotator=True, user__is_active=True)
        member = members.filter(user__username=annotator).first()
        if member is None:
            raise no_annotator()
        return {"annotator": member.user_id}
    called = " ".join(name.split())
    reason = ""
    if not (called and called.isprintable()):
        reason = translatable("Choose an annotator, or enter the name of somebody new.")
    elif len(called) > MAX_NAME:
        reason = translatable("Keep the name under {name} characters.", name=MAX_NAME)
    if reason:
        raise Invalid(reason, fields={"name": reason})
    return {"name": escape(called)}


def annotator_of(source: ImportFile) -> User | NewPerson:
    """The person whose labels a file holds. Raises NotFound when the account is gone."""
    if "annotator" not in source.options:
        return NewPerson(unescape(str(source.options["name"])))
    user = User.objects.filter(pk=source.options["annotator"]).first()
    if user is None:
        raise NotFound(translatable("The annotator of these labels has no account any more."))
    return user


def look_at_labels(*, actor: Actor, source: ImportFile) -> LabelPreview:
    """A preview of the first 200 lines of a waiting label file. Nothing is written. Raises Invalid for a file
    of trajectories, NotFound when its bytes are gone."""
    require(actor, "import", source)
    if source.format != LABEL_FORMAT:
        raise Invalid(translatable("This is no file of labels."), code="no_label_file")
    errors = FileErrors(source.filename)
    with opened(source) as stream:
        read = label_lines(stream, source.filename)
        items = list(islice(read, LOOKED_AT))
        whole = next(read, None) is None
    lines = {item.record_id: item for item in items if isinstance(item, LabelLine)}
    errors.extend(item for item in items if isinstance(item, RecordError))
    where = source.subset.name if source.subset else ""
    check_lines(source.project, annotator_of(source), where, lines.values(), errors)
    steps = sum(len(line.step_labels) for line in lines.values())
    return LabelPreview(len(lines), steps, whole, list(lines.values())[:SHOWN_LINES], errors.listed)


def run_import(
    *,
    source_id: int,
    progress: Progress | None = None,
    resumable: bool = False,
    derived: Derived | None = None,
) -> ImportFile:
    """Import a received file of either kind to its end (`ingest.run_import`)."""
    return ingest.run_import(
        source_id=source_id, progress=progress, resumable=resumable, labels=_import, derived=derived
    )


def _import(source: ImportFile) -> None:
    """Import the labels of a file. Once they are being submitted, whoever wants to stop it comes too late."""
    with opened(source) as stream:
        result = import_labels(
            actor=source.created_by or OPERATOR,
            project=source.project,
            annotator=annotator_of(source),
            stream=stream,
            filename=source.filename,
            subset=source.subset.name if source.subset else "",
            beat=_heartbeat(source),
        )
    states = (ImportState.RUNNING, ImportState.ABANDONED)
    ImportFile.objects.filter(pk=source.pk, attempt=source.attempt, state__in=states).update(
        state=ImportState.PUBLISHED,
        created_count=result.created,
        unchanged_count=result.unchanged,
        step_count=result.labels,
        progress_done=source.size,
        lease_until=None,
        finished_at=timezone.now(),
    )


def _heartbeat(source: ImportFile) -> Callable[[float], None]:
    """Renews the lease about once a second. Raises StaleState when the import was stopped, until its labels
    are being submitted, which goes to its end."""
    last = time.monotonic()

    def beat(share: float) -> None:
        nonlocal last
        if time.monotonic() - last < HEARTBEAT_SECONDS:
            return
        last = time.monotonic()
        if share < STORING:
            lease.renew(source, int(share * source.size))
        else:
            job_lease.renew(lease.mine(source), progress_done=int(share * source.size))

    return beat
