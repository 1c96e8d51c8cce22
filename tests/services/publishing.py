"""Freezing and exporting in one line, for tests."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db import connection, models

from annotation.models import Project, Release, frozen
from annotation.policies import OPERATOR
from annotation.services import release


def freeze(project: Project, version: str = "1.0", **more: Any) -> Release:
    return release.freeze(actor=OPERATOR, project=project, version=version, **more)


def lines(folder: Path, subset: str = "tiny") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{subset}.jsonl").read_bytes().splitlines()]


def export(made: Release, folder: Path) -> dict[str, Any]:
    return release.export_release(actor=OPERATOR, release=made, format="agentprocessbench", output=folder)


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
