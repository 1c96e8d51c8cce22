"""Resolution of a trajectory's labels, and of a dispute."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.core.errors import Conflict, Denied, Invalid, StaleState, StaleVersion
from annotation.core.vocabulary import AdjudicationState, TrajectoryState
from annotation.models import (
    Adjudication,
    Consensus,
    Decision,
    Exposure,
    OutcomeConsensus,
    Trajectory,
    User,
)
from annotation.services import adjudicate, assign, label
from tests import people
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast


def labelled(cast: Cast, *sheets: tuple[list[int], int]) -> Trajectory:
    """The one trajectory of the project (steps 2, 4, 6), labelled by ann, ben and cleo as the sheets say."""
    (trajectory,) = people.import_records(cast.project, [people.make_record(steps=3)])
    for user, (values, outcome) in zip((cast.ann, cast.ben, cast.cleo), sheets, strict=False):
        people.label_next(user, cast.project, values, outcome=outcome)
    trajectory.refresh_from_db()
    return trajectory


def consensus_of(trajectory: Trajectory) -> list[tuple[int, int, str]]:
    rows = Consensus.objects.filter(trajectory=trajectory).order_by("step__message_index")
    return list(rows.values_list("step__message_index", "value", "kind"))


def outcome_of(trajectory: Trajectory) -> tuple[int, str]:
    row = OutcomeConsensus.objects.get(trajectory=trajectory)
    return row.value, row.kind


# ── What N labels come to ─────────────────
def test_consensus_of_equal_labels_is_there_at_once(cast: Cast) -> None:
    trajectory = labelled(cast, ([1, 0, -1], -1), ([1, 0, -1], -1))

    assert trajectory.state == TrajectoryState.UNANIMOUS
    assert consensus_of(trajectory) == [(2, 1, "unanimous"), (4, 0, "unanimous"), (6, -1, "unanimous")]
    assert outcome_of(trajectory) == (-1, "unanimous")


@pytest.mark.parametrize("other", [([1, 0, 1], 1), ([1, 1, 1], 0)], ids=["step", "outcome"])
def test_dispute_is_one_label_that_differs(cast: Cast, other: tuple[list[int], int]) -> None:
    trajectory = labelled(cast, ([1, 1, 1], 1), other)

    assert trajectory.state == TrajectoryState.DISPUTED
    assert not Consensus.objects.exists() and not OutcomeConsensus.objects.exists()


def test_dispute_is_not_made_by_marks_notes_and_roots(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    people.label_next(cast.ann, cast.project, -1, note="Both wrong.")
    other = people.claim(cast.ben, cast.project)
    people.label_all(other, -1)
    pinned = people.change(4, -1, version=1, root=4, root_pinned=True, unsure=True, flagged=True)
    label.save_labels(actor=cast.ben, assignment=other, op_id="pin", changes=[pinned])
    label.submit(actor=cast.ben, assignment=other)

    assert Trajectory.objects.get().state == TrajectoryState.UNANIMOUS


def test_consensus_with_one_annotator_is_every_label(db: None) -> None:
    cast = people.make_cast(annotators_per_trajectory=1)

    trajectory = labelled(cast, ([1, -1, -1], -1))

    assert trajectory.state == TrajectoryState.UNANIMOUS
    assert outcome_of(trajectory) == (-1, "unanimous")


@pytest.mark.parametrize(("third", "state"), [(1, TrajectoryState.UNANIMOUS), (0, TrajectoryState.DISPUTED)])
def test_consensus_with_three_annotators_needs_all_three(
    db: None, third: int, state: TrajectoryState
) -> None:
    cast = people.make_cast(annotators_per_trajectory=3)

    trajectory = labelled(cast, ([1, 1, 1], 1), ([1, 1, 1], 1), ([1, 1, third], 1))

    assert trajectory.state == state


def test_submission_after_a_return_settles_what_the_other_two_made_of_it(cast: Cast) -> None:
    (trajectory,) = people.import_records(cast.project, 1)
    mine = people.claim(cast.ann, cast.project)
    people.label_all(mine, -1)
    assign.return_assignment(actor=cast.ann, assignment=mine, reason="Not sure at all.")
    people.label_next(cast.ben, cast.project, 1)
    people.label_next(cast.cleo, cast.project, 1)

    trajectory.refresh_from_db()
    assert trajectory.state == TrajectoryState.UNANIMOUS
    assert {value for _, value, _ in consensus_of(trajectory)} == {1}


# ── Cases ─────────────────────────────────
@shared_rows
def disputed(cast: Cast) -> Trajectory:
    """Step 4 disputed, steps 2 and 6 agreed, the outcome disputed."""
    return labelled(cast, ([1, 1, -1], 1), ([1, 0, -1], -1))


@shared_rows
def case(cast: Cast, disputed: Trajectory) -> Adjudication:
    return people.open_case(cast.judith, disputed)


def decide(
    case: Adjudication, index: int | None, value: int, *, version: int = 0, actor: User | None = None
) -> Decision:
    return adjudicate.decide(
        actor=actor or case.adjudicator, adjudication=case, message_index=index, value=value, version=version
    )


def test_case_opened_is_an_exposure_and_opened_again_is_the_same(cast: Cast, disputed: Trajectory) -> None:
    first = people.open_case(cast.judith, disputed)

    assert people.open_case(cast.judith, disputed).pk == first.pk
    assert Exposure.objects.filter(user=cast.judith, trajectory=disputed, kind="label").count() == 1


@pytest.mark.parametrize("who", ["ann", "cleo"])
def test_case_is_not_for_who_labelled_the_trajectory_or_gave_it_back(cast: Cast, who: str) -> None:
    people.make_member(cast.project, cast.everybody[who], "annotator", "adjudicator")
    (trajectory,) = people.import_records(cast.project, 1)
    mine = people.claim(cast.cleo, cast.project)
    assign.return_assignment(actor=cast.cleo, assignment=mine, reason="Busy.")
    people.make_disputed(cast)

    with pytest.raises(Denied):
        people.open_case(cast.everybody[who], trajectory)


def test_case_is_none_of_what_is_not_disputed(cast: Cast) -> None:
    trajectory = labelled(cast, ([1, 1, 1], 1), ([1, 1, 1], 1))

    with pytest.raises(Conflict) as refusal:
        people.open_case(cast.judith, trajectory)

    assert refusal.value.code == "not_disputed"


def test_case_that_somebody_has_is_theirs(cast: Cast, case: Adjudication) -> None:
    people.make_member(cast.project, cast.oscar, "adjudicator")

    with pytest.raises(Conflict) as taken:
        people.open_case(cast.oscar, case.trajectory)
    with pytest.raises(Denied):
        decide(case, 4, 1, actor=cast.oscar)

    assert taken.value.code == "case_taken"


@pytest.mark.parametrize(
    ("index", "why"), [(2, "agree on step 1"), (0, "not a step"), (3, "not a step"), (99, "not a step")]
)
def test_only_what_is_disputed_can_be_decided(case: Adjudication, index: int, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        decide(case, index, 1)


@pytest.mark.parametrize("value", [2, -2, True, "1", 1.0, None])
def test_decision_is_a_label(case: Adjudication, value: object) -> None:
    with pytest.raises(Invalid) as refusal:
        decide(case, 4, value)  # type: ignore[arg-type]

    assert set(refusal.value.fields) == {"value"}
    assert not Decision.objects.exists()


@pytest.mark.postgres
def test_decision_changed_elsewhere_is_stale(case: Adjudication) -> None:
    decide(case, 4, 1)

    for version in (0, 2):
        with pytest.raises(StaleVersion):
            decide(case, 4, -1, version=version)
    assert decide(case, 4, -1, version=1).version == 2


def test_decision_with_a_long_note_is_refused(case: Adjudication) -> None:
    with pytest.raises(Invalid) as of_decision:
        adjudicate.decide(
            actor=case.adjudicator, adjudication=case, message_index=4, value=1, note="x" * 20_001
        )
    with pytest.raises(Invalid) as of_case:
        adjudicate.close_case(actor=case.adjudicator, adjudication=case, note="x" * 20_001)

    assert set(of_decision.value.fields) == set(of_case.value.fields) == {"note"}


def test_case_cannot_be_closed_before_all_that_is_disputed_is_decided(case: Adjudication) -> None:
    with pytest.raises(Invalid) as first:
        adjudicate.close_case(actor=case.adjudicator, adjudication=case)
    decide(case, 4, 0)
    with pytest.raises(Invalid) as second:
        adjudicate.close_case(actor=case.adjudicator, adjudication=case)

    assert (first.value.code, first.value.details) == ("incomplete", {"missing": [4], "outcome": True})
    assert (second.value.code, second.value.details) == ("incomplete", {"missing": [], "outcome": True})
    assert not Consensus.objects.exists()


def test_case_closed_makes_a_consensus_of_decisions_and_agreements(cast: Cast, case: Adjudication) -> None:
    decide(case, 4, -1)
    decide(case, None, 0)

    closed = adjudicate.close_case(actor=cast.judith, adjudication=case, note="Clear.\x00")

    assert (closed.state, closed.trajectory.state) == (AdjudicationState.DECIDED, TrajectoryState.ADJUDICATED)
    assert consensus_of(case.trajectory) == [
        (2, 1, "unanimous"),
        (4, -1, "adjudicated"),
        (6, -1, "unanimous"),
    ]
    assert outcome_of(case.trajectory) == (0, "adjudicated")


def test_outcome_that_is_not_disputed_stays_unanimous_unless_it_is_decided(cast: Cast) -> None:
    trajectory = labelled(cast, ([1, 1, 1], 1), ([1, 0, 1], 1))
    case = people.open_case(cast.judith, trajectory)
    decide(case, 4, 1)

    adjudicate.close_case(actor=cast.judith, adjudication=case)

    assert outcome_of(trajectory) == (1, "unanimous")


def test_case_closed_cannot_be_decided_closed_or_handed_back(cast: Cast, case: Adjudication) -> None:
    decide(case, 4, 1)
    decide(case, None, 1)
    adjudicate.close_case(actor=cast.judith, adjudication=case)

    for deed in (
        lambda: decide(case, 4, -1, version=1),
        lambda: adjudicate.close_case(actor=cast.judith, adjudication=case),
        lambda: adjudicate.release_case(actor=cast.judith, adjudication=case),
    ):
        with pytest.raises(Conflict) as refusal:
            deed()
        assert refusal.value.code == "case_closed"


def test_case_handed_back_can_be_taken_by_another_who_starts_afresh(cast: Cast, case: Adjudication) -> None:
    people.make_member(cast.project, cast.oscar, "adjudicator")
    decide(case, 4, 1)
    adjudicate.release_case(actor=cast.judith, adjudication=case)

    taken = people.open_case(cast.oscar, case.trajectory)

    assert taken.pk != case.pk
    assert not Decision.objects.filter(adjudication=taken).exists()
    assert Decision.objects.filter(adjudication=case).count() == 1


def test_case_reopened_takes_its_consensus_back_and_can_be_closed_otherwise(
    cast: Cast, case: Adjudication
) -> None:
    decide(case, 4, 1)
    decide(case, None, 1)
    adjudicate.close_case(actor=cast.judith, adjudication=case)

    adjudicate.reopen_case(actor=cast.judith, adjudication=case)
    assert Trajectory.objects.get().state == TrajectoryState.DISPUTED
    assert (Consensus.objects.count(), OutcomeConsensus.objects.count()) == (0, 0)
    decide(case, 4, -1, version=1)
    adjudicate.close_case(actor=cast.judith, adjudication=case)

    assert (4, -1, "adjudicated") in consensus_of(case.trajectory)


@pytest.mark.postgres
def test_case_is_reopened_when_it_is_closed_by_adjudicators_and_admins_only(
    cast: Cast, case: Adjudication
) -> None:
    people.make_member(cast.project, cast.root, "adjudicator")

    for who in (cast.judith, cast.root, cast.admin):
        with pytest.raises(StaleState):
            adjudicate.reopen_case(actor=who, adjudication=case)
    for who in (cast.ann, cast.cleo, cast.oscar):
        with pytest.raises(Denied):
            adjudicate.reopen_case(actor=who, adjudication=case)


def test_deciding_takes_as_many_queries_for_a_long_trajectory_as_for_a_short_one(cast: Cast) -> None:
    counts = []
    people.import_records(cast.project, [people.make_record(0, steps=2), people.make_record(1, steps=40)])
    people.make_disputed(cast, 2)
    for trajectory in Trajectory.objects.all():
        case = people.open_case(cast.judith, trajectory)
        people.decide_all(case)
        with CaptureQueriesContext(connection) as queries:
            adjudicate.close_case(actor=cast.judith, adjudication=case)
        counts.append(len(queries))

    assert len(set(counts)) == 1, counts
