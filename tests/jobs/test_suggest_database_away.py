"""PostgreSQL is killed in the middle of a run: answers wait in memory, and nothing is lost or asked twice."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from config.children import spawn, stop
from tests import people
from tests.judge_server import JudgeServer
from tests.servers import ROOT, Postgres, ServerMissing, server_environment, start_postgres, wait_for

TRAJECTORIES = 120
# In one process, whose start costs more than all of it. The tables come straight from the models: nothing of
# this asks a trigger.
PREPARE = """
import django, sys
django.setup()
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
settings.MIGRATION_MODULES = {app.label: None for app in apps.get_app_configs()}
call_command("migrate", run_syncdb=True, verbosity=0, skip_checks=True)
call_command("import_trajectories", "apb", sys.argv[1], skip_checks=True)
from annotation.models import Project
from annotation.policies import OPERATOR
from annotation.services import suggest
project = Project.objects.get(slug="apb")
suggest.create_judge(actor=OPERATOR, project=project, name="Sage", kind="openai_compatible", model="ok",
                     base_url=sys.argv[2], concurrency=4)
"""


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    """A server of our own, which may be killed: nobody else's tests are on it."""
    try:
        server = start_postgres(durable=True)
    except ServerMissing as error:
        pytest.skip(str(error))
    yield server
    server.stop()


def sql(server: Postgres, statement: str) -> Any:
    """The first value of what a statement finds."""
    with closing(psycopg2.connect(dbname="postgres", user=server.user, host=str(server.home))) as connection:
        cursor = connection.cursor()
        cursor.execute(statement)
        return cursor.fetchone()[0]


@pytest.mark.slow
def test_run_outlives_a_killed_database(postgres: Postgres, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    records = tmp_path / "tiny.jsonl"
    records.write_bytes(
        people.jsonl(people.make_record(n, question=f"Question {n}? [[id:{n}]]") for n in range(TRAJECTORIES))
    )
    with JudgeServer(delay=0.1) as judges:
        environment = server_environment(database=postgres.url, data=data, TRISTEP_JUDGE_URLS=judges.url)

        prepared = [sys.executable, "-c", PREPARE, str(records), judges.url]
        subprocess.run(prepared, cwd=ROOT, env=environment, check=True, capture_output=True)
        log = tmp_path / "suggest.log"
        with log.open("wb") as output:
            process = spawn(
                [sys.executable, "manage.py", "suggest", "apb", "--judge", "Sage"],
                env=environment,
                cwd=ROOT,
                output=output,
            )
        try:
            count = "SELECT count(*) FROM annotation_suggestion"
            wait_for(lambda: sql(postgres, count) >= 10, "the first suggestions")
            postgres.crash()
            asked = judges.total
            assert process.poll() is None, log.read_text()
            postgres.start()
            assert process.wait(timeout=120) == 0, log.read_text()
        finally:
            stop(process, grace=5)

        assert asked < TRAJECTORIES
        assert "the database is away" in log.read_text()
        assert f"{TRAJECTORIES} of {TRAJECTORIES} trajectories suggested, 0 failed" in log.read_text()
        assert sql(postgres, count) == TRAJECTORIES
        assert (
            sql(postgres, "SELECT count(DISTINCT trajectory_id) FROM annotation_suggestion") == TRAJECTORIES
        )
        assert set(judges.calls.values()) == {1}, "no answer that had come in was asked for again"
        found = sql(
            postgres, "SELECT json_build_array(state, calls, progress_done) FROM annotation_suggestionrun"
        )
        row = found if isinstance(found, list) else json.loads(found)
        assert row == ["finished", TRAJECTORIES, TRAJECTORIES]
