"""Verify a folder of exported files: each against its checksum, and the checksums against their signature."""

import hashlib
import json
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.releases.exports.checksums import read_checksums
from annotation.core.releases.exports.layout import CHECKSUMS, CHECKSUMS_SIGNATURE, DATA_PATTERNS, EXPORT_KEY
from annotation.core.releases.record_format import (
    MANIFEST,
    PUBLIC_KEY,
    SIGNATURE,
    manifest_file,
    manifest_problems,
)
from annotation.core.releases.signatures import PublicKey
from annotation.core.vocabulary import SignatureState

from .keys import known_keys
from .signatures import Signature, SignatureCheck, check
from .verify import Verification, signature_problems

HASHED_BYTES = 1 << 20


def verify_export(*, path: Path, key: PublicKey | None = None) -> Verification:
    """Check an exported folder of any format; its signatures must be of `key` where one is named, otherwise
    of keys that are known here. Memory is that of one block.

    The files of the AgentProcessBench format are those that the manifest names with their checksums; those of
    another format are named by `checksums.json`, which has a signature of its own. Each problem names its
    file. Raises Invalid when there is no manifest, Conflict when it is of a format that is read no more.
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
    if written != manifest_file(manifest):
        problems.append(translatable("{name}: it is not written as it was exported.", name=MANIFEST))
    keys = known_keys() if key is None else {key.fingerprint: key}
    checked = _signed(path, manifest_file(manifest), SIGNATURE, PUBLIC_KEY, keys)
    if checked is None:
        signature = SignatureCheck(SignatureState.INVALID)
        problems += signature_problems(signature, key_named=key is not None)
    else:
        signature = checked[0]
        problems += checked[1] or signature_problems(signature, key_named=key is not None)
    if (path / CHECKSUMS).is_file():
        problems += _dataset_problems(path, manifest, keys, key_named=key is not None)
    else:
        stated = {name: entry["sha256"] for name, entry in manifest["files"].items()}
        problems += _file_problems(path, stated, path.glob("*.jsonl"))
    return Verification(
        not problems,
        manifest["records"],
        manifest["labels"],
        manifest["digest"],
        tuple(dict.fromkeys(problems)),
        signature.state,
        signature.fingerprint,
    )


def _dataset_problems(
    path: Path, manifest: Mapping[str, Any], keys: Mapping[str, PublicKey], *, key_named: bool
) -> list[str]:
    """Problems of the files that `checksums.json` names, of itself, or of its signature."""
    written = (path / CHECKSUMS).read_bytes()
    files, problems = read_checksums(written, manifest)
    if problems:
        return problems
    checked = _signed(path, written, CHECKSUMS_SIGNATURE, EXPORT_KEY, keys)
    if checked is None:
        problems.append(translatable("{name}: the file is missing.", name=CHECKSUMS_SIGNATURE))
    else:
        problems += checked[1] or signature_problems(checked[0], key_named=key_named)
    return problems + _file_problems(path, files, chain.from_iterable(map(path.glob, DATA_PATTERNS)))


def _file_problems(path: Path, stated: Mapping[str, str], there: Any) -> list[str]:
    """Problems of files whose SHA-256 is stated; `there` are those that may be too many."""
    problems: list[str] = []
    root = path.resolve()
    for name, sha256 in stated.items():
        file = path / name
        if not file.is_file() or not file.resolve().is_relative_to(root):
            problems.append(translatable("{name}: the file is missing.", name=name))
        elif _sha256(file) != sha256:
            problems.append(translatable("{name}: its content does not match its checksum.", name=name))
    strays = sorted({file.relative_to(path).as_posix() for file in there} - set(stated))
    return problems + [
        translatable("{name}: this file is not part of the release.", name=name) for name in strays
    ]


def _signed(
    path: Path, data: bytes, signature_name: str, key_name: str, keys: Mapping[str, PublicKey]
) -> tuple[SignatureCheck, list[str]] | None:
    """The state of a signature that stands beside what it covers, and which file is at fault when it does not
    hold: the key, when a key that is known made the signature, otherwise the signature. None: neither file is
    there."""
    files = [path / signature_name, path / key_name]
    if not any(file.exists() for file in files):
        return None
    missing: list[str] = [
        translatable("{name}: the file is missing.", name=file.name) for file in files if not file.is_file()
    ]
    if missing:
        return SignatureCheck(SignatureState.INVALID), missing
    signature, pem = (file.read_bytes() for file in files)
    broken_key = translatable("{name}: it is not the key that made the signature.", name=key_name)
    try:
        public = PublicKey.of(pem)
    except ValueError:
        return SignatureCheck(SignatureState.INVALID), [broken_key]
    check_ = check(data, Signature(public, signature), keys)
    if check_.state is SignatureState.INVALID:
        by_known = any(key.verifies(signature, data) for key in keys.values())
        broken = translatable("{name}: the signature does not match.", name=signature_name)
        return check_, [broken_key if by_known else broken]
    if public.pem != pem:
        return SignatureCheck(SignatureState.INVALID, check_.fingerprint), [broken_key]
    return check_, []


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(HASHED_BYTES):
            digest.update(block)
    return digest.hexdigest()
