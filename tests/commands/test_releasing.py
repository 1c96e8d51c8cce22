"""agreement, freeze_release, export_release, verify_release, release_key and protect_releases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from annotation.models import Release, ReleaseLabel, frozen
from tests import people
from tests.commands.calling import fails, run
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast
from tests.services.publishing import of_older_format

pytestmark = pytest.mark.django_db


@shared_rows
def labelled(cast: Cast) -> Cast:
    """Two unanimous trajectories and a disputed one."""
    people.import_records(cast.project, 3)
    people.make_unanimous(cast, 2)
    people.make_disputed(cast)
    return cast


def test_agreement_prints_one_json_document_with_unrounded_numbers(labelled: Cast) -> None:
    said = run("agreement", "bench", "--json")

    overall = said.document["overall"]
    assert (overall["n"], overall["states"]["disputed"], overall["states"]["unanimous"]) == (6, 1, 2)
    assert overall["figures"]["percent_agreement"]["value"] == 4 / 6
    assert overall["figures"]["kappa"]["value"] == 0.0
    assert sum(map(sum, overall["confusion"])) == 6
    assert set(said.document["subsets"]) == {"tiny"}
    assert said.err.count("\n") == 1


def test_agreement_without_labels_is_undefined_with_a_reason(cast: Cast) -> None:
    said = run("agreement", "bench", "--json")

    overall = said.document["overall"]
    assert overall["figures"]["kappa"]["value"] is None
    assert overall["figures"]["kappa"]["reason"]
    assert "–" in run("agreement", "bench").out


def test_agreement_for_people_is_a_table_of_every_subset(labelled: Cast) -> None:
    said = run("agreement", "bench")

    assert "all subsets (n = 6)" in said.out and "tiny (n = 6)" in said.out
    assert "1 disputed" in said.err


def test_agreement_leaves_out_what_is_still_being_labelled(cast: Cast) -> None:
    people.import_records(cast.project, 2)
    people.label_next(cast.ann, cast.project)

    assert run("agreement", "bench", "--json").document["overall"]["n"] == 0


def test_release_is_made_by_freeze_and_taken_along_by_export_and_verify(
    labelled: Cast, tmp_path: Path
) -> None:
    frozen_said = run("freeze_release", "bench", "1.0", "--note", "First.")
    exported = run(
        "export_release", "bench", "1.0", "--format", "agentprocessbench", "--output", tmp_path / "o"
    )
    by_rows = run("verify_release", "bench", "1.0")
    by_files = run("verify_release", "--path", tmp_path / "o")

    assert "2 trajectories" in frozen_said.err and "4 step labels" in frozen_said.err
    assert "2 records" in exported.err
    digest = json.loads((tmp_path / "o" / "manifest.json").read_bytes())["digest"]
    for said in (frozen_said, by_rows, by_files):
        assert digest in said.err
    assert all(said.out == "" for said in (frozen_said, exported, by_rows, by_files))


def test_verify_of_a_changed_release_fails_loudly(labelled: Cast, tmp_path: Path) -> None:
    run("freeze_release", "bench", "1.0")
    run("export_release", "bench", "1.0", "--output", tmp_path)
    frozen.lift(connection)
    ReleaseLabel.objects.filter(message_index=2).update(value=-1)
    frozen.install(connection)
    path = tmp_path / "tiny.jsonl"
    path.write_bytes(path.read_bytes()[:-2] + b" }"[:1] + b"\n")

    assert "is NOT what was frozen" in fails("verify_release", "bench", "1.0").out
    assert "is NOT what was frozen" in fails("verify_release", "--path", tmp_path).out


def test_release_key_is_printed_replaced_and_trusted(labelled: Cast, tmp_path: Path, settings: Any) -> None:
    settings.RELEASE_KEY_FILE = tmp_path / "release.key"
    settings.RELEASE_KEYS_DIR = tmp_path / "release-keys"
    shown = run("release_key")
    (tmp_path / "public.pem").write_text(shown.out)
    fingerprint = shown.err.split()[-1].rstrip(".")
    assert shown.out.startswith("-----BEGIN PUBLIC KEY-----") and len(fingerprint) == 64

    run("freeze_release", "bench", "1.0")
    run("export_release", "bench", "1.0", "--output", tmp_path / "o")
    assert f"signed with the key {fingerprint}" in run("verify_release", "bench", "1.0").err
    assert fingerprint in run("release_key", "rotate").err
    assert run("release_key", "show").out != shown.out
    assert fingerprint in run("verify_release", "--path", tmp_path / "o").err

    for path in (tmp_path / "release-keys").iterdir():
        path.unlink()
    for what in (("bench", "1.0"), ("--path", tmp_path / "o")):
        assert "not signed with a key that is known here" in fails("verify_release", *what).out
        assert fingerprint in run("verify_release", *what, "--key", tmp_path / "public.pem").err
    run("release_key", "trust", tmp_path / "public.pem")
    run("verify_release", "bench", "1.0")
    for command in (("release_key", "trust"), ("verify_release", "bench", "1.0", "--key")):
        assert "not a public release key" in fails(*command, tmp_path / "o" / "tiny.jsonl").out


def test_release_of_an_older_format_is_refused_in_one_sentence(labelled: Cast, tmp_path: Path) -> None:
    run("freeze_release", "bench", "1.0")
    of_older_format(Release.objects.get())

    for command, *more in (("verify_release",), ("export_release", "--output", tmp_path)):
        said = fails(command, "bench", "1.0", *more).out
        assert "tristep-release/1, which commit 48b59930 was the last to read" in said


@pytest.mark.parametrize(
    ("name", "arguments", "word"),
    [
        ("agreement", ["nowhere"], "nowhere"),
        ("freeze_release", ["nowhere", "1.0"], "nowhere"),
        ("freeze_release", ["bench", "a b"], "a b"),
        ("freeze_release", ["bench", "1.0"], "nothing to freeze"),
        ("export_release", ["bench", "9.9", "--output", "o"], "9.9"),
        ("verify_release", ["bench", "9.9"], "9.9"),
        ("verify_release", ["bench"], "version"),
        ("verify_release", ["--path", "nowhere"], "manifest.json"),
        ("verify_release", ["bench", "1.0", "--path", "x"], "--path"),
    ],
)
def test_release_that_cannot_be_made_is_refused_in_one_sentence(
    cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, arguments: list[str], word: str
) -> None:
    monkeypatch.chdir(tmp_path)

    assert word in fails(name, *arguments).out


def test_release_protection_lifted_by_hand_is_put_back_by_hand() -> None:
    frozen.lift(connection)

    run("protect_releases")

    assert frozen.problems(connection) == []
