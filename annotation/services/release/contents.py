"""Contents of a release: its records, as they are prepared and written (the manifest: manifest.py)."""

from __future__ import annotations

import hashlib
import uuid
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Max, QuerySet

from annotation.core.decisions.record import frozen_details
from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import sha256_hex
from annotation.core.kinds import Feature
from annotation.core.releases.record_format import (
    ConsensusSnapshot,
    RecordIndexes,
    published_line,
    record_line,
    release_record,
)
from annotation.core.text import unescape
from annotation.core.vocabulary import IN_RELEASES
from annotation.models import (
    Consensus,
    OutcomeConsensus,
    Project,
    ReleaseLabel,
    ReleaseRecord,
    Trajectory,
)
from annotation.reports.judging.difficulty import difficulties
from annotation.reports.releases.blind_labels import AnnotatorTurn, pseudonyms, turns

from .freeze_request import FreezeRequest

FROZEN_AT_ONCE = 100
CHANGED = translatable("Labels changed while the release was being frozen; try again.")
COMPRESSION = 1  # as of what is imported (services/ingest/rows.py): a third of the time of zlib's default


@dataclass(frozen=True, slots=True)
class PreparedRecord:
    """One record, ready to be written; `labels` are (message index, value, kind), None being the outcome."""

    ordinal: int
    subset: str
    record_id: str
    sha256: str
    body: bytes
    labels: tuple[tuple[int | None, int, str], ...]


@dataclass(slots=True)
class ReleaseDigest:
    """Checksums and counts that grow record by record."""

    digest: Any = field(default_factory=hashlib.sha256)
    files: dict[str, Any] = field(default_factory=dict)
    values: dict[str, Counter[int]] = field(default_factory=dict)
    outcomes: dict[str, Counter[int]] = field(default_factory=dict)
    kinds: dict[str, Counter[str]] = field(default_factory=dict)
    outcome_kinds: dict[str, Counter[str]] = field(default_factory=dict)
    # by pseudonym and guideline version: how many turns, blind ones, labels, and labels in sight of something
    turns: dict[tuple[str, int], Counter[str]] = field(default_factory=dict)
    trajectories: array[int] = field(default_factory=lambda: array("q"))
    names: dict[int, str] = field(default_factory=dict)
    # the first query index of each subset that no record brought along
    free: dict[str, int] = field(default_factory=dict)
    queries: dict[tuple[str, int], int] = field(default_factory=dict)
    samples: Counter[int] = field(default_factory=Counter)
    records: int = 0
    # of a project whose trajectories are decisions, a record says where the options are from
    decisions: bool = False
    # by which difficulty these were picked, if they were
    difficulty: dict[str, Any] = field(default_factory=dict)

    def indexes(self, row: Trajectory) -> RecordIndexes:
        """The indexes of the next record."""
        subset = row.subset.name
        key = (subset, row.task_id)
        if row.query_index is None and key not in self.queries:
            self.queries[key] = self.free.setdefault(subset, 0)
            self.free[subset] += 1
        sample = self.samples[row.task_id]
        self.samples[row.task_id] += 1
        return RecordIndexes(
            subset,
            unescape(row.record_id),
            unescape(row.policy_model),
            self.records,
            self.queries.get(key, 0),
            sample,
        )

    def add_turns(self, trajectory: int, turns: Sequence[AnnotatorTurn]) -> None:
        """Count who labelled one record, and how."""
        self.trajectories.append(trajectory)
        for turn in turns:
            counted = self.turns.setdefault((self.names[turn.annotator], turn.guideline_version), Counter())
            counted["trajectories"] += 1
            counted["blind_trajectories"] += turn.blind is not None
            counted["labels"] += turn.labels
            counted["labels_in_sight"] += turn.in_sight

    def add(self, subset: str, body: bytes, line: bytes, resolved: ConsensusSnapshot) -> None:
        """Count one record."""
        self.digest.update(body + b"\n")
        entry = self.files.setdefault(subset, {"sha256": hashlib.sha256(), "records": 0, "bytes": 0})
        entry["sha256"].update(line)
        entry["records"] += 1
        entry["bytes"] += len(line)
        self.values.setdefault(subset, Counter()).update(value for value, _ in resolved.steps.values())
        self.outcomes.setdefault(subset, Counter())[resolved.outcome[0]] += 1
        self.kinds.setdefault(subset, Counter()).update(kind for _, kind in resolved.steps.values())
        self.outcome_kinds.setdefault(subset, Counter())[resolved.outcome[1]] += 1
        self.records += 1


Progress = Callable[[int, int], None]


def prepare(
    project: Project, running: ReleaseDigest, request: FreezeRequest, progress: Progress
) -> Iterator[PreparedRecord]:
    """The records of a release in order, those that were asked for, each counted in `running`;
    `progress(done, total)` after every chunk. Raises Conflict when a trajectory was reopened while they were
    read."""
    running.free = _free_query_indexes(project)
    running.names = pseudonyms(project)
    running.decisions = project.of_kind.has(Feature.PAIRS)
    ordered, running.difficulty = picked(project, request)
    for at in range(0, len(ordered), FROZEN_AT_ONCE):
        pks = ordered[at : at + FROZEN_AT_ONCE].tolist()
        rows = Trajectory.objects.select_related("subset", "content").in_bulk(pks)
        resolved, turns_of = _resolved([rows[pk] for pk in pks]), turns(pks, running.names)
        for pk in pks:
            running.add_turns(pk, turns_of[pk])
            yield _prepared(rows.pop(pk), resolved[pk], turns_of[pk], running)
        progress(at + len(pks), len(ordered))


