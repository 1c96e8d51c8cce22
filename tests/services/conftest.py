"""Fixtures of several files of these tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotation.models import Adjudication, Assignment, Discussion, Trajectory
from annotation.services import discuss
from annotation.services.ingest import run as running
from tests import people
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast
from tests.services import rechecking


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three records a batch, and a heartbeat with each."""
    monkeypatch.setattr(running, "BATCH_RECORDS", 3)
    monkeypatch.setattr(running, "HEARTBEAT_SECONDS", 0.0)


@shared_rows
def claimed(cast: Cast) -> Assignment:
    """Ann's, of the first of three trajectories with the steps 2 and 4."""
    people.import_records(cast.project, 3)
    return people.claim(cast.ann, cast.project)


@shared_rows
def assignment(cast: Cast) -> Assignment:
    """Ann's, of a trajectory with the steps 2, 4, 6, 8."""
    people.import_records(cast.project, [people.make_record(steps=4)])
    return people.claim(cast.ann, cast.project)


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


@pytest.fixture
def own_keys(settings: Any, tmp_path: Path) -> Path:
    """A folder of this test's own for release.key and release-keys/, still empty."""
    folder = tmp_path / "keys"
    folder.mkdir()
    settings.RELEASE_KEY = ""
    settings.RELEASE_KEY_FILE = folder / "release.key"
    settings.RELEASE_KEYS_DIR = folder / "release-keys"
    return folder


@shared_rows
def third(cast: Cast) -> Cast:
    """The cast in a project without retests, of which everything resolved is audited: cleo can read it."""
    rechecking.retests_are_asked(cast.project, 0)
    return cast


@shared_rows
def third_due(third: Cast) -> Trajectory:
    """What ann and ben have labelled alike, ten days ago: it waits for its reader, who is cleo, and for
    another, who is not there."""
    return rechecking.resolved(third)[0]


@shared_rows
def retest(cast: Cast) -> Cast:
    """The cast in a project in which annotators label everything again."""
    rechecking.retests_are_asked(cast.project)
    return cast


@shared_rows
def retest_due(retest: Cast) -> Trajectory:
    """What ann and ben have labelled alike, ten days ago: it waits for both of them."""
    return rechecking.resolved(retest)[0]


@shared_rows
def disputed_case(cast: Cast) -> Adjudication:
    """The steps 2, 4 and 6; ann and ben differ on 4 and on the outcome. Judith has the case."""
    (row,) = people.import_records(cast.project, [people.make_record(steps=3)])
    people.label_next(cast.ann, cast.project, [1, 1, -1], outcome=1, note="Ann's note.")
    people.label_next(cast.ben, cast.project, [1, -1, -1], outcome=-1, note="Ben's note.")
    return people.open_case(cast.judith, Trajectory.objects.get(pk=row.pk))


@shared_rows
def talk(cast: Cast, disputed_case: Adjudication) -> Discussion:
    """The discussion of that case, in which nothing has been said."""
    return discuss.open_discussion(actor=cast.judith, trajectory=disputed_case.trajectory)
