"""Projects of the same people are apart: neither shows anything of the other, nor writes there.

Both hold the same, so that a question which forgets to say of which project it asks, or a membership that is
looked up without it, shows: figures double, names come twice, doors open or close.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import time_machine
from django.db import connection

from annotation.models import (
    ActiveTime,
    Assignment,
    DaysAway,
    Membership,
    OutsideNumber,
    Quota,
    RelabelRequest,
    Reservation,
    SavedView,
    Trajectory,
    User,
)
from annotation.services import release
from tests.addresses import Address, addresses, methods
from tests.callers import PlainClient
from tests.ids import Id
from tests.permission_matrix import ROWS
from tests.sight import NOW, Sight, all_rows, done, sent
from tests.twin import empty_twin, fill
from tests.world import World, make_world

LATER = NOW.date() + timedelta(days=2)
WRITES = re.compile(r'(?:INSERT INTO|UPDATE|DELETE FROM) "(\w+)"')


@pytest.fixture
def world(db: None) -> Iterator[World]:
    """A project in the middle of everything; the clock stands still."""
    with time_machine.travel(NOW, tick=False):
        made = make_world()
        _more(made)
        yield made


def _more(world: World) -> None:
    """What else a project may hold."""
    cast, project, free = world.cast, world.cast.project, world.at["free"]
    ann = Membership.objects.get(project=project, user=cast.ann)
    ActiveTime.objects.create(project=project, annotator=cast.ann, begins_at=NOW, active_ms=60_000)
    DaysAway.objects.create(membership=ann, first=LATER, last=LATER)
    Quota.objects.create(membership=ann, subset=free.subset, most=100)
    Trajectory.objects.filter(pk=free.pk).update(reserved=1)
    Reservation.objects.create(project=project, trajectory=free, annotator=cast.cleo, created_at=NOW)
    asked = {"project": project, "batch": UUID(int=1), "version": 2, "asked_at": NOW}
    for assignment in Assignment.objects.filter(state="submitted", annotator__in=(cast.ann, cast.ben)):
        RelabelRequest.objects.create(assignment=assignment, **asked)
    SavedView.objects.create(project=project, list="trajectories", name="a", query="q=a", owner=cast.admin)
    for frozen in project.releases.all():
        OutsideNumber.objects.create(release=frozen, title="A", model="B", value=0.5, updated_at=NOW)


def of_project(world: World) -> list[Address]:
    """The addresses of the project and of what is in it. Those of a person are of all their projects."""
    found = []
    for address in addresses():
        filling = address.fill(world)
        of_person = isinstance(one := filling.get("pk"), Id) and one.table is User
        if {"slug", "pk"} & set(filling) and not of_person and not address.name.startswith("admin:"):
            found.append(address)
    return found


def _manifest(world: World) -> str:
    """The manifest of a release of the project, which does not stay."""
    with done(world.cast):
        return release.freeze(actor=world.cast.admin, project=world.cast.project, version="2.0").manifest


@pytest.mark.slow
def test_project_shows_nothing_of_another_that_the_same_people_have(world: World) -> None:
    alone, twin = _manifest(world), empty_twin(world.cast.project)
    read = [one for one in of_project(world) if f"GET {one.key}" in ROWS]
    changed: dict[str, set[str]] = {}
    for who, least in (("admin", 200), ("judith", 50), ("ann", 30)):
        # each route once, with what this person may see of it, if there is such
        of_route = {one.name: one for one in sorted(read, key=lambda one: ROWS[f"GET {one.key}"][who] == 200)}
        urls = [one.url(world) for one in of_route.values()]
        # looking leaves marks: what one has seen stands in the history
        with done(world.cast):
            sight = Sight(world.people[who], urls)
        assert sum(text.startswith("200") for text in sight.answers.values()) > least
        with done(world.cast):
            fill(twin)
            changed[who] = sight.changed()
    assert not any(changed.values()), changed
    with done(world.cast):
        fill(twin)
        assert _manifest(world) == alone


class Twin:
    """The rows of the twin, by table."""

    def __init__(self, before: dict[str, list[tuple[Any, ...]]]) -> None:
        self.rows = {table: set(rows) - set(before[table]) for table, rows in all_rows().items()}

    def touched(self, tables: set[str]) -> set[str]:
        """Those of these tables in which a row of the twin is another or gone."""
        with connection.cursor() as cursor:
            return {
                table
                for table in tables & self.rows.keys()
                if self.rows[table] - set(cursor.execute(f'SELECT * FROM "{table}"').fetchall())
            }


@pytest.mark.slow
def test_nothing_that_is_done_in_a_project_touches_another_that_the_same_people_have(world: World) -> None:
    before = all_rows()
    fill(empty_twin(world.cast.project))
    theirs = Twin(before)
    acts, wrong, asked = 0, [], of_project(world)
    written: set[str] = set()

    def noted(execute: Callable[..., object], sql: str, *rest: object) -> object:
        written.update(WRITES.findall(sql))
        return execute(sql, *rest)

    for who in ("admin", "ann", "ben", "cleo", "judith"):
        client = PlainClient(world.people[who])
        for address in asked:
            for method in set(methods(address)) - {"GET"}:
                row = f"{method} {address.key}"
                if ROWS.get(row, {}).get(who, 400) >= 400:
                    continue
                written.clear()
                with done(world.cast):
                    with connection.execute_wrapper(noted):
                        answer = sent(client, world, address, method)
                    acts += bool(written)
                    if answer.status_code != ROWS[row][who]:
                        wrong.append(f"{who}: {row}: {answer.status_code}, alone {ROWS[row][who]}")
                    wrong += [f"{who}: {row}: {table}" for table in sorted(theirs.touched(written))]
    assert acts > 100
    assert not wrong, "\n".join(wrong)
