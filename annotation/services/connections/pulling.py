"""Pull: what the server has and is not here goes, as a file, the way of every import."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from typing import Final

from django.db import transaction

from annotation.connections import Connected, LeftOut, PulledTrace, kind_named
from annotation.core.errors import StaleState
from annotation.core.i18n import translatable
from annotation.core.vocabulary import TransferState
from annotation.importers import RecordError, by_name
from annotation.importers.limits import read_within_limits
from annotation.importers.options import ReadOptions
from annotation.models import EDITED_FORMAT, Assignment, Trajectory, Transfer, in_use
from annotation.policies import Actor

from .. import ingest
from ..ingest.context import read_context
from ..ingest.rows import PreparedDraft, prepare
from .lease import Beat, ending, held

VERSION: Final = translatable(
    "has changed since somebody began to label it here; the labels stay with the old version, and the new "
    "one can be pulled into another subset"
)
LOCKED: Final = translatable("has changed, and its new version has been labelled meanwhile as well")


@dataclass(frozen=True, slots=True)
class _Known:
    """A record that is here: its digest, whether it was edited here, and whether somebody has begun it."""

    digest: str
    edited: bool
    begun: bool


def pull(actor: Actor, row: Transfer, connected: Connected, beat: Beat) -> None:
    """Sort what the server has; unless it is dry, what is new is received as a file and imported."""
    lines = _wanted(row, connected, beat)
    first = next(lines, None)
    if row.dry or first is None:
        for _ in lines:
            pass
        held(row).update(**ending(beat, TransferState.DONE))
        return
    connection = row.connection
    source = ingest.receive_file(
        actor=actor,
        project=connection.project,
        subset=row.subset,
        filename=f"{connection.name}.{connection.kind}.jsonl",
        chunks=chain((first,), lines),
        format=kind_named(connection.kind).format,
        replace=True,
        enqueue=False,
    )
    with transaction.atomic():
        if not held(row).update(**ending(beat, TransferState.DONE), imported=source):
            raise StaleState(translatable("This transfer was stopped."), code="transfer_stopped")
        ingest.start(actor=actor, source=source)


def _wanted(row: Transfer, connected: Connected, beat: Beat) -> Iterator[bytes]:
    """The bytes of the traces that are to come in, while all are counted."""
    for page in connected.pages():
        if page.read:
            beat.counts["read"] += page.read
            beat()
            continue
        beat.counts.pop("read", None)
        beat.leave_out(page.left_out)
        beat.done += len(page.left_out)
        yield from _sorted(row, page.traces, beat)
        beat.done += len(page.traces)
        beat()


def _sorted(row: Transfer, traces: Sequence[PulledTrace], beat: Beat) -> Iterator[bytes]:
    read = [(trace, _drafts(row, trace)) for trace in traces]
    ids = [draft.record_id for _, drafts in read if not isinstance(drafts, str) for draft in drafts]
    here = known_records(row, row.connection.subset, ids)
    there = known_records(row, row.subset, ids) if row.versions else {}
    for trace, drafts in read:
        if isinstance(drafts, str):
            beat.leave_out([LeftOut(trace.trace_id, drafts)])
            continue
        fate = fate_of(drafts, here)
        if row.versions:
            fate = "known" if fate != "version" else fate_of(drafts, there)
            if fate == "version":
                beat.leave_out([LeftOut(trace.trace_id, LOCKED)])
                continue
        if fate == "version":
            beat.counts["versions"] += 1
            beat.leave_out([LeftOut(trace.trace_id, VERSION)])
            continue
        beat.counts[fate] += 1
        if fate != "known":
            yield trace.raw


def fate_of(drafts: Sequence[PreparedDraft], here: dict[str, _Known]) -> str:
    """The fate of a trace: it is `new`, `known`, `replaced`, or a new `version` of what is being labelled.
    One whose parts differ has the gravest."""
    fates = {"known"}
    for draft in drafts:
        stored = here.get(draft.record_id)
        if stored is None:
            fates.add("new")
        elif stored.digest != draft.digest and not stored.edited:
            fates.add("version" if stored.begun else "replaced")
    return next(fate for fate in ("version", "replaced", "new", "known") if fate in fates)


def _drafts(row: Transfer, trace: PulledTrace) -> list[PreparedDraft] | str:
    """The drafts that an import will make of a trace, or the reason why it can make none."""
    importer = by_name(kind_named(row.connection.kind).format)
    drafts = []
    for item in read_within_limits(
        importer, BytesIO(trace.raw), read_context(trace.trace_id, {}), ReadOptions()
    ):
        if isinstance(item, RecordError):
            return f"{item.field}: {item.reason}" if item.field else item.reason
        drafts.append(prepare(item))
    return drafts or translatable("holds nothing to label")


def known_records(row: Transfer, subset: str, ids: Sequence[str]) -> dict[str, _Known]:
    rows = Trajectory.objects.filter(
        in_use(), project=row.project_id, subset__name=subset, record_id__in=ids, copy_of=None
    )
    records = list(rows.values_list("pk", "record_id", "content_digest", "source__format"))
    begun = set(
        Assignment.stored.filter(trajectory__in=[pk for pk, *_ in records]).values_list(
            "trajectory", flat=True
        )
    )
    return {
        record: _Known(digest, source == EDITED_FORMAT, pk in begun) for pk, record, digest, source in records
    }
