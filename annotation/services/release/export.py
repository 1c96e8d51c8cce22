"""Export a release as files, and verify exported files."""

import hashlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.release_format import (
    EXPORT_FORMATS,
    MANIFEST,
    file_name,
    manifest_problems,
    published_line,
)
from annotation.core.vocabulary import ExposureKind
from annotation.models import Exposure, Release, ReleaseRecord, Trajectory, User
from annotation.policies import Actor, require

from .. import audit, exposures
from .verify import Verification, bodies

BLOCK = 1 << 20


def manifest_bytes(release: Release) -> bytes:
    """The manifest as the file that goes with an export."""
    return _laid_out(json.loads(release.manifest))


def _laid_out(manifest: Any) -> bytes:
    return json.dumps(manifest, indent=2, sort_keys=True).encode() + b"\n"


def export_lines(*, actor: Actor, release: Release, subset: str = "") -> Iterator[tuple[str, bytes]]:
    """(subset, line) of every record in the AgentProcessBench shape, streamed; of one subset when it is
    named.

    Permission is asked at once, not when the first line is drawn, and it is noted that the person now knows
    the consensus of these trajectories. Raises Conflict on a damaged record.
    """
    require(actor, "release.view", release)
    if isinstance(actor, User):
        unseen = _unseen(actor, release, subset)
        exposures.expose_all(user=actor, trajectories=unseen, kind=ExposureKind.CONSENSUS)
    return _lines(release, subset)


def _unseen(user: User, release: Release, subset: str) -> QuerySet[Trajectory, int]:
    """The trajectories in a release, or one subset of it, whose consensus a person has not seen so far."""
    known = Exposure.objects.filter(user=user, trajectory=OuterRef("pk"), kind=ExposureKind.CONSENSUS)
    frozen = ReleaseRecord.objects.filter(
        release=release, subset=OuterRef("subset__name"), record_id=OuterRef("record_id")
    )
    rows = Trajectory.objects.filter(~Exists(known), Exists(frozen), project=release.project_id, live=True)
    if subset:
        rows = rows.filter(subset__name=subset)
    return rows.order_by().values_list("pk", flat=True)


def _lines(release: Release, subset: str) -> Iterator[tuple[str, bytes]]:
    for row, body in bodies(release):
        if subset and row.subset != subset:
            continue
        if body is None:
            raise Conflict(
                translatable(
                    "Record {record_id} of this release is damaged; verify it.", record_id=row.record_id
                ),
                code="damaged",
            )
        yield row.subset, published_line(json.loads(body))


def export_release(*, actor: Actor, release: Release, format: str, output: Path) -> dict[str, Any]:
    """Write `<subset>.jsonl` files and `manifest.json` into the folder `output` (made when missing).

    Each file appears whole or not at all. Returns the manifest. Raises Invalid for an unknown format,
    Conflict when what was written does not match the release's own checksums.
    """
    require(actor, "release.view", release)
    if format not in EXPORT_FORMATS:
        raise Invalid(
            translatable(
                "Unknown format “{format}”; choose {export_formats}.",
                format=format,
                export_formats=", ".join(EXPORT_FORMATS),
            )
        )
    manifest: dict[str, Any] = json.loads(release.manifest)
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output, prefix=".export-") as scratch:
        written = _write(release, Path(scratch))
        stated = {name: entry["sha256"] for name, entry in manifest["files"].items()}
        if written != stated:
            raise Conflict(
                translatable("The release does not match its checksums; verify it."), code="damaged"
            )
        (Path(scratch) / MANIFEST).write_bytes(manifest_bytes(release))
        for name in (*written, MANIFEST):
            (Path(scratch) / name).replace(output / name)
    audit.record(actor=actor, verb="release.export", project=release.project, obj=release, format=format)
    return manifest


def _write(release: Release, folder: Path) -> dict[str, str]:
    """Write the subsets' files: {name: sha256}. Records come subset by subset, so one file is open at a
    time."""
    written: dict[str, Any] = {}
    for subset, line in _lines(release, ""):
        name = file_name(subset)
        digest = written.setdefault(name, hashlib.sha256())
        digest.update(line)
        with (folder / name).open("ab") as out:
            out.write(line)
    return {name: digest.hexdigest() for name, digest in written.items()}


def verify_export(*, path: Path) -> Verification:
    """Check an exported folder against the checksums in its manifest. Raises Invalid when there is no
    manifest."""
    source = path / MANIFEST
    if not source.is_file():
        raise Invalid(
            translatable("There is no {manifest} in {path}.", manifest=MANIFEST, path=path),
            code="no_manifest",
        )
    written = source.read_bytes()
    try:
        manifest = json.loads(written)
    except (ValueError, RecursionError):
        manifest = None
    problems = manifest_problems(manifest)
    if problems or manifest is None:
        return Verification(False, 0, 0, "", tuple(problems))
    if written != _laid_out(manifest):
        problems.append(f"{MANIFEST}: it is not written as it was exported.")
    for name, entry in manifest["files"].items():
        if Path(name).name != name or not (path / name).is_file():
            problems.append(f"{name}: the file is missing.")
        elif _sha256(path / name) != entry["sha256"]:
            problems.append(f"{name}: its content does not match its checksum.")
    strays = {one.name for one in path.glob("*.jsonl")} - set(manifest["files"])
    problems += [f"{name}: this file is not part of the release." for name in sorted(strays)]
    return Verification(
        not problems, manifest["records"], manifest["labels"], manifest["digest"], tuple(problems)
    )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()
