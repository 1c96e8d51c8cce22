"""One misbehaving server for a module, its calls forgotten before each test."""

from collections.abc import Iterator

import pytest

from tests.judge_server import JudgeServer


@pytest.fixture(scope="module")
def running() -> Iterator[JudgeServer]:
    with JudgeServer() as started:
        yield started


@pytest.fixture
def server(running: JudgeServer) -> JudgeServer:
    running.reset()
    running.retry_after = "0.1"
    return running
