"""Many people claim, return and submit at the same time; real threads on the real database."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable

import pytest

from annotation.core.errors import Conflict, Locked, StaleState
from annotation.core.vocabulary import AssignmentState, TrajectoryState
from annotation.models import Assignment, OutcomeConsensus, Project, Trajectory, User
from annotation.policies import OPERATOR
from annotation.services import assign, label, projects
from tests import people
from tests.services.together import annotators, refused, succeeded, together, until_nothing_is_left

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("wanted", [1, 3])
def test_claim_of_12_people_at_once_gives_every_trajectory_exactly_n_different_people(wanted: int) -> None:
    project = people.make_project(annotators_per_trajectory=wanted)
    everybody = annotators(project, 12)
    trajectories = people.import_records(project, 15)

    results = together(*(until_nothing_is_left(user, project) for user in everybody))

    assert refused(results) == []
    by_trajectory: dict[int, list[Assignment]] = defaultdict(list)
    for assignment in Assignment.objects.filter(project=project):
        by_trajectory[assignment.trajectory_id].append(assignment)
    assert set(by_trajectory) == {row.pk for row in trajectories}
    for held in by_trajectory.values():
        assert sorted(one.slot for one in held if one.slot is not None) == list(range(wanted))
        assert len({one.annotator_id for one in held}) == wanted
    assert sum(results) == 15 * wanted
    assert set(Trajectory.objects.filter(project=project).values_list("free_slots", flat=True)) == {0}


def test_claim_return_and_submit_at_random_leave_the_counts_right() -> None:
    project = people.make_project()
    everybody = annotators(project, 12)
    people.import_records(project, 15)

    def restless(user: User, seed: int) -> Callable[[], None]:
        rng = random.Random(seed)

        def work() -> None:
            for _ in range(6):
                try:
                    assignment = assign.claim_next(actor=user, project=project)
                except Conflict:
                    return
                if rng.random() < 0.4:
                    assign.return_assignment(actor=user, assignment=assignment, reason="Not mine.")
                    if rng.random() < 0.3:
                        try:
                            assign.resume_assignment(actor=user, assignment=assignment)
                        except StaleState:
                            continue
                else:
                    people.label_all(assignment, rng.choice((-1, 0, 1)))
                    label.submit(actor=user, assignment=assignment)

        return work

    results = together(*(restless(user, seed) for seed, user in enumerate(everybody)))

    assert refused(results) == []
    active = (AssignmentState.OPEN, AssignmentState.SUBMITTED)
    for row in Trajectory.objects.filter(project=project):
        held = list(Assignment.objects.filter(trajectory=row, state__in=active))
        submitted = [one for one in held if one.state == AssignmentState.SUBMITTED]
        assert row.free_slots == 2 - len(held)
        assert len({one.slot for one in held}) == len(held)
        assert (row.state != TrajectoryState.LABELLING) == (len(submitted) == 2)


def test_claim_of_the_last_slot_by_two_people_tells_them_apart() -> None:
    cast = people.make_cast()
    (trajectory,) = people.import_records(cast.project, 1)
    people.claim(cast.ann, cast.project)

    results = together(
        lambda: assign.claim_next(actor=cast.ben, project=cast.project),
        lambda: assign.claim_next(actor=cast.cleo, project=cast.project),
    )

    assert len(succeeded(results)) == 1
    assert refused(results) == ["nothing_left"]
    trajectory.refresh_from_db()
    assert trajectory.free_slots == 0


def test_claim_by_a_double_click_happens_once() -> None:
    cast = people.make_cast()
    people.import_records(cast.project, 5)

    results = together(
        *[lambda: assign.claim_next(actor=cast.ann, project=cast.project, claim_key="click-1")] * 8
    )

    assert refused(results) == []
    assert len({assignment.pk for assignment in results}) == 1
    assert Assignment.objects.count() == 1
    assert sorted(Trajectory.objects.values_list("free_slots", flat=True)) == [1, 2, 2, 2, 2]


def test_claim_in_several_windows_gives_a_different_trajectory_in_each() -> None:
    cast = people.make_cast()
    people.import_records(cast.project, 6)

    results = together(*[lambda: assign.claim_next(actor=cast.ann, project=cast.project)] * 6)

    assert len({assignment.trajectory_id for assignment in succeeded(results)}) == len(succeeded(results))
    assert set(refused(results)) <= {"busy"}
    assert Counter(Trajectory.objects.values_list("free_slots", flat=True))[1] == len(succeeded(results))


def test_claim_of_a_returned_slot_by_two_people_goes_to_one_of_them() -> None:
    cast = people.make_cast()
    people.import_records(cast.project, 1)
    first = people.claim(cast.ann, cast.project)
    people.claim(cast.ben, cast.project)
    assign.return_assignment(actor=cast.ann, assignment=first, reason="Ill.")

    results = together(
        lambda: assign.claim_next(actor=cast.cleo, project=cast.project),
        lambda: assign.resume_assignment(actor=cast.ann, assignment=first),
    )

    assert len(succeeded(results)) == 1
    assert refused(results)[0] in {"nothing_left", "no_free_slot"}
    active = Assignment.objects.filter(slot__isnull=False)
    assert sorted(one.slot or 0 for one in active) == [0, 1]


def test_claim_and_a_change_of_n_at_once_leave_either_the_old_n_or_the_new() -> None:
    for round_ in range(6):
        cast_project = people.make_project(f"bench-{round_}")
        user = people.make_user(f"annotator-{round_}")
        people.make_member(cast_project, user, "annotator")
        people.import_records(cast_project, 3)

        results = together(
            lambda user=user, project=cast_project: assign.claim_next(actor=user, project=project),  # type: ignore[misc]
            lambda project=cast_project: projects.update_project(  # type: ignore[misc]
                actor=OPERATOR, project=project, values={"annotators_per_trajectory": 3}
            ),
        )

        assert isinstance(results[0], Assignment), results[0]
        assert isinstance(results[1], Project | Locked), results[1]
        cast_project.refresh_from_db()
        wanted = cast_project.annotators_per_trajectory
        assert wanted == (2 if isinstance(results[1], Locked) else 3)
        slots = Trajectory.objects.filter(project=cast_project).values_list("free_slots", flat=True)
        assert sorted(slots) == [wanted - 1, wanted, wanted]


@pytest.mark.parametrize("alike", [True, False])
def test_submit_of_the_last_two_annotators_at_once_settles_the_trajectory_once(alike: bool) -> None:
    cast = people.make_cast()
    trajectories = people.import_records(cast.project, 6)
    pairs = []
    for _ in trajectories:
        one, other = people.claim(cast.ann, cast.project), people.claim(cast.ben, cast.project)
        people.label_all(one, 1)
        people.label_all(other, 1 if alike else -1)
        pairs.append((one, other))

    for one, other in pairs:
        results = together(
            lambda one=one: label.submit(actor=cast.ann, assignment=one),  # type: ignore[misc]
            lambda other=other: label.submit(actor=cast.ben, assignment=other),  # type: ignore[misc]
        )
        assert refused(results) == []

    expected = TrajectoryState.UNANIMOUS if alike else TrajectoryState.DISPUTED
    assert set(Trajectory.objects.values_list("state", flat=True)) == {expected.value}
    assert OutcomeConsensus.objects.count() == (6 if alike else 0)


def test_submitting_twice_at_once_submits_once() -> None:
    cast = people.make_cast()
    people.import_records(cast.project, 1)
    assignment = people.claim(cast.ann, cast.project)
    people.label_all(assignment)

    results = together(*[lambda: label.submit(actor=cast.ann, assignment=assignment)] * 4)

    assert len(succeeded(results)) == 1
    assert refused(results) == ["not_open"] * 3


def test_submitting_and_reopening_at_once_wait_for_nobody_for_ever() -> None:
    cast = people.make_cast()
    people.import_records(cast.project, 1)
    assignment = people.claim(cast.ann, cast.project)
    people.label_all(assignment)

    for _ in range(5):
        results = together(
            lambda: label.submit(actor=cast.ann, assignment=assignment),
            lambda: label.reopen(actor=cast.ann, assignment=assignment),
            lambda: label.submit(actor=cast.ann, assignment=assignment),
            lambda: label.reopen(actor=cast.ann, assignment=assignment),
        )
        assert set(refused(results)) <= {"not_open", "stale_state"}
        assert succeeded(results)

    assert Trajectory.objects.get().free_slots == 1
    assert Assignment.objects.get().slot == 0
