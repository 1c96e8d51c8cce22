"""A database from before `0002_tables` goes on working, and an older one is refused in a sentence."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest
from django.db import connection

from config.management import archive
from tests.databases import described
from tests.servers import ROOT, database_url, server_environment

DUMPS = ROOT / "tests" / "upgrade"
UPGRADE = """
import base64, json, sys
import django
django.setup()
from django.apps import apps
from django.core.management import call_command
from django.db import connection
call_command("migrate", verbosity=0, skip_checks=False)
call_command("check", databases=["default"], verbosity=0)
from annotation.models import Release
signed = json.loads(Release.objects.get(version="1.1").signature)
with open(sys.argv[1], "wb") as key:
    key.write(base64.b64decode(signed["public_key"]))
call_command("verify_release", "bench", "1.1", key=sys.argv[1])
from config.management import archive
from tests.databases import described
models = apps.get_app_config("annotation").get_models()
rows = {model._meta.db_table: len(model._base_manager.all()) for model in models}
print(json.dumps([described(connection), archive.schema(), rows]))
"""
OLDER = {
    "one migration short": ["DELETE FROM django_migrations WHERE name = '0045_count_by_index'"],
    "that of 48b59930": [
        "DELETE FROM django_migrations WHERE app = 'annotation' AND name <> '0001_schema'",
        "UPDATE django_migrations SET name = '0028_prompt_workshop' WHERE app = 'annotation'",
    ],
}
Load = Callable[..., str]
Start = Callable[..., "subprocess.Popen[str]"]


def _dump(vendor: str = "") -> str:
    return gzip.decompress((DUMPS / f"{vendor or connection.vendor}.sql.gz").read_bytes()).decode()


@pytest.fixture
def load(tmp_path: Path, db: None) -> Iterator[Load]:
    """Makes a database beside the tests' own, of statements, and gives its DATABASE_URL."""
    settings = dict(connection.settings_dict)
    if connection.vendor == "sqlite":
        settings["NAME"] = str(tmp_path / "old.sqlite3")

        def filled(*statements: str) -> str:
            with closing(sqlite3.connect(settings["NAME"])) as raw:
                raw.executescript(";\n".join(statements))
            return database_url(settings)

        yield filled
        return
    name = f"{settings['NAME']}_old"
    where = {"user": settings["USER"], "host": settings["HOST"]}

    def loaded(*statements: str) -> str:
        with closing(psycopg2.connect(dbname=name, **where)) as raw, raw, raw.cursor() as cursor:
            cursor.execute(";\n".join(statements))
        return database_url({**settings, "NAME": name})

    with closing(psycopg2.connect(dbname="postgres", **where)) as server:
        server.autocommit = True
        with server.cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{name}"')
        yield loaded
        with server.cursor() as cursor:
            cursor.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Python in a process of its own, on a database."""

    def started(database: str, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=server_environment(database=database, data=tmp_path),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return started


def test_upgrade_keeps_every_row_and_has_the_tables_of_a_new_database(
    load: Load, start: Start, tmp_path: Path
) -> None:
    upgraded = start(load(_dump()), "-c", UPGRADE, str(tmp_path / "release-key"))
    said, errors = upgraded.communicate()

    assert upgraded.returncode == 0, errors
    tables, schema, rows = json.loads(said.splitlines()[-1])
    # of both dumps, which hold the same rows, SQLite's has each in a line
    held = re.findall(r'^INSERT INTO "(\w+)" VALUES', _dump("sqlite"), re.MULTILINE)
    assert rows == {table: held.count(table) for table in rows}
    assert tables == described(connection)
    assert schema == archive.schema()


def test_one_of_two_migrations_at_once_goes_on_where_a_first_was_cut_off(load: Load, start: Start) -> None:
    database = load("SELECT 1")
    cut_off = start(database, "manage.py", "migrate", "annotation", "0001_user", "--skip-checks")
    cut_off.communicate()
    assert cut_off.returncode == 0

    both = [start(database, "manage.py", "migrate") for _ in range(2)]
    outcomes = [(*migrating.communicate(), migrating.returncode) for migrating in both]

    assert [outcome[1:] for outcome in outcomes] == [("", 0)] * 2
    assert sum("Applying annotation.0002_tables... OK" in said for said, *_ in outcomes) == 1


@pytest.mark.once
@pytest.mark.parametrize(
    ("command", "statements"),
    [*zip([("manage.py", "migrate"), ("-m", "config.prepare")], OLDER.values(), strict=True)],
    ids=OLDER,
)
def test_older_database_is_refused_with_the_commit_to_pass_through(
    load: Load, start: Start, command: tuple[str, ...], statements: list[str]
) -> None:
    done = start(load(_dump(), *statements), *command)
    _said, errors = done.communicate()

    assert done.returncode == 1
    assert "check out commit 1aeae231" in errors
    assert "Traceback" not in errors
