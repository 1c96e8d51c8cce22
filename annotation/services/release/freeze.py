"""Freeze a release: copy consensus labels, with their messages, under a number and a digest."""

import hashlib
import json
import re
import uuid
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from annotation.core.canonical import canonical_json, sha256_hex
from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.release_format import (
    FORMAT,
    RecordIndexes,
    Resolved,
    distribution,
    file_name,
    manifest_file,
    predecessor,
    published_line,
    record_line,
    release_record,
    with_checksum,
)
from annotation.core.signatures import SigningKey
from annotation.core.text import escape, unescape
from annotation.core.vocabulary import RESOLVED
from annotation.models import (
    Consensus,
    OutcomeConsensus,
    Project,
    Release,
    ReleaseLabel,
    ReleaseRecord,
    Trajectory,
)
from annotation.policies import OPERATOR, Actor, recorded, require
from annotation.reports.agreement import agreement, as_json

from .. import assign, audit
from . import signatures
from .keys import signing_key

CHUNK = 100
MAX_NOTE = 20_000
VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,39}", re.ASCII)
BAD_VERSION = translatable(
    "Use letters, digits, dots, hyphens and underscores, at most 40, beginning with a letter or digit."
)


@dataclass(slots=True)
class ReleaseDigest:
    """Checksums and counts that grow record by record."""

    digest: Any = field(default_factory=hashlib.sha256)
    files: dict[str, Any] = field(default_factory=dict)
    values: dict[str, list[int]] = field(default_factory=dict)
    outcomes: dict[str, list[int]] = field(default_factory=dict)
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
        self.values.setdefault(subset, []).extend(value for value, _ in resolved.steps.values())
        self.outcomes.setdefault(subset, []).append(resolved.outcome[0])
        self.kinds.update(kind for _, kind in resolved.steps.values())
        self.records += 1


def freeze(
    *, actor: Actor, project: Project, version: str, note: str = "", now: datetime | None = None
) -> Release:
    """Freeze all resolved trajectories of a project as release `version`.

    One transaction: the records are written first and the release's own row last, which is what freezes them.
    Raises Invalid for an unusable version or when nothing is resolved, Conflict when the version exists (a
    double click), the labels changed meanwhile, or the key that signs cannot be read.
    """
    require(actor, "release.freeze", project)
    version = version.strip()
    if not VERSION.fullmatch(version):
        raise Invalid(
            translatable(
                "“{version}” cannot be a version. {bad_version}",
                version=version[:60],
                bad_version=BAD_VERSION,
            ),
            fields={"version": BAD_VERSION},
        )
    if len(note) > MAX_NOTE:
        message = translatable("Keep the note under {note} characters.", note=f"{MAX_NOTE:,}")
        raise Invalid(message, fields={"note": message})
    key = signing_key()
    try:
        with transaction.atomic():
            return _freeze(actor, project, version, note, now or timezone.now(), key)
    except IntegrityError as error:
        raise _taken(version) from error


def _taken(version: str) -> Conflict:
    return Conflict(
        translatable("There is a release {version} already; releases never change.", version=version),
        code="version_taken",
    )


def _freeze(
    actor: Actor, project: Project, version: str, note: str, now: datetime, key: SigningKey
) -> Release:
    # No key: people go on claiming and labelling meanwhile.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if Release.objects.filter(project=project, version=version).exists():
        raise _taken(version)
    before = Release.objects.filter(project=project).order_by("-number").first()
    number = before.number + 1 if before is not None else 1
    release_id, running = uuid.uuid4(), ReleaseDigest(free=_free_query_indexes(project))
    for chunk in _chunks(project):
        _write(release_id, chunk, running)
    if not running.records:
        raise Invalid(
            translatable("Nothing is resolved yet, so that there is nothing to freeze."),
            code="nothing_resolved",
        )
    previous = predecessor(json.loads(before.manifest)) if before is not None else None
    manifest = _manifest(project, version, number, note, now, running, previous)
    release = Release.objects.create(
        pk=release_id,
        project=project,
        number=number,
        version=version,
        note=escape(note),
        digest=running.digest.hexdigest(),
        record_count=running.records,
        label_count=sum(len(values) for values in running.values.values()),
        manifest=canonical_json(manifest).decode(),
        signature=signatures.signed(key, manifest_file(manifest)),
        created_by=recorded(actor),
        created_at=now,
    )
    audit.record(
        actor=actor,
        verb="release.freeze",
        project=project,
        obj=release,
        version=version,
        digest=release.digest,
        manifest_sha256=manifest["manifest_sha256"],
    )
    return release


