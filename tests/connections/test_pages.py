"""The pages of connections, and the API beside them."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.urls import reverse

from annotation.models import Connection, Transfer
from annotation.services import connections, ingest
from tests.callers import Caller
from tests.people import Cast

from .fakes import KEY, FakeMLflow


def test_admin_connects_tries_pulls_and_reads_what_was_left_out(
    cast: Cast, mlflow: FakeMLflow, settings: Any, client: Client
) -> None:
    settings.CONNECTION_URLS = [mlflow.url]
    client.force_login(cast.admin)
    (gone,) = mlflow.log(0, state="IN_PROGRESS")
    mlflow.log(1)
    home = reverse("frontend:connections", args=["bench"])
    assert "No connection yet" in client.get(home).content.decode()
    asked = {
        "name": "Runs",
        "kind": "mlflow",
        "base_url": "http://127.0.0.1:9",
        "source": "demo",
        "subset": "r",
    }
    refused = client.post(f"{home}new/", asked)
    assert refused.status_code == 400 and "operator allows" in refused.content.decode()
    assert client.post(f"{home}new/", asked | {"base_url": mlflow.url}).status_code == 302
    made = Connection.objects.get()
    place = f"{home}{made.pk}/"
    for press in ("dry-pull", "pull"):
        there = client.post(f"{place}ask/", {press: "1"})
        row = connections.run_transfer(transfer_id=Transfer.objects.latest("pk").pk)
        shown = client.get(there["Location"]).content.decode()
        assert gone in shown and "has not ended yet" in shown and KEY not in shown
    ingest.run_import(source_id=row.imported_id or 0)
    assert "The import of what is new" in shown
    assert "here already" not in client.get(place).content.decode()
    assert client.post(f"{place}ask/", {"versions": "1", "subset": "r"}).status_code == 400
    assert client.post(f"{place}edit/", asked | {"base_url": mlflow.url, "name": "New"}).status_code == 302
    waiting = client.post(f"{place}ask/", {"push": "1"})["Location"]
    assert f'data-jobs="{waiting}status/"' in client.get(waiting).content.decode()
    (told,) = client.get(f"{waiting}status/").json()["jobs"]
    assert (told["state"], told["done"], told["finished"]) == ("queued", 0, False)
    assert client.post(f"{waiting}stop/").status_code == 302
    assert Transfer.objects.latest("pk").state == "cancelled"
    (told,) = client.get(f"{waiting}status/").json()["jobs"]
    assert told["finished"] and "data-jobs" not in client.get(waiting).content.decode()
    assert client.post(f"{place}delete/").status_code == 302 and not Connection.objects.exists()


def test_api_connects_and_pulls(cast: Cast, mlflow: FakeMLflow, settings: Any) -> None:
    settings.CONNECTION_URLS = [mlflow.url]
    mlflow.log(0)
    by = Caller(cast.admin)
    place = "/projects/bench/connections/"
    asked = {"name": "Runs", "kind": "mlflow", "base_url": mlflow.url, "source": "demo", "subset": "runs"}
    made = by.post(place, asked).json()
    row = by.post(f"{place}{made['id']}/transfers/", {"direction": "pull", "dry": True}).json()
    connections.run_transfer(transfer_id=row["id"])
    said = by.get(f"{place}transfers/{row['id']}/").json()
    assert (said["state"], said["counts"], said["import_id"]) == ("done", {"new": 1, "left_out": 0}, None)
    assert by.post(f"{place}transfers/{row['id']}/stop/").status_code == 409
