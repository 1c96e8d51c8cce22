"""Freezing in the background: asked for twice, killed half-way, stopped at the last moment."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from annotation.core.errors import Conflict
from annotation.models import AuditEvent, Freeze, Release, ReleaseOutline
from annotation.policies import OPERATOR
from annotation.services import release
from tests import people
from tests.people import Cast

pytestmark = pytest.mark.postgres

# the function of the same name stands before it in the package
freezing = import_module("annotation.services.release.freeze")


class Killed(BaseException):
    """Thrown in place of a kill: the process does nothing any more."""


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """Have something happen once, when all records are read."""

    def register(happens: Callable[[], Any]) -> None:
        original = freezing.described

        def described(*args: Any) -> Any:
            monkeypatch.setattr(freezing, "described", original)
            happens()
            return original(*args)

        monkeypatch.setattr(freezing, "described", described)

    return register


def ask(cast: Cast, version: str = "1.0", **more: Any) -> Freeze:
    return release.start_freeze(actor=cast.admin, project=cast.project, version=version, **more)


def killed() -> None:
    raise Killed


def beside(act: Callable[[], Any]) -> None:
    """Another person's request, on a connection of its own."""

    def run() -> None:
        try:
            act()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


@pytest.mark.django_db(transaction=True)
def test_freeze_of_a_killed_worker_is_taken_up_again_and_one_that_is_stopped_freezes_nothing(
    cast: Cast, meanwhile: Callable[[Callable[[], Any]], None], settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    people.import_records(cast.project, 3)
    people.make_unanimous(cast, 2)
    job = ask(cast, title="Once")
    assert ask(cast, title="Once") == job
    for version, title in (("1.0", "Another"), ("2.0", "Once")):
        with pytest.raises(Conflict) as refusal:
            ask(cast, version, title=title)
        assert refusal.value.code == "freezing"

    meanwhile(killed)
    with pytest.raises(Killed):
        release.run_freeze(job_id=job.pk)
    assert release.run_freeze(job_id=job.pk).state == "running", "it is still leased"
    assert release.reap() == 0
    assert release.reap(now=timezone.now() + timedelta(minutes=2)) == 2, "queued, and sent"
    done = release.run_freeze(job_id=job.pk)
    assert ReleaseOutline.objects.exclude(details=None).count() == 1, "its page need not wait for it"
    assert (done.state, done.attempt, done.progress_done, done.progress_total) == ("frozen", 2, 2, 2)
    made = Release.objects.get()
    assert done.release == made and json.loads(made.manifest)["title"] == "Once"
    assert release.verify(actor=OPERATOR, release=made).ok
    assert release.run_freeze(job_id=job.pk).attempt == 2

    late = ask(cast, "2.0")
    meanwhile(lambda: beside(lambda: release.cancel_freeze(actor=cast.admin, job=late)))
    assert release.run_freeze(job_id=late.pk).state == "cancelled"
    assert Release.objects.count() == 1
    assert AuditEvent.objects.filter(verb="release.freeze").count() == 1
    with pytest.raises(Conflict):
        ask(cast, "1.0")


@pytest.mark.django_db
def test_freeze_that_cannot_be_says_why_and_is_given_up_after_three_dead_workers(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 1)
    people.make_unanimous(cast)
    job = ask(cast)
    Freeze.objects.update(state="running", attempt=3, lease_until=timezone.now() - timedelta(seconds=1))
    assert release.reap() == 1
    job.refresh_from_db()
    assert job.state == "failed" and "3 times" in job.error

    job = ask(cast)
    monkeypatch.setattr(freezing, "signing_key", lambda: [][1])
    with pytest.raises(IndexError):
        release.run_freeze(job_id=job.pk)
    job.refresh_from_db()
    assert job.state == "failed" and "log" in job.error

    job = ask(cast)
    Freeze.objects.filter(pk=job.pk).update(leave_out=["nowhere"])
    assert release.run_freeze(job_id=job.pk).state == "failed"
    job.refresh_from_db()
    assert "nowhere" in job.error
