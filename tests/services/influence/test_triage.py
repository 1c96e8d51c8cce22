"""Triage: what judges contest comes first, nothing that has begun moves, and there is a way back."""

from __future__ import annotations

import pytest

from annotation.core.errors import Invalid
from annotation.models import AuditEvent, Membership, Project, Trajectory
from annotation.policies import OPERATOR
from annotation.reports.influence.triage import scores, triage_so_far
from annotation.services import assign, projects
from tests import people
from tests.callers import Caller
from tests.commands.calling import fails, run
from tests.fixtures.judges import make_imported_judge
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast
from tests.suggesting import suggest

# What two judges say of the two steps of eight trajectories, in the order of the queue. They disagree on
# 0, 2/3, 0, 1/3, none (one judge), 1 (the outcome too), 0 and none (nobody).
SAID = [
    ([1, 1], [1, 1]),
    ([1, 1], [-1, 0]),
    ([-1, 1], [-1, 1]),
    ([1, 1], [1, -1]),
    ([1, 1], None),
    ([1, 1], [-1, -1]),
    ([0, 0], [0, 0]),
    (None, None),
]


def fill(cast: Cast) -> list[Trajectory]:
    """Eight trajectories, of which two judges say what is SAID."""
    rows = people.import_records(cast.project, len(SAID))
    judges = [make_imported_judge(cast.project, name) for name in ("one", "other")]
    for number, (row, given) in enumerate(zip(rows, SAID, strict=True)):
        for judge, values in zip(judges, given, strict=True):
            if values is not None:
                differs = judge is judges[1] and number == 5
                suggest(judge, row, values, outcome=1 if differs else -1)
    return rows


@shared_rows
def rows(cast: Cast) -> list[Trajectory]:
    """The same, for what does not ask for the order before: the places are those of another test."""
    return fill(cast)


def queue(cast: Cast) -> list[int]:
    """The first places of what stands in the queue, in its order."""
    rows = Trajectory.objects.filter(project=cast.project, live=True).order_by("position")
    return [row.query_index or 0 for row in rows]


def test_triage_scores_are_the_share_of_units_in_dispute(cast: Cast, rows: list[Trajectory]) -> None:
    found = scores(cast.project)

    expected = [0, 2 / 3, 0, 1 / 3, None, 1, 0]
    assert [found[row.pk] for row in rows[:7]] == [
        None if one is None else pytest.approx(one) for one in expected
    ]
    assert rows[7].pk not in found


def test_triage_puts_the_contested_first_and_the_unscored_last(cast: Cast, rows: list[Trajectory]) -> None:
    done = projects.triage(actor=cast.admin, project=cast.project, batch_size=1, seed=1)

    assert queue(cast) == [5, 1, 3, 0, 2, 6, 4, 7]
    assert (done.contested, done.unanimous, done.unscored, done.moved) == (3, 3, 2, 6)
    current = Project.objects.get(pk=cast.project.pk)
    assert (current.triage_seed, current.triage_batch_size) == (1, 1)
    event = AuditEvent.objects.get(verb="queue.triage")
    assert event.detail == {"seed": 1, "batch_size": 1, "moved": 6, "contested": 3}


def test_triage_within_a_batch_is_decided_by_the_seed(cast: Cast, rows: list[Trajectory]) -> None:
    orders = []
    for seed in range(12):
        projects.triage(actor=cast.admin, project=cast.project, batch_size=4, seed=seed)
        orders.append(queue(cast))
        assert set(orders[-1][:4]) == {5, 1, 3, 0} and set(orders[-1][4:]) == {2, 6, 4, 7}
    firsts = {order[0] for order in orders}

    assert len(firsts) == 4, "any of the batch can come first"
    projects.triage(actor=cast.admin, project=cast.project, batch_size=4, seed=5)
    assert queue(cast) == orders[5]


def test_triage_leaves_what_has_begun_where_it_is(cast: Cast, rows: list[Trajectory]) -> None:
    first = people.claim(cast.ann, cast.project)
    returned = people.claim(cast.ben, cast.project)  # the same one
    assign.return_assignment(actor=cast.ben, assignment=returned, reason="later")
    third = assign.claim_this(actor=cast.cleo, trajectory=rows[2])
    assign.return_assignment(actor=cast.cleo, assignment=third, reason="later")
    places = {row.pk: row.position for row in rows}

    projects.triage(actor=cast.admin, project=cast.project, batch_size=1, seed=1)

    # 0 is open and 2 has been given back: both keep their places, the rest shares the other ones
    assert queue(cast) == [0, 5, 2, 1, 3, 6, 4, 7]
    now = dict(Trajectory.objects.values_list("pk", "position"))
    assert sorted(now.values()) == sorted(places.values())
    assert now[first.trajectory_id] == places[first.trajectory_id]


