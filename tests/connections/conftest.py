"""A project connected to a server with traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from annotation.models import Connection, Transfer
from annotation.services import connections, ingest
from tests.people import Cast

from .fakes import KEY, FakeMLflow, FakePhoenix, Side, fake
from .real import REAL

collect_ignore = [] if REAL else ["test_real_servers.py"]


@pytest.fixture(params=[FakeMLflow, FakePhoenix], ids=["mlflow", "phoenix"])
def side(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A server of each kind."""
    with fake(request.param()) as server:
        yield server


@pytest.fixture
def mlflow() -> Iterator[FakeMLflow]:
    """MLflow."""
    with fake(FakeMLflow()) as server:
        yield server


@pytest.fixture
def connect(cast: Cast, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Connection]:
    """Makes a connection of the project to a server, or to what stands `between`."""
    monkeypatch.setenv("TRISTEP_CONNECTION_KEY_T", KEY)

    def made(server: Side, *, between: str = "", **values: Any) -> Connection:
        url = between or server.url
        settings.CONNECTION_URLS = [url]
        told = {
            "name": f"Runs on {server.kind}",
            "base_url": url,
            "source": server.source,
            "key_name": "TRISTEP_CONNECTION_KEY_T",
            "subset": "runs",
        }
        return connections.create_connection(
            actor=cast.admin, project=cast.project, kind=server.kind, **told | values
        )

    return made


@pytest.fixture
def worker_environment(process_environment: dict[str, str]) -> dict[str, str]:
    """Of workers that have the key of a connection, and reap every second."""
    return process_environment | {"TRISTEP_CONNECTION_KEY_T": KEY, "TRISTEP_REAP_SECONDS": "1"}


def transfer(connection: Connection, actor: Any, direction: str, **more: Any) -> Transfer:
    """A transfer run to its end in this process, with the import that it starts."""
    row = connections.ask_for(actor=actor, connection=connection, direction=direction, enqueue=False, **more)
    row = connections.run_transfer(transfer_id=row.pk)
    if row.imported_id:
        ingest.run_import(source_id=row.imported_id)
    return row
