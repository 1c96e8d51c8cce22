"""Exporting a release, also as a data set that real libraries read; and checking what was exported."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.releases.exports import ExportOptions, export_options
from annotation.core.releases.record_format import (
    PUBLISHED_KEYS,
    ConsensusSnapshot,
    RecordIndexes,
    record_line,
    release_record,
)
from annotation.core.trajectories.trajectory import TrajectoryDraft
from annotation.core.vocabulary import ExposureKind
from annotation.importers import FORMATS
from annotation.importers.base import ReadContext
from annotation.models import (
    AuditEvent,
    Exposure,
    Release,
    Trajectory,
)
from annotation.policies import OPERATOR
from annotation.services import release
from annotation.services.release import keys
from annotation.services.release.parquet import ParquetFile
from tests import people
from tests.commands.calling import fails, run
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast
from tests.services.publishing import export, flipped, freeze, lines, tampered


# ── Exporting ─────────────────────────────
def test_export_has_exactly_the_published_keys_in_their_order(resolved: Cast, tmp_path: Path) -> None:
    manifest = export(freeze(resolved.project), tmp_path)

    for line, original in zip(
        lines(tmp_path), [people.make_record(query, steps=3) for query in range(3)], strict=True
    ):
        assert tuple(line) == PUBLISHED_KEYS
        labels, outcome = line.pop("step_labels"), line.pop("final_label")
        assert line == original
        assert list(labels) == ["2", "4", "6"]
        assert set(labels.values()) | {outcome} <= {-1, 0, 1}
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        *("manifest.json", "manifest.json.sig", "release-key.pem", "tiny.jsonl")
    ]
    assert json.loads((tmp_path / "manifest.json").read_bytes()) == manifest
    assert release.verify_export(path=tmp_path).ok


def test_export_can_be_imported_and_comes_back_unchanged(resolved: Cast, tmp_path: Path) -> None:
    export(freeze(resolved.project), tmp_path)
    other = people.make_project("other")

    rows = people.import_records(other, lines(tmp_path))

    assert [row.record_id for row in rows] == ["tiny:0:0", "tiny:1:0", "tiny:2:0"]
    digests = dict(
        Trajectory.objects.filter(project=resolved.project).values_list("record_id", "content_digest")
    )
    assert all(digests[row.record_id] == row.content_digest for row in rows)


HOSTILE = {
    "nul": "a\x00b",
    "surrogate": "\ud83d alone",
    "pair": "😀",
    "markup": "<script>alert('x')</script> & </textarea>",
    "lines": "a\u2028b\r\nc\u0085d",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_export_of_every_text_is_exact(cast: Cast, tmp_path: Path, text: str) -> None:
    record = people.make_record(steps=2)
    record["question"] = record["messages"][3]["content"] = text
    record["messages"][2]["tool_calls"][0]["function"]["arguments"] = "{not json " + text
    record["ground_truth"] = {"target": [text], "number": 1e999, "nan": float("inf")}
    people.import_records(cast.project, [record])
    people.make_unanimous(cast)

    made = freeze(cast.project)
    export(made, tmp_path)

    (line,) = lines(tmp_path)
    for key in ("question", "messages", "ground_truth"):
        assert line[key] == record[key]
    assert release.verify(actor=OPERATOR, release=made).ok
    assert (tmp_path / "tiny.jsonl").read_bytes().count(b"\n") == 1


def test_chats_without_indexes_get_indexes_that_meet_no_given_ones(cast: Cast, tmp_path: Path) -> None:
    def chat(question: str, answer: str) -> dict[str, Any]:
        return {
            "id": f"{question}-{answer}",
            "messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}],
        }

    people.import_records(cast.project, [people.make_record(7, data_source="mixed", steps=1)], subset="mixed")
    people.import_records(
        cast.project,
        [chat("Q", "one"), chat("R", "two"), chat("Q", "three")],
        subset="mixed",
        format="openai_chat",
    )
    people.make_unanimous(cast, 4)
    made = freeze(cast.project)
    export(made, tmp_path)

    written = lines(tmp_path, "mixed")
    places = [(line["data_source"], line["query_index"], line["sample_index"]) for line in written]
    assert places == [("mixed", 7, 0), ("mixed", 8, 0), ("mixed", 9, 0), ("mixed", 8, 1)]
    assert all(tuple(line) == PUBLISHED_KEYS for line in written)
    assert len({line["total_index"] for line in written}) == 4
    again = people.import_records(people.make_project("again"), written)
    assert len(again) == 4


def test_export_of_a_damaged_release_is_refused(resolved: Cast, tmp_path: Path) -> None:
    made = freeze(resolved.project)
    row = made.records.all()[1]
    tampered(row, body=flipped(row.body, 5))

    with pytest.raises(Conflict) as refusal:
        export(Release.objects.get(pk=made.pk), tmp_path / "out")

    assert refusal.value.code == "damaged"
    assert list((tmp_path / "out").iterdir()) == []


def test_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid) as refusal:
        release.verify_export(path=tmp_path)
    assert refusal.value.code == "no_manifest"


def test_export_is_for_those_who_see_releases_only(resolved: Cast, tmp_path: Path) -> None:
    made = freeze(resolved.project)

    for who in ("ann", "oscar"):
        with pytest.raises(Denied):
            release.export_lines(actor=resolved.everybody[who], release=made)
    assert len(list(release.export_lines(actor=resolved.judith, release=made, subset="tiny"))) == 3
    assert list(release.export_lines(actor=resolved.judith, release=made, subset="other")) == []


HUGE = 10**30
ODD = "\ud83d lone, \x00 nul"
CHOICES: dict[str, dict[str, Any]] = {
    "plain": {},
    "huggingface": {"format": "huggingface"},
    "split": {"format": "huggingface", "split": "0.4", "seed": "3", "protocol": "independent"},
    "training": {"format": "training", "zero": "merge"},
}


def originals() -> dict[str, list[dict[str, Any]]]:
    """Three tasks with two trajectories each, and one record full of what columns cannot hold."""
    odd = people.make_record(9, steps=1, question=ODD, total_index=HUGE, ground_truth=[1e999, {"a": [ODD]}])
    odd["messages"][0]["content"] = ODD
    tiny = [people.make_record(query, sample, steps=3) for query in range(3) for sample in range(2)]
    return {"odd": [odd], "tiny": tiny}


@shared_rows
def frozen(cast: Cast) -> Release:
    """A release of what `originals` says: +1, 0, −1 and the outcome −1 throughout, and +1 of the odd one."""
    for subset, records in originals().items():
        people.import_records(cast.project, records, subset=subset)
    for user in (cast.ann, cast.ben):
        people.label_next(user, cast.project, [1])
        for _ in range(6):
            people.label_next(user, cast.project, [1, 0, -1], outcome=-1)
    return freeze(cast.project, note="A *note*.")


def records_without_database(subset: str) -> Iterator[dict[str, Any]]:
    """The records of a subset of `frozen`, made of the originals by hand."""
    stream = io.BytesIO(people.jsonl(originals()[subset]))
    drafts = [
        one
        for one in FORMATS["agentprocessbench"].read(stream, ReadContext("tiny.jsonl"))
        if isinstance(one, TrajectoryDraft)
    ]
    for draft in drafts:
        steps = {2: (1, "unanimous")}
        if subset == "tiny":
            steps |= {4: (0, "unanimous"), 6: (-1, "unanimous")}
        resolved = ConsensusSnapshot(
            steps, (1 if subset == "odd" else -1, "unanimous"), {6: 6} if 6 in steps else {}
        )
        indexes = RecordIndexes(subset, draft.record_id, draft.policy_model, 0, 0, 0)
        yield json.loads(record_line(release_record(draft.content(), indexes, resolved)))


def parquet(subset: str, options: ExportOptions) -> bytes:
    table = options.format.tables[0]
    written = io.BytesIO()
    with ParquetFile(written, table.columns) as file:
        for record in records_without_database(subset):
            for row in table.rows(record, options):
                file.add(row)
    return written.getvalue()


def test_data_files_are_the_same_bytes_without_any_database(frozen: Release, tmp_path: Path) -> None:
    for name in ("parquet", "training"):
        options = export_options({"format": name})
        export(frozen, tmp_path / name, format=name)
        for subset in ("odd", "tiny"):
            path = tmp_path / name / "data" / subset / f"{options.format.whole}.parquet"
            assert path.read_bytes() == parquet(subset, options)


@pytest.mark.parametrize("kind", CHOICES)
def test_one_changed_byte_in_any_file_is_found_and_named(frozen: Release, tmp_path: Path, kind: str) -> None:
    export(frozen, tmp_path, **CHOICES[kind])
    assert release.verify_export(path=tmp_path).ok
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert len(files) == {"plain": 5, "split": 12}.get(kind, 10)

    for path in files:
        name, good = path.relative_to(tmp_path).as_posix(), path.read_bytes()
        for place in {0, len(good) // 3, len(good) // 2, len(good) - 1}:
            for byte in (good[place] ^ 1, 0x20 if good[place] != 0x20 else 0x0A):
                path.write_bytes(good[:place] + bytes([byte]) + good[place + 1 :])
                problems = release.verify_export(path=tmp_path).problems
                assert any(problem.startswith(f"{name}:") for problem in problems), (name, place, problems)
        path.unlink()
        if name not in ("manifest.json", "checksums.json"):
            assert f"{name}: the file is missing." in release.verify_export(path=tmp_path).problems
        path.write_bytes(good)
    stray = "stray.jsonl" if kind == "plain" else "data/stray.parquet"
    (tmp_path / stray).write_bytes(b"PAR1")
    assert release.verify_export(path=tmp_path).problems == (
        f"{stray}: this file is not part of the release.",
    )


def test_checksums_by_another_key_are_not_believed(frozen: Release, tmp_path: Path, own_keys: Path) -> None:
    export(frozen, tmp_path, format="huggingface")
    exported = keys.signing_key().public
    keys.rotate()
    # the key of the release comes from before this test, so that only the export's own is known here
    assert [
        problem
        for problem in release.verify_export(path=tmp_path).problems
        if exported.fingerprint in problem
    ] == []
    (own_keys / "release-keys" / f"{exported.fingerprint}.pem").unlink()
    assert any(exported.fingerprint in problem for problem in release.verify_export(path=tmp_path).problems)


@pytest.mark.parametrize("kind", CHOICES)
def test_zip_holds_the_files_of_the_folder(
    frozen: Release, cast: Cast, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.services.release.archive.ZIP_READ_BYTES", 300)
    export(frozen, tmp_path, **CHOICES[kind])

    parts = list(release.export_zip(actor=cast.judith, release=frozen, options=export_options(CHOICES[kind])))

    assert len(parts) > 1
    with zipfile.ZipFile(io.BytesIO(b"".join(parts))) as archive:
        assert archive.testzip() is None
        found = {name.removeprefix("bench-1.0/"): archive.read(name) for name in archive.namelist()}
    assert found == {
        path.relative_to(tmp_path).as_posix(): path.read_bytes()
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    known = Exposure.objects.filter(user=cast.judith, kind=ExposureKind.CONSENSUS)
    assert known.count() == 7


def test_export_over_another_leaves_no_stale_file(frozen: Release, tmp_path: Path) -> None:
    for kind in ("plain", "split", "training", "huggingface"):
        export(frozen, tmp_path, **CHOICES[kind])
        assert release.verify_export(path=tmp_path).ok, kind
    assert "withdrawn" not in (tmp_path / "README.md").read_text()
    release.withdraw(actor=OPERATOR, release=frozen, reason="Wrong *labels*.")
    export(Release.objects.get(pk=frozen.pk), tmp_path, **CHOICES["training"])
    assert "> Wrong \\*labels\\*\\." in (tmp_path / "README.md").read_text()
    export(frozen, tmp_path)
    assert release.verify_export(path=tmp_path).ok
    assert not list(tmp_path.rglob("*.parquet")) and not (tmp_path / "README.md").exists()


def test_data_set_of_a_damaged_release_is_refused_before_anything_is_sent(
    frozen: Release, cast: Cast
) -> None:
    row = frozen.records.all()[1]
    tampered(row, body=flipped(row.body, 5))
    with pytest.raises(Conflict) as refusal:
        release.export_zip(
            actor=cast.admin, release=frozen, options=export_options({"format": "huggingface"})
        )
    assert refusal.value.code == "damaged"


def test_export_release_takes_choices_and_refuses_them_in_a_sentence(frozen: Release, tmp_path: Path) -> None:
    out = str(tmp_path)
    said = run("export_release", "bench", "1.0", "--format", "training", "--zero", "cut", "--output", out)
    assert "7 records in 2 subsets" in said.err
    assert "is intact" in run("verify_release", "--path", out).err
    said = fails("export_release", "bench", "1.0", "--split", "0.5", "--output", out)
    assert "as they were frozen" in said.out + said.err


def test_people_who_may_not_see_a_release_get_no_data_set(frozen: Release, cast: Cast) -> None:
    for options in map(export_options, CHOICES.values()):
        with pytest.raises(Denied):
            release.export_zip(actor=cast.ann, release=frozen, options=options)
    # pseudonyms are of persons, whom adjudicators may not compare
    with pytest.raises(Denied):
        release.export_zip(
            actor=cast.judith,
            release=frozen,
            options=export_options({"format": "huggingface", "blind_labels": True}),
        )
    assert not Exposure.objects.filter(user=cast.judith).exists()


@pytest.mark.slow
def test_datasets_and_mlcroissant_read_equal_labels_offline(
    frozen: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One test, because importing either library takes seconds."""
    for name in ("HF_DATASETS_OFFLINE", "HF_HUB_OFFLINE", "HF_DATASETS_DISABLE_PROGRESS_BARS"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    import datasets
    import mlcroissant

    for kind, choices in CHOICES.items():
        export(frozen, tmp_path / kind, **choices)

    def load(kind: str, config: str) -> Any:
        return datasets.load_dataset(str(tmp_path / kind), config, cache_dir=str(tmp_path / "cache"))

    for subset in ("odd", "tiny"):
        published = lines(tmp_path / "plain", subset)
        (found,) = load("huggingface", subset).values()
        croissant = mlcroissant.Dataset(tmp_path / "huggingface" / "croissant.json")
        assert not croissant.metadata.ctx.issues.errors
        read = list(croissant.records(subset))
        assert len(found) == len(published) == len(read)
        for row, line, record in zip(found, published, read, strict=True):
            labels = {
                str(index): value
                for index, value in zip(row["step_indexes"], row["step_labels"], strict=True)
            }
            assert (labels, row["final_label"]) == (line["step_labels"], line["final_label"])
            for name in ("messages", "tools", "ground_truth"):
                assert json.loads(row[name]) == line[name]
            exact = row | json.loads(row["other"])
            for name in (
                "question",
                "total_index",
                "query_index",
                "sample_index",
                "answer_text",
                "data_source",
            ):
                assert exact[name] == line[name]
            assert record[f"{subset}/step_labels"] == row["step_labels"]
            assert record[f"{subset}/final_label"] == row["final_label"]
            assert json.loads(record[f"{subset}/messages"]) == line["messages"]

    sides = {side: set(rows["task_key"]) for side, rows in load("split", "tiny").items()}
    assert (len(sides["train"]), len(sides["test"]), sides["train"] & sides["test"]) == (2, 1, set())
    # of a single task nothing is for testing, and a split without rows is not declared
    assert list(load("split", "odd")) == ["train"]

    rewards = load("training", "tiny")["train"].select_columns(["prompt", "completions", "labels"])
    # as TRL documents stepwise supervision
    assert rewards.features == datasets.Features(
        {
            "prompt": datasets.Value("string"),
            "completions": datasets.List(datasets.Value("string")),
            "labels": datasets.List(datasets.Value("bool")),
        }
    )
    assert all(row["labels"] == [True, False] and len(row["completions"]) == 2 for row in rewards)

    # the card's own lines, run where the card lies
    for kind, name in (("huggingface", "labels"), ("training", "steps")):
        monkeypatch.chdir(tmp_path / kind)
        code = (tmp_path / kind / "README.md").read_text("utf-8").split("```python\n")[1].split("```")[0]
        names: dict[str, Any] = {}
        exec(code, names)
        assert len(names[name]) == 1  # "odd" has one trajectory of one step


@pytest.mark.postgres
def test_blind_labels_are_exported_on_request_only(frozen: Release, cast: Cast, tmp_path: Path) -> None:
    export(frozen, tmp_path / "without", format="huggingface")
    assert not (tmp_path / "without" / "blind_labels").exists()
    export(frozen, tmp_path, format="huggingface", blind_labels=True)

    import pyarrow.parquet

    (_odd, *rest) = pyarrow.parquet.read_table(tmp_path / "blind_labels/odd/test.parquet").to_pylist()
    rows = pyarrow.parquet.read_table(tmp_path / "blind_labels/tiny/test.parquet").to_pylist()
    assert len(rest) == 1 and len(rows) == 12
    assert {row["annotator"] for row in rows} == {"annotator-1", "annotator-2"}
    assert all(row["step_labels"] == [1, 0, -1] and row["final_label"] == -1 for row in rows)
    said = (tmp_path / "README.md").read_text()
    assert "tiny.blind_labels" in said and "14 rows" in said
    assert release.verify_export(path=tmp_path).ok

    parts = release.export_zip(
        actor=cast.admin,
        release=frozen,
        options=export_options({"format": "huggingface", "blind_labels": "true"}),
    )
    assert b"blind_labels/tiny/test.parquet" in b"".join(parts)
    seen = Exposure.objects.filter(user=cast.admin).order_by("kind").values_list("kind", flat=True)
    assert set(seen) == {ExposureKind.CONSENSUS, ExposureKind.LABEL}
    assert AuditEvent.objects.get(verb="release.export", actor=cast.admin).detail["blind_labels"] is True
