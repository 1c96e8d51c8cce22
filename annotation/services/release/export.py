"""Export a release as files, and verify exported files."""

import hashlib
import json
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.release_format import (
    EXPORT_FORMATS,
    MANIFEST,
    PUBLIC_KEY,
    SIGNATURE,
    file_name,
    manifest_file,
    manifest_problems,
    published_line,
)
from annotation.core.signatures import PublicKey
from annotation.core.vocabulary import ExposureKind, SignatureState
from annotation.models import Exposure, Release, ReleaseRecord, Trajectory, User
from annotation.policies import Actor, require

from .. import audit, exposures
from .signatures import Signature, SignatureCheck, check_manifest
from .verify import Verification, bodies, signature_problems

BLOCK = 1 << 20


def documents(release: Release) -> dict[str, bytes]:
    """The files that go with an export, by name: the manifest, its signature and the public key of that; a
    release from before there were signatures has its manifest only."""
    found = {MANIFEST: manifest_file(json.loads(release.manifest))}
    if release.signature is not None:
        with suppress(ValueError):
            signature = Signature.parse(release.signature)
            found |= {SIGNATURE: signature.signature, PUBLIC_KEY: signature.key.pem}
    return found


def export_lines(*, actor: Actor, release: Release, subset: str = "") -> Iterator[tuple[str, bytes]]:
    """(subset, line) of every record in the AgentProcessBench shape, streamed; of one subset when it is
    named.

    Permission is asked at once, not when the first line is drawn, and it is noted that the person now knows
    the consensus of these trajectories. Raises Conflict on a damaged record.
    """
    require(actor, "release.view", release)
    if isinstance(actor, User):
        rows = unseen(actor, release, subset)
        exposures.expose_all(user=actor, trajectories=rows, kind=ExposureKind.CONSENSUS)
    return _lines(release, subset)


def unseen(user: User, release: Release, subset: str) -> QuerySet[Trajectory, int]:
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
                    "Record {record_id} of this release is damaged; verify the release.",
                    record_id=row.record_id,
                ),
                code="damaged",
            )
        yield row.subset, published_line(json.loads(body))


def export_release(*, actor: Actor, release: Release, format: str, output: Path) -> dict[str, Any]:
    """Write `<subset>.jsonl` files, `manifest.json`, its signature and the public key into the folder
    `output` (made when missing).

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
        beside = documents(release)
        for name, content in beside.items():
            (Path(scratch) / name).write_bytes(content)
        for name in (*written, *beside):
            (Path(scratch) / name).replace(output / name)
        for name in {SIGNATURE, PUBLIC_KEY} - set(beside):
            # of an older export
            (output / name).unlink(missing_ok=True)
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


def verify_export(*, path: Path, key: PublicKey | None = None) -> Verification:
    """Check an exported folder against the checksums in its manifest, and the manifest's signature, which
    must be of `key` where one is named, otherwise of a key that is known here.

    Raises Invalid when there is no manifest.
    """
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
    signature = _check_signature(path, manifest, {key.fingerprint: key} if key is not None else None)
    problems += signature_problems(signature, key_named=key is not None)
    if written != manifest_file(manifest):
        problems.append(f"{MANIFEST}: it is not written as it was exported.")
    for name, entry in manifest["files"].items():
        if Path(name).name != name or not (path / name).is_file():
            problems.append(f"{name}: the file is missing.")
        elif _sha256(path / name) != entry["sha256"]:
            problems.append(f"{name}: its content does not match its checksum.")
    strays = {one.name for one in path.glob("*.jsonl")} - set(manifest["files"])
    problems += [f"{name}: this file is not part of the release." for name in sorted(strays)]
    return Verification(
        not problems,
        manifest["records"],
        manifest["labels"],
        manifest["digest"],
        tuple(problems),
        signature.state,
        signature.fingerprint,
    )


def _check_signature(
    path: Path, manifest: dict[str, Any], known: dict[str, PublicKey] | None
) -> SignatureCheck:
    """The state of an exported manifest's signature."""
    try:
        public = PublicKey.of((path / PUBLIC_KEY).read_bytes())
        signature: Signature | None = Signature(public, (path / SIGNATURE).read_bytes())
    except FileNotFoundError:
        signature = None
    except ValueError:
        return SignatureCheck(SignatureState.INVALID)
    return check_manifest(manifest, signature, known)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()
