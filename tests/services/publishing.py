"""Freezing and exporting in one line, for tests."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db import connection, models

from annotation.core.jsonio.canonical import canonical_json
from annotation.core.releases.exports import export_options
from annotation.core.releases.record_format import OLDER_FORMATS, manifest_file, with_checksum
from annotation.core.releases.signatures import SigningKey
from annotation.models import Project, Release, frozen
from annotation.policies import OPERATOR
from annotation.services import adjudicate, release
from annotation.services.release import keys, signatures
from tests.people import Cast


def freeze(project: Project, version: str = "1.0", **more: Any) -> Release:
    return release.freeze(actor=OPERATOR, project=project, version=version, **more)


def publish(made: Release, **switches: bool) -> Release:
    """Switch the public address of a release on."""
    wanted = release.PublicSwitches(**{"is_open": True, **switches})
    release.set_public(actor=OPERATOR, release=made, switches=wanted)
    return made


def decide_anew(cast: Cast, made: Release, value: int) -> None:
    """Withdraw a release, and decide everything in the project's only case anew."""
    case = cast.project.adjudications.get()
    release.withdraw(actor=cast.admin, release=made, reason="Faulty.")
    adjudicate.reopen_case(actor=cast.judith, adjudication=case)
    for decision in case.decisions.all():
        index = decision.step.message_index if decision.step else None
        adjudicate.decide(
            actor=cast.judith,
            adjudication=case,
            message_index=index,
            value=value,
            version=decision.version,
        )
    adjudicate.close_case(actor=cast.judith, adjudication=case)


def lines(folder: Path, subset: str = "tiny") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{subset}.jsonl").read_bytes().splitlines()]


def export(made: Release, folder: Path, **choices: Any) -> dict[str, Any]:
    return release.export_release(
        actor=OPERATOR, release=made, options=export_options(choices), output=folder
    )


def flipped(value: Any, place: int = 0) -> Any:
    """`value` with one byte (of a number or time: one unit) changed."""
    if isinstance(value, bytes | memoryview):
        raw = bytearray(bytes(value))
        raw[place] ^= 0xFF
        return bytes(raw)
    if isinstance(value, str):
        if not value:
            return "x"
        return value[:place] + ("0" if value[place] != "0" else "1") + value[place + 1 :]
    if isinstance(value, int):
        return value + 1 if value < 1 else value - 1
    return value + timedelta(microseconds=1)


def tampered(row: models.Model, **values: Any) -> None:
    frozen.lift(connection)
    assert type(row)._default_manager.filter(pk=row.pk).update(**values) == 1
    frozen.install(connection)
    assert frozen.problems(connection) == []


def resealed(made: Release, *, key: SigningKey | None = None, **changes: Any) -> None:
    """Change a release's manifest (None: take the entry away) and its checksum, as somebody could who has the
    database; with `key`, sign it again."""
    manifest = json.loads(made.manifest) | changes
    manifest = with_checksum(
        {name: value for name, value in manifest.items() if name not in changes or value}
    )
    signature = signatures.signed(key, manifest_file(manifest)) if key is not None else made.signature
    tampered(made, manifest=canonical_json(manifest).decode(), signature=signature)
    made.refresh_from_db()


def of_older_format(made: Release, format: str = OLDER_FORMATS[0]) -> None:
    """Make a release one of a format that is read no more."""
    resealed(made, key=keys.signing_key(), format=format)