def _prepared(
    row: Trajectory, resolved: ConsensusSnapshot, turns: Sequence[AnnotatorTurn], running: ReleaseDigest
) -> PreparedRecord:
    indexes = running.indexes(row)
    blind = [turn.blind for turn in turns if turn.blind is not None]
    decision = frozen_details(row.content.raw_bytes()) if running.decisions else None
    record = release_record(row.content.parsed(), indexes, resolved, blind, decision)
    body = record_line(record)
    made = PreparedRecord(
        ordinal=running.records,
        subset=indexes.subset,
        record_id=row.record_id,
        sha256=sha256_hex(body),
        body=zlib.compress(body, COMPRESSION),
        labels=((None, *resolved.outcome), *((index, *label) for index, label in resolved.steps.items())),
    )
    running.add(indexes.subset, body, published_line(record), resolved)
    return made


def write(release_id: uuid.UUID, records: Sequence[PreparedRecord]) -> None:
    """Write records and their labels under the id of a release whose own row comes last."""
    kept = [
        ReleaseRecord(
            release_id=release_id,
            ordinal=record.ordinal,
            subset=record.subset,
            record_id=record.record_id,
            sha256=record.sha256,
            body=record.body,
        )
        for record in records
    ]
    ReleaseRecord.objects.bulk_create(kept)
    ReleaseLabel.objects.bulk_create(
        ReleaseLabel(release_id=release_id, record=row, message_index=index, value=value, kind=kind)
        for row, record in zip(kept, records, strict=True)
        for index, value, kind in record.labels
    )


def _free_query_indexes(project: Project) -> dict[str, int]:
    """Per subset, the query index from which on none is taken by a record that came with its own."""
    indexed = Trajectory.objects.filter(project=project, live=True, query_index__isnull=False).order_by()
    rows = indexed.values_list("subset__name").annotate(last=Max("query_index"))
    return {subset: last + 1 for subset, last in rows}


def chosen(project: Project, leave_out: Collection[str]) -> QuerySet[Trajectory]:
    """The trajectories of a release: what is resolved, without the subsets that are left out."""
    resolved = Trajectory.objects.filter(project=project, live=True, state__in=IN_RELEASES)
    return resolved.exclude(subset__name__in=leave_out) if leave_out else resolved


def picked(project: Project, request: FreezeRequest) -> tuple[array[int], dict[str, Any]]:
    """The keys of a release in order, and what its manifest says of the band of difficulty that picked them;
    nothing where none did."""
    ordered, band = _ordered(project, request.leave_out), request.difficulty
    if band is None:
        return ordered, {}
    measured = difficulties(project)
    with_difficulty = [pk for pk in ordered if pk in measured.shares]
    kept = array("q", [pk for pk in with_difficulty if measured.shares[pk] in band])
    return kept, {
        "from": band.low,
        "to": band.high,
        "judges": measured.judges,
        "outside": len(with_difficulty) - len(kept),
        "unknown": len(ordered) - len(with_difficulty),
    }


def _ordered(project: Project, leave_out: Collection[str]) -> array[int]:
    """Their keys in the order of the release: by subset, then as imported. The keys are sorted without the
    content: a database that sorts whole rows holds all of them."""
    keys = chosen(project, leave_out).order_by("subset__name", "source_id", "pk").values_list("pk", flat=True)
    return array("q", keys.iterator(chunk_size=2_000))


def _resolved(rows: list[Trajectory]) -> dict[int, ConsensusSnapshot]:
    """The consensus of each trajectory, complete. Raises Conflict when one was reopened while we froze."""
    pks = [row.pk for row in rows]
    steps: dict[int, dict[int, tuple[int, str]]] = {pk: {} for pk in pks}
    roots: dict[int, dict[int, int]] = {pk: {} for pk in pks}
    reasons: dict[int, dict[int | None, str]] = {pk: {} for pk in pks}
    consensus = Consensus.objects.filter(trajectory__in=pks).order_by("trajectory", "step__message_index")
    for pk, index, value, kind, root, reason in consensus.values_list(
        "trajectory", "step__message_index", "value", "kind", "root__message_index", "reason"
    ):
        steps[pk][index] = (value, kind)
        if root is not None:
            roots[pk][index] = root
        if reason:
            reasons[pk][index] = reason
    outcomes = {}
    for pk, value, kind, reason in OutcomeConsensus.objects.filter(trajectory__in=pks).values_list(
        "trajectory", "value", "kind", "reason"
    ):
        outcomes[pk] = (value, kind)
        if reason:
            reasons[pk][None] = reason
    if any(len(steps[row.pk]) != row.step_count or row.pk not in outcomes for row in rows):
        raise Conflict(CHANGED, code="changed_meanwhile")
    return {pk: ConsensusSnapshot(steps[pk], outcomes[pk], roots[pk], reasons[pk]) for pk in pks}
