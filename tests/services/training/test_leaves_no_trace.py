"""Tutorial, tests, gold and pilots are in no figure, release or export; passed tests are counted in it."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

from annotation.core.jsonio.canonical import canonical_json
from annotation.core.rechecks import sampling
from annotation.models import Assignment, Recheck, Subset, Trajectory, User
from annotation.policies import OPERATOR
from annotation.reports.agreement import report as agreement
from annotation.reports.influence import report as influence
from annotation.reports.work import progress
from annotation.services import proficiency, projects, release, training
from tests import people
from tests.people import Cast
from tests.services.gold_dealing import room_for
from tests.services.keyed import KEYS, keyed_items

OWN = {"number", "manifest_sha256", "version", "created_at", "created_by", "based_on", "previous", "notes"}
"""What the manifest of each release says of itself."""


def figures(cast: Cast) -> bytes:
    """The figures of agreement, influence and progress."""
    return canonical_json(
        [
            agreement.as_json(agreement.agreement(viewer=OPERATOR, project=cast.project)),
            influence.as_json(influence.influence(viewer=OPERATOR, project=cast.project)),
            progress.progress(actor=OPERATOR, project=cast.project).all.by_state,
        ]
    )


def frozen(cast: Cast, version: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What a release says, and the data files of its archive."""
    row = release.freeze(actor=cast.admin, project=cast.project, version=version)
    with zipfile.ZipFile(io.BytesIO(b"".join(release.export_zip(actor=cast.admin, release=row)))) as archive:
        names = [name for name in archive.namelist() if name.endswith(".jsonl")]
        files = {name.rpartition("/")[2]: archive.read(name) for name in names}
    says = {name: value for name, value in json.loads(row.manifest).items() if name not in OWN}
    return says, files


def sit(user: User, cast: Cast, value: int = -1) -> None:
    """Claim the next, whatever it is, and label it all alike."""
    people.label_next(user, cast.project, value, outcome=value)


def test_figures_releases_and_exports_are_the_same_bytes_with_tutorial_test_gold_and_pilot(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    with room_for(1):
        rows = people.import_records(cast.project, 4)
    people.make_unanimous(cast, 2)
    people.make_disputed(cast)
    people.make_adjudicated(cast, rows[2])
    before, bytes_before = figures(cast), frozen(cast, "1.0")
    queue = list(Trajectory.objects.filter(live=True).values_list("pk", "state", "free_slots", "position"))

    lessons = keyed_items(cast.project, KEYS[:2])
    exam = keyed_items(cast.project, [KEYS[at % 4] for at in range(10)], subset="exam")
    subset = Subset.objects.get(name="tiny")
    training.make_gold(actor=cast.admin, project=cast.project, trajectories=exam[5:6], subset=subset)
    training.make_items(
        actor=cast.admin, project=cast.project, trajectories=rows[:1], subset=lessons[0].subset
    )
    training.set_tutorial(actor=cast.admin, project=cast.project, trajectories=lessons[:1])
    people.import_records(cast.project, [people.make_record(950)], subset="pilot")
    tried = training.mark_training(actor=cast.admin, subset=Subset.objects.get(name="pilot"))
    pilot = training.begin_pilot(
        actor=cast.admin, project=cast.project, subset=tried, bound=0.9, new_guidelines=False
    )
    test = proficiency.make_test(
        actor=cast.admin, project=cast.project, trajectories=exam, agreement=0.5, wait_hours=0, attempts=2
    )
    for _ in range(2):
        sit(cast.ann, cast)
        sit(cast.cleo, cast)
    proficiency.begin_attempt(actor=cast.cleo, test=test)
    for _ in range(10):
        sit(cast.cleo, cast)
    training.stop_pilot(actor=cast.admin, pilot=pilot)
    projects.update_project(actor=cast.admin, project=cast.project, values={"gold_percent": 30})
    cast.project.refresh_from_db()
    monkeypatch.setattr(sampling, "fraction", lambda *_what: 0.0)  # the next claim draws gold
    sit(cast.ann, cast)

    assert Recheck.objects.get(kind="gold").state == "done"
    assert Recheck.objects.filter(state="done").count() == 15
    assert Assignment.stored.filter(recheck__isnull=False, state="submitted").count() == 15
    assert figures(cast) == before
    says, files = frozen(cast, "1.1")
    assert {name for name in says if says[name] != bytes_before[0][name]} == set()
    assert files == bytes_before[1]
    assert (
        list(Trajectory.objects.filter(live=True).values_list("pk", "state", "free_slots", "position"))
        == queue
    )


def test_release_counts_who_has_passed_the_test_that_its_subset_asks_for(cast: Cast) -> None:
    exam = keyed_items(cast.project, [KEYS[at % 4] for at in range(10)], subset="exam")
    test = proficiency.make_test(
        actor=cast.admin, project=cast.project, trajectories=exam, agreement=0.2, wait_hours=0, attempts=2
    )
    group = [cast.ann, cast.ben, cast.cleo, *(people.make_user(f"extra{n}") for n in range(3))]
    for user in group[3:]:
        people.make_member(cast.project, user, "annotator")
    people.import_records(cast.project, 3)
    subset = Subset.objects.get(name="tiny")
    proficiency.require_test(actor=cast.admin, subset=subset, test=test)
    for user in group:
        proficiency.begin_attempt(actor=user, test=test)
        for _ in range(10):
            sit(user, cast, 1)
        sit(user, cast, 1)

    row = release.freeze(actor=cast.admin, project=cast.project, version="1.0")
    assert json.loads(row.manifest)["qualifications"] == {
        "annotators": 6,
        "smallest_count": 3,
        "tests": {"test 1": 6},
    }
