"""The files of imports in a bucket of an S3-compatible server, which is really started."""

from __future__ import annotations

import importlib.util
import tracemalloc
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import storages
from django.utils import timezone

from annotation.core.errors import Conflict, NotFound, Unavailable
from annotation.core.vocabulary import ImportState
from annotation.models import ImportFile
from annotation.services import ingest
from annotation.services.ingest import files
from annotation.services.ingest.reaper import FORGOTTEN
from config.bucket import check as bucket_check
from config.env import BadEnvironment, Env
from config.settings import files as files_settings
from tests import people
from tests.callers import Caller
from tests.people import Cast

pytestmark = [pytest.mark.django_db, pytest.mark.once]
NOBODY = "http://127.0.0.1:9"
READY = {"TRISTEP_FILES_BUCKET": "b", "TRISTEP_FILES_ENDPOINT": NOBODY, "TRISTEP_FILES_KEY": "an-id:s3cret"}


def use(settings: Any, variables: dict[str, str]) -> None:
    """Store files as these variables say."""
    settings.STORAGES = {**settings.STORAGES, "default": files_settings.read(Env(variables))}


@pytest.fixture
def bucket(settings: Any, files_in_bucket: dict[str, str]) -> Iterator[Any]:
    """A bucket in the place of the folder of uploads; what is in it."""
    use(settings, files_in_bucket)
    yield lambda: storages["default"].listdir("")[1]


def test_import_from_a_bucket_is_read_once_and_leaves_nothing(bucket: Any, cast: Cast) -> None:
    source = people.receive(cast.project, people.jsonl(people.make_records(3)))
    assert bucket() == [source.stored_as]
    assert ingest.look_at(actor=cast.admin, source=source).drafts == 3
    source = ingest.run_import(source_id=source.pk)
    assert (source.state, source.created_count, bucket()) == (ImportState.PUBLISHED, 3, [])


def test_bytes_that_nobody_needs_leave_the_bucket_after_an_hour(bucket: Any, cast: Cast) -> None:
    waiting = people.receive(cast.project, people.jsonl(people.make_records(1)), enqueue=True)
    files.save("0123.import", [b"{}"])
    files.save("notes.txt", [b"somebody else's"])
    ingest.reap()
    assert len(bucket()) == 3
    ingest.reap(now=timezone.now() + FORGOTTEN + timedelta(minutes=1))
    assert sorted(bucket()) == sorted(["notes.txt", waiting.stored_as])
    ingest.abandon(actor=cast.admin, source=waiting)
    files.discard(waiting.stored_as)
    with pytest.raises(FileNotFoundError), files.opened(waiting.stored_as):
        pass


def test_bytes_that_changed_in_the_store_are_not_imported(bucket: Any, cast: Cast) -> None:
    source = people.receive(cast.project, people.jsonl(people.make_records(2)))
    files.save(source.stored_as, [people.jsonl(people.make_records(3))])
    with pytest.raises(Conflict, match="damaged") as refused:
        ingest.run_import(source_id=source.pk)
    source.refresh_from_db()
    assert (refused.value.code, source.state) == ("file_damaged", ImportState.FAILED)


def test_upload_that_breaks_off_leaves_nothing_in_the_bucket(bucket: Any, cast: Cast) -> None:
    def chunks() -> Iterator[bytes]:
        yield bytes(9 * 1024**2)
        raise NotFound("the visitor went away")

    with pytest.raises(NotFound):
        people.receive(cast.project, b"", chunks=chunks())
    assert bucket() == [] and not ImportFile.objects.exists()


def test_memory_does_not_grow_with_the_file(bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.bucket.storage.PART_BYTES", 1024**2)
    block, size = bytes(256 * 1024), 24 * 1024**2
    files.save("first.import", [b"what the library loads for its first call"])
    tracemalloc.start()
    stored = files.save("big.import", (block for _number in range(size // len(block))))
    with files.opened("big.import", sha256=stored.sha256) as stream:
        assert stream.seek(0, 2) == stored.size == size
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < size / 2


def test_store_that_is_away_is_said_in_a_sentence_and_ends_no_import(
    settings: Any, cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    source = people.receive(cast.project, people.jsonl(people.make_records(1)), enqueue=True)
    use(settings, READY)
    answer = Caller(cast.admin).client.post(
        "/api/v1/projects/bench/imports/?subset=a&filename=a.jsonl",
        b"{}",
        content_type="application/x-ndjson",
    )
    assert (answer.status_code, answer["Retry-After"]) == (503, "60")
    assert answer.json()["error"]["code"] == "files_away"
    with pytest.raises(Unavailable, match="cannot be reached"):
        ingest.run_import(source_id=source.pk, resumable=True)
    source.refresh_from_db()
    assert source.state == ImportState.RUNNING, "the reaper queues it again"
    ingest.reap()
    assert bucket_check.problem() is None, "people label meanwhile"
    assert f"{NOBODY} does not answer" in caplog.text and "s3cret" not in caplog.text + answer.text


def test_bucket_that_is_refused_ends_the_start(settings: Any, files_in_bucket: dict[str, str]) -> None:
    use(settings, files_in_bucket)
    assert bucket_check.problem() is None
    use(settings, files_in_bucket | {"TRISTEP_FILES_BUCKET": "there-is-none"})
    said = bucket_check.problem()
    assert said is not None and "refuses the bucket there-is-none (NoSuchBucket)" in said
    assert "a-secret" not in said


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"TRISTEP_FILES_BUCKET": ""}, "TRISTEP_FILES_ENDPOINT is set, but TRISTEP_FILES_BUCKET is not"),
        ({"TRISTEP_FILES_KEY": "s3cret"}, "TRISTEP_FILES_KEY must look like ID:SECRET"),
        ({"TRISTEP_FILES_ENDPOINT": "minio:9000"}, "TRISTEP_FILES_ENDPOINT must begin http"),
    ],
)
def test_bucket_that_is_half_there_is_named(changed: dict[str, str], named: str) -> None:
    with pytest.raises(BadEnvironment, match=named) as refused:
        files_settings.read(Env({**READY, **changed}))
    assert "s3cret" not in str(refused.value)


def test_bucket_without_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BadEnvironment, match=r"pip install 'tristep\[s3\]'"):
        files_settings.read(Env(READY))
    assert "FileSystemStorage" in files_settings.read(Env({}))["BACKEND"]
