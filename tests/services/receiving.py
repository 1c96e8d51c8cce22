"""Files as the service receives them, and what is left of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings

from annotation.core.errors import ImportRefused
from annotation.models import (
    ImportFile,
    Step,
    Task,
    Trajectory,
    TrajectoryContent,
)
from annotation.services import ingest
from tests.people import Cast, receive

GOLDEN = Path(__file__).resolve().parents[2] / "fixtures" / "golden"


def nothing_is_left() -> bool:
    """No row of a refused file, and no bytes of it."""
    tables = (Task, Trajectory, Step, TrajectoryContent)
    return not any(table._default_manager.exists() for table in tables) and stored() == []


def stored() -> list[str]:
    return sorted(path.name for path in Path(django_settings.UPLOAD_DIR).glob("*.import"))


def received(cast: Cast, data: bytes, **more: Any) -> ImportFile:
    return receive(cast.project, data, actor=cast.admin, **more)


def report_of(refusal: ImportRefused) -> list[tuple[int, str, str]]:
    return [(one["line"], one["field"], one["reason"]) for one in refusal.report["errors"]]


class Killed(BaseException):
    """Thrown by a test to leave an import as a killed process leaves it."""


def die_half_way(source: ImportFile, at: int = 3, *, rows: int = 3) -> None:
    def die(done: int, total: int) -> None:
        if Trajectory.objects.filter(source=source).count() >= rows:
            raise Killed

    with pytest.raises(Killed):
        ingest.run_import(source_id=source.pk, progress=die, resumable=True)
