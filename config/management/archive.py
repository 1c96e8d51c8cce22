"""Backup archives: one .tar.gz with every table as JSON Lines, portable between SQLite and PostgreSQL.

Read in one snapshot, so that people may go on working; restored into an empty database of the same schema
(restoring.py). The secret key is not part of it (sessions and password links end with a restore on a new
machine).
"""

import hashlib
import json
import re
import shutil
import tarfile
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.apps import apps
from django.conf import settings
from django.core import serializers
from django.core.management.base import CommandError
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.models import Model

from annotation.models import (
    Assignment,
    ImportFile,
    Label,
    LabelEvent,
    OutcomeLabel,
    Release,
    ReleaseLabel,
    ReleaseRecord,
)
from annotation.services.batched_writes import read_snapshot
from annotation.services.ingest import files as stored
from annotation.services.ingest.receive import UNFINISHED
from config.management import restoring

FORMAT = "tristep-backup/1"
MANIFEST = "manifest.json"
# whose `objects` leaves rechecks out
WHOLE = (Assignment, Label, OutcomeLabel, LabelEvent)
UPLOAD = re.compile(r"uploads/[0-9a-f]{32}\.import")
FOLDERS = frozenset({"tables", "uploads"})
BATCH = 500
ARCHIVE_READ_BYTES = 1 << 20
# What a restore takes in, in bytes: the manifest, an extended header; and what the disk keeps free.
MAX_MANIFEST = 64 << 20
MAX_HEADER = 64 << 10
SPARE = 64 << 20
EXTENDED = frozenset(
    {
        *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
        *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
    }
)


def tables() -> list[type[Model]]:
    """Our models, and of allauth's those in use, in the order in which they are restored: releases last, for
    their row is what freezes the rest."""
    ours = list(apps.get_app_config("annotation").get_models())
    return [*(model for model in ours if model is not Release), SocialAccount, Authenticator, Release]


def table(model: type[Model]) -> str:
    """The name of a table's member."""
    return f"tables/{model._meta.model_name}.jsonl"


def schema() -> list[str]:
    """Our migrations that the database has applied, without those that a later one stands for."""
    loader = MigrationLoader(connection)
    applied = set(loader.disk_migrations) & set(loader.applied_migrations)
    return sorted(name for app, name in applied if app == "annotation")


def backup(path: Path) -> dict[str, Any]:
    """Write the archive (whole or not at all) and return its manifest."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".backup-") as scratch:
        folder, target = Path(scratch), Path(scratch) / "archive"
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "software_version": settings.TRISTEP_VERSION,
            "schema": schema(),
            "rows": {},
            "sha256": {},
        }
        with tarfile.open(target, "w:gz", compresslevel=3) as archive:
            with read_snapshot():
                for upload in _pending():
                    # gone: its import has ended since the snapshot began
                    with suppress(FileNotFoundError), stored.opened(upload) as file:
                        _add(archive, file, f"uploads/{upload}", manifest)
                for model in tables():
                    name = table(model)
                    manifest["rows"][name] = _dump(model, folder / "table")
                    with (folder / "table").open("rb") as file:
                        _add(archive, file, name, manifest)
            (folder / MANIFEST).write_text(json.dumps(manifest, indent=1))
            archive.add(folder / MANIFEST, MANIFEST)
        target.chmod(0o600)
        target.replace(path)
    return manifest


class ExactEncoder(DjangoJSONEncoder):
    """Times with their microseconds, which Django cuts off: a release's checksum covers them."""

    def default(self, o: Any) -> Any:
        return o.isoformat() if isinstance(o, datetime) else super().default(o)


def _dump(model: type[Model], path: Path) -> int:
    """One table as JSON Lines, ordered by primary key; the number of its rows. No staged releases."""
    manager = model._base_manager if model in WHOLE else model._default_manager
    rows = manager.order_by("pk")
    if model in (ReleaseRecord, ReleaseLabel):
        rows = rows.filter(release__in=Release.objects.all())
    with path.open("w", encoding="utf-8") as out:
        serializers.serialize("jsonl", rows.iterator(chunk_size=BATCH), stream=out, cls=ExactEncoder)
    return rows.count()


def _pending() -> list[str]:
    """The uploads that imports wait for. What is still arriving has no row, and may grow while it is read."""
    waiting = ImportFile.objects.filter(state__in=UNFINISHED)
    return list(waiting.order_by("stored_as").values_list("stored_as", flat=True))


