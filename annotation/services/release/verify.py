"""Recomputing a release's digest from its rows."""

import hashlib
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from annotation.core.canonical import canonical_json, sha256_hex
from annotation.core.publishing import file_name, manifest_problems, published_line, record_line
from annotation.core.text import unescape
from annotation.models import Release, ReleaseLabel, ReleaseRecord
from annotation.policies import Actor, require

CHUNK = 100
LISTED = 20


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a release is what it was when it was frozen; `problems` says where it is not (the first 20)."""

    ok: bool
    records: int
    labels: int
    digest: str
    problems: tuple[str, ...]


def bodies(release: Release) -> Iterator[tuple[ReleaseRecord, bytes | None]]:
    """Every record in order with its canonical line; None where the stored bytes cannot be read."""
    for row in ReleaseRecord.objects.filter(release=release).order_by("ordinal").iterator(chunk_size=CHUNK):
        try:
            yield row, zlib.decompress(bytes(row.body))
        except zlib.error:
            yield row, None


def verify(*, actor: Actor, release: Release) -> Verification:
    """Recompute every checksum of a release and compare its labels with its records; memory stays flat."""
    require(actor, "release.view", release)
    problems: list[str] = []
    digest = hashlib.sha256()
    files: dict[str, Any] = {}
    records = labels = 0
    stored = _labels(release)
    for row, body in bodies(release):
        records += 1
        name = f"{row.subset}/{row.record_id}"
        if body is None or sha256_hex(body) != row.sha256:
            problems.append(f"{name}: the record does not match its checksum.")
            digest.update(b"\n")
            continue
        digest.update(body + b"\n")
        record = json.loads(body)
        files.setdefault(file_name(row.subset), hashlib.sha256()).update(published_line(record))
        of_record = next(stored, {})
        labels += len(of_record) - 1
        wanted: dict[int | None, int] = {None: record["final_label"]}
        wanted.update((int(index), value) for index, value in record["step_labels"].items())
        if of_record != wanted or record_line(record) != body:
            problems.append(f"{name}: its labels differ from its record.")
    hexes = {name: one.hexdigest() for name, one in files.items()}
    problems += _against(release, records, digest.hexdigest(), hexes)
    return Verification(
        ok=not problems,
        records=records,
        labels=labels,
        digest=digest.hexdigest(),
        problems=tuple(problems[:LISTED]),
    )


def _labels(release: Release) -> Iterator[dict[int | None, int]]:
    """The labels of each record, in the records' order."""
    rows = (
        ReleaseLabel.objects.filter(release=release)
        .order_by("record__ordinal", "message_index")
        .values_list("record_id", "message_index", "value")
        .iterator(chunk_size=2_000)
    )
    current: int | None = None
    gathered: dict[int | None, int] = {}
    for record, index, value in rows:
        if current is not None and record != current:
            yield gathered
            gathered = {}
        current = record
        gathered[index] = value
    if current is not None:
        yield gathered


def _against(release: Release, records: int, digest: str, files: dict[str, str]) -> list[str]:
    """Compare what was recomputed with what the release and its manifest say."""
    try:
        manifest = json.loads(release.manifest)
    except ValueError:
        return ["The manifest cannot be read."]
    problems = manifest_problems(manifest)
    if problems:
        return problems
    if canonical_json(manifest).decode() != release.manifest:
        problems.append("The manifest is not in its canonical form.")
    said = {name: entry["sha256"] for name, entry in manifest["files"].items()}
    checks = {
        "The digest does not match.": digest == release.digest == manifest["digest"],
        "The number of records does not match.": records == release.record_count == manifest["records"],
        "The number of labels does not match.": release.label_count == manifest["labels"],
        "The files' checksums do not match.": files == said,
        "The version does not match.": (release.version, unescape(release.note))
        == (manifest["version"], manifest["note"]),
    }
    return problems + [problem for problem, holds in checks.items() if not holds]
