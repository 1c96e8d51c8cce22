"""Sweeping: bytes and rows of imports that ended in the middle, or that nobody began."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.utils import timezone

from annotation.core.errors import Conflict
from annotation.core.vocabulary import ImportState
from annotation.models import (
    ImportFile,
    Task,
    Trajectory,
)
from annotation.services import ingest
from annotation.services.ingest.reaper import FORGOTTEN
from tests.people import Cast, jsonl, make_records
from tests.services.receiving import die_half_way, nothing_is_left, received, stored

pytestmark = pytest.mark.usefixtures("own_uploads")


def test_upload_that_vanished_is_said_so(cast: Cast) -> None:
    source = received(cast, jsonl(make_records(3)))
    (Path(django_settings.UPLOAD_DIR) / source.stored_as).unlink()

    with pytest.raises(Conflict) as refusal:
        ingest.run_import(source_id=source.pk)

    assert refusal.value.code == "file_gone"
    source.refresh_from_db()
    assert source.state == ImportState.FAILED


def test_import_that_was_abandoned_is_swept_with_its_bytes(
    cast: Cast, small_batches: None, django_capture_on_commit_callbacks: Any
) -> None:
    source = received(cast, jsonl(make_records(6)))
    die_half_way(source)

    with django_capture_on_commit_callbacks(execute=True):
        ingest.abandon(actor=cast.admin, source=ImportFile.objects.get(pk=source.pk))
    ingest.reap()

    assert nothing_is_left()


def test_import_that_died_between_failing_and_sweeping_is_swept(cast: Cast, small_batches: None) -> None:
    source = received(cast, jsonl(make_records(6)))
    die_half_way(source)
    ImportFile.objects.update(state=ImportState.FAILED, lease_until=None)

    assert ingest.reap() == 1

    assert not Trajectory.objects.exists()
    assert not Task.objects.exists()


@pytest.mark.postgres
def test_import_nobody_began_and_bytes_nobody_needs_are_forgotten_after_an_hour(cast: Cast) -> None:
    source = received(cast, jsonl(make_records(1)))
    waiting = received(cast, jsonl(make_records(1)), enqueue=True)
    stray = Path(django_settings.UPLOAD_DIR) / "0123.import"
    stray.write_bytes(b"{}")
    cut_off = Path(django_settings.FILE_UPLOAD_TEMP_DIR) / "0123.upload"
    cut_off.write_bytes(b"{")
    ingest.reap()
    assert len(stored()) == 3
    assert cut_off.exists()

    ingest.reap(now=timezone.now() + FORGOTTEN + timedelta(minutes=1))
    ingest.reap(now=timezone.now() + FORGOTTEN + timedelta(minutes=1))

    source.refresh_from_db()
    assert source.state == ImportState.ABANDONED
    assert stored() == [waiting.stored_as]
    assert not cut_off.exists()
