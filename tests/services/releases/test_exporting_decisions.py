"""Exporting the release of a project of decisions: pairs that other programs read, and that come in again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.core.decisions.record import frozen_details
from annotation.core.errors import Conflict
from annotation.core.jsonio.canonical import canonical_json, sha256_hex
from annotation.models import Release, Trajectory, User
from annotation.services import label, release
from annotation.services.release.verify import bodies
from tests import people
from tests.fixtures.decisions import make_decisions_cast
from tests.fixtures.shared_rows import shared_rows
from tests.importers.golden import GOLDEN
from tests.people import Cast
from tests.services.publishing import export, freeze

pytestmark = pytest.mark.django_db
DATA = "data/**/*.jsonl"
EXPORTED = {
    "toolprmbench": (DATA, "beda4a3b5309bef5a4884ad5527590518ffb4446b6ed40e25e15af8c7e440191"),
    "trl_preference": (DATA, "6b11ad7edc419ab71277b5af3d29b1141d54b0aeedc565288a2cc33419e86d26"),
    "tristep_decision": (DATA, "4ea33449db00f42b8630d580167416181bec26693a112c7443196f997ee9ed54"),
    "agentprocessbench": ("*.jsonl", "cdcdeddf127fcebe06df636cdd1ec80c6ad53f993b827a89ebed87178f640236"),
}
"""The files of each format, and the SHA-256 of all of them."""


@shared_rows
def decided() -> Release:
    """Four items of two options: two people label the first +1, the second −1, and the last item unfit."""
    cast = people.make_cast("pairs", kind="decisions")
    people.import_file(cast.project, (GOLDEN / "toolprmbench.json").read_bytes(), format="toolprmbench")
    for at in range(4):
        for user in (cast.ann, cast.ben):
            people.label_next(user, cast.project, [1, -1], outcome=-1 if at == 3 else 1)
    return freeze(cast.project)


def rows(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("data/tiny/*.jsonl")):
        yield from map(json.loads, path.read_text("utf-8").splitlines())


@pytest.mark.parametrize("format", ["toolprmbench", "tristep_decision"])
def test_release_comes_in_again_as_the_same_decisions(decided: Release, tmp_path: Path, format: str) -> None:
    export(decided, tmp_path, format=format, split="0.4", seed="7")
    assert release.verify_export(path=tmp_path).ok
    assert len(list(tmp_path.glob("data/tiny/*.jsonl"))) == 2
    other = people.make_project("other", kind="decisions")

    people.import_file(other, people.jsonl(rows(tmp_path)), format=format)

    kept = Trajectory.objects.filter(project=decided.project, outcome_consensus__value=1)
    assert kept.count() == 3
    again = Trajectory.objects.filter(project=other)
    assert dict(again.values_list("record_id", "content_digest")) == dict(
        kept.values_list("record_id", "content_digest")
    )
    contents = [
        sorted(canonical_json(row.content.parsed()) for row in found.select_related("content"))
        for found in (kept, again)
    ]
    assert contents[0] == contents[1]


@pytest.mark.postgres
def test_exports_have_the_same_bytes_on_every_database(decided: Release, tmp_path: Path) -> None:
    for format, (files, _digest) in EXPORTED.items():
        split = {"split": "0.4", "seed": "7"} if files.startswith("data") else {}
        export(decided, tmp_path / format, format=format, **split)
    made = {
        format: sha256_hex(b"".join(path.read_bytes() for path in sorted((tmp_path / format).glob(files))))
        for format, (files, _digest) in EXPORTED.items()
    }
    assert made == {format: digest for format, (_files, digest) in EXPORTED.items()}


def test_decisions_of_several_options_come_in_again_with_the_consensus_as_their_key(tmp_path: Path) -> None:
    cast = make_decisions_cast(2, options=3)
    for _ in range(2):
        for user in (cast.ann, cast.ben):
            people.label_next(user, cast.project, [1, 0, -1])
    made = freeze(cast.project)
    export(made, tmp_path, format="tristep_decision")
    other = people.make_project("other", kind="decisions")

    people.import_file(other, people.jsonl(rows(tmp_path)), subset="tiny")

    drafts = Trajectory.objects.filter(project=other).select_related("content")
    records = {record["record_id"]: record for record in map(json.loads, lines_of(made))}
    assert {row.record_id for row in drafts} == records.keys()
    for row in drafts:
        record = records[row.record_id]
        keys = {str(one.message): one.value for one in row.content.labels_of_source()}
        assert keys == record["step_labels"]
        assert frozen_details(row.content.raw_bytes()) == record["decision"]


def test_questions_come_in_again_with_what_they_ask_for(tmp_path: Path) -> None:
    cast = people.make_cast("questions", kind="decisions", annotators_per_trajectory=1)
    people.import_file(cast.project, (GOLDEN / "aptbench.jsonl").read_bytes(), format="aptbench")
    for _ in range(cast.project.trajectories.count()):
        reading = people.claim(cast.ann, cast.project)
        last_is_right = [-1] * (reading.trajectory.step_count - 1) + [1]  # the first two of one are equal
        people.label_all(reading, last_is_right)
        label.submit(actor=cast.ann, assignment=reading)
    made = freeze(cast.project)
    export(made, tmp_path, format="tristep_decision")
    other = people.make_project("other", kind="decisions")

    people.import_file(other, people.jsonl(rows(tmp_path)), subset="tiny")

    records = {record["record_id"]: record["decision"] for record in map(json.loads, lines_of(made))}
    again = Trajectory.objects.filter(project=other).select_related("content")
    assert len(records) == cast.project.trajectories.count() > 1
    assert {row.record_id: frozen_details(row.content.raw_bytes()) for row in again} == records


def lines_of(made: Release) -> Iterator[bytes]:
    return (body or b"" for _, body in bodies(made))


def test_release_says_where_options_are_from_and_never_the_key(decided: Release) -> None:
    records = [json.loads(body or b"") for _, body in bodies(decided)]
    record = next(one for one in records if one["task_key"] == "trains-1")
    assert record["decision"]["category"] == "planning/travel"
    assert {option["origin"] for option in record["decision"]["options"].values()} == {"file"}
    assert "key" not in json.dumps(record["decision"])


@pytest.mark.slow
def test_datasets_reads_pairs_and_preferences_offline(
    decided: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HF_DATASETS_OFFLINE", "HF_HUB_OFFLINE", "HF_DATASETS_DISABLE_PROGRESS_BARS"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    import datasets

    def load(name: str) -> Any:
        export(decided, tmp_path / name, format=name)
        assert release.verify_export(path=tmp_path / name).ok
        return datasets.load_dataset(str(tmp_path / name), "tiny", cache_dir=str(tmp_path / "cache"))

    (preferences,) = load("trl_preference").values()
    assert preferences.column_names == ["prompt", "chosen", "rejected", "tools"]
    assert [row["chosen"][0]["role"] for row in preferences] == ["assistant"] * 3
    (pairs,) = load("huggingface").values()
    assert [(row["chosen_label"], row["rejected_label"]) for row in pairs] == [(1, -1)] * 3
    card = (tmp_path / "huggingface" / "README.md").read_text("utf-8")
    assert 'json.loads(row["history"])' in card
    names: dict[str, Any] = {}
    code = card.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path / "huggingface")
    exec(code, names)
    assert names["chosen"]["role"] == names["rejected"]["role"] == "assistant"
    written = list(rows(tmp_path / "trl_preference"))
    assert [json.loads(row["chosen"])["content"] for row in pairs] == [
        row["chosen"][0]["content"] for row in written
    ]


def test_page_of_the_release_says_how_pairs_are_loaded(decided: Release) -> None:
    client = Client()
    client.force_login(User.objects.get(username="admin"))
    page = client.get(f"/p/{decided.project.slug}/releases/{decided.version}/").content.decode()
    assert "Preferences for TRL" in page and "Pairs as ToolPRMBench has them" in page
    assert "pairs[0][&quot;history&quot;]" in page
    assert "step_indexes" not in page


def test_pairs_are_refused_for_a_project_of_steps(resolved: Cast, tmp_path: Path) -> None:
    with pytest.raises(Conflict, match="no pairs"):
        export(freeze(resolved.project), tmp_path, format="trl_preference")
