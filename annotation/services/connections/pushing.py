"""Push: the consensus of what a connection has brought goes to the spans that its steps come from.

Twice is as once, and a push may be killed anywhere: before a record's labels are touched its row says that
nothing is known of them, and afterwards what they are. Where it says so the server is asked first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.connections import Connected, LeftOut, Mark
from annotation.connections.base import OUTCOME, STEP
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json, sha256_hex
from annotation.core.text import unescape
from annotation.core.vocabulary import RESOLVED
from annotation.models import Connection, Consensus, OutcomeConsensus, PushedRecord, Trajectory, Transfer

from .lease import Beat, held

AT_ONCE: Final = 50
NO_SPAN: Final = translatable("has a step that comes from no span of its own, so its label has no place")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The labels that a record is to have on the server."""

    record_id: str
    trace_id: str
    marks: tuple[Mark, ...]
    without_span: int

    @property
    def digest(self) -> str:
        """The digest of the labels."""
        rows = [[mark.name, mark.span_id, mark.value, mark.reason, dict(mark.details)] for mark in self.marks]
        return sha256_hex(canonical_json([self.trace_id, rows]))


def push(row: Transfer, connected: Connected, beat: Beat) -> None:
    """Make the labels there what the consensus is here, and withdraw those of records without one."""
    connection = row.connection
    resolved = _resolved(connection)
    held(row).update(progress_total=resolved.count())
    for wanted in _wanted(connection, resolved):
        _push(row, connected, beat, wanted)
        beat.done += 1
        beat()
    for pushed in list(_without_consensus(connection, resolved)):
        gone = _Wanted(pushed.record_id, pushed.trace_id, (), 0)
        _push(row, connected, beat, gone)
        beat()


def _push(row: Transfer, connected: Connected, beat: Beat, wanted: _Wanted) -> None:
    mine = PushedRecord.objects.filter(connection=row.connection, record_id=wanted.record_id)
    before = mine.first()
    if before is not None and before.digest == wanted.digest:
        beat.counts["unchanged"] += len(wanted.marks)
        return
    spans = [] if before is None else before.spans
    now = sorted({mark.span_id for mark in wanted.marks if mark.span_id})
    if not row.dry:
        PushedRecord.objects.update_or_create(
            connection=row.connection,
            record_id=wanted.record_id,
            defaults={
                "trace_id": wanted.trace_id,
                "digest": "",
                "spans": sorted({*spans, *now}),
                "pushed_at": timezone.now(),
            },
        )
    record = unescape(wanted.record_id)
    tally = connected.push(wanted.trace_id, record, wanted.marks, spans, dry=row.dry)
    for name in ("written", "changed", "unchanged", "withdrawn"):
        beat.counts[name] += getattr(tally, name)
    left_out = list(tally.left_out)
    left_out += [LeftOut(record, NO_SPAN)] * wanted.without_span
    beat.leave_out(left_out)
    if row.dry:
        return
    if not wanted.marks and not tally.left_out:
        mine.delete()
    elif not tally.left_out:
        mine.update(digest=wanted.digest, spans=now, pushed_at=timezone.now())


def _brought(connection: Connection) -> QuerySet[Trajectory]:
    return Trajectory.objects.filter(live=True, source__transfers__connection=connection)


def _resolved(connection: Connection) -> QuerySet[Trajectory]:
    """The trajectories of a connection that have a consensus; of several versions of a record the newest."""
    resolved = _brought(connection).filter(state__in=RESOLVED)
    newer = resolved.filter(record_id=OuterRef("record_id"), pk__gt=OuterRef("pk"))
    return resolved.filter(~Exists(newer)).order_by("pk")


def _without_consensus(connection: Connection, resolved: QuerySet[Trajectory]) -> QuerySet[PushedRecord]:
    has_one = resolved.filter(record_id=OuterRef("record_id")).order_by()
    return PushedRecord.objects.filter(~Exists(has_one), connection=connection)


def _wanted(connection: Connection, resolved: QuerySet[Trajectory]) -> Iterator[_Wanted]:
    rows = resolved.select_related("content").iterator(chunk_size=AT_ONCE)
    while part := list(islice(rows, AT_ONCE)):
        steps: dict[int, list[Any]] = defaultdict(list)
        pks = [row.pk for row in part]
        for one in Consensus.objects.filter(trajectory__in=pks).select_related("step").order_by("step"):
            steps[one.trajectory_id].append(one)
        outcomes = {one.trajectory_id: one for one in OutcomeConsensus.objects.filter(trajectory__in=pks)}
        for row in part:
            yield _labels(connection, row, steps[row.pk], outcomes.get(row.pk))


def _labels(
    connection: Connection, row: Trajectory, steps: Sequence[Consensus], outcome: OutcomeConsensus | None
) -> _Wanted:
    hints = row.content.parsed().get("hints") or {}
    spans = hints.get("source_steps") or {}
    record = unescape(row.record_id)
    # the result of a sub-agent stands at the span of the agent
    trace_id = hints.get("sub_agent_of") or record
    agent = record.removeprefix(f"{trace_id}:") if record != trace_id else ""
    marks, without = [], 0
    for one in steps:
        span = spans.get(str(one.step.message_index))
        if not span:
            without += 1
            continue
        marks.append(_mark(connection, one, STEP, span, {"message": str(one.step.message_index)}))
    if outcome is not None:
        marks.append(_mark(connection, outcome, OUTCOME, agent, {}))
    return _Wanted(row.record_id, trace_id, tuple(marks), without)


def _mark(
    connection: Connection, one: Consensus | OutcomeConsensus, name: str, span: str, more: dict[str, str]
) -> Mark:
    details = {"origin": one.kind, **more}
    if one.reason:
        details["reason"] = one.reason
    reason = unescape(one.note) if connection.push_reasons else ""
    return Mark(name=name, span_id=span, value=one.value, reason=reason, details=details)
