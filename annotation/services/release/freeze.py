"""Freeze a release: copy consensus labels, with their messages, under a number and a digest."""

import json
import uuid
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.kinds import manifest_part
from annotation.core.releases.record_format import FORMAT, manifest_file, predecessor, with_checksum
from annotation.core.releases.signatures import SigningKey
from annotation.core.text import escape
from annotation.core.vocabulary import WebhookEvent
from annotation.models import AuditEvent, Project, Release, ReleaseLabel, ReleaseRecord
from annotation.policies import OPERATOR, Actor, recorded, require

from .. import audit, interim, planner_stats, webhooks
from ..batched_writes import read_snapshot
from . import contents, signatures, staging
from .contents import Progress, ReleaseDigest
from .freeze_request import FreezeRequest, wanted
from .keys import signing_key
from .manifest import described

NOTHING_RESOLVED = translatable("Nothing is resolved yet, so there is nothing to freeze.")
NOTHING_IN_BAND = translatable("Of no resolved decision does the difficulty lie in this band.")

ANALYSED = (100, 1_000, 10_000)
"""After so many records the planner looks at the tables anew: the triggers' plans are from when they were
empty, and would read all of them for each label."""

Frozen = Callable[[Release], None]
"""Called in the transaction that freezes a release, after its row is there; what it raises undoes it."""


def freeze(
    *,
    actor: Actor,
    project: Project,
    version: str,
    note: str = "",
    title: str = "",
    licence: str = "",
    leave_out: Collection[str] = (),
    difficulty: Sequence[float] | None = None,
    now: datetime | None = None,
    progress: Progress | None = None,
    frozen: Frozen | None = None,
) -> Release:
    """Freeze all resolved trajectories of a project, without those of the subsets `leave_out`, as release
    `version`; of decisions with a `difficulty` those of which judges answered such a share right, from and to
    (reports.judging.difficulty). `progress(done, total)` is called with records.

    The records are written first and the release's own row last, which is what freezes them: in one
    transaction, or on SQLite, where everybody would wait for that, in short ones (staging.py). A release
    holds the labels of one moment.
    Raises Invalid for an unusable version, title, licence or note, for an unknown subset, or when
    nothing is resolved; Conflict when the version exists (a double click), the labels changed meanwhile, or
    the key that signs cannot be read.
    """
    require(actor, "release.freeze", project)
    request = wanted(
        project=project,
        version=version,
        note=note,
        title=title,
        licence=licence,
        leave_out=leave_out,
        difficulty=difficulty,
    )
    freezing = _Freezing(
        actor, project, request, now or timezone.now(), signing_key(), progress or _silent, frozen
    )
    staged = connection.vendor == "sqlite" and not connection.in_atomic_block
    try:
        return freezing.staged() if staged else freezing.at_once()
    except IntegrityError as error:
        raise taken(request.version) from error


def _silent(done: int, total: int) -> None:
    """Tell nobody."""


def nothing(request: FreezeRequest) -> Invalid:
    """The refusal where there is nothing to freeze."""
    if request.difficulty is not None:
        return Invalid(NOTHING_IN_BAND, fields={"difficulty": NOTHING_IN_BAND}, code="nothing_in_band")
    return Invalid(NOTHING_RESOLVED, code="nothing_resolved")


def taken(version: str) -> Conflict:
    """The refusal of a version that there is already."""
    return Conflict(
        translatable("Release {version} already exists, and releases never change.", version=version),
        code="version_taken",
    )


class _Freezing:
    """One attempt at a release."""

    def __init__(
        self,
        actor: Actor,
        project: Project,
        request: FreezeRequest,
        now: datetime,
        key: SigningKey,
        progress: Progress,
        frozen: Frozen | None,
    ) -> None:
        self.actor, self.project, self.asked = actor, project, request
        self.now, self.key, self.progress, self.frozen = now, key, progress, frozen

    def at_once(self) -> Release:
        """All in one transaction."""
        running, release_id = ReleaseDigest(), uuid.uuid4()
        with transaction.atomic():
            # No key: people go on claiming and labelling meanwhile.
            Project.objects.select_for_update(no_key=True).get(pk=self.project.pk)
            self._refuse_taken()
            interim.note_look(actor=OPERATOR, project=self.project)
            chunk: list[contents.PreparedRecord] = []
            for record in self._prepare(running):
                chunk.append(record)
                if len(chunk) == contents.FROZEN_AT_ONCE:
                    contents.write(release_id, chunk)
                    chunk.clear()
                    if running.records in ANALYSED:
                        planner_stats.analyse(ReleaseRecord, ReleaseLabel)
            contents.write(release_id, chunk)
            return self._finish(release_id, self._described(running))

    def staged(self) -> Release:
        """Read in one snapshot, written in short transactions."""
        running = ReleaseDigest()
        with staging.alone(), staging.small_cache(), staging.RecordSpool() as spool:
            self._refuse_taken()
            # nothing can be written in a snapshot
            interim.note_look(actor=OPERATOR, project=self.project)
            with read_snapshot():
                reopened = self._reopenings()
                for record in self._prepare(running):
                    spool.add(record)
                described = self._described(running)
            release_id = staging.stage(spool, self.progress)
            with transaction.atomic():
                if self._reopenings() != reopened:
                    raise Conflict(contents.CHANGED, code="changed_meanwhile")
                return self._finish(release_id, described)

    def _prepare(self, running: ReleaseDigest) -> Any:
        return contents.prepare(self.project, running, self.asked, self.progress)

    def _described(self, running: ReleaseDigest) -> dict[str, Any]:
        if not running.records:
            raise nothing(self.asked)
        return described(self.project, running, self.asked.leave_out)

    def _reopenings(self) -> int:
        """The number of cases opened again so far: it may not change between reading and freezing."""
        return AuditEvent.objects.filter(project=self.project, verb="case.reopen").count()

    def _refuse_taken(self) -> None:
        if Release.objects.filter(project=self.project, version=self.asked.version).exists():
            raise taken(self.asked.version)

    def _finish(self, release_id: uuid.UUID, described: dict[str, Any]) -> Release:
        """The release's own row, which freezes its records."""
        project, request = self.project, self.asked
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        self._refuse_taken()
        if ReleaseRecord.objects.filter(release=release_id).count() != described["records"]:
            raise RuntimeError("records of a release are missing")
        before = Release.objects.filter(project=project).order_by("-number").first()
        number = before.number + 1 if before is not None else 1
        manifest = with_checksum(
            {
                "format": FORMAT,
                **manifest_part(project.of_kind),
                "project": project.slug,
                "name": project.name,
                "version": request.version,
                "number": number,
                "previous": predecessor(json.loads(before.manifest)) if before is not None else None,
                "title": request.title,
                "licence": request.licence,
                "note": request.note,
                "created_at": self.now.isoformat(),
                **described,
            }
        )
        release = Release.objects.create(
            pk=release_id,
            project=project,
            number=number,
            version=request.version,
            note=escape(request.note),
            digest=described["digest"],
            record_count=described["records"],
            label_count=described["labels"],
            manifest=canonical_json(manifest).decode(),
            signature=signatures.signed(self.key, manifest_file(manifest)),
            created_by=recorded(self.actor),
            created_at=self.now,
        )
        webhooks.note_each(WebhookEvent.RELEASE_FROZEN, project=project.pk, keys=[release.pk])
        audit.record(
            actor=self.actor,
            verb="release.freeze",
            project=project,
            obj=release,
            version=request.version,
            digest=release.digest,
            manifest_sha256=manifest["manifest_sha256"],
        )
        if self.frozen is not None:
            self.frozen(release)
        return release
