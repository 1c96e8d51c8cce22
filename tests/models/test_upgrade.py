"""A database from before 0.1.0, with the demo project in it, is migrated and keeps what it holds."""

from __future__ import annotations

import gzip
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest
from django.db import connection

from tests.servers import ROOT, database_url, server_environment

DUMPS = ROOT / "tests" / "upgrade"
HELD = {"trajectory": 32, "step": 218, "label": 312, "consensus": 86, "releaselabel": 101, "auditevent": 39}
"""Rows by table, as the tables of then counted them."""
DISPUTED = ("disputed_steps", "sign_flips", "neutral_boundaries", "first_error", "outcome")
DISPUTES = [
    [1, 0, 1, False, False],
    [1, 0, 1, True, True],
    [1, 0, 1, False, False],
    [3, 3, 0, True, False],
    [2, 0, 2, True, False],
    [4, 1, 3, False, False],
    [3, 2, 1, True, False],
    [5, 0, 5, True, True],
]
"""How its eight disputes differ, read off the labels in the dumps by hand."""
UPGRADE = f"""
import json
import django
django.setup()
from django.apps import apps
from django.core.management import call_command
call_command("migrate", verbosity=0, skip_checks=False)
call_command("check", databases=["default"], verbosity=0)
call_command("verify_release", "demo", "0.1")
from annotation.models import Dispute
print(json.dumps(list(Dispute.objects.order_by("pk").values_list(*{list(DISPUTED)}))))
print(json.dumps({{name: apps.get_model("annotation", name).objects.count() for name in {list(HELD)}}}))
"""


def _dump(vendor: str) -> str:
    return gzip.decompress((DUMPS / f"{vendor}.sql.gz").read_bytes()).decode()


@pytest.fixture
def old_database(tmp_path: Path, db: None) -> Iterator[str]:
    """DATABASE_URL of a database from before 0.1.0."""
    settings = dict(connection.settings_dict)
    if connection.vendor == "sqlite":
        settings["NAME"] = str(tmp_path / "old.sqlite3")
        with closing(sqlite3.connect(settings["NAME"])) as raw:
            raw.executescript(_dump("sqlite"))
        yield database_url(settings)
        return
    name = f"{settings['NAME']}_old"
    where = {"user": settings["USER"], "host": settings["HOST"]}
    with closing(psycopg2.connect(dbname="postgres", **where)) as server:
        server.autocommit = True
        with server.cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{name}"')
        with closing(psycopg2.connect(dbname=name, **where)) as raw, raw, raw.cursor() as cursor:
            cursor.execute(_dump("postgresql"))
        yield database_url({**settings, "NAME": name})
        with server.cursor() as cursor:
            cursor.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def test_upgrade_keeps_the_data_and_the_release_verifies(old_database: str, tmp_path: Path) -> None:
    environment = server_environment(database=old_database, data=tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", UPGRADE],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    disputes, counts = map(json.loads, done.stdout.splitlines()[-2:])
    assert counts == HELD
    assert disputes == DISPUTES
