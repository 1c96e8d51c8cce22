"""import_trajectories, as an operator uses them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from annotation.models import (
    AuditEvent,
    ImportFile,
    Project,
    Subset,
    Trajectory,
)
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