def test_triage_serves_whoever_had_passed_a_place_there_again(cast: Cast, rows: list[Trajectory]) -> None:
    for _ in range(2):
        people.label_next(cast.ann, cast.project)
    Membership.objects.filter(user=cast.ann).update(claim_cursor=rows[-1].position + 1)

    projects.triage(actor=cast.admin, project=cast.project, batch_size=1, seed=1)

    assert people.claim(cast.ann, cast.project).trajectory_id == rows[5].pk
    # ben is served what ann has done before it
    assert people.claim(cast.ben, cast.project).trajectory_id == rows[0].pk


def test_triage_undone_is_the_order_before_it(cast: Cast) -> None:
    rows = fill(cast)
    people.import_records(cast.project, 3, subset="later")
    before = dict(Trajectory.objects.values_list("pk", "position"))
    projects.triage(actor=cast.admin, project=cast.project, batch_size=3, seed=4)
    assert dict(Trajectory.objects.values_list("pk", "position")) != before

    moved = projects.undo_triage(actor=cast.admin, project=cast.project)

    assert dict(Trajectory.objects.values_list("pk", "position")) == before
    assert moved and Project.objects.get(pk=cast.project.pk).triage_seed is None
    assert AuditEvent.objects.get(verb="queue.restore").detail == {"moved": moved}
    assert projects.undo_triage(actor=cast.admin, project=cast.project) == 0
    assert rows


def test_triage_leaves_later_imports_and_another_project_alone(cast: Cast, rows: list[Trajectory]) -> None:
    other = people.make_project("other")
    theirs = [row.position for row in people.import_records(other, 3)]

    projects.triage(actor=cast.admin, project=cast.project, batch_size=2, seed=1)
    people.import_records(cast.project, 2, subset="later")

    assert queue(cast)[-2:] == [0, 1]
    assert [row.position for row in Trajectory.objects.filter(project=other)] == theirs


def test_annotator_learns_nothing_but_the_next_one(cast: Cast, rows: list[Trajectory]) -> None:
    projects.triage(actor=cast.admin, project=cast.project, batch_size=4, seed=123_456_789)
    ann = Caller(cast.ann)
    claimed = ann.post("/projects/bench/claim/").json()
    addresses = ("/projects/bench/", "/projects/bench/assignments/", f"/assignments/{claimed['id']}/", "/me/")

    places = [str(place) for place in Trajectory.objects.values_list("position", flat=True)]
    assert all(len(place) > 5 for place in places)
    for address in addresses:
        answer = ann.get(address).content.decode()
        for word in ("triage", "123456789", "batch", "contested", *places):
            assert word not in answer, (address, word)
    assert ann.get("/projects/bench/triage/").status_code == 403


@pytest.mark.parametrize("values", [{"batch_size": 0}, {"batch_size": 1_001}, {"seed": -1}])
def test_triage_refuses_values_out_of_range(cast: Cast, values: dict[str, int]) -> None:
    with pytest.raises(Invalid):
        projects.triage(actor=cast.admin, project=cast.project, **values)


def test_triage_has_brought_the_share_of_disputes_in_the_first_half(
    cast: Cast, rows: list[Trajectory]
) -> None:
    before = triage_so_far(viewer=OPERATOR, project=cast.project)
    assert (before.found.value, str(before.found.reason), before.waiting) == (
        None,
        "no fully labelled trajectory was disputed",
        8,
    )
    projects.triage(actor=cast.admin, project=cast.project, batch_size=1, seed=1)
    people.make_disputed(cast, 3)  # 5, 1 and 3 are the first in the queue
    people.make_unanimous(cast, 3)  # then 0, 2 and 6

    after = triage_so_far(viewer=OPERATOR, project=Project.objects.get(pk=cast.project.pk))

    assert (after.found.value, after.found.n) == (1, 3)
    assert (after.seed, after.batch_size, after.waiting) == (1, 1, 2)


def test_command_triages_and_takes_it_back(cast: Cast, rows: list[Trajectory]) -> None:
    said = run("triage", "bench", "--batch-size", "1", "--seed", "1").err

    assert "6 trajectories changed places: 3 contested ones first, then 3 unanimous and 2 without" in said
    assert queue(cast)[:3] == [5, 1, 3]
    assert "Back in the order of chance: 6" in run("triage", "bench", "--undo").err
    assert queue(cast) == list(range(8))
    assert "neither" in fails("triage", "bench", "--undo", "--seed", "1").out
    assert "1 to 1,000" in fails("triage", "bench", "--batch-size", "0").out


def test_triage_over_the_api_is_done_read_and_undone(cast: Cast, rows: list[Trajectory]) -> None:
    admin = Caller(cast.admin)
    path = "/projects/bench/triage/"

    done = admin.post(path, {"batch_size": 1, "seed": 1})

    assert done.json() == {
        "moved": 6,
        "contested": 3,
        "unanimous": 3,
        "unscored": 2,
        "seed": 1,
        "batch_size": 1,
    }
    state = admin.get(path).json()
    assert (state["seed"], state["batch_size"], state["waiting"]) == (1, 1, 8)
    assert state["found"]["value"] is None and state["found"]["reason"]
    assert admin.post(path, {"batch_size": "many"}).status_code == 400
    assert admin.delete(path).status_code == 204 and admin.get(path).json()["seed"] is None
