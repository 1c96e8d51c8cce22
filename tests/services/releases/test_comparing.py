"""Comparing two frozen releases: what is found, who is told what of it, and at what cost."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.core.errors import Denied, Invalid
from annotation.core.vocabulary import ExposureKind
from annotation.models import Assignment, Exposure, Release, ReleaseOutline, Trajectory
from annotation.policies import OPERATOR
from annotation.services import release
from tests import people
from tests.commands.calling import run
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast
from tests.services.predicting import bring
from tests.services.publishing import decide_anew, freeze


@shared_rows
def pair(resolved: Cast) -> tuple[Release, Release]:
    """1.0; and 1.1, in which the adjudicated trajectory is decided anew (three 0 became −1, and the outcome),
    and one more is resolved."""
    old = freeze(resolved.project, "1.0")
    decide_anew(resolved, old, -1)
    people.make_unanimous(resolved)
    return old, freeze(resolved.project, "1.1")


def test_compare_finds_what_was_decided_anew_and_what_came(
    resolved: Cast, pair: tuple[Release, Release]
) -> None:
    old, new = pair
    found = release.compare(actor=resolved.judith, old=old, new=new)

    whole = found.diff.whole
    assert (whole.before, whole.after, whole.unchanged, whole.labels) == (3, 4, 2, 3)
    assert [set(change.what) for change in found.diff.changes] == [{"labels", "outcome"}, {"added"}]
    assert {(label.before.value, label.after.value) for label in found.diff.changes[0].labels} == {(0, -1)}
    stated = [json.loads(one.manifest)["label_distribution"] for one in pair]
    assert [release.diff_as_json(found)["label_distribution"][when] for when in ("before", "after")] == stated
    assert (
        "- 1 added, 0 removed, 2 unchanged.\n- 3 step labels changed, in 1 trajectory.\n" in found.changelog()
    )
    back = release.compare(actor=OPERATOR, old=new, new=old).diff
    assert [set(change.what) for change in back.changes] == [{"labels", "outcome"}, {"removed"}]

    said = run("diff_releases", "bench", "1.0", "1.1", "--json").document
    assert said["counts"]["step_labels_changed"] == 3 and len(said["changes"]) == 2
    assert said["changes"][0]["labels"][0]["before"]["value"] == 0
    assert run("diff_releases", "bench", "1.0", "1.1").out == found.changelog()


def test_outline_is_made_once_and_reads_no_messages_again(
    resolved: Cast, pair: tuple[Release, Release]
) -> None:
    old, new = pair
    # scoring keeps an outline without details
    bring(resolved, new, {"record_id": "tiny:0:0", "step_labels": {"2": 1}, "final_label": 1})
    release.compare(actor=OPERATOR, old=old, new=new)
    assert ReleaseOutline.objects.exclude(details=None).count() == 2

    with CaptureQueriesContext(connection) as asked:
        release.compare(actor=OPERATOR, old=old, new=new)

    assert len(asked) == 2 and not any("releaserecord" in one["sql"] for one in asked)
    ReleaseOutline.objects.filter(release=new).update(details=b"\x00of an older version")
    assert release.compare(actor=OPERATOR, old=old, new=new).diff.whole.labels == 3


def test_who_sees_changed_labels_is_noted_and_who_labels_is_told_nothing(
    resolved: Cast, pair: tuple[Release, Release]
) -> None:
    old, new = pair
    row = Trajectory.objects.get(state="adjudicated")
    noted = Exposure.objects.filter(trajectory=row, kind=ExposureKind.CONSENSUS)
    found = release.compare(actor=resolved.admin, old=old, new=new)
    noted.filter(user=resolved.admin).delete()

    one, other = release.shown(actor=resolved.admin, comparison=found, changes=found.listed())

    assert (one.change.record_id, one.kept) == (row.record_id, False) and other.change.what == {"added"}
    assert noted.filter(user=resolved.admin).exists()
    assert [(label.before, label.after.value) for label in other.change.labels] == [(None, 1)] * 4
    assert Exposure.objects.filter(
        user=resolved.admin, trajectory__record_id=other.change.record_id, kind=ExposureKind.CONSENSUS
    ).exists()

    people.make_member(resolved.project, resolved.cleo, "annotator", "adjudicator")
    claimed = {"slot": 7, "claimed_at": new.created_at, "last_used_at": new.created_at}
    Assignment.objects.create(project=resolved.project, trajectory=row, annotator=resolved.cleo, **claimed)
    found = release.compare(actor=resolved.cleo, old=old, new=new)
    (hidden, _other) = release.shown(actor=resolved.cleo, comparison=found, changes=found.listed())
    assert hidden.kept and not hidden.change.labels and not hidden.change.what
    assert not found.listed(what="labels") and not found.listed(what="outcome")
    assert not noted.filter(user=resolved.cleo).exists()


def test_compare_is_for_those_who_see_releases_of_one_project(
    resolved: Cast, pair: tuple[Release, Release]
) -> None:
    old, new = pair
    for name in ("ann", "oscar"):
        with pytest.raises(Denied):
            release.compare(actor=resolved.everybody[name], old=old, new=new)
    elsewhere = Release(pk=old.pk, project=people.make_project("other"))
    with pytest.raises(Invalid):
        release.compare(actor=OPERATOR, old=elsewhere, new=new)
