"""Agreement, and freezing, reading, verifying, exporting and withdrawing releases."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile

import pytest

from annotation.core.releases.signatures import PublicKey
from annotation.models import Release
from annotation.services import release
from tests.people import Cast, import_records, label_next, make_unanimous
from tests.services.publishing import of_older_format

from .conftest import Callers
from .shape import ok, refused

RELEASES = "/projects/bench/releases/"


@pytest.fixture
def frozen(by: Callers, cast: Cast) -> dict[str, object]:
    """A release 1.0 of two trajectories in the subset tiny."""
    import_records(cast.project, 2)
    make_unanimous(cast, 2)
    return freeze(by, {"version": "1.0", "note": "first"})


def freeze(by: Callers, asked: dict[str, object]) -> dict[str, object]:
    """Ask for a release, and do what a worker would."""
    answer = by.admin.post(RELEASES, asked)
    job = ok(answer, 202)
    assert (job["state"], job["release"]) == ("queued", None)
    release.run_freeze(job_id=job["id"])
    done = ok(by.admin.get(answer["Location"].removeprefix("/api/v1")))
    assert (done["state"], done["error"], done["release"]) == ("frozen", "", asked["version"])
    return dict(ok(by.admin.get(f"{RELEASES}{done['release']}/")))


def test_agreement_is_for_adjudicators_and_admins(by: Callers, cast: Cast) -> None:
    import_records(cast.project, 1)
    label_next(cast.ann, cast.project, [1, -1])
    label_next(cast.ben, cast.project, [1, 1])
    for caller, n, share in ((by.admin, 2, 0.5), (by.root, 2, 0.5), (by.judith, 0, None)):
        seen = ok(caller.get("/projects/bench/agreement/"))
        assert seen["overall"]["n"] == n
        assert seen["overall"]["figures"]["percent_agreement"]["value"] == share
        assert set(seen["subsets"]) == {"tiny"}
    for caller in (by.ann, by.ben):
        refused(caller.get("/projects/bench/agreement/"), 403)
    refused(by.oscar.get("/projects/bench/agreement/"), 404)


def test_agreement_of_nothing_is_null_with_a_reason(by: Callers) -> None:
    kappa = ok(by.admin.get("/projects/bench/agreement/"))["overall"]["figures"]["kappa"]
    assert kappa["value"] is None and kappa["reason"]


def test_freeze_makes_a_release_once(by: Callers, frozen: dict[str, object]) -> None:
    assert frozen["record_count"] == 2 and frozen["label_count"] == 4
    refused(by.admin.post(RELEASES, {"version": "1.0"}), 409, "version_taken")
    assert freeze(by, {"version": "1.1", "title": "Again", "licence": "CC0-1.0"})["number"] == 2
    assert [row["version"] for row in ok(by.judith.get(RELEASES))["results"]] == ["1.1", "1.0"]


def test_freeze_of_nothing_or_without_a_sensible_version_is_refused(by: Callers) -> None:
    refused(by.admin.post(RELEASES, {"version": "1.0"}), 400, "nothing_resolved")
    for version in ("", " ", "../etc", "a b", "x" * 41, "a\x00b", ["1"], 1.5):
        assert by.admin.post(RELEASES, {"version": version}).status_code == 400
    assert not Release.objects.exists()


def test_verify_and_read_a_release(by: Callers, frozen: dict[str, object]) -> None:
    seen = ok(by.judith.get(f"{RELEASES}1.0/"))
    assert seen["manifest"]["records"] == 2 and seen["digest"] == frozen["digest"]
    checked = ok(by.judith.post(f"{RELEASES}1.0/verify/"))
    fingerprint = seen["signature"]["fingerprint"]
    assert seen["signature"]["state"] == "valid" and len(fingerprint) == 64
    assert checked == {
        **{"ok": True, "records": 2, "labels": 4, "digest": frozen["digest"], "problems": []},
        **{"signature": "valid", "fingerprint": fingerprint},
    }


def test_signature_and_key_are_files_that_belong_to_the_manifest(
    by: Callers, frozen: dict[str, object]
) -> None:
    files = {
        name: by.judith.get(f"{RELEASES}1.0/{name}")
        for name in ("manifest.json", "manifest.json.sig", "release-key.pem")
    }
    assert files["manifest.json.sig"]["Content-Disposition"] == 'attachment; filename="manifest.json.sig"'
    key = PublicKey.of(files["release-key.pem"].content)
    assert key.verifies(files["manifest.json.sig"].content, files["manifest.json"].content)
    of_older_format(Release.objects.get())
    for place in ("", "manifest.json", "export/tiny.jsonl"):
        refused(by.judith.get(f"{RELEASES}1.0/{place}"), 409)


def test_export_is_streamed_and_matches_its_manifest(by: Callers, frozen: dict[str, object]) -> None:
    manifest = by.admin.get(f"{RELEASES}1.0/manifest.json")
    answer = by.admin.get(f"{RELEASES}1.0/export/tiny.jsonl")
    assert answer.streaming and answer["Content-Type"] == "application/x-ndjson"
    data = b"".join(answer.streaming_content)
    assert hashlib.sha256(data).hexdigest() == json.loads(manifest.content)["files"]["tiny.jsonl"]["sha256"]
    records = [json.loads(line) for line in data.splitlines()]
    assert [record["step_labels"] for record in records] == [{"2": 1, "4": 1}] * 2
    refused(by.admin.get(f"{RELEASES}1.0/export/other.jsonl"), 404)


def test_release_that_is_faulty_is_withdrawn_once_and_stays(by: Callers, frozen: dict[str, object]) -> None:
    refused(by.admin.post(f"{RELEASES}1.0/withdraw/", {"reason": " "}), 400)
    refused(by.judith.post(f"{RELEASES}1.0/withdraw/", {"reason": "bad"}), 403)
    seen = ok(by.admin.post(f"{RELEASES}1.0/withdraw/", {"reason": "wrong labels"}))
    assert seen["withdrawal"]["reason"] == "wrong labels" and seen["digest"] == frozen["digest"]
    refused(by.admin.post(f"{RELEASES}1.0/withdraw/", {"reason": "again"}), 409, "withdrawn")


def test_release_that_is_not_there_is_404(by: Callers) -> None:
    for version in ("9.9", "%ED%A0%80", "1.0%0A", "é" * 300):
        for ending in ("", "manifest.json", "export/tiny.jsonl"):
            refused(by.admin.get(f"{RELEASES}{version}/{ending}"), 404)


def test_export_of_a_data_set_is_a_zip_and_refuses_choices_in_one_sentence(
    by: Callers, frozen: dict[str, object]
) -> None:
    address = f"{RELEASES}1.0/all.zip"
    whole = by.judith.get(address, {"format": "training", "split": "0.5", "zero": "cut"})
    assert whole["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(b"".join(whole.streaming_content))) as archive:
        names = {name.removeprefix("bench-1.0/") for name in archive.namelist()}
    assert {"README.md", "croissant.json", "checksums.json", "data/tiny/test.parquet"} <= names

    for field, query in (
        ("format", {"format": "csv"}),
        ("split", {"format": "huggingface", "split": "2"}),
        ("colour", {"format": "huggingface", "colour": "red"}),
    ):
        answer = refused(by.judith.get(address, query), 400, "invalid")
        assert list(answer["fields"]) == [field]
    refused(by.judith.get(address, {"format": "huggingface", "blind_labels": "true"}), 403)
