"""PostgreSQL restarts in the middle of a run: answers wait in memory, and nothing is lost or asked twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg2
import pytest

from config.children import spawn, stop
from tests import people
from tests.judge_server import JudgeServer
from tests.servers import ROOT, ServerMissing, server_environment, start_postgres, wait_for

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


class Postgres:
    """A server of our own, which may be restarted: nobody else's tests are on it."""

    def __init__(self) -> None:
        self.url, self._finish = start_postgres()
        parts = urlsplit(self.url)
        self.host, self.user = parse_qs(parts.query)["host"][0], parts.username or ""
        self._data = Path(self.host) / "data"
        owner = self._data.stat()
        self._binary = Path(f"/proc/{self._pid()}/exe").resolve()
        self._as: dict[str, Any] = {"user": owner.st_uid, "group": owner.st_gid} if os.geteuid() == 0 else {}
        self._second: subprocess.Popen[bytes] | None = None

    def _pid(self) -> int:
        return int((self._data / "postmaster.pid").read_text().splitlines()[0])

    def sql(self, statement: str) -> Any:
        """The first value of what a statement finds."""
        connection = psycopg2.connect(dbname="postgres", user=self.user, host=self.host)
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
                return cursor.fetchone()[0]
        finally:
            connection.close()

    def halt(self) -> None:
        """Stop it at once, as on a restart of the machine; connections break."""
        os.kill(self._pid(), signal.SIGINT)
        wait_for(lambda: not (self._data / "postmaster.pid").exists(), "PostgreSQL to stop")

    def go_on(self) -> None:
        """Start it again on the same data."""
        options = ("listen_addresses=", f"unix_socket_directories={self.host}")
        with (Path(self.host) / "second.log").open("wb") as output:
            self._second = spawn(
                [self._binary, "-D", self._data, *(part for option in options for part in ("-c", option))],
                env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
                cwd=Path(self.host),
                output=output,
                orphan_signal=signal.SIGINT,
                **self._as,
            )

    def close(self) -> None:
        """Stop and delete it."""
        if self._second is not None:
            stop(self._second, grace=10)
        self._finish()


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    try:
        server = Postgres()
    except ServerMissing as error:
        pytest.skip(str(error))
    yield server
    server.close()


@pytest.mark.slow
def test_run_outlives_a_restart_of_the_database(postgres: Postgres, tmp_path: Path) -> None:
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
            wait_for(lambda: postgres.sql(count) >= 10, "the first suggestions")
            postgres.halt()
            asked = judges.total
            assert process.poll() is None, log.read_text()
            postgres.go_on()
            assert process.wait(timeout=120) == 0, log.read_text()
        finally:
            stop(process, grace=5)

        assert asked < TRAJECTORIES
        assert "the database is away" in log.read_text()
        assert f"{TRAJECTORIES} of {TRAJECTORIES} trajectories suggested, 0 failed" in log.read_text()
        assert postgres.sql(count) == TRAJECTORIES
        assert postgres.sql("SELECT count(DISTINCT trajectory_id) FROM annotation_suggestion") == TRAJECTORIES
        assert set(judges.calls.values()) == {1}, "no answer that had come in was asked for again"
        found = postgres.sql(
            "SELECT json_build_array(state, calls, progress_done) FROM annotation_suggestionrun"
        )
        row = found if isinstance(found, list) else json.loads(found)
        assert row == ["finished", TRAJECTORIES, TRAJECTORIES]