def _add(archive: tarfile.TarFile, file: BinaryIO, name: str, manifest: dict[str, Any]) -> None:
    manifest["sha256"][name] = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = file.tell(), 0o600, int(time.time())
    file.seek(0)
    archive.addfile(member, file)


def restore(path: Path) -> dict[str, Any]:
    """Fill an empty database from an archive, all or nothing. Raises CommandError with one clear sentence."""
    with (
        restoring.alone(),
        tempfile.TemporaryDirectory(dir=settings.DATA_DIR, prefix=".restore-") as scratch,
    ):
        restoring.refuse_others()
        folder = Path(scratch)
        manifest = _unpack(path, folder)
        files = {model: (folder / table(model), manifest["rows"][table(model)]) for model in tables()}
        # first, so that no import is without its file, whatever happens; a worker deletes what nobody needs
        for upload in folder.glob("uploads/*.import"):
            stored.discard(upload.name)
            with upload.open("rb") as file:
                stored.save(upload.name, iter(partial(file.read, ARCHIVE_READ_BYTES), b""))
        restoring.fill(path, files)
    return manifest


class ArchiveMember(tarfile.TarInfo):
    """A member of an archive, whose extended headers (which are read into memory) are short."""

    def _proc_member(self, archive: tarfile.TarFile) -> Any:
        if self.type in EXTENDED and self.size > MAX_HEADER:
            raise tarfile.ReadError("a header is too long")
        return super()._proc_member(archive)  # type: ignore[misc]


def _unpack(path: Path, folder: Path) -> dict[str, Any]:
    """Unpack and check every checksum before a row is touched. Raises CommandError."""
    try:
        with tarfile.open(path, "r:gz", tarinfo=ArchiveMember) as archive:
            extracted = dict(_extract(archive, folder, path))
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (tarfile.TarError, zlib.error, OSError, EOFError, ValueError, RecursionError) as error:
        raise CommandError(f"{path} is no whole backup of Tristep ({error}).") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise CommandError(f"{path} is no backup of Tristep.")
    if manifest.get("schema") != schema():
        raise CommandError(
            f"{path} was made by Tristep {str(manifest.get('software_version'))[:40]!r} with another database"
            " schema; restore it with that version, then migrate."
        )
    stated = manifest.get("sha256")
    del extracted[MANIFEST]
    if not isinstance(stated, dict) or not stated:
        raise CommandError(f"{path} has no checksums; nothing says that it is whole.")
    if missing := sorted({table(model) for model in tables()} - set(stated)):
        raise CommandError(f"{path} is damaged: it has no {missing[0]}.")
    for name in sorted(set(stated) | set(extracted)):
        if stated.get(name) != extracted.get(name):
            raise CommandError(f"{path} is damaged: {name[:80]} does not match its checksum.")
    rows = manifest.get("rows")
    if not isinstance(rows, dict) or not all(isinstance(rows.get(table(name)), int) for name in tables()):
        raise CommandError(f"{path} is damaged: it does not say how many rows it has.")
    return manifest


def _extract(archive: tarfile.TarFile, folder: Path, path: Path) -> Iterator[tuple[str, str]]:
    """Write each member that a backup may have, and give its name and SHA-256. Raises CommandError."""
    expected = {MANIFEST, *(table(model) for model in tables())}
    room = shutil.disk_usage(folder).free - SPARE
    seen: set[str] = set()
    for member in archive:
        if member.isdir() and member.name in FOLDERS:
            continue
        if member.name not in expected and not UPLOAD.fullmatch(member.name):
            raise CommandError(f"{path} holds {member.name[:80]!r}, which is no part of a backup.")
        if not member.isreg() or member.issparse() or member.name in seen:
            raise CommandError(
                f"{path} is no backup of Tristep: {member.name} is no plain file, or there twice."
            )
        room -= member.size
        if room < 0 or (member.name == MANIFEST and member.size > MAX_MANIFEST):
            raise CommandError(f"{path} unpacks to more than there is room for: {member.name} is too large.")
        seen.add(member.name)
        target = folder / member.name
        target.parent.mkdir(exist_ok=True)
        digest = hashlib.sha256()
        with target.open("wb") as out:
            content = archive.extractfile(member)
            while block := content.read(ARCHIVE_READ_BYTES) if content else b"":
                digest.update(block)
                out.write(block)
        yield member.name, digest.hexdigest()
    if MANIFEST not in seen:
        raise CommandError(f"{path} is no whole backup of Tristep (it has no {MANIFEST}).")
