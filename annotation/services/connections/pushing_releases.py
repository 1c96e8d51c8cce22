"""Push of a release to a store: its export, in a folder (or a data set) of its own, with a receipt.

The receipt is written last and says which release lies there, exported how, and whether it was withdrawn:
where it says what would be written, nothing is. Bytes alone would not do, for another version of the software
that writes Parquet writes other bytes. Withdrawn releases that were pushed are written again, with a card
that says so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from django.conf import settings
from django.utils import timezone

from annotation.connections import LeftOut, Store
from annotation.connections.stores import OutFile, ReleasePlace
from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json, sha256_hex
from annotation.core.releases.exports import ExportOptions, export_options
from annotation.core.text import unescape
from annotation.models import Connection, PushedRecord, Release, Transfer
from annotation.policies import Actor

from .. import audit
from ..release import write_export
from .lease import Beat
from .setting_up import DATA_SET

FORMAT: Final = "tristep-push/1"
OTHER: Final = translatable("another release lies in its place there, which is left alone")


def options_of(connection: Connection) -> ExportOptions:
    """The options of exporting releases for a connection."""
    return export_options({"format": connection.export_format or DATA_SET})


def push_releases(actor: Actor, row: Transfer, store: Store, beat: Beat) -> None:
    """Take the release of a transfer there, and say of others that were withdrawn since that they are."""
    if row.release is None:
        raise Invalid(translatable("The project has no release yet; freeze one first."), code="no_release")
    _push(actor, row, store, beat, row.release)
    pushed = PushedRecord.objects.filter(connection=row.connection).values_list("record_id", flat=True)
    withdrawn = Release.objects.filter(
        project=row.project, version__in=list(pushed), withdrawal__isnull=False
    ).exclude(pk=row.release.pk)
    for release in withdrawn.order_by("number"):
        _push(actor, row, store, beat, release)


def _push(actor: Actor, row: Transfer, store: Store, beat: Beat, release: Release) -> None:
    connection = row.connection
    place = ReleasePlace(row.project.slug, release.version)
    stated = _stated(release, options_of(connection))
    there = _read(store.receipt(place))
    beat()
    if there is not None and there.get("release") != stated["release"]:
        beat.leave_out([LeftOut(place.folder, OTHER)])
        return
    files_there = there["files"] if there is not None and isinstance(there.get("files"), dict) else {}
    if there is not None and all(there.get(name) == value for name, value in stated.items()):
        beat.counts["unchanged"] += len(files_there)
        return
    with TemporaryDirectory(dir=settings.EXPORT_DIR, prefix=".push-") as scratch:
        names = write_export(release, options_of(connection), Path(scratch), beat)
        files = [_out(Path(scratch), name) for name in names]
        receipt = {
            **stated,
            "files": {file.name: {"bytes": file.size, "sha256": file.sha256} for file in files},
        }
        if not row.dry:
            _note(connection, place, "", [file.name for file in files])
            gone = sorted(str(name) for name in files_there.keys() - set(names) if _inside(str(name)))
            store.publish(place, files, _written(receipt), gone, beat)
            _note(connection, place, sha256_hex(canonical_json(stated)), [file.name for file in files])
            audit.record(
                actor=actor,
                verb="release.export",
                project=release.project,
                obj=release,
                **options_of(connection).as_json(),
            )
    beat.counts["changed" if there is not None else "written"] += len(files)
    if stated["withdrawn"] is not None:
        beat.counts["withdrawn"] += 1
    for file in files:
        beat.files.append({"name": f"{place.folder}/{file.name}", "what": "written", "bytes": file.size})
    beat.done += 1


def _stated(release: Release, options: ExportOptions) -> dict[str, Any]:
    """The fields of a receipt beside its files."""
    withdrawal = getattr(release, "withdrawal", None)
    return {
        "format": FORMAT,
        "project": release.project.slug,
        "version": release.version,
        "number": release.number,
        "release": release.digest,
        "export": options.as_json(),
        "withdrawn": None if withdrawal is None else unescape(withdrawal.reason),
    }


def _written(receipt: dict[str, Any]) -> bytes:
    return json.dumps(receipt, indent=2, sort_keys=True, ensure_ascii=False).encode() + b"\n"


def _read(receipt: bytes | None) -> dict[str, Any] | None:
    """A receipt; one that cannot be read is somebody else's, and of no release of ours."""
    if receipt is None:
        return None
    try:
        read = json.loads(receipt)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _out(folder: Path, name: str) -> OutFile:
    path = folder / name
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    return OutFile(name, path, path.stat().st_size, sha256)


def _inside(name: str) -> bool:
    return not name.startswith("/") and not {"", ".", ".."} & set(name.split("/"))


def _note(connection: Connection, place: ReleasePlace, digest: str, files: Sequence[str]) -> None:
    """Remember what lies there; with an empty digest, that it is on its way."""
    PushedRecord.objects.update_or_create(
        connection=connection,
        record_id=place.version,
        defaults={
            "trace_id": place.folder,
            "digest": digest,
            "spans": list(files),
            "pushed_at": timezone.now(),
        },
    )
