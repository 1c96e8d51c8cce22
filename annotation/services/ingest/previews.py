"""Look at a received file before it is imported: what it would become, and the words to go on."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO

from django.db import transaction
from django.utils import timezone

from annotation import dispatch
from annotation.core.errors import Invalid, NotFound, StaleState
from annotation.core.i18n import translatable
from annotation.core.label_files import LABEL_FORMAT
from annotation.core.vocabulary import ImportState
from annotation.importers.options import ReadOptions
from annotation.importers.preview import GATHER_BYTES, LOOKED_AT, FilePreview, preview
from annotation.models import ImportFile
from annotation.policies import Actor, require

from .. import audit
from ..transitions import advance
from . import files
from .context import read_context
from .receive import QUEUE_PATIENCE


def look_at(*, actor: Actor, source: ImportFile, records: int = LOOKED_AT) -> FilePreview:
    """A preview of the first `records` of a waiting file. Raises NotFound when its bytes are gone.

    Nothing is written; no query.
    """
    require(actor, "import", source)
    if source.format == LABEL_FORMAT:
        raise Invalid(translatable("This is a file of labels."), code="label_file")
    names = {int(index): name for index, name in source.policy_models.items()}
    with opened(source) as stream:
        context = read_context(source.filename, names, gather_bytes=GATHER_BYTES)
        options = ReadOptions.of(source.options)
        return preview(stream, context, format=source.format, options=options, records=records)


@transaction.atomic
def set_options(*, actor: Actor, source: ImportFile, options: ReadOptions) -> None:
    """Change how a waiting file will be read. Raises StaleState when it waits no more."""
    require(actor, "import", source)
    waiting = ImportFile.objects.filter(pk=source.pk, state=ImportState.UPLOADED)
    if not waiting.update(options=options.as_dict()):
        raise _begun()
    source.options = options.as_dict()


@transaction.atomic
def start(*, actor: Actor, source: ImportFile) -> None:
    """Queue a file that was received without being queued. Raises StaleState when it waits no more."""
    require(actor, "import", source)
    lease: Mapping[str, Any] = {"lease_until": timezone.now() + QUEUE_PATIENCE}
    advance(ImportFile, source.pk, (ImportState.UPLOADED,), ImportState.QUEUED, **lease)
    audit.record(actor=actor, verb="import.start", project=source.project, obj=source)
    dispatch.send("run_import", source.pk)


def _begun() -> StaleState:
    return StaleState(translatable("This import has already begun."), code="import_begun")


@contextmanager
def opened(source: ImportFile) -> Iterator[BinaryIO]:
    """The bytes of an import that has not ended. Raises NotFound when they are gone."""
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(files.opened(source.stored_as))
        except FileNotFoundError:
            raise NotFound(translatable("The file of this import is no longer here.")) from None
        yield stream
