"""What several files of these tests begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotation.models import (
    Trajectory,
)
from annotation.services.ingest import run as running
from tests import people
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast


@pytest.fixture
def own_uploads(settings: Any, tmp_path: Path) -> None:
    """Uploads of this test alone."""
    settings.UPLOAD_DIR = tmp_path / "uploads"


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three records a batch, and a heartbeat with each."""
    monkeypatch.setattr(running, "BATCH_RECORDS", 3)
    monkeypatch.setattr(running, "HEARTBEAT_SECONDS", 0.0)


@shared_rows
def resolved(cast: Cast) -> Cast:
    """Three trajectories: two unanimous, one adjudicated; a fourth is still being labelled."""
    people.import_records(cast.project, [people.make_record(query, steps=3) for query in range(4)])
    for _ in range(2):
        people.label_next(cast.ann, cast.project, [1, 0, -1], outcome=-1, note="Ann's secret note.")
        people.label_next(cast.ben, cast.project, [1, 0, -1], outcome=-1)
    people.make_disputed(cast)
    people.make_adjudicated(cast, Trajectory.objects.get(state="disputed"), value=0)
    return cast