def _free_query_indexes(project: Project) -> dict[str, int]:
    """Per subset, the query index from which on none is taken by a record that came with its own."""
    given = Trajectory.objects.filter(project=project, live=True, query_index__isnull=False).order_by()
    rows = given.values_list("subset__name").annotate(last=Max("query_index"))
    return {subset: last + 1 for subset, last in rows}


def _chunks(project: Project) -> Iterator[list[Trajectory]]:
    """The resolved trajectories in the order of the release: by subset, then by queue position."""
    rows = (
        Trajectory.objects.filter(project=project, live=True, state__in=RESOLVED)
        .select_related("subset", "content")
        .order_by("subset__name", "position")
        .iterator(chunk_size=CHUNK)
    )
    while chunk := list(islice(rows, CHUNK)):
        yield chunk


def _write(release_id: uuid.UUID, rows: list[Trajectory], running: ReleaseDigest) -> None:
    resolved = _resolved(rows)
    records, labels = [], []
    for row in rows:
        indexes = running.indexes(row)
        record = release_record(row.content.parsed(), indexes, resolved[row.pk])
        body = record_line(record)
        kept = ReleaseRecord(
            release_id=release_id,
            ordinal=running.records,
            subset=indexes.subset,
            record_id=row.record_id,
            sha256=sha256_hex(body),
            body=zlib.compress(body),
        )
        records.append(kept)
        running.add(indexes.subset, body, published_line(record), resolved[row.pk])
        value, kind = resolved[row.pk].outcome
        labels.append(
            ReleaseLabel(release_id=release_id, record=kept, message_index=None, value=value, kind=kind)
        )
        labels.extend(
            ReleaseLabel(release_id=release_id, record=kept, message_index=index, value=value, kind=kind)
            for index, (value, kind) in resolved[row.pk].steps.items()
        )
    ReleaseRecord.objects.bulk_create(records)
    ReleaseLabel.objects.bulk_create(labels)


def _resolved(rows: list[Trajectory]) -> dict[int, Resolved]:
    """The consensus of each trajectory, complete. Raises Conflict when one was reopened while we froze."""
    pks = [row.pk for row in rows]
    steps: dict[int, dict[int, tuple[int, str]]] = {pk: {} for pk in pks}
    consensus = Consensus.objects.filter(trajectory__in=pks).order_by("trajectory", "step__message_index")
    for pk, index, value, kind in consensus.values_list("trajectory", "step__message_index", "value", "kind"):
        steps[pk][index] = (value, kind)
    outcomes = {
        pk: (value, kind)
        for pk, value, kind in OutcomeConsensus.objects.filter(trajectory__in=pks).values_list(
            "trajectory", "value", "kind"
        )
    }
    if any(len(steps[row.pk]) != row.step_count or row.pk not in outcomes for row in rows):
        raise Conflict(
            translatable("Labels changed while the release was being frozen; try again."),
            code="changed_meanwhile",
        )
    return {pk: Resolved(steps=steps[pk], outcome=outcomes[pk]) for pk in pks}


def _manifest(
    project: Project,
    version: str,
    number: int,
    note: str,
    now: datetime,
    running: ReleaseDigest,
    previous: dict[str, Any] | None,
) -> dict[str, Any]:
    # whoever reads a release reads its manifest: nothing in it may tell of a single annotator
    report = as_json(agreement(viewer=OPERATOR, project=project, intervals=False).without_people())
    values = [value for subset in running.values.values() for value in subset]
    outcomes = [value for subset in running.outcomes.values() for value in subset]
    return with_checksum(
        {
            "format": FORMAT,
            "project": project.slug,
            "name": project.name,
            "version": version,
            "number": number,
            "previous": previous,
            "note": note,
            "created_at": now.isoformat(),
            "software_version": settings.TRISTEP_VERSION,
            "guideline_version": assign.guideline_in_force(project.pk),
            "annotators_per_trajectory": project.annotators_per_trajectory,
            "digest": running.digest.hexdigest(),
            "records": running.records,
            "labels": len(values),
            "label_distribution": distribution(values),
            "outcome_distribution": distribution(outcomes),
            "label_kinds": dict(sorted(running.kinds.items())),
            "subsets": {
                subset: {
                    "records": entry["records"],
                    "labels": len(running.values[subset]),
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
    )
