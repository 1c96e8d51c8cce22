"""Files of a folder and of an S3 server, pulled as they are new or change."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from annotation.models import Connection, ImportFile, PulledFile, Transfer
from annotation.services import connections, ingest
from tests import people
from tests.people import Cast

from .conftest import live, records, transfer

Connect = Callable[..., Connection]


@pytest.mark.postgres
def test_only_what_is_new_or_changed_is_pulled(cast: Cast, store: Any, connect: Connect) -> None:
    connection = connect(store)
    store.put("a.jsonl", records(0, 2))
    store.put("deep/er/b c.jsonl", records(2, 3))
    store.put("notes.txt", b"no run")
    row = transfer(connection, "pull", dry=True)
    assert (row.state, row.error, row.counts["files_new"], row.counts["new"]) == ("done", "", 2, 3)
    assert not ImportFile.objects.exists() and not PulledFile.objects.exists()
    row = transfer(connection, "pull")
    assert (row.state, row.counts["files_new"], row.left_out, len(live())) == ("done", 2, [], 3)
    assert sorted(file["name"] for file in row.files) == ["a.jsonl", "deep/er/b c.jsonl"]
    again = transfer(connection, "pull")
    assert again.counts == {"files_known": 2} and ImportFile.objects.count() == 2

    store.put("a.jsonl", records(0, 2) + records(5, 7))
    row = transfer(connection, "pull")
    assert (row.counts["files_changed"], row.counts["files_known"]) == (1, 1)
    assert (row.counts["known"], row.counts["new"], len(live())) == (2, 2, 5)


@pytest.mark.postgres
def test_record_that_changed_after_it_was_begun_stays_and_the_rest_of_its_file_comes(
    cast: Cast, store: Any, connect: Connect
) -> None:
    connection = connect(store)
    store.put("a.jsonl", records(0, 2))
    transfer(connection, "pull")
    begun = people.claim(cast.ann, cast.project).trajectory
    store.put("a.jsonl", records(0, 3, steps=3))
    row = transfer(connection, "pull")
    assert (row.counts["versions"], row.counts["replaced"], row.counts["new"]) == (1, 1, 1)
    assert [one["id"] for one in row.left_out] == ["a.jsonl"] and "here: 1;" in row.left_out[0]["reason"]
    begun.refresh_from_db()
    assert begun.live and len(live()) == 3
    assert transfer(connection, "pull").counts == {"files_known": 1}

    row = transfer(connection, "pull", versions=True, subset="runs-2")
    assert (row.counts["new"], live("runs-2")) == (1, [begun.record_id])
    again = transfer(connection, "pull", versions=True, subset="runs-2")
    assert again.counts.get("new", 0) == 0 and len(live("runs-2")) == 1
    assert transfer(connection, "pull").counts == {"files_known": 1}


def test_file_that_cannot_be_read_is_named_and_the_others_come(
    cast: Cast, store: Any, connect: Connect, settings: Any
) -> None:
    settings.MAX_UPLOAD_BYTES = 100_000
    connection = connect(store, source="**")
    store.put("good.jsonl", records(0, 1))
    store.put("empty.jsonl", b"")
    store.put("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(50))
    store.put("half.jsonl", records(1, 2) + records(2, 3)[:-9])
    store.put("large.jsonl", b" " * 100_001)
    store.put(".hidden.jsonl", records(3, 4))
    row = transfer(connection, "pull")
    reasons = {one["id"]: one["reason"] for one in row.left_out}
    assert set(reasons) == {"empty.jsonl", "picture.png", "half.jsonl", "large.jsonl"}
    assert "larger than 0 MB" in reasons["large.jsonl"] and "line 2" in reasons["half.jsonl"]
    assert len(live()) == 1
    # what was mended comes with the next pull
    store.put("half.jsonl", records(1, 3))
    assert transfer(connection, "pull").counts["new"] == 2 and len(live()) == 3


def test_format_is_recognised_or_chosen_and_archives_bring_each_log(
    cast: Cast, store: Any, connect: Connect
) -> None:
    chat = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(2):
            archive.writestr(f"logs/{number}.jsonl", records(number, number + 1))
    store.put("chats/one.jsonl", json.dumps({"id": "c1", **chat}).encode() + b"\n")
    store.put("archive.zip", packed.getvalue())
    row = transfer(connect(store, source="**"), "pull")
    assert (row.state, row.left_out, len(live())) == ("done", [], 3)
    names = set(ImportFile.objects.values_list("filename", flat=True))
    assert names == {"chats › one.jsonl", "archive.zip › logs › 0.jsonl", "archive.zip › logs › 1.jsonl"}
    chosen = connect(store, name="Chosen", source="chats/*", format="agentprocessbench", subset="other")
    row = transfer(chosen, "pull")
    assert row.left_out and not live("other")


def test_file_whose_import_failed_is_pulled_again(cast: Cast, folder: Any, connect: Connect) -> None:
    connection = connect(folder)
    folder.put("a.jsonl", records(0, 2))
    row = connections.ask_for(actor=cast.admin, connection=connection, direction="pull", enqueue=False)
    row = connections.run_transfer(transfer_id=row.pk)
    source = ImportFile.objects.get()
    ingest.abandon(actor=cast.admin, source=source)
    assert transfer(connection, "pull").counts["files_new"] == 1 and len(live()) == 2


def test_pull_that_was_stopped_between_files_goes_on_with_the_next(
    cast: Cast, folder: Any, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = connect(folder)
    for number in range(3):
        folder.put(f"{number}.jsonl", records(number, number + 1))
    row = connections.ask_for(actor=cast.admin, connection=connection, direction="pull", enqueue=False)

    class Died(BaseException):
        """Nothing catches it on its way."""

    from annotation.connections.folder import Folder

    read = Folder.read

    def dying(self: Folder, file: Any) -> Any:
        if file.path == "1.jsonl":
            raise Died
        return read(self, file)

    with monkeypatch.context() as patch, pytest.raises(Died):
        patch.setattr(Folder, "read", dying)
        connections.run_transfer(transfer_id=row.pk)
    assert list(PulledFile.objects.values_list("path", flat=True)) == ["0.jsonl"]
    Transfer.objects.filter(pk=row.pk).update(state="queued", lease_until=None)
    row = connections.run_transfer(transfer_id=row.pk)
    assert (row.state, row.counts["files_known"], row.counts["files_new"]) == ("done", 1, 2)
    for source in ImportFile.objects.order_by("pk"):
        ingest.run_import(source_id=source.pk)
    assert len(live()) == 3


def test_another_address_forgets_what_was_pulled(cast: Cast, folder: Any, connect: Connect) -> None:
    connection = connect(folder)
    folder.put("a.jsonl", records(0, 1))
    transfer(connection, "pull")
    (folder.root / "other").mkdir()
    values = {"base_url": f"{folder.address}other/"}
    connections.update_connection(actor=cast.admin, connection=connection, values=values)
    assert not PulledFile.objects.exists()
