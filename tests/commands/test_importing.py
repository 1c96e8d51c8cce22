"""import_trajectories and import_labels, as an operator uses them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from annotation.core.vocabulary import AssignmentState, TrajectoryState
from annotation.models import (
    Assignment,
    AuditEvent,
    ImportFile,
    Label,
    LabelEvent,
    Membership,
    Project,
    Subset,
    Trajectory,
    User,
)
from tests import people
from tests.commands.calling import fails, run, write
from tests.people import jsonl, make_record, make_records
from tests.servers import ROOT

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_uploads")]


# ── import_trajectories ───────────────────
def test_importing_makes_the_project_and_names_the_subset_after_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "first.v1.jsonl", jsonl(make_records(3)))

    said = run("import_trajectories", "new", path)

    assert said.out == ""
    assert "3 trajectories" in said.err and "6 steps" in said.err
    assert Project.objects.get().slug == "new"
    assert Subset.objects.get().name == "first"
    assert AuditEvent.objects.get(verb="import.publish").actor is None
    assert list((tmp_path / "uploads").glob("*.import")) == []


def test_importing_again_says_that_nothing_is_new(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", jsonl(make_records(3)))
    run("import_trajectories", "new", path)

    said = run("import_trajectories", "new", path, "--json")

    assert "0 new" in said.err and "3 unchanged" in said.err
    (row,) = said.document["files"]
    assert (row["new"], row["unchanged"], row["replaced"], row["steps"]) == (0, 3, 0, 0)
    assert (row["file"], row["subset"], row["format"]) == ("a.jsonl", "a", "agentprocessbench")


def test_importing_decisions_counts_them_by_file_and_in_sum(tmp_path: Path) -> None:
    golden = ROOT / "fixtures" / "golden"
    files = ("toolprmbench.json", "toolprmbench-repeats.json", "plan_rewardbench.jsonl")

    said = run("import_trajectories", "new", *(golden / name for name in files), "--subset", "s", "--json")

    document = said.document
    assert [row["items"] for row in document["files"]] == [4, 2, 4]
    assert {name: document[name] for name in ("items", "left_out", "repeats", "contradictory", "pairs")} == {
        "items": 10,
        "left_out": 1,
        "repeats": 4,
        "contradictory": 2,
        "pairs": 8,
    }
    assert Trajectory.objects.count() == 10


def test_importing_tasks_in_several_turns_offers_suspension_and_an_option_sets_it(tmp_path: Path) -> None:
    record = make_record(0, 0)
    request = [{"role": "system", "content": "State."}, {"role": "user", "content": "Now this."}]
    record["messages"] = [*record["messages"], *request, {"role": "assistant", "content": "Done."}]
    record["step_labels"] = {}
    path = write(tmp_path / "turns.jsonl", jsonl([record]))
    said = run("import_trajectories", "new", path, "--json")
    assert "consider --suspend-on-user-turn" in said.err
    assert said.document["files"][0]["offers_suspension"] is True
    assert not Subset.objects.get().suspend_on_user_turn

    said = run("import_trajectories", "new", path, "--suspend-on-user-turn")
    assert "consider" not in said.err
    assert Subset.objects.get().suspend_on_user_turn


def test_import_takes_options(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", jsonl([make_record(0, 0), make_record(0, 1)]))

    run(
        "import_trajectories", "new", path,
        "--subset", "named", "--format", "agentprocessbench",
        "--policy-model", "0=One", "--policy-model", "1=Two=2",
    )  # fmt: skip

    models = Trajectory.objects.order_by("sample_index").values_list("policy_model", flat=True)
    assert list(models) == ["One", "Two=2"]
    assert Subset.objects.get().name == "named"


def test_import_lists_a_refused_file_line_by_line_and_the_others_come_in(tmp_path: Path) -> None:
    good = write(tmp_path / "good.jsonl", jsonl(make_records(2)))
    bad = write(tmp_path / "bad.jsonl", jsonl([make_record(0), {"a": 1}, make_record(1, messages=[])]))

    said = fails("import_trajectories", "new", good, bad)

    assert "bad.jsonl:2: " in said.err and "bad.jsonl:3: messages: is empty" in said.err
    assert said.out == "1 of 2 files refused; nothing of these was imported."
    assert set(Trajectory.objects.values_list("subset__name", flat=True)) == {"good"}
    assert ImportFile.objects.count() == 2


def test_import_of_a_changed_record_needs_replace(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", jsonl(make_records(2)))
    run("import_trajectories", "new", path)
    write(path, jsonl([make_record(0), make_record(1, question="Other?")]))

    said = fails("import_trajectories", "new", path)
    assert "tiny:1:0" in said.err

    assert "1 replaced" in run("import_trajectories", "new", path, "--replace").err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["new", "missing.jsonl"], "missing.jsonl"),
        (["a b", "a.jsonl"], "slug"),
        (["new", "a.jsonl", "--subset", "a b"], "letters"),
        (["new", "a.jsonl", "--format", "yaml"], "yaml"),
        (["new", "a.jsonl", "--policy-model", "x"], "INDEX=NAME"),
        (["new", "empty.jsonl"], "empty.jsonl: The file is empty."),
        (["new", "words.jsonl"], "words.jsonl: The format was not recognised"),
    ],
)
@pytest.mark.once
def test_import_that_cannot_be_done_says_so_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], word: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.jsonl", jsonl(make_records(1)))
    write(tmp_path / "empty.jsonl", b"")
    write(tmp_path / "words.jsonl", b"only words\n")

    said = fails("import_trajectories", *arguments)

    assert word.lower() in said.out.lower() or word.lower() in said.err.lower(), said
    assert not Trajectory.objects.exists()


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_import_that_fails_exits_non_zero_without_a_traceback(
    process_environment: dict[str, str], tmp_path: Path
) -> None:
    bad = write(tmp_path / "bad.jsonl", jsonl([make_record(0, messages=[])]))
    command = [sys.executable, str(ROOT / "manage.py"), "import_trajectories", "new", str(bad)]

    ended = subprocess.run(
        command, env={**os.environ, **process_environment}, cwd=tmp_path, capture_output=True, text=True
    )

    assert ended.returncode != 0
    assert "Traceback" not in ended.stderr
    assert "bad.jsonl:1: messages: is empty" in ended.stderr
    assert ended.stdout == ""


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
        (line(1, [1, 1], None), "tiny:1:0"),
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
