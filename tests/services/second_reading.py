"""A project whose second reader judges are, and which has its rule."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from annotation.core.scoring import second_person as core
from annotation.models import Assignment, Trajectory
from annotation.policies import OPERATOR
from annotation.services import label, projects, second_person
from tests import people
from tests.fixtures.judges import make_imported_judge
from tests.people import Cast
from tests.suggesting import suggest

TAUGHT = 24
TRUTH = ((1, 1, 1, 1), (1, -1, -1, -1))
"""The labels of three steps and of the outcome, by whether the query is even."""
JUDGES = ("judge a", "judge b", "judge c")


def few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule is made from 24 trajectories, and from 30; chance gives none to two people."""
    monkeypatch.setattr(core, "FITTED_AT", (TAUGHT, TAUGHT + 6))
    monkeypatch.setattr(core, "ALWAYS_TWO", 0.0)


def truth(trajectory: Trajectory) -> tuple[int, ...]:
    """What everybody says of it."""
    return TRUTH[(trajectory.query_index or 0) % 2]


def teach(cast: Cast, later: int) -> list[Trajectory]:
    """The second reader are three judges, who have labelled 24 trajectories as ann and ben have, and so many
    `later` ones that nobody has; all of them."""
    values = {"second_reader": "judges", "suggestion_policy": "after_submit", "claim_limit": 100}
    projects.update_project(actor=OPERATOR, project=cast.project, values={**values, "retest_percent": 0})
    cast.project.refresh_from_db()
    records = [people.make_record(query, steps=3) for query in range(TAUGHT + later)]
    rows = people.import_records(cast.project, records)
    judges = [make_imported_judge(cast.project, name) for name in JUDGES]
    for row in rows:
        for judge in judges:
            suggest(judge, row, truth(row)[:3], outcome=truth(row)[3])
    for _ in range(TAUGHT):
        for user in (cast.ann, cast.ben):
            right(people.claim(user, cast.project))
    return rows


def right(assignment: Assignment, *, wrong: Iterable[int] = ()) -> Trajectory:
    """Label as everybody does, but for the steps (from 0) that are `wrong`; and submit."""
    values = list(truth(assignment.trajectory)[:3])
    for place in wrong:
        values[place] = 0
    people.label_all(assignment, values, outcome=truth(assignment.trajectory)[3])
    label.submit(actor=assignment.annotator, assignment=assignment)
    return Trajectory.objects.get(pk=assignment.trajectory_id)


def look(cast: Cast) -> None:
    """What a worker does after a submission."""
    second_person.look_at(project_id=cast.project.pk)
