"""Freeze a release: copy consensus labels, with their messages, under a number and a digest."""

import json
import re
import uuid
from datetime import datetime
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotation.core.canonical import canonical_json
from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.release_format import FORMAT, manifest_file, predecessor, with_checksum
from annotation.core.signatures import SigningKey
from annotation.core.text import escape
from annotation.models import AuditEvent, Project, Release, ReleaseRecord
from annotation.policies import Actor, recorded, require

from .. import audit
from ..blocks import read_snapshot
from . import contents, signatures, staging
from .contents import ReleaseDigest
from .keys import signing_key

MAX_NOTE = 20_000
VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,39}", re.ASCII)
BAD_VERSION = translatable(
    "Use letters, digits, dots, hyphens and underscores, at most 40, beginning with a letter or digit."
)


def freeze(
    *, actor: Actor, project: Project, version: str, note: str = "", now: datetime | None = None
) -> Release:
    """Freeze all resolved trajectories of a project as release `version`.

    The records are written first and the release's own row last, which is what freezes them: in one
    transaction, or on SQLite, where everybody would wait for that, in short ones (staging.py). A release
    holds the labels of one moment.
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
    key, now = signing_key(), now or timezone.now()
    staged = connection.vendor == "sqlite" and not connection.in_atomic_block
    write = _staged if staged else _at_once
    try:
        return write(actor, project, version, note, now, key)
    except IntegrityError as error:
        raise _taken(version) from error


def _taken(version: str) -> Conflict:
    return Conflict(
        translatable("Release {version} already exists, and releases never change.", version=version),
        code="version_taken",
    )


def _at_once(
    actor: Actor, project: Project, version: str, note: str, now: datetime, key: SigningKey
) -> Release:
    running, release_id = ReleaseDigest(), uuid.uuid4()
    with transaction.atomic():
        # No key: people go on claiming and labelling meanwhile.
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        _refuse_taken(project, version)
        chunk: list[contents.PreparedRecord] = []
        for record in contents.prepare(project, running):
            chunk.append(record)
            if len(chunk) == contents.CHUNK:
                contents.write(release_id, chunk)
                chunk.clear()
        contents.write(release_id, chunk)
        _refuse_empty(running)
        described = contents.described(project, running)
        return _finish(actor, project, version, note, now, key, release_id, described)


def _staged(
    actor: Actor, project: Project, version: str, note: str, now: datetime, key: SigningKey
) -> Release:
    running = ReleaseDigest()
    with staging.alone(), staging.Spool() as spool:
        with read_snapshot():
            _refuse_taken(project, version)
            reopened = _reopenings(project)
            for record in contents.prepare(project, running):
                spool.add(record)
            _refuse_empty(running)
            described = contents.described(project, running)
        release_id = staging.stage(spool)
        with transaction.atomic():
            if _reopenings(project) != reopened:
                raise Conflict(contents.CHANGED, code="changed_meanwhile")
            return _finish(actor, project, version, note, now, key, release_id, described)


def _reopenings(project: Project) -> int:
    """How many cases were opened again so far: none may be between what is read and what is frozen."""
    return AuditEvent.objects.filter(project=project, verb="case.reopen").count()


def _refuse_taken(project: Project, version: str) -> None:
    if Release.objects.filter(project=project, version=version).exists():
        raise _taken(version)


def _refuse_empty(running: ReleaseDigest) -> None:
    if not running.records:
        raise Invalid(
            translatable("Nothing is resolved yet, so there is nothing to freeze."),
            code="nothing_resolved",
        )


def _finish(
    actor: Actor,
    project: Project,
    version: str,
    note: str,
    now: datetime,
    key: SigningKey,
    release_id: uuid.UUID,
    described: dict[str, Any],
) -> Release:
    """The release's own row, which freezes its records."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    _refuse_taken(project, version)
    if ReleaseRecord.objects.filter(release=release_id).count() != described["records"]:
        raise RuntimeError("records of a release are missing")
    before = Release.objects.filter(project=project).order_by("-number").first()
    number = before.number + 1 if before is not None else 1
    manifest = with_checksum(
        {
            "format": FORMAT,
            "project": project.slug,
            "name": project.name,
            "version": version,
            "number": number,
            "previous": predecessor(json.loads(before.manifest)) if before is not None else None,
            "note": note,
            "created_at": now.isoformat(),
            **described,
        }
    )
    release = Release.objects.create(
        pk=release_id,
        project=project,
        number=number,
        version=version,
        note=escape(note),
        digest=described["digest"],
        record_count=described["records"],
        label_count=described["labels"],
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
