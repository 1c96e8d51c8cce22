"""Backup archives: one .tar.gz with every table as JSON Lines, portable between SQLite and PostgreSQL.

Read in one snapshot, so that people may go on working; restored in one transaction, into an empty database of
the same schema. The secret key is not part of it (sessions and password links end with a restore on a new
machine).
"""

import hashlib
import json
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core import serializers
from django.core.management.base import CommandError
from django.core.management.color import no_style
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Model

from annotation.models import Project, Release, User

FORMAT = "tristep-backup/1"
MANIFEST = "manifest.json"
BATCH = 500
BLOCK = 1 << 20


def tables() -> list[type[Model]]:
    """Our models in the order in which they are restored: releases last, for their row is what freezes the
    rest."""
    ours = list(apps.get_app_config("annotation").get_models())
    return [model for model in ours if model is not Release] + [Release]


def schema() -> list[str]:
    """Our migrations that the database has applied."""
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted(name for app, name in applied if app == "annotation")


@contextmanager
def _snapshot() -> Iterator[None]:
    """One consistent view of the database, without a lock that would keep others from writing."""
    if connection.vendor == "sqlite":
        # Django would begin an immediate transaction, which takes the write lock; a deferred one only reads.
        connection.ensure_connection()
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


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
            with _snapshot():
                for model in tables():
                    name = f"tables/{model._meta.model_name}.jsonl"
                    manifest["rows"][name] = _dump(model, folder / "table")
                    _add(archive, folder / "table", name, manifest)
            for upload in sorted(Path(settings.UPLOAD_DIR).glob("*.import")):
                _add(archive, upload, f"uploads/{upload.name}", manifest)
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
    """One table as JSON Lines, ordered by primary key; the number of its rows."""
    rows = model._default_manager.order_by("pk")
    with path.open("w", encoding="utf-8") as out:
        serializers.serialize("jsonl", rows.iterator(chunk_size=BATCH), stream=out, cls=ExactEncoder)
    return rows.count()


def _add(archive: tarfile.TarFile, path: Path, name: str, manifest: dict[str, Any]) -> None:
    with path.open("rb") as file:
        manifest["sha256"][name] = hashlib.file_digest(file, "sha256").hexdigest()
    archive.add(path, name)


def restore(path: Path) -> dict[str, Any]:
    """Fill an empty database from an archive, all or nothing. Raises CommandError with one clear sentence."""
    if User.objects.exists() or Project.objects.exists():
        raise CommandError(
            "This database is not empty; restore into a new one (DATABASE_URL or TRISTEP_DATA_DIR)."
        )
    with tempfile.TemporaryDirectory(dir=settings.DATA_DIR, prefix=".restore-") as scratch:
        folder = Path(scratch)
        manifest = _unpack(path, folder)
        with transaction.atomic():
            for model in tables():
                _load(model, folder / f"tables/{model._meta.model_name}.jsonl")
            with connection.cursor() as cursor:
                for statement in connection.ops.sequence_reset_sql(no_style(), tables()):
                    cursor.execute(statement)
        for upload in folder.glob("uploads/*.import"):
            upload.replace(Path(settings.UPLOAD_DIR) / upload.name)
    return manifest


def _unpack(path: Path, folder: Path) -> dict[str, Any]:
    """Unpack and check every checksum before a row is touched."""
    try:
        with tarfile.open(path, "r:gz") as archive:
            archive.extractall(folder, filter="data")
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        raise CommandError(f"{path} is no whole backup of Tristep ({error}).") from error
    if manifest.get("format") != FORMAT:
        raise CommandError(f"{path} is no backup of Tristep.")
    if manifest["schema"] != schema():
        raise CommandError(
            f"{path} was made by Tristep {manifest['software_version']} with another database schema; "
            "restore it with that version, then migrate."
        )
    for name, expected in manifest["sha256"].items():
        with (folder / name).open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                raise CommandError(f"{path} is damaged: {name} does not match its checksum.")
    return manifest


def _load(model: type[Model], path: Path) -> None:
    with path.open(encoding="utf-8") as lines:
        rows = serializers.deserialize("jsonl", lines)
        while batch := [row.object for row in islice(rows, BATCH)]:
            model._default_manager.bulk_create(batch)
