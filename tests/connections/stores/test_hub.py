"""Data sets of the Hugging Face hub: files pulled, releases pushed, on a local hub that the hub's own library
works with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
from datasets import load_dataset
from huggingface_hub import HfApi

from annotation.models import Connection, Release, Transfer
from annotation.services import release
from tests import people
from tests.people import Cast
from tests.services.publishing import freeze

from .conftest import HUB_NAME as NAME
from .conftest import live, records, transfer
from .fake_hub import LARGE, TOKEN, FakeHub

RECEIPT = "tristep-release.json"


@pytest.fixture
def api(hub: FakeHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> HfApi:
    """The hub's own library."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return HfApi(endpoint=hub.url, token=TOKEN)


Connect = Callable[..., Connection]


@pytest.mark.postgres
def test_files_that_the_hubs_own_library_put_there_are_pulled_once(
    cast: Cast,
    hub: FakeHub,
    api: HfApi,
    connect_hub: Connect,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("annotation.connections.huggingface.PIECE_BYTES", 9_000)
    large = records(3, 60)
    assert len(large) > LARGE
    for name, content in {"a.jsonl": records(0, 2), "deep/b c.jsonl": large, "README.md": b"# Hi"}.items():
        (tmp_path / "up" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "up" / name).write_bytes(content)
    api.create_repo(NAME, repo_type="dataset", private=True)
    api.upload_folder(repo_id=NAME, repo_type="dataset", folder_path=tmp_path / "up")
    connection = connect_hub()
    row = transfer(connection, "pull")
    assert (row.error, row.left_out, row.counts["files_new"], len(live())) == ("", [], 2, 59)
    assert transfer(connection, "pull").counts == {"files_known": 2}
    api.upload_file(path_or_fileobj=records(0, 3), path_in_repo="a.jsonl", repo_id=NAME, repo_type="dataset")
    row = transfer(connection, "pull")
    assert (row.counts["files_changed"], row.counts["new"], len(live())) == (1, 1, 60)


@pytest.mark.postgres
@pytest.mark.parametrize("parts", [0, 700])
def test_release_is_one_commit_with_its_version_as_tag_and_a_data_set(
    cast: Cast, frozen: Release, hub: FakeHub, api: HfApi, connect_hub: Connect, tmp_path: Path, parts: int
) -> None:
    hub.parts = parts
    connection = connect_hub()
    row = transfer(connection, "push", cast.admin, dry=True)
    assert row.state == "done" and row.counts["written"] and NAME not in hub.repositories
    row = transfer(connection, "push", cast.admin)
    assert (row.error, row.left_out) == ("", [])
    repository = hub.repositories[NAME]
    assert repository.private and len(repository.commits) == 2
    assert repository.tags == {"1.0": repository.branches["main"]}
    release.export_release(
        actor=cast.admin,
        release=frozen,
        options=release_options(connection),
        output=tmp_path / "export",
    )
    folder = tmp_path / "export"
    exported = {
        str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    there = hub.files(NAME, "1.0")
    assert {name: there[name] for name in exported} == exported
    assert set(there) - set(exported) == {RECEIPT, ".gitattributes"}

    got = api.snapshot_download(NAME, repo_type="dataset", revision="1.0", local_dir=tmp_path / "got")
    rows = load_dataset(got, split="test", cache_dir=str(tmp_path / "cache"))
    assert len(rows) == 2 and release.verify_export(path=Path(got)).ok

    again = transfer(connection, "push", cast.admin)
    assert again.counts.keys() == {"unchanged"} and len(repository.commits) == 2


def release_options(connection: Connection) -> Any:
    from annotation.services.connections.pushing_releases import options_of

    return options_of(connection)


def test_new_version_is_a_commit_on_the_old_one_and_an_older_one_stays_beside(
    cast: Cast, frozen: Release, hub: FakeHub, connect_hub: Connect
) -> None:
    connection = connect_hub()
    transfer(connection, "push", cast.admin)
    first = dict(hub.files(NAME, "1.0"))
    people.import_records(cast.project, [people.make_record(7)], subset="more")
    people.make_unanimous(cast, 1)
    second = freeze(cast.project, "2.0")
    transfer(connection, "push", cast.admin)
    assert hub.files(NAME, "1.0") == first
    assert json.loads(hub.files(NAME)[RECEIPT])["release"] == second.digest

    release.withdraw(actor=cast.admin, release=frozen, reason="Faulty.")
    row = transfer(connection, "push", cast.admin)
    assert (row.error, row.counts["withdrawn"]) == ("", 1)
    repository = hub.repositories[NAME]
    assert list(repository.branches) == ["main"] and set(repository.tags) == {"1.0", "2.0"}
    assert json.loads(hub.files(NAME)[RECEIPT])["version"] == "2.0"
    assert b"**This release was withdrawn" in hub.files(NAME, "1.0")["README.md"]
    assert set(hub.files(NAME, "1.0")) == set(first)
    assert transfer(connection, "push", cast.admin).counts.keys() == {"unchanged"}


@pytest.mark.parametrize(
    "failing",
    [
        "POST /api/repos/create",
        "POST /api/datasets/our-lab/steps/preupload",
        "POST /datasets/our-lab/steps.git",
        "POST /api/datasets/our-lab/steps/commit",
        "POST /api/datasets/our-lab/steps/tag",
    ],
)
def test_push_that_broke_off_anywhere_is_finished_by_the_next_in_one_commit(
    cast: Cast,
    frozen: Release,
    hub: FakeHub,
    connect_hub: Connect,
    failing: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("annotation.services.connections.lease.Beat.sleep", lambda self, seconds: None)
    connection = connect_hub()
    hub.fails = [failing]
    row = transfer(connection, "push", cast.admin)
    assert (row.state, row.error) == ("failed", "The server failed (503).")
    hub.fails = []
    row = transfer(connection, "push", cast.admin)
    repository = hub.repositories[NAME]
    assert row.state == "done" and len(repository.commits) == 2
    assert repository.tags == {"1.0": repository.branches["main"]}


def test_data_set_of_others_is_left_alone(
    cast: Cast, frozen: Release, hub: FakeHub, connect_hub: Connect
) -> None:
    hub.make(NAME, {"train.jsonl": b"{}\n"})
    row = transfer(connect_hub(), "push", cast.admin)
    assert row.state == "failed" and "has not pushed" in row.error
    assert len(hub.repositories[NAME].commits) == 1


def test_server_of_large_files_has_to_be_allowed_and_gets_no_key(
    cast: Cast, hub: FakeHub, connect_hub: Connect, settings: Any
) -> None:
    hub.make(NAME, {"a.jsonl": records(0, 40)})
    connection = connect_hub()
    settings.CONNECTION_URLS = [f"{hub.url}/datasets/our-lab"]
    row = transfer(connection, "pull")
    assert row.error == (
        f"The server leads to {hub.cdn}, which is not among the addresses that the operator allows."
    )
    settings.CONNECTION_URLS += [hub.cdn]
    assert transfer(connection, "pull").state == "done"
    assert {key for method, path, key in hub.calls if path.startswith("/file/")} == {""}
    assert TOKEN not in repr([*Transfer.objects.values_list(), *Connection.objects.values_list()])


def test_what_is_not_there_or_not_allowed_is_said(
    cast: Cast, hub: FakeHub, connect_hub: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = connect_hub()
    assert "has no data set “our-lab/steps”" in transfer(connection, "pull").error
    short = connect_hub(name="Short", base_url=f"{hub.url}/datasets/our-lab")
    assert "names no data set" in transfer(short, "pull").error
    with pytest.raises(Exception, match="check the fields"):
        connect_hub(name="Other", base_url=f"{hub.url}/datasets/others/steps")
    with pytest.raises(Exception, match="check the fields"):
        connect_hub(name="Lines", export_format="agentprocessbench")
    # the token of the machine is not used
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    hub.make(NAME, {})
    bare = connect_hub(name="Bare", key_name="")
    assert "without a key was refused" in transfer(bare, "pull").error
