"""The probe that kills the server while people save, and lets people leave while they claim; smaller."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import endurance
from tests import callers, people

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


# on PostgreSQL web servers are ended under people who save in tests/config/test_machines.py
@pytest.mark.once
def test_endurance_loses_and_doubles_no_save_when_the_server_is_killed(
    process_environment: dict[str, str], tmp_path: Path
) -> None:
    cast = people.make_cast()
    people.import_records(cast.project, 2)
    tokens = [callers.token_of(user) for user in (cast.ann, cast.ben)]

    web = endurance.Web(process_environment, tmp_path / "web.log")
    saves, again = endurance.save_through(
        [web.kill], port=web.port, slug="bench", tokens=tokens, saves=40, seed=1
    )
    web.stop()

    assert endurance.compare(saves) == {"saves": 40, "lost": 0, "doubled": 0, "wrong": 0}
    assert again, "nobody noticed that the server was killed"


def test_endurance_leaves_no_trajectory_stuck_when_claimers_leave() -> None:
    project = people.make_project()
    people.import_records(project, 16)

    found = endurance.claim_and_leave("bench", people=10, seed=1)

    assert found == {
        "claimers": 10,
        "trajectories": 16,
        "left": 5,
        "wrong_counts": 0,
        "orphaned": 0,
        "doubled": 0,
        "unfinished": 0,
    }
