"""The pages, commands and API of stores."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Connection, Transfer
from annotation.services import connections, ingest
from tests import people
from tests.callers import Caller
from tests.people import Cast
from tests.services.publishing import freeze

from .conftest import live, records


def test_admin_connects_a_folder_pulls_and_pushes_a_release(
    cast: Cast, folder: Any, settings: Any, client: Client
) -> None:
    settings.CONNECTION_URLS = [folder.allowed]
    client.force_login(cast.admin)
    folder.put("a.jsonl", records(0, 2))
    folder.put("half.jsonl", records(3, 4)[:-9])
    home = reverse("frontend:connections", args=["bench"])
    assert "new-store" in client.get(home).content.decode()
    asked = {
        "name": "Files",
        "kind": "folder",
        "base_url": "file:///etc",
        "source": "**/*.jsonl",
        "subset": "runs",
        "export_format": "huggingface",
    }
    refused = client.post(f"{home}new-store/", asked)
    assert refused.status_code == 400 and "operator allows" in refused.content.decode()
    assert client.post(f"{home}new-store/", asked | {"base_url": folder.address}).status_code == 302
    made = Connection.objects.get()
    place = f"{home}{made.pk}/"
    assert "no release yet" in client.get(place).content.decode()
    for press in ("dry-pull", "pull"):
        there = client.post(f"{place}ask/", {press: "1"})
        row = connections.run_transfer(transfer_id=Transfer.objects.latest("pk").pk)
        shown = client.get(there["Location"]).content.decode()
        assert "a.jsonl" in shown and "half.jsonl" in shown and "cut off" in shown
    for file in row.files:
        for pk in file["imports"]:
            ingest.run_import(source_id=pk)
            assert reverse("frontend:import-detail", args=["bench", pk]) in shown
    assert len(live()) == 2
    people.make_unanimous(cast, 2)
    freeze(cast.project)
    freeze(cast.project, "1.1")
    assert client.post(f"{place}ask/", {"push": "1", "release": "9"}).status_code == 400
    there = client.post(f"{place}ask/", {"dry-push": "1", "release": "1.0"})["Location"]
    connections.run_transfer(transfer_id=Transfer.objects.latest("pk").pk)
    shown = client.get(there).content.decode()
    assert "Push of 1.0 (dry run)" in shown and "tristep-releases/bench/1.0/README.md" in shown
    edit = client.post(f"{place}edit/", asked | {"base_url": f"{folder.address}gone", "name": "Other"})
    assert edit.status_code == 302 and Connection.objects.get().name == "Other"
    there = client.post(f"{place}ask/", {"pull": "1"})["Location"]
    connections.run_transfer(transfer_id=Transfer.objects.latest("pk").pk)
    shown = client.get(there).content.decode()
    assert "Nothing was transferred." in shown and "nothing to do" not in shown


def test_api_connects_pulls_and_pushes(cast: Cast, folder: Any, settings: Any) -> None:
    settings.CONNECTION_URLS = [folder.allowed]
    folder.put("a.jsonl", records(0, 1))
    by, place = Caller(cast.admin), "/projects/bench/connections/"
    asked = {
        "name": "Files",
        "kind": "folder",
        "base_url": folder.address,
        "source": "*.jsonl",
        "subset": "runs",
        "format": "agentprocessbench",
    }
    made = by.post(place, asked).json()
    assert (made["format"], made["export_format"]) == ("agentprocessbench", "huggingface")
    refused = by.post(place, asked | {"name": "Runs", "kind": "mlflow"})
    assert refused.status_code == 400 and "format" in refused.text
    row = by.post(f"{place}{made['id']}/transfers/", {"direction": "pull"}).json()
    connections.run_transfer(transfer_id=row["id"])
    said = by.get(f"{place}transfers/{row['id']}/").json()
    (file,) = said["files"]
    assert (file["name"], file["what"], file["records"], said["release"]) == (
        "a.jsonl",
        "new",
        {"new": 1},
        None,
    )
    ingest.run_import(source_id=file["imports"][0])
    assert by.post(f"{place}{made['id']}/transfers/", {"direction": "push"}).status_code == 400
    people.make_unanimous(cast, 1)
    freeze(cast.project)
    gone = by.post(f"{place}{made['id']}/transfers/", {"direction": "push", "release": "2.0"})
    assert gone.status_code == 404
    row = by.post(f"{place}{made['id']}/transfers/", {"direction": "push", "release": "1.0"}).json()
    connections.run_transfer(transfer_id=row["id"])
    said = by.get(f"{place}transfers/{row['id']}/").json()
    assert (said["state"], said["release"]) == ("done", "1.0")
    assert said["counts"]["written"] == len(said["files"]) > 3


def test_commands_connect_pull_and_push(
    cast: Cast, folder: Any, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.CONNECTION_URLS = [folder.allowed]
    folder.put("a.jsonl", records(0, 2))
    where = ("--kind", "folder", "--address", folder.address, "--source", "*.jsonl")
    call_command("connect", "bench", "Files", *where, "--export-format", "agentprocessbench")
    call_command("transfer", "bench", "Files", "pull", "--json")
    said = json.loads(capsys.readouterr().out)
    assert (said["counts"], len(said["files"])) == ({"files_new": 1, "new": 2}, 1) and len(live()) == 2
    with pytest.raises(CommandError, match="no release yet"):
        call_command("transfer", "bench", "Files", "push")
    people.make_unanimous(cast, 2)
    freeze(cast.project)
    call_command("transfer", "bench", "Files", "push", "--release", "1.0")
    assert "push: written 4." in capsys.readouterr().err
    call_command("transfer", "bench", "Files", "push")
    assert "push: unchanged 4." in capsys.readouterr().err
