"""Exporting a release, and checking what was exported."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.releases.record_format import PUBLISHED_KEYS
from annotation.core.vocabulary import ExposureKind
from annotation.models import (
    Exposure,
    Release,
    Trajectory,
)
from annotation.policies import OPERATOR
from annotation.services import release
from tests import people
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


def test_zip_of_a_release_is_streamed_and_verifies_when_unpacked(
    resolved: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.services.release.archive.ZIP_READ_BYTES", 300)
    made = freeze(resolved.project)

    parts = list(release.export_zip(actor=resolved.judith, release=made))
    again = b"".join(release.export_zip(actor=resolved.admin, release=made))

    assert b"".join(parts) == again
    assert len(parts) > 1
    known = Exposure.objects.filter(user=resolved.judith, kind=ExposureKind.CONSENSUS)
    assert known.count() == 3
    with zipfile.ZipFile(io.BytesIO(again)) as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path)
    folder = tmp_path / "bench-1.0"
    assert release.verify_export(path=folder).ok
    export(made, tmp_path / "files")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        path.name: path.read_bytes() for path in (tmp_path / "files").iterdir()
    }


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


def test_export_over_an_older_one_replaces_it(resolved: Cast, tmp_path: Path) -> None:
    export(freeze(resolved.project, "1.0"), tmp_path)

    export(freeze(resolved.project, "2.0"), tmp_path)

    assert release.verify_export(path=tmp_path).ok
    assert json.loads((tmp_path / "manifest.json").read_bytes())["version"] == "2.0"


def test_export_of_a_damaged_release_is_refused(resolved: Cast, tmp_path: Path) -> None:
    made = freeze(resolved.project)
    row = made.records.all()[1]
    tampered(row, body=flipped(row.body, 5))

    with pytest.raises(Conflict) as refusal:
        export(Release.objects.get(pk=made.pk), tmp_path / "out")

    assert refusal.value.code == "damaged"
    assert list((tmp_path / "out").iterdir()) == []


def test_files_that_are_missing_or_too_many_are_found(resolved: Cast, tmp_path: Path) -> None:
    export(freeze(resolved.project), tmp_path)
    (tmp_path / "stray.jsonl").write_bytes(b"{}\n")
    assert release.verify_export(path=tmp_path).problems == (
        "stray.jsonl: this file is not part of the release.",
    )
    (tmp_path / "stray.jsonl").unlink()

    (tmp_path / "tiny.jsonl").unlink()
    assert release.verify_export(path=tmp_path).problems == ("tiny.jsonl: the file is missing.",)
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(Invalid) as refusal:
        release.verify_export(path=tmp_path)
    assert refusal.value.code == "no_manifest"


@pytest.mark.postgres
def test_export_is_for_those_who_see_releases_only(resolved: Cast, tmp_path: Path) -> None:
    made = freeze(resolved.project)

    for who in ("ann", "oscar"):
        with pytest.raises(Denied):
            release.export_lines(actor=resolved.everybody[who], release=made)
    assert len(list(release.export_lines(actor=resolved.judith, release=made, subset="tiny"))) == 3
    assert list(release.export_lines(actor=resolved.judith, release=made, subset="other")) == []
