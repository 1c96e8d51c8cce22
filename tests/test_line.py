"""The whole line on the published data, command by command: the figures of the reference come out.

Expected values are those of the published files; agreement is computed a second time with scikit-learn.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from sklearn.metrics import cohen_kappa_score

from annotation.models import Release, ReleaseRecord, Step, Trajectory, frozen
from annotation.policies import OPERATOR
from annotation.services.release import statistics
from tests.commands.calling import fails, run

pytestmark = [pytest.mark.django_db, pytest.mark.published, pytest.mark.once]
SAMPLES = ("gaia_dev", "bfcl", "tau2")
# model -> steps of 734 right, first errors of 250 strictly, tasks of 50 solved (final, #pos, %pos, two-stage)
SCORED = {
    "GPT-5.2": (529, 174, [38, 39, 38, 38]),
    "DeepSeek-V3.2": (546, 163, [32, 37, 33, 33]),
    "Llama-3.2-3B-Instruct": (325, 144, [28, 36, 38, 38]),
}


@pytest.fixture
def data(published: Path, own_uploads: Path) -> Path:
    return published / "agentprocessbench"


@pytest.fixture
def imported(data: Path) -> Path:
    run("import_trajectories", "apb", data / "hotpotqa.jsonl", "--subset", "hotpotqa")
    return data


def records_of(path: Path) -> dict[str, dict[str, Any]]:
    """The lines of a trajectory or label file by record id; of several lines the newest."""
    found: dict[str, dict[str, Any]] = {}
    for line in path.read_bytes().splitlines():
        record = json.loads(line)
        name = ":".join(str(record[key]) for key in ("data_source", "query_index", "sample_index"))
        if name not in found or record.get("updated_at", "") >= found[name].get("updated_at", ""):
            found[name] = record
    return found


def predictions(data: Path, model: str) -> Path:
    (path,) = (data / "predictions" / model).glob("hotpotqa__blind_*.jsonl")
    return path


def test_import_of_the_published_subset_is_whole_and_happens_once(data: Path) -> None:
    arguments = ("apb", data / "hotpotqa.jsonl", "--subset", "hotpotqa", "--json")

    (first,) = run("import_trajectories", *arguments).document["files"]
    (again,) = run("import_trajectories", *arguments).document["files"]

    assert (first["new"], first["unchanged"], first["steps"]) == (250, 0, 734)
    assert (again["new"], again["unchanged"], again["steps"]) == (0, 250, 0)
    assert Trajectory.objects.filter(live=True).count() == 250
    assert Step.objects.count() == 734


def test_import_of_the_samples_of_the_other_subsets_is_each_its_own(data: Path) -> None:
    said = run("import_trajectories", "apb", *(data / f"{name}.sample.jsonl" for name in SAMPLES), "--json")

    assert [row["subset"] for row in said.document["files"]] == list(SAMPLES)
    assert [row["new"] for row in said.document["files"]] == [2, 2, 2]
    published_steps = sum(
        len([one for one in record["messages"] if one["role"] == "assistant"])
        for name in SAMPLES
        for record in records_of(data / f"{name}.sample.jsonl").values()
    )
    assert Step.objects.count() == published_steps


def test_agreement_of_two_annotators_is_as_the_reference_says(imported: Path) -> None:
    first, second = predictions(imported, "GPT-5.2"), predictions(imported, "DeepSeek-V3.2")
    for path, name in ((first, "gpt"), (second, "deepseek")):
        said = run("import_labels", "apb", path, "--annotator", name)
        assert "250 trajectories" in said.err and "734 steps" in said.err

    overall = run("agreement", "apb", "--json").document["overall"]

    assert overall["n"] == 734
    figures = {name: figure["value"] for name, figure in overall["figures"].items()}
    assert round(figures["percent_agreement"], 4) == 0.7670
    assert round(figures["kappa"], 4) == 0.4964
    assert round(figures["linear_kappa"], 4) == 0.5432
    assert round(figures["quadratic_kappa"], 4) == 0.5869
    assert round(figures["transition_kappa"], 4) == 0.5425
    assert overall["figures"]["transition_kappa"]["n"] == 616
    assert (overall["states"]["disputed"], overall["states"]["unanimous"]) == (92, 158)
    a, b = _pairs(records_of(first), records_of(second))
    assert figures["percent_agreement"] == pytest.approx(sum(x == y for x, y in zip(a, b, strict=True)) / 734)
    for key, weights in (("kappa", None), ("linear_kappa", "linear"), ("quadratic_kappa", "quadratic")):
        assert figures[key] == pytest.approx(cohen_kappa_score(a, b, weights=weights), abs=1e-12)
    matrix = overall["confusion"]
    assert sum(map(sum, matrix)) == 734
    assert sum(matrix[one][one] for one in range(3)) == sum(x == y for x, y in zip(a, b, strict=True))
    assert Trajectory.objects.filter(state="disputed").count() == _disputes(
        records_of(first), records_of(second)
    )


def _pairs(one: dict[str, Any], other: dict[str, Any]) -> tuple[list[int], list[int]]:
    keys = [(name, index) for name, record in one.items() for index in record["step_labels"]]
    return (
        [one[name]["step_labels"][index] for name, index in keys],
        [other[name]["step_labels"][index] for name, index in keys],
    )


def _disputes(one: dict[str, Any], other: dict[str, Any]) -> int:
    """Trajectories in which a step or the outcome differs, counted from the files."""
    keys = ("step_labels", "final_label")
    return sum(any(one[name][key] != other[name][key] for key in keys) for name in one)


def test_judges_file_with_failed_judgements_is_refused_as_labels(imported: Path) -> None:
    said = fails(
        "import_labels", "apb", predictions(imported, "Llama-3.2-3B-Instruct"), "--annotator", "llama"
    )

    assert "nothing was imported" in said.out
    assert len({line.split(":")[0] for line in said.err.splitlines()}) >= 4


def _score_three_models(data: Path, folder: Path) -> None:
    """Import the published predictions of the release, twice, and read the published figures."""
    for model in SCORED:
        command = ("import_predictions", "apb", "1.0", predictions(data, model), "--model", model)
        assert "250 records predicted" in run(*command, "--subset", "hotpotqa").err
        assert "0 records predicted" in run(*command).err
    half = folder / "half.jsonl"
    half.write_bytes(predictions(data, "GPT-5.2").read_bytes()[:-100])
    said = fails("import_predictions", "apb", "1.0", half, "--model", "Half")
    assert said.err.startswith("line 250: ") and "nothing was imported" in said.out

    board = run("leaderboard", "apb", "1.0", "--json").document
    assert [pair["tolerated_label_error"] is None for pair in board["pairs"]] == [False, False, True]
    models = {row["model"]: row for row in board["models"]}
    chosen = {row["model"]: row for row in run("best_of_n", "apb", "1.0", "--json").document["models"]}
    assert set(models) == set(chosen) == set(SCORED)
    for model, (steps, strict, solved) in SCORED.items():
        cell = models[model]["overall"]
        assert cell == models[model]["subsets"]["hotpotqa"]
        assert cell["step_accuracy"] == pytest.approx(steps / 734)
        assert cell["strict_first_error_accuracy"] == pytest.approx(strict / 250)
        rules = [chosen[model]["overall"][rule] for rule in ("final", "pos_count", "pos_share", "two_stage")]
        assert [rule["lowest_index"] for rule in rules] == solved
        assert round(chosen[model]["overall"]["majority_vote"]["averaged"], 2) == 35.78
    assert models["Llama-3.2-3B-Instruct"]["overall"]["ranks"]["step_accuracy"]["simultaneous"] == [3, 3]
    after = models["GPT-5.2"]["recalibrated"]["overall"]
    assert after["kappa"] > 0.47 and after["changes"]["first_error_accuracy"]["value"] < 0
    assert board["stacked"]["overall"]["kappa"] > 0.48 and not board["pending"]
    baseline = {row["model"]: row["overall"] for row in board["baselines"]}["trained_baseline"]
    assert baseline["step_accuracy"] > 499 / 734 and baseline["kappa"] > 0.25
    assert "always_plus_one" in run("leaderboard", "apb", "1.0").out
    assert "two_stage" in run("best_of_n", "apb", "1.0").out


@pytest.mark.postgres
def test_release_of_unanimous_labels_equals_what_was_imported_and_one_byte_undoes_it(
    imported: Path, tmp_path: Path
) -> None:
    source = imported / "hotpotqa.jsonl"
    for name in ("one", "two"):
        run("import_labels", "apb", source, "--annotator", name)
    overall = run("agreement", "apb", "--json").document["overall"]
    states = overall["states"]
    assert overall["figures"]["percent_agreement"]["value"] == 1.0
    assert (states["unanimous"], states["disputed"]) == (250, 0)

    run("freeze_release", "apb", "1.0")
    run("export_release", "apb", "1.0", "--format", "agentprocessbench", "--output", tmp_path / "out")

    exported, original = records_of(tmp_path / "out" / "hotpotqa.jsonl"), records_of(source)
    assert list(exported) == list(original)
    for name, record in original.items():
        assert exported[name] == {key: record[key] for key in exported[name]}
        assert list(exported[name]) == [key for key in record if key in exported[name]]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert manifest["label_distribution"] == {"+1": 499, "-1": 179, "0": 56}
    assert manifest["outcome_distribution"] == {"+1": 163, "-1": 87, "0": 0}
    success, failure = statistics(actor=OPERATOR, release=Release.objects.get()).by_outcome
    for row, runs, length, wrong in ((success, 163, 2.515, 0.0537), (failure, 87, 3.724, 0.4846)):
        assert (row.records, round(row.mean_length, 3)) == (runs, length)
        assert round(row.steps[-1] / row.steps.total(), 4) == wrong

    _score_three_models(imported, tmp_path)
    assert "is intact" in run("verify_release", "apb", "1.0").err
    assert "is intact" in run("verify_release", "--path", tmp_path / "out").err
    path = tmp_path / "out" / "hotpotqa.jsonl"
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    assert "is NOT what was frozen" in fails("verify_release", "--path", tmp_path / "out").out
    row = ReleaseRecord.objects.get(ordinal=125)
    body = bytearray(bytes(row.body))
    body[len(body) // 2] ^= 1
    frozen.lift(connection)
    ReleaseRecord.objects.filter(pk=row.pk).update(body=bytes(body))
    frozen.install(connection)
    assert "is NOT what was frozen" in fails("verify_release", "apb", "1.0").out


def test_export_of_everything_can_be_imported_again(data: Path, tmp_path: Path) -> None:
    files = [data / "hotpotqa.jsonl", *(data / f"{name}.sample.jsonl" for name in SAMPLES)]
    run("import_trajectories", "apb", *files)
    for name in ("one", "two"):
        for path in files:
            run("import_labels", "apb", path, "--annotator", name, "--subset", path.name.split(".")[0])
    run("freeze_release", "apb", "1.0")
    run("export_release", "apb", "1.0", "--output", tmp_path)

    exported = sorted(tmp_path.glob("*.jsonl"))
    said = run("import_trajectories", "again", *exported, "--json")

    assert [row["subset"] for row in said.document["files"]] == ["bfcl", "gaia_dev", "hotpotqa", "tau2"]
    assert sum(row["new"] for row in said.document["files"]) == 256
    for path in exported:
        published = records_of(next(file for file in files if file.name.split(".")[0] == path.stem))
        for name, record in records_of(path).items():
            for key in ("messages", "step_labels", "final_label", "ground_truth", "question", "tools"):
                assert record[key] == published[name][key], (name, key)
