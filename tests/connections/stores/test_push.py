"""Releases that are pushed to a folder and to an S3 server: whole, once, and withdrawn there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset

from annotation.connections import Place
from annotation.connections.folder import Folder
from annotation.connections.s3 import S3
from annotation.connections.stores import OutFile, ReleasePlace
from annotation.core.errors import Invalid
from annotation.models import Connection, Exposure, PushedRecord, Release, Transfer
from annotation.outside.server import OutsideServer
from annotation.services import release
from annotation.services.connections.pushing_releases import options_of
from tests import people
from tests.people import Cast
from tests.services.publishing import freeze

from .conftest import transfer

Connect = Callable[..., Connection]
FIRST = "tristep-releases/bench/1.0/"


@pytest.mark.postgres
def test_release_lies_there_whole_and_a_second_push_changes_nothing(
    cast: Cast, frozen: Release, store: Any, connect: Connect, tmp_path: Path
) -> None:
    connection = connect(store)
    row = transfer(connection, "push", dry=True)
    planned = [file["name"] for file in row.files]
    assert (row.state, row.error, row.counts["written"]) == ("done", "", len(planned))
    assert not store.files() and not PushedRecord.objects.exists()

    row = transfer(connection, "push", cast.admin)
    there = store.files()
    assert set(there) == {*planned, f"{FIRST}tristep-release.json"} and row.release == frozen
    release.export_release(
        actor=cast.admin,
        release=frozen,
        options=options_of(connection),
        output=tmp_path / "export",
    )
    exported = {
        FIRST + str(path.relative_to(tmp_path / "export")): path.read_bytes()
        for path in (tmp_path / "export").rglob("*")
        if path.is_file()
    }
    assert {name: there[name] for name in exported} == exported and len(exported) == len(there) - 1
    receipt = json.loads(there[f"{FIRST}tristep-release.json"])
    assert (receipt["release"], receipt["withdrawn"]) == (frozen.digest, None)

    again = transfer(connection, "push", cast.admin)
    assert again.counts == {"unchanged": len(planned)} and store.files() == there
    # a pull of all files passes releases over
    assert transfer(connect(store, name="All", source="**"), "pull").counts == {}


def test_pushed_folder_is_a_data_set(
    cast: Cast, frozen: Release, folder: Any, connect: Connect, tmp_path: Path
) -> None:
    transfer(connect(folder), "push", cast.admin)
    place = folder.root / FIRST
    rows = load_dataset(str(place), split="test", cache_dir=str(tmp_path / "cache"))
    assert len(rows) == 2
    assert release.verify_export(path=place).ok


def test_new_version_lies_beside_the_old_one(
    cast: Cast, frozen: Release, store: Any, connect: Connect
) -> None:
    connection = connect(store)
    transfer(connection, "push", cast.admin)
    before = store.files()
    people.import_records(cast.project, [people.make_record(7)], subset="more")
    people.make_unanimous(cast, 1)
    second = freeze(cast.project, "2.0")
    row = transfer(connection, "push", cast.admin)
    assert row.release == second
    after = store.files()
    assert {name: after[name] for name in before} == before
    assert any(name.startswith("tristep-releases/bench/2.0/") for name in after)
    assert transfer(connection, "push", cast.admin, release=frozen).counts.get("written", 0) == 0


@pytest.mark.postgres
def test_withdrawn_release_is_said_to_be_so_there(
    cast: Cast, frozen: Release, store: Any, connect: Connect
) -> None:
    connection = connect(store)
    transfer(connection, "push", cast.admin)
    release.withdraw(actor=cast.admin, release=frozen, reason="Labels of half a day were lost.")
    people.import_records(cast.project, [people.make_record(7)], subset="more")
    people.make_unanimous(cast, 1)
    freeze(cast.project, "2.0")
    row = transfer(connection, "push", cast.admin)
    assert row.counts["withdrawn"] == 1
    there = store.files()
    assert b"**This release was withdrawn: it is faulty.**" in there[f"{FIRST}README.md"]
    assert json.loads(there[f"{FIRST}tristep-release.json"])["withdrawn"] == "Labels of half a day were lost."
    assert transfer(connection, "push", cast.admin).counts.keys() == {"unchanged"}


def test_push_that_broke_off_is_finished_by_the_next(
    cast: Cast, frozen: Release, store: Any, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = connect(store)

    class Died(BaseException):
        """Nothing catches it on its way."""

    of_kind = Folder if store.kind == "folder" else S3
    publish = of_kind.publish

    def dying(self: Any, place: Any, files: Any, receipt: bytes, gone: Any, beat: Any) -> None:
        calls = iter(range(100))

        def beat_or_die() -> None:
            if next(calls) == 3:
                raise Died

        publish(self, place, files, receipt, gone, beat_or_die)

    with monkeypatch.context() as patch, pytest.raises(Died):
        patch.setattr(of_kind, "publish", dying)
        transfer(connection, "push", cast.admin)
    assert store.files() and f"{FIRST}tristep-release.json" not in store.files()
    Transfer.objects.update(state="failed", lease_until=None)
    row = transfer(connection, "push", cast.admin)
    assert row.state == "done" and f"{FIRST}tristep-release.json" in store.files()


def test_other_release_in_its_place_is_left_alone(
    cast: Cast, frozen: Release, store: Any, connect: Connect
) -> None:
    store.put(f"{FIRST}tristep-release.json", b'{"release": "another"}')
    row = transfer(connect(store), "push", cast.admin)
    assert [one["id"] for one in row.left_out] == [FIRST.rstrip("/")]
    assert "another release" in row.left_out[0]["reason"] and len(store.files()) == 1


def test_large_file_goes_in_parts(s3: Any, tmp_path: Path) -> None:
    content = bytes(range(256)) * 4096 * 17
    (tmp_path / "large").write_bytes(content)
    server = OutsideServer(s3.url)
    beats = []
    S3(server, Place("**", "", "", s3.address)).publish(
        ReleasePlace("bench", "1.0"),
        [OutFile("large.parquet", tmp_path / "large", len(content), "")],
        b"{}",
        ["gone.parquet"],
        lambda: beats.append(1),
    )
    server.close()
    assert s3.files() == {f"{FIRST}large.parquet": content, f"{FIRST}tristep-release.json": b"{}"}
    assert len(beats) == 4


def test_push_needs_a_release_and_notes_who_knows_it(
    cast: Cast, folder: Any, connect: Connect, s3: Any
) -> None:
    connection = connect(folder)
    with pytest.raises(Invalid, match="no release yet"):
        transfer(connection, "push")
    people.import_records(cast.project, 1)
    people.make_unanimous(cast, 1)
    freeze(cast.project)
    transfer(connection, "push", cast.admin, dry=True)
    assert not Exposure.objects.filter(user=cast.admin).exists()
    transfer(connection, "push", cast.admin)
    assert Exposure.objects.filter(user=cast.admin, kind="consensus").count() == 1
