"""The line on a real MLflow and a real Phoenix: `make test-connections`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Connection
from config.broker import Broker
from tests.outside.strange_server import strange_server
from tests.people import Cast

from . import real
from .conftest import transfer
from .killing import Holding, Killed, walk_killed
from .walking import walk

pytestmark = pytest.mark.slow
each_server = pytest.mark.parametrize("server", [real.mlflow, real.phoenix], ids=["mlflow", "phoenix"])


@each_server
def test_labels_lie_on_the_spans_of_the_steps_and_follow_the_consensus(
    cast: Cast, connect: Callable[..., Connection], tmp_path: Path, server: Any
) -> None:
    with server(tmp_path) as side:
        connection = connect(side)
        walk(cast, side, connection)
        for values, code in (({"source": "gone"}, "has no"), ({"filter": "nonsense !"}, "filter")):
            broken = connect(side, name=f"Broken by {code}", **values)
            assert code in transfer(broken, cast.admin, "pull").error


@each_server
@pytest.mark.django_db(transaction=True)
def test_killed_workers_lose_and_double_nothing(
    celery_broker: Broker,
    worker_environment: dict[str, str],
    cast: Cast,
    connect: Callable[..., Connection],
    tmp_path: Path,
    server: Any,
) -> None:
    with server(tmp_path) as side, strange_server(held := Holding(real.forwarding(side.url))) as between:
        connection = connect(side, between=between.url)
        worker_environment["TRISTEP_CONNECTION_URLS"] = between.url
        walk_killed(Killed(cast, connection, held, worker_environment, tmp_path), side)
