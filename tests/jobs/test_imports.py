"""Imports in the background: a real worker, a real broker, and both dying at bad moments."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from annotation import jobs
from annotation.core.vocabulary import ImportState
from annotation.models import ImportFile, Step, Task, Trajectory
from annotation.services import ingest
from config.broker import Broker
from config.celery import app
from config.env import broker
from tests import people
from tests.people import Cast
from tests.servers import Worker, wait_for

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 90.0


@pytest.fixture
def shared_uploads(settings: Any, process_environment: dict[str, str]) -> Path:
    """This process stores uploads where the worker looks for them; the worker reaps every second."""
    settings.UPLOAD_DIR = settings.MEDIA_ROOT = Path(process_environment["TRISTEP_DATA_DIR"]) / "uploads"
    process_environment["TRISTEP_REAP_SECONDS"] = "1"
    return Path(settings.UPLOAD_DIR)


def upload(cast: Cast, records: int | list[dict[str, Any]]) -> ImportFile:
    made = people.make_records(records) if isinstance(records, int) else records
    return people.receive(cast.project, people.jsonl(made), actor=cast.admin, enqueue=True)


def state_of(source: ImportFile) -> str:
    source.refresh_from_db()
    return source.state


def published(source: ImportFile) -> None:
    wait_for(
        lambda: state_of(source) in {ImportState.PUBLISHED, ImportState.FAILED},
        "the import",
        seconds=PATIENCE,
    )
    assert source.state == ImportState.PUBLISHED, source.error


def _point(url: str) -> None:
    """This process's Celery app looks for its broker there from now on."""
    app.conf.update(broker_url=url, broker_write_url=url, broker_read_url=url)
    app.close()
    app.amqp.__dict__.pop("_producer_pool", None)
    app.amqp._producer_pool = None


@pytest.mark.once
def test_worker_imports_refuses_a_bad_file_and_is_sent_what_a_broker_that_was_away_has_missed(
    celery_broker: Broker,
    shared_uploads: Path,
    process_environment: dict[str, str],
    cast: Cast,
    tmp_path: Path,
) -> None:
    _point("redis://127.0.0.1:1/0")
    begun = time.monotonic()
    missed = upload(cast, 5)
    assert time.monotonic() - begun < 15
    assert state_of(missed) == ImportState.QUEUED
    ImportFile.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    _point(broker(celery_broker.url))

    worker = Worker(process_environment, tmp_path / "worker.log")
    try:
        published(missed)
        good = upload(cast, [people.make_record(number) for number in range(10, 40)])
        assert good.state == ImportState.QUEUED
        published(good)
        bad = upload(cast, [people.make_record(50), people.make_record(51, messages=[])])
        wait_for(lambda: state_of(bad) == ImportState.FAILED, "the refusal", seconds=PATIENCE)
        wait_for(lambda: not list(shared_uploads.glob("*.import")), "the uploads to be deleted")
        # a question that comes before the worker listens for questions is lost: it is asked again
        wait_for(lambda: app.control.ping(timeout=5, limit=1), "an answer to a ping")
    finally:
        ended = worker.stop()

    assert ended
    assert [(one.attempt, one.created_count) for one in (missed, good)] == [(1, 5), (1, 30)]
    assert Trajectory.objects.filter(live=True).count() == 35
    assert (bad.error_count, bad.errors[0]["line"]) == (1, 2)
    assert "Question" not in worker.words(), "logs hold no trajectory text"


def test_import_left_half_done_by_a_killed_worker_is_finished_once_by_the_next(
    celery_broker: Broker,
    shared_uploads: Path,
    process_environment: dict[str, str],
    cast: Cast,
    tmp_path: Path,
) -> None:
    source = upload(cast, 1_500)
    first = Worker(process_environment, tmp_path / "first.log")
    wait_for(lambda: Trajectory.objects.filter(source=source).count() > 200, "rows", seconds=PATIENCE)
    first.kill()
    assert state_of(source) == ImportState.RUNNING
    assert not Trajectory.objects.filter(live=True).exists()
    ImportFile.objects.update(lease_until=timezone.now() - timedelta(seconds=1))

    second = Worker(process_environment, tmp_path / "second.log")
    try:
        published(source)
    finally:
        second.stop()

    assert (source.attempt, source.created_count) == (2, 1_500)
    assert Trajectory.objects.filter(live=True).count() == Trajectory.objects.count() == 1_500
    assert Task.objects.count() == 1_500
    assert Step.objects.count() == source.step_count == 3_000


def test_job_delivered_twice_runs_once(cast: Cast) -> None:
    source = upload(cast, 3)

    jobs.run_import(source.pk)
    jobs.run_import(source.pk)

    assert (state_of(source), source.attempt) == (ImportState.PUBLISHED, 1)
    assert Trajectory.objects.count() == 3


def test_reaper_whose_connection_broke_recovers_in_the_next_round(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> int:
        connection.errors_occurred = True
        raise OSError("the database went away")

    connection.ensure_connection()
    with monkeypatch.context() as patch:
        patch.setattr(ingest, "reap", broken)
        patch.setattr(connection, "is_usable", lambda: False)
        with pytest.raises(OSError, match="went away"):
            jobs.reap()

    assert connection.connection is None
    jobs.reap()
