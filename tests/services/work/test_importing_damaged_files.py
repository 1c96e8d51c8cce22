"""Damaged files of every format, from the upload to the rows: all of a file or nothing, and never a crash."""

from __future__ import annotations

import io
import json

import pytest
from django.test import Client
from django.urls import reverse

from annotation.core.errors import ImportRefused, Invalid
from annotation.core.text import escape
from annotation.core.trajectories.trajectory import TrajectoryDraft
from annotation.core.vocabulary import ImportState
from annotation.importers import FORMATS, ReadContext
from annotation.models import ImportFile, Step, Task, Trajectory, TrajectoryContent
from annotation.services import ingest
from annotation.services.ingest import run as running
from tests.callers import PlainClient
from tests.importers.mutations import mutations
from tests.people import Cast, receive

pytestmark = pytest.mark.usefixtures("own_uploads")


@pytest.fixture
def admin(cast: Cast) -> PlainClient:
    return PlainClient(cast.admin)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_damaged_file_is_previewed_and_imported_whole_or_not_at_all(
    cast: Cast, admin: Client, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # what is wrong comes after rows have been written
    monkeypatch.setattr(running, "BATCH_RECORDS", 1)
    for number, (filename, data) in enumerate(mutations(name, 1)):
        if number % 10:  # requests take five times as long as the import
            _receive_and_compare(cast, filename, f"s{number}", data)
        else:
            _upload_and_compare(admin, filename, f"s{number}", data)


def _receive_and_compare(cast: Cast, filename: str, subset: str, data: bytes) -> None:
    try:
        source = receive(cast.project, data, actor=cast.admin, subset=subset, filename=filename)
    except Invalid as refusal:
        assert refusal.message
        assert not ImportFile.objects.filter(subset__name=subset).exists()
        return
    _import_and_compare(source, data)


def _upload_and_compare(admin: Client, filename: str, subset: str, data: bytes) -> None:
    query = f"?filename={filename}&subset={subset}&preview=true"
    answer = admin.post(
        f"/api/v1/projects/bench/imports/{query}", data, content_type="application/octet-stream"
    )
    told = json.loads(answer.content)
    if answer.status_code != 202:
        assert (answer.status_code, bool(told["error"]["message"])) == (400, True), data
        assert not ImportFile.objects.filter(subset__name=subset).exists()
        return
    source = ImportFile.objects.get(pk=told["id"])
    shown = admin.get(f"/api/v1/imports/{source.pk}/preview/")
    page = admin.get(reverse("frontend:import-detail", args=["bench", source.pk]))
    assert (shown.status_code in (200, 400), page.status_code) == (True, 200), data
    _import_and_compare(source, data)
    assert admin.get(f"/api/v1/imports/{source.pk}/").status_code == 200


def _import_and_compare(source: ImportFile, data: bytes) -> None:
    """The rows are what the reader reads, all of it, or there are none and a sentence says why."""
    read = list(FORMATS[source.format].read(io.BytesIO(data), ReadContext(source.filename)))
    drafts = {escape(item.record_id) for item in read if isinstance(item, TrajectoryDraft)}
    wrong = len(drafts) != len(read)
    try:
        ingest.run_import(source_id=source.pk)
    except ImportRefused as refusal:
        assert wrong and refusal.report["errors"] and "nothing was imported" in refusal.message, data
    source.refresh_from_db()
    rows = Trajectory.objects.filter(source=source)
    if wrong:
        assert (source.state, source.error_count > 0) == (ImportState.FAILED, True), data
        kept = [
            rows.exists(),
            Step.objects.filter(trajectory__source=source).exists(),
            TrajectoryContent.objects.filter(trajectory__source=source).exists(),
            Task.objects.filter(subset=source.subset_id).exists(),
        ]
        assert kept == [False] * 4, data
    else:
        assert source.state == ImportState.PUBLISHED, data
        assert set(rows.filter(live=True).values_list("record_id", flat=True)) == drafts, data
        assert source.created_count == len(drafts), data
