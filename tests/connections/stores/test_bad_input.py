"""Stores that are not as they should be: nothing outside of what is allowed, nothing half done, no key
shown."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from annotation.connections import Place, stores
from annotation.connections.folder import Folder
from annotation.connections.s3 import _xml
from annotation.core.errors import Invalid
from annotation.models import AuditEvent, Connection, ImportFile, PulledFile, Transfer
from annotation.outside.folders import OutsideFolder, allowed_root, normalised_folder
from annotation.services import connections
from tests import people
from tests.outside.strange_server import strange_server
from tests.people import Cast
from tests.services.publishing import freeze

from .conftest import KEY, SECRET, records, transfer

Connect = Callable[..., Connection]


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("file:///data/runs/", "/data/runs"),
        ("file:///data/runs", "/data/runs"),
        ("file:///", None),
        ("file://data/runs", None),
        ("file:///data/../etc", None),
        ("file:///data/./runs", None),
        ("file:///data//runs", None),
        ("file:///data/%2e%2e/etc", None),
        ("file:///data\\..\\etc", None),
        ("/data/runs", None),
        ("FILE:///data", None),
        ("http:///data", None),
    ],
)
def test_only_plain_addresses_are_folders(address: str, path: str | None) -> None:
    assert normalised_folder(address) == path


def test_folder_is_allowed_by_whole_names() -> None:
    listed = ["file:///data/runs/", "https://example.org", "file:///", "file:///data/runs/deep"]
    assert allowed_root("file:///data/runs", listed) == "/data/runs"
    assert allowed_root("file:///data/runs/deep/er", listed) == "/data/runs/deep"
    for address in ("file:///data/runs2", "file:///data", "file:///etc", "file:///data/runs/../x"):
        assert allowed_root(address, listed) is None


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"base_url": "file:///etc"}, "base_url"),
        ({"base_url": "http://127.0.0.1:9"}, "base_url"),
        ({"key_name": "TRISTEP_CONNECTION_KEY_S"}, "key_name"),
        ({"source": "../*"}, "source"),
        ({"source": ""}, "source"),
        ({"format": "nonsense"}, "format"),
        ({"export_format": "nonsense"}, "export_format"),
        ({"filter": "x" * 1001}, "filter"),
    ],
)
def test_setting_that_cannot_be_is_named(folder: Any, connect: Connect, wrong: Any, field: str) -> None:
    with pytest.raises(Invalid) as refused:
        connect(folder, **wrong)
    assert list(refused.value.fields) == [field]


def test_folder_is_no_address_of_a_server_and_the_other_way_round(
    folder: Any, s3: Any, connect: Connect, settings: Any, cast: Cast
) -> None:
    for side, other in ((folder, s3), (s3, folder)):
        with pytest.raises(Invalid) as refused:
            connect(side, base_url=other.address, key_name="")
        assert list(refused.value.fields) == ["base_url"]
    told = {"name": "x", "source": "demo", "subset": "runs", "base_url": folder.address}
    settings.CONNECTION_URLS = [folder.allowed]
    with pytest.raises(Invalid):
        connections.create_connection(actor=cast.admin, project=cast.project, kind="mlflow", **told)


def test_no_link_leads_out_of_a_folder(cast: Cast, folder: Any, connect: Connect, tmp_path: Any) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.jsonl").write_bytes(records(0, 1))
    (folder.root / "link.jsonl").symlink_to(outside / "secret.jsonl")
    (folder.root / "links").symlink_to(outside)
    os.mkfifo(folder.root / "pipe.jsonl")
    assert transfer(connect(folder), "pull").counts == {}
    below = connect(folder, name="Below", base_url=f"{folder.address}links")
    assert "leads elsewhere" in transfer(below, "pull").error
    # nor between the list and the look
    store = Folder(OutsideFolder(str(folder.root), folder.address), Place("**", "", ""))
    folder.put("late.jsonl", records(0, 1))
    (listed,) = [file for page in store.listed() for file in page.files]
    (folder.root / "late.jsonl").unlink()
    (folder.root / "late.jsonl").symlink_to(outside / "secret.jsonl")
    with pytest.raises(stores.LeaveOut):
        list(store.read(listed))


def test_release_is_not_written_through_a_link(
    cast: Cast, folder: Any, connect: Connect, tmp_path: Any
) -> None:
    people.import_records(cast.project, 1)
    people.make_unanimous(cast, 1)
    freeze(cast.project)
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder.root / "tristep-releases").symlink_to(outside)
    row = transfer(connect(folder), "push", cast.admin)
    assert row.state == "failed" and not list(outside.iterdir())


def test_file_that_changes_while_it_is_read_is_left_out(folder: Any) -> None:
    folder.put("a.jsonl", records(0, 1))
    store = Folder(OutsideFolder(str(folder.root), folder.address), Place("**", "", ""))
    (listed,) = [file for page in store.listed() for file in page.files]
    reading = store.read(listed)
    next(reading)
    folder.put("a.jsonl", records(0, 2))
    with pytest.raises(stores.LeaveOut, match="changed while"):
        list(reading)


def test_operator_who_takes_a_folder_back_is_obeyed_at_once(
    cast: Cast, store: Any, connect: Connect, settings: Any
) -> None:
    connection = connect(store)
    settings.CONNECTION_URLS = ["file:///elsewhere", "http://127.0.0.1:9/bucket"]
    row = transfer(connection, "pull")
    assert row.error == "The address is not among those that the operator allows."


def test_bucket_or_folder_that_is_gone_is_named(
    cast: Cast, s3: Any, folder: Any, connect: Connect, settings: Any
) -> None:
    gone = connect(folder, base_url=f"{folder.address}gone")
    assert "not there" in transfer(gone, "pull").error
    s3.allowed = s3.url
    gone = connect(s3, base_url=f"{s3.url}/no-such-bucket")
    assert transfer(gone, "pull").error == "The server has no bucket “no-such-bucket”."


def test_more_files_than_are_pulled_at_once_are_refused(
    cast: Cast, store: Any, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("folder", "s3"):
        monkeypatch.setattr(f"annotation.connections.{name}.MAX_FILES", 2)
    for number in range(3):
        store.put(f"{number}.jsonl", records(number, number + 1))
    row = transfer(connect(store), "pull", dry=True)
    assert row.error == "More than 2 files fit; narrow the pattern."


CUT_OFF = b"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"
"""A page of a list that goes on, and does not say where."""


@pytest.mark.parametrize("ill", ["endless", "huge", "redirect", "html", 401, 403, 500, CUT_OFF])
def test_hostile_server_brings_nothing_in(
    cast: Cast, connect: Connect, settings: Any, ill: int | str | bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.services.connections.lease.Beat.sleep", lambda self, seconds: None)

    class Hostile:
        kind, key_name = "s3", "TRISTEP_CONNECTION_KEY_S"
        address = allowed = ""

    with strange_server(lambda seen: (200, None)) as server:
        Hostile.address = Hostile.allowed = f"{server.url}/bucket"
        server.misbehave = [ill] * 20
        row = transfer(connect(Hostile), "pull")
        assert row.state == "failed" and row.error.endswith(".")
        assert not ImportFile.objects.exists() and not PulledFile.objects.exists()
        sent = repr(server.seen)
        assert SECRET not in sent and "AWS4-HMAC-SHA256 Credential=AKTRISTEPTEST/" in sent


def test_entities_of_a_reply_are_not_unfolded() -> None:
    bomb = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "bbbb">]><a>&b;</a>'
    with pytest.raises(Invalid, match="not one of S3"):
        _xml(bomb, "a")


@pytest.mark.parametrize("value", ["no-colon", "id:", ":secret"])
def test_key_that_is_no_pair_is_refused_without_being_shown(
    cast: Cast, s3: Any, connect: Connect, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    connection = connect(s3)
    monkeypatch.setenv("TRISTEP_CONNECTION_KEY_S", value)
    row = transfer(connection, "pull")
    assert row.error == "The key in $TRISTEP_CONNECTION_KEY_S is not of the form id:secret."


def test_keys_of_the_machine_are_not_used_and_own_ones_are_nowhere(
    cast: Cast,
    s3: Any,
    connect: Connect,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Any,
) -> None:
    caplog.set_level(0)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AMBIENT")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary-ambient")
    with strange_server(lambda seen: (403, None)) as server:
        s3.allowed = s3.address = f"{server.url}/bucket"
        row = transfer(connect(s3, key_name=""), "pull")
        assert "without a key was refused" in row.error
        assert "authorization" not in server.seen[0].headers
        row = transfer(connect(s3, name="With a key"), "pull")
        assert row.error == "The key in $TRISTEP_CONNECTION_KEY_S was refused by the server (403)."
    kept = [*Connection.objects.values_list(), *Transfer.objects.values_list()]
    kept += [*AuditEvent.objects.values_list()]
    said = repr(kept) + caplog.text
    assert SECRET not in said and KEY not in said and "canary-ambient" not in said
