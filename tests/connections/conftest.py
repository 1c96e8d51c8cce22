"""A project connected to a server with traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from annotation.models import Connection, Transfer
from annotation.services import connections, ingest
from tests.people import Cast

from .documented import FakeLangfuse, FakeLangSmith
from .fakes import KEY, FakeMLflow, FakePhoenix, Side, fake
from .real import REAL

collect_ignore = [] if REAL else ["test_real_servers.py"]


SIDES: dict[str, Callable[[], Any]] = {
    "mlflow": FakeMLflow,
    "phoenix": FakePhoenix,
    "langfuse-3": partial(FakeLangfuse, 3),
    "langfuse-4": partial(FakeLangfuse, 4),
    "langsmith-1": partial(FakeLangSmith, 1),
    "langsmith-2": partial(FakeLangSmith, 2),
}


@pytest.fixture(
    params=[
        pytest.param(made, id=name, marks=[pytest.mark.postgres] if name == "mlflow" else [])
        for name, made in SIDES.items()
    ]
)
def side(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A server of each kind, and of each version that is asked otherwise; one on PostgreSQL, too."""
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

    def made(server: Side, *, between: str = "", **values: Any) -> Connection:
        monkeypatch.setenv("TRISTEP_CONNECTION_KEY_T", server.key)
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
