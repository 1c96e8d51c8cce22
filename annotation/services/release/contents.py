"""What a release is made of: its records, as they are written, and what its manifest says of them."""

import hashlib
import uuid
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db.models import Max

from annotation.core.canonical import sha256_hex
from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.release_format import (
    RecordIndexes,
    Resolved,
    distribution,
    file_name,
    published_line,
    record_line,
    release_record,
)
from annotation.core.text import unescape
from annotation.core.vocabulary import RESOLVED
from annotation.models import (
    Consensus,
    OutcomeConsensus,
    Project,
    ReleaseLabel,
    ReleaseRecord,
    Trajectory,
)
from annotation.policies import OPERATOR
from annotation.reports.agreement import agreement, as_json

from .. import assign

CHUNK = 100
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
    kinds: Counter[str] = field(default_factory=Counter)
    # the first query index of each subset that no record brought along
    free: dict[str, int] = field(default_factory=dict)
    queries: dict[tuple[str, int], int] = field(default_factory=dict)
    samples: Counter[int] = field(default_factory=Counter)
    records: int = 0

    def indexes(self, row: Trajectory) -> RecordIndexes:
        """Where the next record stands."""
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

    def add(self, subset: str, body: bytes, line: bytes, resolved: Resolved) -> None:
        """Count one record."""
        self.digest.update(body + b"\n")
        entry = self.files.setdefault(subset, {"sha256": hashlib.sha256(), "records": 0, "bytes": 0})
        entry["sha256"].update(line)
        entry["records"] += 1
        entry["bytes"] += len(line)
        self.values.setdefault(subset, Counter()).update(value for value, _ in resolved.steps.values())
        self.outcomes.setdefault(subset, Counter())[resolved.outcome[0]] += 1
        self.kinds.update(kind for _, kind in resolved.steps.values())
        self.records += 1


def prepare(project: Project, running: ReleaseDigest) -> Iterator[PreparedRecord]:
    """The records of a release in order, each counted in `running`. Raises Conflict when a trajectory was
    reopened while they were read."""
    running.free = _free_query_indexes(project)
    for rows in _chunks(project):
        resolved = _resolved(rows)
        for row in rows:
            yield _prepared(row, resolved[row.pk], running)


def _prepared(row: Trajectory, resolved: Resolved, running: ReleaseDigest) -> PreparedRecord:
    indexes = running.indexes(row)
    record = release_record(row.content.parsed(), indexes, resolved)
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
            ordinal=one.ordinal,
            subset=one.subset,
            record_id=one.record_id,
            sha256=one.sha256,
            body=one.body,
        )
        for one in records
    ]
    ReleaseRecord.objects.bulk_create(kept)
    ReleaseLabel.objects.bulk_create(
        ReleaseLabel(release_id=release_id, record=row, message_index=index, value=value, kind=kind)
        for row, one in zip(kept, records, strict=True)
        for index, value, kind in one.labels
    )


def _free_query_indexes(project: Project) -> dict[str, int]:
    """Per subset, the query index from which on none is taken by a record that came with its own."""
    given = Trajectory.objects.filter(project=project, live=True, query_index__isnull=False).order_by()
    rows = given.values_list("subset__name").annotate(last=Max("query_index"))
    return {subset: last + 1 for subset, last in rows}


def _chunks(project: Project) -> Iterator[list[Trajectory]]:
    """The resolved trajectories in the order of the release: by subset, then by queue position.

    The keys are sorted first, without the content: a database that sorts whole rows holds all of them.
    """
    resolved = Trajectory.objects.filter(project=project, live=True, state__in=RESOLVED)
    ordered = list(resolved.order_by("subset__name", "position").values_list("pk", flat=True))
    for at in range(0, len(ordered), CHUNK):
        pks = ordered[at : at + CHUNK]
        rows = Trajectory.objects.select_related("subset", "content").in_bulk(pks)
        yield [rows[pk] for pk in pks]


def _resolved(rows: list[Trajectory]) -> dict[int, Resolved]:
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
    return {pk: Resolved(steps[pk], outcomes[pk], roots[pk], reasons[pk]) for pk in pks}


def described(project: Project, running: ReleaseDigest) -> dict[str, Any]:
    """What a manifest says of the content: counts, distributions, agreement, guideline version, checksums."""
    # whoever reads a release reads its manifest: nothing in it may tell of a single annotator
    report = as_json(agreement(viewer=OPERATOR, project=project, intervals=False).without_people())
    values = sum(running.values.values(), Counter[int]())
    outcomes = sum(running.outcomes.values(), Counter[int]())
    return {
        "software_version": settings.TRISTEP_VERSION,
        "guideline_version": assign.guideline_in_force(project.pk),
        "annotators_per_trajectory": project.annotators_per_trajectory,
        "digest": running.digest.hexdigest(),
        "records": running.records,
        "labels": values.total(),
        "label_distribution": distribution(values),
        "outcome_distribution": distribution(outcomes),
        "label_kinds": dict(sorted(running.kinds.items())),
        "subsets": {
            subset: {
                "records": entry["records"],
                "labels": running.values[subset].total(),
                "label_distribution": distribution(running.values[subset]),
                "outcome_distribution": distribution(running.outcomes[subset]),
            }
            for subset, entry in running.files.items()
        },
        "agreement": {"overall": report["overall"]["figures"], "outcome": report["overall"]["outcome"]},
        "files": {
            file_name(subset): {**entry, "sha256": entry["sha256"].hexdigest()}
            for subset, entry in running.files.items()
        },
    }
