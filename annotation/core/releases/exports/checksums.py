"""checksums.json: what an exported folder holds, which a signature of its own covers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json, sha256_hex
from annotation.core.releases.record_format import MANIFEST, predecessor

from .formats import ExportOptions
from .layout import CHECKSUMS

FORMAT: Final = "tristep-export/1"
_OWN: Final = "checksums_sha256"


def checksums(
    manifest: Mapping[str, Any],
    options: ExportOptions,
    software: Mapping[str, str],
    files: Mapping[str, tuple[str, int]],
) -> bytes:
    """The file: of which release the export is, with which choices and software it was made, and the SHA-256
    and size of every other file, given as (sha256, bytes) by path."""
    body = {
        "format": FORMAT,
        "project": manifest["project"],
        "release": predecessor(manifest),
        "export": options.as_json(),
        "software": dict(software),
        "files": {path: {"sha256": sha256, "bytes": size} for path, (sha256, size) in files.items()},
    }
    return _written(body | {_OWN: _own(body)})


def read_checksums(data: bytes, manifest: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """The SHA-256 of each file by path, and what is wrong with the file itself: it was changed, or it is of
    another release. When something is wrong no files are given."""
    problem = translatable("{name}: its content does not match its checksum.", name=CHECKSUMS)
    try:
        read = json.loads(data)
        body = {key: value for key, value in read.items() if key != _OWN}
        files = {str(path): str(entry["sha256"]) for path, entry in read["files"].items()}
        whole = _written(read) == data and read[_OWN] == _own(body) and read["format"] == FORMAT
        release = read["release"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}, [problem]
    if not whole or not all(map(_inside, files)):
        return {}, [problem]
    if release != predecessor(manifest):
        return {}, [
            translatable(
                "{name}: it belongs to another release than {manifest}.", name=CHECKSUMS, manifest=MANIFEST
            )
        ]
    return files, []


def named_files(data: bytes) -> list[str]:
    """The files that a checksums.json names, as far as it can be read and they are within its folder."""
    try:
        return [path for path in json.loads(data)["files"] if isinstance(path, str) and _inside(path)]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def _inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return (
        bool(parts)
        and not path.startswith("/")
        and ".." not in parts
        and "\\" not in path
        and "\0" not in path
    )


def _own(body: Mapping[str, Any]) -> str:
    return sha256_hex(canonical_json(body))


def _written(value: Any) -> bytes:
    return json.dumps(value, indent=2, sort_keys=True).encode() + b"\n"
