"""A worker that is killed with an answer of the server under way loses nothing and doubles nothing: of
MLflow, where posting twice makes two, and of servers that are closed here. `make test-connections` does the
same with the real ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Connection
from config.broker import Broker
from tests.people import Cast

from .documented import FakeLangfuse, FakeLangSmith
from .fakes import FakeMLflow, fake
from .killing import Holding, Killed, walk_killed

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(
    "made", [FakeMLflow, FakeLangfuse, FakeLangSmith], ids=["mlflow", "langfuse", "langsmith"]
)
def test_killed_workers_lose_and_double_nothing(
    celery_broker: Broker,
    worker_environment: dict[str, str],
    cast: Cast,
    connect: Callable[..., Connection],
    made: Callable[[], Any],
    tmp_path: Path,
) -> None:
    with fake(made()) as side:
        side.server.answer = held = Holding(side.server.answer)
        connection = connect(side)
        told = {"TRISTEP_CONNECTION_URLS": side.url, "TRISTEP_CONNECTION_KEY_T": side.key}
        walk_killed(Killed(cast, connection, held, worker_environment | told, tmp_path), side)
