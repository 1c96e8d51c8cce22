"""Submitting, giving back, taking a submission back."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.core.errors import Conflict, Denied, Invalid, StaleState
from annotation.core.vocabulary import AssignmentState, ExposureKind, TrajectoryState
from annotation.models import Assignment, AuditEvent, Label, Membership
from annotation.reports.work.my_progress import with_progress
from annotation.services import assign, exposures, label, projects
from tests import people
from tests.people import Cast, change


# ── Submitting ────────────────────────────
def test_submit_of_an_incomplete_assignment_names_the_first_step_that_is_missing(cast: Cast) -> None:
    people.import_records(cast.project, [people.make_record(steps=4)])
    assignment = people.claim(cast.ann, cast.project)
    label.save_labels(actor=cast.ann, assignment=assignment, op_id="a", changes=[change(2, 1), change(6, 1)])

    with pytest.raises(Invalid) as refusal:
        label.submit(actor=cast.ann, assignment=assignment)

    assert refusal.value.code == "incomplete"
    assert refusal.value.message == "Not complete yet: step 2 (message 4) has no label."
    assert refusal.value.details == {"missing": [4, 8], "outcome": True}
    assignment.refresh_from_db()
    assert assignment.state == AssignmentState.OPEN


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ([change(2, 1), change(4, 1)], "the outcome is not set"),
        # what the rule proposes for step 2 is no label
        ([change(2, -1), change(None, -1)], r"step 2 \(message 4\)"),
    ],
)
def test_submit_needs_an_outcome_and_labels_of_ones_own(
    cast: Cast, claimed: Assignment, changes: list[dict[str, Any]], why: str
) -> None:
    label.save_labels(actor=cast.ann, assignment=claimed, op_id="a", changes=changes)

    with pytest.raises(Invalid, match=why):
        label.submit(actor=cast.ann, assignment=claimed)


def test_label_and_outcome_taken_back_are_missing_again(cast: Cast, claimed: Assignment) -> None:
    people.label_all(claimed)
    taken_back = [change(4, None, version=1), change(None, None, version=1)]
    label.save_labels(actor=cast.ann, assignment=claimed, op_id="b", changes=taken_back)

    with pytest.raises(Invalid, match=r"step 2 \(message 4\)") as refusal:
        label.submit(actor=cast.ann, assignment=claimed)

    assert refusal.value.details == {"missing": [4], "outcome": True}


def test_submit_of_a_complete_assignment_keeps_its_time_and_guidelines(
    cast: Cast, claimed: Assignment
) -> None:
    projects.write_guidelines(actor=cast.admin, project=cast.project, text="Judge well.")
    people.label_all(claimed)

    done = label.submit(actor=cast.ann, assignment=claimed)

    assert done.state == AssignmentState.SUBMITTED
    assert done.submitted_at is not None
    assert (done.guideline_version, done.slot) == (2, 0)
    assert AuditEvent.objects.filter(verb="assignment.submit", actor=cast.ann).count() == 1


def test_submit_twice_is_refused_and_changes_nothing(cast: Cast, claimed: Assignment) -> None:
    people.label_all(claimed)
    first = label.submit(actor=cast.ann, assignment=claimed)

    with pytest.raises(StaleState) as refusal:
        label.submit(actor=cast.ann, assignment=claimed)

    assert refusal.value.code == "not_open"
    claimed.refresh_from_db()
    assert claimed.submitted_at == first.submitted_at


@pytest.mark.parametrize("who", ["ben", "admin", "root"])
def test_submit_for_another_is_refused(cast: Cast, claimed: Assignment, who: str) -> None:
    people.label_all(claimed)

    with pytest.raises(Denied):
        label.submit(actor=cast.everybody[who], assignment=claimed)


# ── Giving back ───────────────────────────
@pytest.mark.parametrize("reason", ["", "   ", "\n", "x" * 2_001])
def test_return_needs_a_reason_of_sensible_length(cast: Cast, claimed: Assignment, reason: str) -> None:
    with pytest.raises(Invalid) as refusal:
        assign.return_assignment(actor=cast.ann, assignment=claimed, reason=reason)

    assert set(refusal.value.fields) == {"reason"}


def test_return_frees_the_slot_and_keeps_the_draft(cast: Cast, claimed: Assignment) -> None:
    label.save_labels(actor=cast.ann, assignment=claimed, op_id="a", changes=[change(2, -1, note="Hm.")])

    returned = assign.return_assignment(actor=cast.ann, assignment=claimed, reason=" I know the author.\x00 ")

    assert (returned.state, returned.slot) == (AssignmentState.RETURNED, None)
    assert returned.trajectory.free_slots == 2
    assert Label.objects.get(assignment=claimed).value == -1
    with pytest.raises(StaleState):
        label.save_labels(actor=cast.ann, assignment=claimed, op_id="b", changes=[change(4, 1)])


def test_return_is_not_given_to_the_same_person_again_and_to_others_first(
    cast: Cast, claimed: Assignment
) -> None:
    for user in (cast.ben, cast.cleo):
        for _ in range(2):
            people.claim(user, cast.project)
    assign.return_assignment(actor=cast.ann, assignment=claimed, reason="Ill.")
    assert set(Membership.objects.values_list("claim_cursor", flat=True)) <= {
        0,
        claimed.trajectory.position,
    }

    ann_next = people.claim(cast.ann, cast.project)
    cleo_next = people.claim(cast.cleo, cast.project)

    assert ann_next.trajectory_id != claimed.trajectory_id
    assert cleo_next.trajectory_id == claimed.trajectory_id


def test_return_of_a_submitted_assignment_is_refused(cast: Cast, claimed: Assignment) -> None:
    people.label_all(claimed)
    label.submit(actor=cast.ann, assignment=claimed)

    with pytest.raises(StaleState):
        assign.return_assignment(actor=cast.ann, assignment=claimed, reason="Oh.")
    claimed.trajectory.refresh_from_db()
    assert claimed.trajectory.free_slots == 1


# ── What N labels come to ─────────────────
def test_submit_settles_nothing_before_the_last_of_n(cast: Cast, claimed: Assignment) -> None:
    people.label_all(claimed)
    label.submit(actor=cast.ann, assignment=claimed)

    claimed.trajectory.refresh_from_db()
    assert claimed.trajectory.state == TrajectoryState.LABELLING


# ── Taking a submission back ──────────────
def offered(assignment: Assignment) -> bool:
    return with_progress(Assignment.stored.filter(pk=assignment.pk)).values_list("reopenable", flat=True)[0]


@pytest.mark.postgres
def test_reopen_of_ones_own_submission_works_until_another_is_in(cast: Cast, claimed: Assignment) -> None:
    people.label_all(claimed)
    label.submit(actor=cast.ann, assignment=claimed)
    assert offered(claimed)

    opened = label.reopen(actor=cast.ann, assignment=claimed)
    assert (opened.state, opened.slot, opened.submitted_at) == (AssignmentState.OPEN, 0, None)
    label.save_labels(actor=cast.ann, assignment=claimed, op_id="again", changes=[change(2, -1, version=1)])
    label.submit(actor=cast.ann, assignment=claimed)
    other = people.claim(cast.ben, cast.project)
    people.label_all(other)
    label.submit(actor=cast.ben, assignment=other)

    for user, mine in ((cast.ann, claimed), (cast.ben, other)):
        with pytest.raises(Conflict) as refusal:
            label.reopen(actor=user, assignment=mine)
        assert refusal.value.code == "too_late"
        assert offered(mine), "that another is in, nobody is told who has not asked"


@pytest.mark.parametrize("n", [1, 3])
def test_reopen_ends_with_the_second_submission_or_the_only_one(db: None, n: int) -> None:
    cast = people.make_cast(annotators_per_trajectory=n)
    people.import_records(cast.project, 1)
    first = people.label_next(cast.ann, cast.project)
    assert offered(first) is (n > 1)
    if n > 1:
        people.label_next(cast.ben, cast.project)

    with pytest.raises(Conflict):
        label.reopen(actor=cast.ann, assignment=first)


def test_reopen_is_refused_to_who_has_seen_others_labels_meanwhile(cast: Cast, claimed: Assignment) -> None:
    people.label_all(claimed)
    label.submit(actor=cast.ann, assignment=claimed)
    exposures.expose(user=cast.ann, trajectory=claimed.trajectory, kind=ExposureKind.LABEL)

    assert not offered(claimed)
    with pytest.raises(Denied) as refusal:
        label.reopen(actor=cast.ann, assignment=claimed)

    assert refusal.value.code == "exposed"


def test_reopen_of_an_open_assignment_and_somebody_elses_is_refused(cast: Cast, claimed: Assignment) -> None:
    with pytest.raises(StaleState):
        label.reopen(actor=cast.ann, assignment=claimed)
    people.label_all(claimed)
    label.submit(actor=cast.ann, assignment=claimed)
    for who in ("ben", "admin", "root"):
        with pytest.raises(Denied):
            label.reopen(actor=cast.everybody[who], assignment=claimed)


# ── Marks and time ────────────────────────
@pytest.mark.postgres
def test_flags_and_time_at_work_belong_to_ones_own_open_assignment(cast: Cast, claimed: Assignment) -> None:
    label.set_flags(actor=cast.ann, assignment=claimed, needs_discussion=True, broken=False)
    label.add_activity(actor=cast.ann, assignment=claimed, active_ms=1_500)
    label.add_activity(actor=cast.ann, assignment=claimed, active_ms=500)
    claimed.refresh_from_db()
    assert (claimed.needs_discussion, claimed.broken, claimed.active_ms) == (True, False, 2_000)
    for wrong in (-1, 1.5, True, 10**9):
        with pytest.raises(Invalid):
            label.add_activity(actor=cast.ann, assignment=claimed, active_ms=wrong)  # type: ignore[arg-type]
    with pytest.raises(Denied):
        label.set_flags(actor=cast.ben, assignment=claimed, needs_discussion=True, broken=True)

    people.label_all(claimed)
    label.submit(actor=cast.ann, assignment=claimed)
    label.add_activity(actor=cast.ann, assignment=claimed, active_ms=9)
    with pytest.raises(StaleState):
        label.set_flags(actor=cast.ann, assignment=claimed, needs_discussion=False, broken=False)
    claimed.refresh_from_db()
    assert (claimed.needs_discussion, claimed.active_ms) == (True, 2_000)
