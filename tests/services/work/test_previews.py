"""A file is looked at before it is imported, read otherwise, and started; and the way out as ATIF."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.core.errors import ImportRefused, Invalid, StaleState
from annotation.core.trajectories.limits import Limits
from annotation.core.trajectories.trajectory import SourceLabel
from annotation.core.vocabulary import ImportState
from annotation.importers.options import ReadOptions
from annotation.models import ImportFile, Label, Suggestion, Trajectory
from annotation.services import ingest, suggest
from annotation.services.suggest.source_labels import label_line
from tests.importers.archives import zip_of
from tests.importers.golden import GOLDEN
from tests.people import Cast, receive

pytestmark = pytest.mark.usefixtures("own_uploads")
SECRET = "sk-ant-" + "a1B2" * 10


def received(cast: Cast, name: str, data: bytes | None = None) -> ImportFile:
    data = (GOLDEN / name).read_bytes() if data is None else data
    return receive(cast.project, data, actor=cast.admin, subset="s", filename=name)


def upload(cast: Cast, data: bytes) -> ingest.ReceivedFiles:
    return ingest.receive_upload(
        actor=cast.admin, project=cast.project, subset="s", filename="runs.zip", chunks=[data], enqueue=False
    )


def chat(**changes: object) -> bytes:
    messages = [{"role": "user", "content": f"Use {SECRET}."}, {"role": "assistant", "content": "Done."}]
    return json.dumps({"messages": messages, "case": {"id": "T/7", "by": "m-1"}, **changes}).encode()


def test_preview_tells_the_format_the_first_trajectory_and_what_is_lost(cast: Cast) -> None:
    source = received(cast, "inspect.json")
    found = ingest.look_at(actor=cast.admin, source=source)
    assert found.importer.name == "inspect"
    assert (found.certainty, found.drafts, found.steps, found.whole) == (1.0, 2, 4, True)
    assert found.first is not None
    assert found.first.record_id == "weather:bergen:1:eV1"
    assert found.context.left_out
    assert not Trajectory.objects.exists()


def test_preview_names_a_limit_that_the_import_would_refuse(cast: Cast, settings: Any) -> None:
    settings.TRAJECTORY_LIMITS = Limits(messages=1)
    (error,) = ingest.look_at(actor=cast.admin, source=received(cast, "long.jsonl", chat())).errors
    assert "has 2 messages; this server takes at most 1" in error.reason
    settings.TRAJECTORY_LIMITS = Limits(messages=2)
    assert ingest.look_at(actor=cast.admin, source=received(cast, "long.jsonl", chat())).drafts == 1


def test_preview_then_start_imports_what_was_shown(cast: Cast, client: Client) -> None:
    source = received(cast, "inspect-zstd.eval")
    client.force_login(cast.admin)
    page = client.get(reverse("frontend:import-detail", args=[cast.project.slug, source.pk]))
    shown = page.content.decode()
    assert "Recognised by “version” and “eval”" in shown
    assert "Will it rain in Bergen tomorrow?" in shown
    place = [cast.project.slug, source.pk, 6, 1]
    assert client.get(reverse("frontend:import-image", args=place))["Content-Type"] == "image/png"
    client.post(reverse("frontend:import-start", args=[cast.project.slug, source.pk]))
    source.refresh_from_db()
    assert source.state == ImportState.QUEUED
    ingest.run_import(source_id=source.pk)
    rows = Trajectory.objects.filter(live=True).order_by("record_id")
    assert [row.record_id for row in rows] == ["weather:2:1:eV1", "weather:bergen:1:eV1"]
    kept = rows[1].content.labels_of_source()
    assert [(label.name, label.value) for label in kept] == [("match", "C"), ("steps", {"efficiency": 0.5})]
    source.refresh_from_db()
    assert source.notes["compactions; earlier steps are not among the messages"] == 1
    assert "the store" in source.left_out
    with pytest.raises(StaleState):
        ingest.start(actor=cast.admin, source=source)
    with pytest.raises(StaleState):
        ingest.set_options(actor=cast.admin, source=source, options=ReadOptions())


@pytest.mark.postgres
def test_preview_of_a_field_mapped_by_hand_is_what_is_imported(cast: Cast, client: Client) -> None:
    source = received(cast, "runs.jsonl", chat())
    client.force_login(cast.admin)
    where = reverse("frontend:import-options", args=[cast.project.slug, source.pk])
    assert client.post(where, {"task_key_at": "case"}).status_code == 400
    client.post(where, {"task_key_at": "/case/id", "policy_model_at": "/case/by", "redact": "on"})
    source.refresh_from_db()
    assert source.options == {"task_key_at": "/case/id", "policy_model_at": "/case/by", "redact": True}
    ingest.run_import(source_id=source.pk)
    row = Trajectory.objects.select_related("task", "content").get()
    assert (row.task.key, row.policy_model) == ("T/7", "m-1")
    everything = json.dumps(row.content.parsed()).encode() + row.content.raw_bytes()
    assert SECRET.encode() not in everything
    assert b"Use [redacted]." in everything
    source.refresh_from_db()
    assert source.notes == {"keys of model servers, redacted": 2}


def test_preview_of_a_pointer_that_finds_nothing_is_an_error_of_the_record(cast: Cast) -> None:
    source = received(cast, "runs.jsonl", chat())
    ingest.set_options(actor=cast.admin, source=source, options=ReadOptions(task_key_at="/case/none/1"))
    found = ingest.look_at(actor=cast.admin, source=source)
    assert [str(error) for error in found.errors] == [
        "runs.jsonl:1: task_key: there is nothing at /case/none/1 in this record"
    ]
    with pytest.raises(Invalid):
        ReadOptions.of({"task_key_at": "case"})


@pytest.mark.postgres
def test_preview_over_the_api_and_start(cast: Cast, client: Client) -> None:
    client.force_login(cast.admin)
    where = (
        reverse("api:imports", args=[cast.project.slug])
        + "?preview=true&filename=a.jsonl&task_key_at=/case/id"
    )
    made = client.post(where, chat(), content_type="application/octet-stream")
    assert made.status_code == 202, made.content
    pk = made.json()["id"]
    shown = client.get(reverse("api:import-preview", args=[pk])).json()
    assert (shown["format"], shown["trajectories"], shown["steps"]) == ("openai_chat", 1, 1)
    assert shown["first"]["task_key"] == "T/7"
    started = client.post(reverse("api:import-start", args=[pk]))
    assert (started.status_code, started.json()["state"]) == (202, "queued")
    assert client.post(reverse("api:import-start", args=[pk])).status_code == 409


@pytest.mark.postgres
def test_atif_export_command_reads_back_as_unchanged(cast: Cast, tmp_path: Path) -> None:
    for name in ("inspect.json", "agentprocessbench.jsonl"):
        data = b"\n".join((GOLDEN / name).read_bytes().splitlines()[:1]) if name.startswith("agent") else None
        ingest.run_import(source_id=received(cast, name, data).pk)
    out = tmp_path / "all.jsonl"
    call_command("export_atif", cast.project.slug, "--out", str(out))
    again = ingest.run_import(source_id=received(cast, "all.jsonl", out.read_bytes()).pk)
    assert (again.format, again.state) == ("atif", ImportState.PUBLISHED)
    assert (again.created_count, again.unchanged_count) == (0, 3)


def test_archive_of_logs_becomes_an_import_each(cast: Cast) -> None:
    logs = {name: (GOLDEN / name).read_bytes() for name in ("inspect.json", "inspect-zstd.eval")}
    members = {
        "../../run 1/inspect.json": logs["inspect.json"].replace(b"eV1", b"eV2"),
        "inspect-zstd.eval": logs["inspect-zstd.eval"],
        "notes.txt": b"nothing",
        "inner.zip": zip_of({"a.json": b"{}"}),
        "__MACOSX/x": b"",
    }
    received = upload(cast, zip_of(members))
    assert [file.filename for file in received.files] == [
        "runs.zip › run 1 › inspect.json",
        "runs.zip › inspect-zstd.eval",
    ]
    assert [name for name, _ in received.refused] == ["runs.zip › notes.txt", "runs.zip › inner.zip"]
    assert received.refused[1][1] == "This is an archive inside an archive; unpack it first."
    for source in received.files:
        assert ingest.run_import(source_id=source.pk).created_count == 2


def files_of_folders() -> dict[str, bytes]:
    """The golden files of two formats, in the folders that their programs may write instead."""
    events = (GOLDEN / "openhands-sdk.jsonl").read_bytes().splitlines()
    results = json.loads((GOLDEN / "tau2_bench.json").read_bytes())
    simulations = {f"air/simulations/{one['id']}.json": one for one in results.pop("simulations")}
    files = {"air/results.json": json.dumps(results, indent=1).encode() + b"\n"}
    files |= {name: json.dumps(one).encode() for name, one in simulations.items()}
    # 9, 10, 11: by number, not by letters; the order of the archive says nothing
    numbered = reversed(list(enumerate(events, start=9)))
    return files | {f"run/events/event-{number}-ab.json": event for number, event in numbered}


def contents_of(source: ImportFile) -> list[object]:
    ingest.run_import(source_id=source.pk)
    return [row.content.parsed() for row in Trajectory.objects.filter(source=source).order_by("position")]


def test_folder_of_events_and_results_in_a_folder_are_one_log_each(cast: Cast, tmp_path: Path) -> None:
    whole = [
        contents_of(received(cast, "openhands-sdk.jsonl")),
        contents_of(received(cast, "tau2_bench.json")),
    ]
    Trajectory.objects.update(live=False)
    for name, data in files_of_folders().items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    zipped = upload(cast, zip_of(files_of_folders()))
    names = ["runs.zip › air › results.json", "runs.zip › run › events"]
    assert ([file.filename for file in zipped.files], zipped.refused) == (names, [])
    assert [contents_of(source) for source in zipped.files] == whole[::-1]
    call_command("import_trajectories", cast.project.slug, str(tmp_path), "--subset", "folder")
    found = ImportFile.objects.filter(subset__name="folder").order_by("pk")
    assert [row.filename for row in found] == ["air › results.json", "run › events"]
    shown = io.StringIO()
    call_command("import_trajectories", cast.project.slug, str(tmp_path), "--preview", stdout=shown)
    assert "run › events: OpenHands events" in shown.getvalue()


@pytest.mark.parametrize("kind", ["events/event-9-", "results.json", "simulations/"])
def test_file_of_a_folder_that_comes_alone_is_refused_in_words(cast: Cast, kind: str) -> None:
    part, data = next((name, held) for name, held in files_of_folders().items() if kind in name)
    with pytest.raises(ImportRefused) as refusal:
        ingest.run_import(source_id=received(cast, part, data).pk)
    assert "into a zip archive, and import that" in refusal.value.report["errors"][0]["reason"]


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({}, "the archive is empty"),
        (
            {"a.txt": b"x"},
            "the archive holds no log that is read; its first file: runs.zip › a.txt: The format",
        ),
        ({f"{n}.json": b"" for n in range(2_001)}, "the archive has 2,001 files; at most 2,000 are imported"),
    ],
)
def test_archive_without_logs_is_refused_in_words(
    cast: Cast, members: dict[str, bytes], sentence: str
) -> None:
    with pytest.raises(Invalid, match=re.escape(sentence)):
        upload(cast, zip_of(members))
    assert not ImportFile.objects.exists()


def test_archive_over_the_api(cast: Cast, client: Client) -> None:
    client.force_login(cast.admin)
    data = zip_of({"a.json": (GOLDEN / "inspect.json").read_bytes(), "b.txt": b"x"})
    where = reverse("api:imports-archive", args=[cast.project.slug]) + "?filename=runs.zip"
    found = client.post(where, data, content_type="application/octet-stream")
    assert found.status_code == 202, found.content
    assert [one["subset"] for one in found.json()["imports"]] == ["runs"]
    assert [one["filename"] for one in found.json()["refused"]] == ["runs.zip › b.txt"]


def test_import_command_takes_folders_patterns_and_archives(cast: Cast, tmp_path: Path) -> None:
    folder = tmp_path / "logs" / "deep"
    folder.mkdir(parents=True)
    (folder / "a.json").write_bytes((GOLDEN / "inspect.json").read_bytes())
    (tmp_path / "b.zip").write_bytes(zip_of({"c.jsonl": chat(id="zipped"), "c.txt": b"x"}))
    shown = io.StringIO()
    call_command("import_trajectories", cast.project.slug, str(folder.parent), "--preview", stdout=shown)
    assert "a.json: Inspect log (.json or .eval), recognised by" in shown.getvalue()
    assert not ImportFile.objects.exists()
    call_command("import_trajectories", cast.project.slug, str(folder.parent), "--subset", "x")
    with pytest.raises(CommandError, match=r"b\.zip › c\.txt: The format was not recognised"):
        call_command("import_trajectories", cast.project.slug, str(tmp_path / "*.zip"), "--subset", "x")
    assert Trajectory.objects.filter(live=True).count() == 3


@pytest.mark.postgres
def test_labels_of_the_file_become_suggestions_on_request_and_nobodys_labels(
    cast: Cast, client: Client
) -> None:
    source = received(cast, "inspect.json")
    ingest.run_import(source_id=source.pk)
    assert not Suggestion.objects.exists()
    client.force_login(cast.admin)
    page = client.get(reverse("frontend:import-detail", args=[cast.project.slug, source.pk]))
    assert "Make them suggestions" in page.content.decode()
    made = client.post(
        reverse("api:import-suggestions", args=[source.pk]), {"judge": "scores"}, "application/json"
    )
    assert made.status_code == 200, made.content
    found = Suggestion.objects.order_by("trajectory__record_id")
    assert [(one.judge.name, one.outcome) for one in found] == [("scores", 1), ("scores", 1)]
    assert not Label.objects.exists()
    again = suggest.suggest_source_labels(actor=cast.admin, source=source, judge_name="scores")
    assert (again.created, again.unchanged) == (0, 2)


@pytest.mark.parametrize(
    ("labels", "line"),
    [
        ([(3, "mistake_step", -1)], {"3": -1}),
        ([(3, "relevance", -1), (5, "tristep", 0), (5, "tristep", 1)], {"5": 0}),
        ([(3, "mistake_step", True), (4, "mistake_step", "-1")], {}),
    ],
)
def test_labels_of_the_file_are_read_only_where_they_are_plain(
    labels: list[tuple[int, str, object]], line: dict[str, int]
) -> None:
    found = label_line(tuple(SourceLabel(*label) for label in labels))
    assert found.get("step_labels", {}) == line


@pytest.mark.parametrize(
    ("name", "value", "outcome"),
    [("match", "C", 1), ("match", "I", -1), ("reward", 0.0, -1), ("reward", 1, 1), ("is_correct", False, -1),
     ("tristep", 0, 0), ("match", 0.5, None), ("match", {"a": 1}, None), ("x", None, None)],
)  # fmt: skip
def test_outcomes_of_the_file_are_read_by_what_they_mean(
    name: str, value: object, outcome: int | None
) -> None:
    assert label_line((SourceLabel(None, name, value),)).get("final_label") == outcome
