"""A worker that is killed with an answer of the server under way loses nothing and doubles nothing: of
MLflow, where posting twice makes two. What is said to other servers is begun anew in `test_line.py`, and of
stores in `stores/`, without workers; `make test-connections` kills those of the real ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from annotation.models import Connection
from config.broker import Broker
from tests.people import Cast

from .fakes import FakeMLflow
from .killing import Holding, Killed, walk_killed

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_killed_workers_lose_and_double_nothing(
    celery_broker: Broker,
    worker_environment: dict[str, str],
    cast: Cast,
    connect: Callable[..., Connection],
    mlflow: FakeMLflow,
    tmp_path: Path,
) -> None:
    assert mlflow.server is not None
    mlflow.server.answer = held = Holding(mlflow.server.answer)
    connection = connect(mlflow)
    told = {"TRISTEP_CONNECTION_URLS": mlflow.url, "TRISTEP_CONNECTION_KEY_T": mlflow.key}
    walk_killed(Killed(cast, connection, held, worker_environment | told, tmp_path), mlflow)
