"""The servers that other tests lean on do what they promise."""

from __future__ import annotations

import pytest
from django.db import connection, transaction

from config.broker import Broker
from tests.conftest import on_postgres


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
            for name in ("journal_mode", "foreign_keys", "recursive_triggers")
        }
    # what the settings of the tests change of it, synchronous, is shown in tests/config/test_power_cut.py
    assert found == {"journal_mode": "wal", "foreign_keys": 1, "recursive_triggers": 1}


def test_broker_keeps_what_it_was_given(broker: Broker) -> None:
    assert broker.answers()
    assert broker.socket.stat().st_mode & 0o077 == 0
    assert (broker.folder / "appendonlydir").is_dir()
