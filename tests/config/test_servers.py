"""The servers that other tests lean on do what they promise."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from django.db import connection, transaction

from config.broker import Broker
from tests.conftest import on_postgres
from tests.servers import ROOT, WebServer, Worker, wait_for


@pytest.mark.django_db
def test_run_uses_the_database_it_was_asked_for() -> None:
    assert connection.vendor == ("postgresql" if on_postgres() else "sqlite")


@pytest.mark.django_db
def test_sqlite_connections_are_set_up_for_many_people() -> None:
    if connection.vendor != "sqlite":
        assert transaction.get_connection().settings_dict["CONN_HEALTH_CHECKS"] is True
        return
    with connection.cursor() as cursor:
        found = {
            name: cursor.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "foreign_keys", "recursive_triggers", "synchronous")
        }
    assert found == {"journal_mode": "wal", "foreign_keys": 1, "recursive_triggers": 1, "synchronous": 2}


def test_broker_keeps_what_it_was_given(broker: Broker) -> None:
    assert broker.answers()
    assert broker.socket.stat().st_mode & 0o077 == 0
    assert (broker.folder / "appendonlydir").is_dir()


@pytest.mark.once
def test_worker_answers_a_real_broker(worker: Worker) -> None:
    from config.celery import app

    # a question that comes before the worker listens for questions is lost: it is asked again
    answers: list[dict[str, Any]] = []

    def answered() -> bool:
        answers[:] = app.control.ping(timeout=5, limit=1)
        return bool(answers)

    wait_for(answered, "an answer")
    assert [list(reply.values()) for reply in answers] == [[{"ok": "pong"}]]
    assert worker.stop() is True


@pytest.mark.once
def test_server_of_production_answers_on_the_tests_database(web_server: WebServer) -> None:
    assert web_server.answers()
    assert probe(web_server.port) == 0
    assert web_server.stop() is True
    wait_for(lambda: not web_server.answers(), "the server to be gone")
    assert probe(web_server.port) == 1


def probe(port: int) -> int:
    """The exit status of a container's health check."""
    asked = [sys.executable, "-m", "config.probe"]
    return subprocess.run(asked, cwd=ROOT, env={**os.environ, "PORT": str(port)}, check=False).returncode
