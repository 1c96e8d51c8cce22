"""import_labels, as an operator uses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.core.vocabulary import AssignmentState, TrajectoryState
from annotation.models import (
    Assignment,
    AuditEvent,
    Label,
    LabelEvent,
    Membership,
    Project,
    Trajectory,
    User,
)
from tests import people
from tests.commands.calling import fails, run, write
from tests.people import jsonl, make_record

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_uploads")]


# ── import_labels ─────────────────────────
def line(query: int, values: list[int | None], outcome: int | None = 1, **more: Any) -> dict[str, Any]:
    return {
        "record_id": f"tiny:{query}:0",
        "step_labels": {str(2 * (place + 1)): value for place, value in enumerate(values)},
        "final_label": outcome,
        **more,
    }


@pytest.fixture
def project(db: None) -> Project:
    made = people.make_project("apb")
    people.import_records(made, 3)
    return made


def labels_of(user: str) -> dict[str, list[int | None]]:
    rows = Assignment.objects.filter(annotator__username=user).order_by("trajectory__position")
    return {
        row.trajectory.record_id: [label.value for label in row.labels.order_by("step__message_index")]
        for row in rows
    }


def test_labels_become_submitted_assignments_of_a_person_who_cannot_sign_in(
    project: Project, tmp_path: Path
) -> None:
    explained = {"steps": {"2": "Because.\x00"}, "final": "All in all."}
    path = write(
        tmp_path / "labels.jsonl",
        jsonl([line(0, [1, -1], -1, explanations=explained, username="somebody-else"), line(1, [0, 1])]),
    )

    said = run("import_labels", "apb", path, "--annotator", "gpt")

    assert "2 trajectories" in said.err and "4 steps" in said.err
    user = User.objects.get(username="gpt")
    assert not user.has_usable_password()
    assert not User.objects.filter(username="somebody-else").exists()
    assert Membership.objects.get(user=user).is_annotator
    assert labels_of("gpt") == {"tiny:0:0": [1, -1], "tiny:1:0": [0, 1]}
    assert set(Assignment.objects.values_list("state", "imported")) == {(AssignmentState.SUBMITTED, True)}
    assert Label.objects.get(value=-1).root is not None
    assert set(Label.objects.values_list("source", flat=True)) == {"explicit"}
    assert LabelEvent.objects.filter(kind="import").count() == 2
    assert list(Trajectory.objects.order_by("position").values_list("free_slots", flat=True)) == [1, 1, 2]


def test_labels_imported_again_change_nothing_and_other_labels_are_refused(
    project: Project, tmp_path: Path
) -> None:
    path = write(tmp_path / "labels.jsonl", jsonl([line(0, [1, 1]), line(1, [1, 1])]))
    run("import_labels", "apb", path, "--annotator", "gpt")

    assert "0 trajectories" in (again := run("import_labels", "apb", path, "--annotator", "gpt")).err
    assert "2 unchanged" in again.err
    write(path, jsonl([line(0, [1, 1]), line(1, [1, 0]), line(2, [1, 1])]))
    said = fails("import_labels", "apb", path, "--annotator", "gpt")

    assert "tiny:1:0" in said.err and "tiny:0:0" not in said.err
    assert labels_of("gpt") == {"tiny:0:0": [1, 1], "tiny:1:0": [1, 1]}


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        (line(1, [1, None]), "tiny:1:0"),
        (line(1, [1]), "tiny:1:0"),
        (line(1, [1, 1], None), "tiny:1:0"),
        (line(1, [1, 1, 1]), "tiny:1:0"),
        (line(1, [1, 2]), "tiny:1:0"),
        ({**line(1, [1, 1]), "step_labels": {"2": 1, "4": True}}, "tiny:1:0"),
        (line(9, [1, 1]), "tiny:9:0"),
        ({"step_labels": {"2": 1}, "final_label": 1}, "record_id"),
    ],
)
def test_record_that_is_not_complete_is_refused_by_name_and_with_it_the_file(
    project: Project, tmp_path: Path, wrong: dict[str, Any], word: str
) -> None:
    path = write(tmp_path / "labels.jsonl", jsonl([line(0, [1, 1]), wrong]))

    said = fails("import_labels", "apb", path, "--annotator", "gpt")

    assert word in said.err
    assert "nothing was imported" in said.out
    assert not Assignment.objects.exists()
    assert not User.objects.filter(username="gpt").exists()
    assert set(Trajectory.objects.values_list("free_slots", flat=True)) == {2}


def test_labels_on_the_newest_line_of_a_record_count(project: Project, tmp_path: Path) -> None:
    path = write(
        tmp_path / "labels.jsonl",
        jsonl(
            [
                line(0, [1, 1], updated_at="2026-02-01T00:00:00Z"),
                line(0, [-1, -1], updated_at="2026-01-01T00:00:00Z"),
            ]
        ),
    )

    run("import_labels", "apb", path, "--annotator", "gpt")

    assert labels_of("gpt") == {"tiny:0:0": [1, 1]}


def test_labels_of_a_third_annotator_of_two_are_refused_by_record(project: Project, tmp_path: Path) -> None:
    path = write(tmp_path / "labels.jsonl", jsonl([line(0, [1, 1])]))
    for name in ("one", "two"):
        run("import_labels", "apb", path, "--annotator", name)
    assert Trajectory.objects.get(record_id="tiny:0:0").state == TrajectoryState.UNANIMOUS

    said = fails("import_labels", "apb", path, "--annotator", "three")

    assert "tiny:0:0" in said.err
    assert Assignment.objects.count() == 2


def test_record_of_several_subsets_needs_the_subset_named(project: Project, tmp_path: Path) -> None:
    people.import_records(project, 1, subset="other")
    path = write(tmp_path / "labels.jsonl", jsonl([line(0, [1, 1])]))

    assert "several subsets" in fails("import_labels", "apb", path, "--annotator", "gpt").err
    run("import_labels", "apb", path, "--annotator", "gpt", "--subset", "other")

    assert Assignment.objects.get().trajectory.subset.name == "other"


def test_trajectory_file_with_labels_is_a_label_file_too(project: Project, tmp_path: Path) -> None:
    records = [make_record(query, step_labels={"2": 1, "4": 0}, final_label=1) for query in range(3)]
    path = write(tmp_path / "published.jsonl", jsonl(records))

    run("import_labels", "apb", path, "--annotator", "humans")

    assert list(labels_of("humans").values()) == [[1, 0]] * 3


def test_labels_of_a_person_who_has_begun_the_same_trajectory_are_refused(tmp_path: Path) -> None:
    cast = people.make_cast("apb")
    people.import_records(cast.project, 1)
    people.claim(cast.ann, cast.project)
    path = write(tmp_path / "labels.jsonl", jsonl([line(0, [1, 1])]))

    said = fails("import_labels", "apb", path, "--annotator", "ann")

    assert "tiny:0:0" in said.err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nowhere", "l.jsonl", "--annotator", "gpt"], "nowhere"),
        (["apb", "missing.jsonl", "--annotator", "gpt"], "missing.jsonl"),
        (["apb", "empty.jsonl", "--annotator", "gpt"], "empty.jsonl"),
        (["apb", "l.jsonl", "--annotator", ""], ""),
        (["apb", "l.jsonl", "--annotator", "a b\x00"], ""),
        (["apb", "l.jsonl", "--annotator", "x" * 200], ""),
    ],
)
def test_labels_that_cannot_be_imported_are_refused_in_one_sentence(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], word: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "l.jsonl", jsonl([line(0, [1, 1])]))
    write(tmp_path / "empty.jsonl", b"")

    said = fails("import_labels", *arguments)

    assert word in said.out
    assert not Assignment.objects.exists()


def test_import_of_labels_is_in_the_audit_log_without_the_labels(project: Project, tmp_path: Path) -> None:
    path = write(tmp_path / "labels.jsonl", jsonl([line(0, [1, -1])]))

    run("import_labels", "apb", path, "--annotator", "gpt")

    event = AuditEvent.objects.get(verb="labels.import")
    assert event.actor is None
    assert event.detail == {"username": "gpt", "created": 1, "unchanged": 0}
    assert "-1" not in json.dumps(event.detail)
