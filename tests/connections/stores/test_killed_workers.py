"""A worker that is killed with an answer of the hub under way loses no file and makes no second commit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from annotation.models import Connection, ImportFile
from config.broker import Broker
from tests import people
from tests.connections.killing import TRACES, Holding, Killed
from tests.people import Cast
from tests.services.publishing import freeze

from .conftest import HUB_NAME, live, records
from .fake_hub import TOKEN, FakeHub

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_killed_workers_lose_and_double_nothing(
    celery_broker: Broker,
    worker_environment: dict[str, str],
    cast: Cast,
    hub: FakeHub,
    connect_hub: Callable[..., Connection],
    tmp_path: Path,
) -> None:
    repository = hub.make(HUB_NAME, {f"{n}.jsonl": records(n, n + 1) for n in range(TRACES)})
    hub.held = held = Holding(lambda seen: (200, None))
    told = {
        "TRISTEP_CONNECTION_URLS": f"{hub.url}/datasets/our-lab,{hub.cdn}",
        "TRISTEP_CONNECTION_KEY_H": TOKEN,
    }
    pulled = Killed(cast, connect_hub(), held, worker_environment | told, tmp_path)
    counts = pulled.transfer("pull").counts
    # what the first one had taken was not taken again
    assert counts["files_known"] >= 1 and counts["files_known"] + counts["files_new"] == TRACES
    assert len(live()) == TRACES == ImportFile.objects.filter(state="published").count()

    people.make_unanimous(cast, TRACES)
    freeze(cast.project)
    place = f"{hub.url}/datasets/our-lab/release"
    repository = hub.make("our-lab/release", {})
    pushed = Killed(
        cast, connect_hub(name="Release", base_url=place), held, worker_environment | told, tmp_path
    )
    pushed.transfer("push")
    assert len(repository.commits) == 2 and repository.tags == {"1.0": repository.branches["main"]}
