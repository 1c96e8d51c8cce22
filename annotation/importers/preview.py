"""A preview of a file from its beginning, before anything is stored."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from annotation.core.jsonio.jsonlines import HEAD_BYTES, RecordError
from annotation.core.trajectories.trajectory import TrajectoryDraft

from . import FORMATS, by_name, sniff
from .base import Importer, ReadContext
from .limits import read_within_limits
from .options import ReadOptions
from .parts.trace_spool import BEGINNING

LOOKED_AT: Final = 50
SECONDS: Final = 2.0
MAX_ERRORS: Final = 20
GATHER_BYTES: Final = 16 * 1024 * 1024
"""The bytes of a file with interleaved traces that are gathered for a preview."""


@dataclass(slots=True)
class FilePreview:
    """A preview of the beginning of a file.

    `drafts` is how many trajectories were read (`whole`: to the end of the file), `steps` how many steps they
    have, `first` the first of them. `alternatives` are the other formats that may claim the file, the surest
    first, with their certainty; `certainty` is that of `importer`.
    """

    importer: Importer
    certainty: float
    alternatives: list[tuple[Importer, float]]
    first: TrajectoryDraft | None = None
    drafts: int = 0
    steps: int = 0
    labelled: int = 0
    whole: bool = False
    errors: list[RecordError] = field(default_factory=list)
    context: ReadContext = field(default_factory=lambda: ReadContext(""))


def preview(
    stream: BinaryIO,
    context: ReadContext,
    *,
    format: str = "",
    options: ReadOptions,
    records: int = LOOKED_AT,
) -> FilePreview:
    """Read the beginning of a file: at most so many records, and not much longer than two seconds.

    `stream` must be seekable. Raises `Invalid` for a file of no known format.
    """
    head = stream.read(HEAD_BYTES)
    stream.seek(0)
    importer = by_name(format) if format else sniff(head)
    beginning = FilePreview(importer, importer.sniff(head), _others(importer, head), context=context)
    end = time.monotonic() + SECONDS
    for item in read_within_limits(importer, stream, context, options):
        if isinstance(item, RecordError):
            beginning.errors.append(item)
        else:
            beginning.first = beginning.first or item
            beginning.drafts += 1
            beginning.steps += sum(message.get("role") == "assistant" for message in item.messages)
            beginning.labelled += bool(item.source_labels or item.labels)
        if beginning.drafts >= records or len(beginning.errors) >= MAX_ERRORS or time.monotonic() > end:
            return beginning
    beginning.whole = BEGINNING not in context.notes
    return beginning


def _others(chosen: Importer, head: bytes) -> list[tuple[Importer, float]]:
    rated = [(importer, importer.sniff(head)) for importer in FORMATS.values() if importer is not chosen]
    return sorted(((candidate, sure) for candidate, sure in rated if sure > 0), key=lambda pair: -pair[1])
