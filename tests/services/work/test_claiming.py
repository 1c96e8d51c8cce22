"""Claiming one after the other, and taking up again what was given back."""

from __future__ import annotations

import pytest

from annotation.core.errors import Conflict, Denied, Invalid, Locked, StaleState
from annotation.core.vocabulary import AssignmentState, ExposureKind
from annotation.models import Assignment, Project, Trajectory
from annotation.services import assign, exposures, label, projects
from tests import people
from tests.people import Cast


# ── Claiming, one after the other ─────────
def test_claim_gives_trajectories_in_the_order_of_the_queue(cast: Cast) -> None:
    rows = people.import_records(cast.project, 4)

    assert [people.claim(cast.ann, cast.project).trajectory_id for _ in rows] == [row.pk for row in rows]
    with pytest.raises(Conflict) as refusal:
        people.claim(cast.ann, cast.project)
    assert refusal.value.code == "nothing_left"


@pytest.mark.usefixtures("queue_of_chance")
def test_queue_has_no_order_and_later_imports_come_between(cast: Cast) -> None:
    """One after the other must tell nothing, or whatever comes out of turn would be a recheck."""
    Project.objects.filter(pk=cast.project.pk).update(recheck_seed=3)
    cast.project.refresh_from_db()
    first = [row.pk for row in people.import_records(cast.project, 8)]
    begun = [people.claim(cast.ann, cast.project).trajectory_id for _ in range(4)]
    people.import_records(cast.project, 8, subset="later")
    rest = [people.claim(cast.ann, cast.project).trajectory_id for _ in range(12)]

    later = [pk not in first for pk in rest]
    assert sorted(begun + rest) == sorted(Trajectory.objects.values_list("pk", flat=True))
    assert begun != sorted(begun) and rest != sorted(rest)
    assert True in later[: later.index(False) + 4] and False in later[later.index(True) :]


def test_claim_finds_an_import_after_the_end_of_the_queue(cast: Cast) -> None:
    people.import_records(cast.project, 2)
    people.claim(cast.ann, cast.project)
    people.claim(cast.ann, cast.project)
    people.import_records(cast.project, 3, subset="more")

    assert people.claim(cast.ann, cast.project).trajectory.subset.name == "more"


@pytest.mark.parametrize("key", ["x" * 65, "a b", "\x00", "\ud800"])
def test_claim_key_that_no_page_of_ours_makes_is_refused(cast: Cast, key: str) -> None:
    with pytest.raises(Invalid) as refusal:
        assign.claim_next(actor=cast.ann, project=cast.project, claim_key=key)

    assert set(refusal.value.fields) == {"claim_key"}


@pytest.mark.parametrize("given_back", [True, False])
def test_n_is_locked_after_the_first_claim_even_when_it_was_given_back(
    cast: Cast, claimed: Assignment, given_back: bool
) -> None:
    if given_back:
        assign.return_assignment(actor=cast.ann, assignment=claimed, reason="No.")

    with pytest.raises(Locked) as refusal:
        projects.update_project(
            actor=cast.admin, project=cast.project, values={"annotators_per_trajectory": 3}
        )

    assert refusal.value.code == "annotators_locked"
    assert set(Trajectory.objects.values_list("free_slots", flat=True)) <= {1, 2}
    cast.project.refresh_from_db()
    assert cast.project.annotators_per_trajectory == 2


def test_free_slots_of_every_trajectory_follow_n_before_the_first_claim(cast: Cast) -> None:
    people.import_records(cast.project, 3)

    projects.update_project(actor=cast.admin, project=cast.project, values={"annotators_per_trajectory": 5})

    assert set(Trajectory.objects.values_list("free_slots", flat=True)) == {5}


@pytest.mark.postgres
def test_n_stays_the_same_when_only_the_name_changes_after_a_claim(cast: Cast, claimed: Assignment) -> None:
    changed = projects.update_project(
        actor=cast.admin,
        project=cast.project,
        values={"name": "Other", "annotators_per_trajectory": 2},
    )

    assert changed.name == "Other"


# ── Taking up again ───────────────────────
def test_resume_takes_up_a_returned_trajectory_with_its_draft(cast: Cast, claimed: Assignment) -> None:
    people.label_all(claimed, note="First thoughts.")
    assign.return_assignment(actor=cast.ann, assignment=claimed, reason="Later.")
    people.claim(cast.ben, cast.project)

    resumed = assign.resume_assignment(actor=cast.ann, assignment=claimed)

    assert (resumed.state, resumed.slot) == (AssignmentState.OPEN, 1)
    assert resumed.trajectory.free_slots == 0
    assert label.submit(actor=cast.ann, assignment=resumed).state == AssignmentState.SUBMITTED


def test_resume_of_a_returned_trajectory_whose_slots_are_taken_is_refused(
    cast: Cast, claimed: Assignment
) -> None:
    assign.return_assignment(actor=cast.ann, assignment=claimed, reason="Later.")
    people.claim(cast.ben, cast.project)
    people.claim(cast.cleo, cast.project)

    with pytest.raises(StaleState) as refusal:
        assign.resume_assignment(actor=cast.ann, assignment=claimed)

    assert refusal.value.code == "no_free_slot"


def test_resume_of_an_open_assignment_is_refused(cast: Cast, claimed: Assignment) -> None:
    with pytest.raises(StaleState):
        assign.resume_assignment(actor=cast.ann, assignment=claimed)
    claimed.trajectory.refresh_from_db()
    assert claimed.trajectory.free_slots == 1


def test_resume_is_refused_to_who_has_seen_others_labels_meanwhile(cast: Cast, claimed: Assignment) -> None:
    assign.return_assignment(actor=cast.ann, assignment=claimed, reason="Later.")
    exposures.expose(user=cast.ann, trajectory=claimed.trajectory, kind=ExposureKind.LABEL)

    with pytest.raises(Denied) as refusal:
        assign.resume_assignment(actor=cast.ann, assignment=claimed)

    assert refusal.value.code == "exposed"


def test_claim_does_not_give_a_trajectory_to_who_has_seen_others_labels(cast: Cast) -> None:
    first, second = people.import_records(cast.project, 2)
    exposures.expose(user=cast.ann, trajectory=first, kind=ExposureKind.LABEL)

    assert people.claim(cast.ann, cast.project).trajectory_id == second.pk


def test_claim_key_of_another_project_is_refused_and_gives_nothing_of_that_project(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    other = people.make_project("other")
    people.make_member(other, cast.ann, "annotator")
    people.import_records(other, 1)
    first = assign.claim_next(actor=cast.ann, project=cast.project, claim_key="job-1")

    with pytest.raises(Conflict) as reused:
        assign.claim_next(actor=cast.ann, project=other, claim_key="job-1")

    assert reused.value.code == "claim_key_reused"
    assert assign.claim_next(actor=cast.ann, project=cast.project, claim_key="job-1") == first
