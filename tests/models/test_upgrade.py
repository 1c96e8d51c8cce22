"""A database from before `0001_schema` goes on working, and an older one is refused in a sentence."""

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

from annotation.models import frozen
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
    "one migration short": ["DELETE FROM django_migrations WHERE name = '0028_prompt_workshop'"],
    "its very first tables": [
        "DELETE FROM django_migrations WHERE app = 'annotation' AND name <> '0001_first_release'",
        "UPDATE django_migrations SET name = '0001_initial' WHERE app = 'annotation'",
    ],
}
Start = Callable[..., "subprocess.Popen[str]"]


def _dump(vendor: str) -> str:
    return gzip.decompress((DUMPS / f"{vendor}.sql.gz").read_bytes()).decode()


@pytest.fixture
def old_database(tmp_path: Path, db: None) -> Iterator[Callable[..., str]]:
    """Makes the old database, changed by statements, and gives its DATABASE_URL."""
    settings = dict(connection.settings_dict)
    if connection.vendor == "sqlite":
        settings["NAME"] = str(tmp_path / "old.sqlite3")

        def load(*statements: str) -> str:
            with closing(sqlite3.connect(settings["NAME"])) as raw:
                raw.executescript(";\n".join([_dump("sqlite"), *statements]))
            return database_url(settings)

        yield load
        return
    name = f"{settings['NAME']}_old"
    where = {"user": settings["USER"], "host": settings["HOST"]}

    def fill(*statements: str) -> str:
        with closing(psycopg2.connect(dbname=name, **where)) as raw, raw, raw.cursor() as cursor:
            cursor.execute(_dump("postgresql"))
            for statement in statements:
                cursor.execute(f"SET search_path = public; {statement}")
        return database_url({**settings, "NAME": name})

    with closing(psycopg2.connect(dbname="postgres", **where)) as server:
        server.autocommit = True
        with server.cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{name}"')
        yield fill
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


def test_upgrade_keeps_every_row_and_gives_the_tables_of_a_new_database_while_a_second_waits(
    old_database: Callable[..., str], start: Start, tmp_path: Path
) -> None:
    held = re.findall(r'^INSERT INTO "(annotation_\w+)" VALUES', _dump("sqlite"), re.MULTILINE)
    database = old_database()

    one = start(database, "-c", UPGRADE, str(tmp_path / "release-key"))
    other = start(database, "manage.py", "migrate")
    (said, errors), (_migrated, refused) = one.communicate(), other.communicate()

    assert (one.returncode, other.returncode, refused) == (0, 0, ""), errors
    tables, schema, rows = json.loads(said.splitlines()[-1])
    expected = {table: held.count(table) for table in held if table in rows}
    # the whole audit log of before is chained (and fits: UPGRADE runs `check`)
    expected[frozen.LINK] = expected[frozen.EVENT]
    # counted of what people have in common: four pairs of them
    expected["annotation_meeting"] = 4
    assert {table: count for table, count in rows.items() if count} == expected
    assert tables == described(connection)
    assert schema == archive.schema()


@pytest.mark.once
@pytest.mark.parametrize(
    ("command", "statements"),
    [*zip([("manage.py", "migrate"), ("-m", "config.prepare")], OLDER.values(), strict=True)],
    ids=OLDER,
)
def test_older_database_is_refused_with_the_commit_to_pass_through(
    old_database: Callable[..., str], start: Start, command: tuple[str, ...], statements: list[str]
) -> None:
    done = start(old_database(*statements), *command)
    _said, errors = done.communicate()

    assert done.returncode == 1
    assert "check out commit 48b59930" in errors
    assert "Traceback" not in errors
