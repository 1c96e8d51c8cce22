"""Verify a release: recompute its checksums from its rows."""

import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any

from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json, sha256_hex
from annotation.core.releases.record_format import (
    file_name,
    manifest_problems,
    predecessor,
    published_line,
    record_line,
)
from annotation.core.releases.signatures import PublicKey
from annotation.core.text import unescape
from annotation.core.vocabulary import SignatureState
from annotation.models import Release, ReleaseLabel, ReleaseRecord
from annotation.policies import Actor, require

from .keys import known_keys
from .signatures import SignatureCheck, check_release, check_withdrawal

VERIFIED_AT_ONCE = 100
LISTED = 20
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, IndexError)

# (value, kind) by message index; None is the outcome
Labels = dict[int | None, tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of verifying a release; `problems` lists the differences since it was frozen (the first 20).

    `signature` says what its signature is worth, `fingerprint` names the key: one that is not known here is a
    problem too.
    """

    ok: bool
    records: int
    labels: int
    digest: str
    problems: tuple[str, ...]
    signature: SignatureState = SignatureState.INVALID
    fingerprint: str = ""


@dataclass(slots=True)
class RecomputedDigest:
    """The digest recomputed from the rows of a release, and its problems."""

    digest: Any = field(default_factory=hashlib.sha256)
    files: dict[str, Any] = field(default_factory=dict)
    records: int = 0
    labels: int = 0
    problems: list[str] = field(default_factory=list)


def bodies(release: Release) -> Iterator[tuple[ReleaseRecord, bytes | None]]:
    """Every record in order with its canonical line; None where the stored bytes cannot be read."""
    for row in (
        ReleaseRecord.objects.filter(release=release)
        .order_by("ordinal")
        .iterator(chunk_size=VERIFIED_AT_ONCE)
    ):
        yield row, decompressed(bytes(row.body))


def decompressed(body: bytes) -> bytes | None:
    """The canonical line of a record; None when the stored bytes cannot be read, also when something follows
    the compressed bytes, which `zlib.decompress` would pass over."""
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(body)
    except zlib.error:
        return None
    return text if stream.eof and not stream.unused_data else None


def verify(*, actor: Actor, release: Release, key: PublicKey | None = None) -> Verification:
    """Recompute every checksum of a release, compare its labels with its records, and check its signature;
    memory stays flat.

    Everything that was frozen is compared; who froze it is not part of a release. The signature must be of
    `key` where one is named, otherwise of a key that is known here. Raises Conflict for a format that is read
    no more.
    """
    require(actor, "release.view", release)
    keys = known_keys() if key is None else {key.fingerprint: key}
    signature = check_release(release, keys)
    digest = RecomputedDigest()
    stored = _labels(release)
    waiting = next(stored, None)
    for row, body in bodies(release):
        labels: Labels = {}
        if waiting is not None and waiting[0] == row.pk:
            labels = waiting[1]
            waiting = next(stored, None)
        problem = _check(row, body, labels, digest)
        if problem:
            digest.problems.append(
                translatable("{record}: {problem}", record=f"{row.subset}/{row.record_id}", problem=problem)
            )
        digest.records += 1
        digest.labels += sum(1 for index in labels if index is not None)
    if waiting is not None:
        digest.problems.append(translatable("There are labels that belong to no record."))
    problems = [
        *digest.problems,
        *_differences(release, digest, keys),
        *signature_problems(signature, key_named=key is not None),
    ]
    return Verification(
        ok=not problems,
        records=digest.records,
        labels=digest.labels,
        digest=digest.digest.hexdigest(),
        problems=tuple(problems[:LISTED]),
        signature=signature.state,
        fingerprint=signature.fingerprint,
    )


def signature_problems(signature: SignatureCheck, *, key_named: bool) -> list[str]:
    """The reason for not believing a signature, in one sentence at most."""
    if signature.state is SignatureState.VALID:
        return []
    if signature.state is SignatureState.INVALID:
        return [translatable("The signature is missing or does not match.")]
    if key_named:
        return [
            translatable("It is signed with another key, {fingerprint}.", fingerprint=signature.fingerprint)
        ]
    return [
        translatable(
            "It is signed with the key {fingerprint}, whose public key is not known here: compare the "
            "fingerprint with the published one, and pass the public key.",
            fingerprint=signature.fingerprint,
        )
    ]


def _check(row: ReleaseRecord, body: bytes | None, labels: Labels, recomputed: RecomputedDigest) -> str:
    """The problem of one record (empty: none); its bytes go into the checksums."""
    if body is None or sha256_hex(body) != row.sha256:
        recomputed.digest.update(b"\n")
        return translatable("the record does not match its checksum.")
    recomputed.digest.update(body + b"\n")
    try:
        record = json.loads(body)
        line = published_line(record)
        own = (record["subset"], record["record_id"])
        expected: Labels = {None: (record["final_label"], record["final_kind"])}
        for index, value in record["step_labels"].items():
            expected[int(index)] = (value, record["step_kinds"][index])
        canonical = record_line(record) == body
    except UNREADABLE:
        return translatable("the record cannot be read.")
    recomputed.files.setdefault(file_name(row.subset), hashlib.sha256()).update(line)
    if own != (row.subset, unescape(row.record_id)) or row.ordinal != recomputed.records or not canonical:
        return translatable("the row does not match its record.")
    return "" if labels == expected else translatable("its labels differ from its record.")


def _labels(release: Release) -> Iterator[tuple[int, Labels]]:
    """(record's pk, labels) of every record that has any, in the records' order."""
    rows = (
        ReleaseLabel.objects.filter(release=release)
        .order_by("record__ordinal", "message_index")
        .values_list("record_id", "message_index", "value", "kind")
        .iterator(chunk_size=2_000)
    )
    for pk, group in groupby(rows, key=lambda row: row[0]):
        yield pk, {index: (value, kind) for _, index, value, kind in group}


def _differences(release: Release, recomputed: RecomputedDigest, keys: Mapping[str, PublicKey]) -> list[str]:
    """Compare what was recomputed with what the release and its manifest say."""
    try:
        manifest = json.loads(release.manifest)
    except ValueError:
        return [translatable("The manifest cannot be read.")]
    problems = manifest_problems(manifest)
    if problems:
        return problems
    if canonical_json(manifest).decode() != release.manifest:
        problems.append(translatable("The manifest is not in its canonical form."))
    try:
        checks = _checks(release, manifest, recomputed) | _chain(release, manifest)
        withdrawal = getattr(release, "withdrawal", None)
        if withdrawal is not None:
            state = check_withdrawal(withdrawal, manifest, keys).state
            checks[translatable("The withdrawal does not match its signature.")] = (
                state is not SignatureState.INVALID
            )
    except UNREADABLE:
        return [translatable("The manifest cannot be read.")]
    return problems + [problem for problem, holds in checks.items() if not holds]


def _checks(release: Release, manifest: dict[str, Any], recomputed: RecomputedDigest) -> dict[str, bool]:
    stated_files = {name: entry["sha256"] for name, entry in manifest["files"].items()}
    files = {name: digest.hexdigest() for name, digest in recomputed.files.items()}
    own = (release.project.slug, release.version, release.number, unescape(release.note), release.created_at)
    created_at = datetime.fromisoformat(manifest["created_at"])
    stated = tuple(manifest[key] for key in ("project", "version", "number", "note"))
    records = recomputed.records if recomputed.records == release.record_count else None
    labels = recomputed.labels if recomputed.labels == release.label_count else None
    return {
        translatable("The digest does not match."): recomputed.digest.hexdigest()
        == release.digest
        == manifest["digest"],
        translatable("The number of records does not match."): records == manifest["records"],
        translatable("The number of labels does not match."): labels == manifest["labels"],
        translatable("The files' checksums do not match."): files == stated_files,
        translatable("The version does not match."): own == (*stated, created_at),
    }


def _chain(release: Release, manifest: dict[str, Any]) -> dict[str, bool]:
    """Hold a release against its neighbours: each manifest names the release before."""
    around = Release.objects.filter(
        project=release.project_id, number__in=(release.number - 1, release.number + 1)
    )
    manifests = {number: json.loads(text) for number, text in around.values_list("number", "manifest")}
    before, after = manifests.get(release.number - 1), manifests.get(release.number + 1)
    return {
        translatable("The previous release is not the one recorded when this release was frozen."): manifest[
            "previous"
        ]
        == (predecessor(before) if before is not None else None),
        translatable("The next release was frozen after a different version of this one."): after is None
        or after["previous"] == predecessor(manifest),
    }
