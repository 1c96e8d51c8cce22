"""The facts about its makers in a release."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from annotation.core.errors import Invalid
from annotation.core.releases.record_format import FORMAT
from annotation.core.vocabulary import ExposureKind
from annotation.models import Assignment, Release, ReleaseRecord, Trajectory
from annotation.services import exposures
from tests import people
from tests.people import Cast
from tests.services.publishing import export, freeze, lines


def records(made: Release) -> list[dict[str, Any]]:
    rows = ReleaseRecord.objects.filter(release=made).order_by("ordinal")
    return [json.loads(zlib.decompress(bytes(row.body))) for row in rows]


def test_release_holds_blind_labels_under_pseudonyms_that_no_export_shows(
    resolved: Cast, tmp_path: Path
) -> None:
    peeked, late = Trajectory.objects.filter(state="unanimous").order_by("position")
    submitted = Assignment.objects.get(trajectory=peeked, annotator=resolved.ann).submitted_at
    assert submitted is not None
    for at, when in ((peeked, submitted.replace(year=2020)), (late, None)):
        exposures.note(user=resolved.ann, kind=ExposureKind.SUGGESTION, seen=[(at.pk, None)], now=when)
    made = freeze(resolved.project)

    first, second, disputed = ([one["annotator"] for one in row["blind_labels"]] for row in records(made))
    assert second == disputed == ["annotator-1", "annotator-2"]
    assert len(first) == 1
    for one in records(made)[1]["blind_labels"]:
        assert one["step_labels"] == {"2": 1, "4": 0, "6": -1} and one["final_label"] == -1
    assert [one["final_label"] for one in records(made)[2]["blind_labels"]] != [-1, -1]
    manifest = json.loads(made.manifest)
    assert manifest["format"] == FORMAT
    (ann,) = {"annotator-1", "annotator-2"} - set(first)
    told = manifest["annotators"]["people"]
    assert manifest["annotators"]["number"] == 2
    assert (told[ann]["trajectories"], told[ann]["blind_trajectories"], told[ann]["labels"]) == (3, 2, 9)
    assert told[first[0]]["blind_trajectories"] == 3
    assert manifest["exposure"]["blind_trajectories"] == 5
    export(made, tmp_path)
    assert not any("blind_labels" in line for line in lines(tmp_path))
    assert b"Ann" not in made.manifest.encode() and b'"ann"' not in made.manifest.encode()


@pytest.mark.postgres
def test_manifest_has_agreement_twice_and_names_what_was_left_out(resolved: Cast) -> None:
    people.import_records(resolved.project, [people.make_record(9, steps=2)], subset="more")
    for person, value in ((resolved.ann, 1), (resolved.ben, 1)):
        people.label_next(person, resolved.project, [value] * 3)
        people.label_next(person, resolved.project, [value] * 2)
    made = freeze(resolved.project, title="Tiny", licence="CC-BY-4.0", leave_out=["more"])

    manifest = json.loads(made.manifest)
    both = manifest["agreement"]
    assert (both["project"]["n"], both["release"]["n"]) == (14, 12)
    assert set(both["project"]["subsets"]) == {"tiny", "more"}
    assert both["release"]["subsets"]["tiny"]["overall"] == both["release"]["overall"]
    assert both["release"]["overall"]["kappa"]["interval_reason"] == "an interval needs at least 20 tasks"
    assert manifest["left_out"] == {"subsets": {"more": 1}, "not_resolved": {"labelling": 0, "disputed": 0}}
    assert (manifest["title"], manifest["licence"]) == ("Tiny", "CC-BY-4.0")
    assert manifest["origins"]["steps"] == {"adjudicated": 3, "unanimous": 9}
    assert manifest["subsets"]["tiny"]["origins"]["outcomes"] == {"adjudicated": 1, "unanimous": 3}
    assert manifest["label_error"]["value"] is None and manifest["label_error"]["reason"]
    assert manifest["guideline_versions"]["1"]["labels"] == 24
    assert manifest["exposure"]["experiment"] is None and manifest["exposure"]["experiment_reason"]


@pytest.mark.parametrize(
    ("field", "value"), [("title", "two\nlines"), ("licence", "x" * 2_001), ("leave_out", ["nowhere"])]
)
def test_freeze_refuses_what_cannot_be_said_of_a_release(resolved: Cast, field: str, value: Any) -> None:
    with pytest.raises(Invalid) as refusal:
        freeze(resolved.project, **{field: value})

    assert set(refusal.value.fields) == {field}
    assert not Release.objects.exists()
