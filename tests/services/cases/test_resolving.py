"""Resolution of a case: by agreement after discussion, by the majority, by the adjudicator."""

from __future__ import annotations

import json
import zlib

import pytest

from annotation.core.errors import Conflict, Denied, Invalid, StaleVersion
from annotation.core.vocabulary import AdjudicationState
from annotation.models import (
    Adjudication,
    AuditEvent,
    CaseEvent,
    Consensus,
    Discussion,
    OutcomeConsensus,
    ReleaseRecord,
    Revision,
    Trajectory,
)
from annotation.policies import OPERATOR
from annotation.services import adjudicate, release
from tests import people
from tests.people import Cast
from tests.services.talking import revise, told


def decide(case: Adjudication, at: int | None, value: int = -1, version: int = 0, **more: object) -> None:
    adjudicate.decide(
        actor=case.adjudicator, adjudication=case, message_index=at, value=value, version=version, **more
    )


def close(case: Adjudication) -> Adjudication:
    return adjudicate.close_case(actor=case.adjudicator, adjudication=case)


def origins(case: Adjudication) -> list[tuple[int, str]]:
    rows = Consensus.objects.filter(trajectory=case.trajectory_id).order_by("step__message_index")
    outcome = OutcomeConsensus.objects.get(trajectory=case.trajectory_id)
    return [*rows.values_list("value", "kind"), (outcome.value, outcome.kind)]


def test_step_that_all_agree_on_after_discussion_needs_no_decision(
    cast: Cast, disputed_case: Adjudication, talk: Discussion
) -> None:
    revise(cast.ann, talk, 4, -1, reason="misread_tool_output")
    with pytest.raises(Invalid, match="The outcome is undecided"):
        close(disputed_case)
    decide(disputed_case, None, 0, note="It cannot be said.")
    close(disputed_case)

    assert origins(disputed_case) == [
        (1, "unanimous"),
        (-1, "discussed"),
        (-1, "unanimous"),
        (0, "adjudicated"),
    ]
    discussed = Consensus.objects.get(step__message_index=4)
    assert (discussed.resolved_by, discussed.root.message_index, discussed.reason) == (  # type: ignore[union-attr]
        None,
        4,
        "misread_tool_output",
    )
    assert discussed.resolved_at == Revision.objects.get().created_at
    outcome = OutcomeConsensus.objects.get()
    assert (outcome.resolved_by, outcome.note) == (cast.judith, "It cannot be said.")


def test_agreed_step_that_is_changed_has_to_be_resolved_again(
    cast: Cast, disputed_case: Adjudication, talk: Discussion
) -> None:
    revise(cast.ann, talk, 6, 1)
    decide(disputed_case, 4)
    decide(disputed_case, None)
    with pytest.raises(Invalid) as open_again:
        close(disputed_case)
    assert open_again.value.details == {"missing": [6], "outcome": False}
    revise(cast.ben, talk, 6, 1)
    close(disputed_case)
    assert origins(disputed_case)[2] == (1, "discussed")


@pytest.mark.postgres
def test_decision_taken_back_lets_the_agreement_count(
    cast: Cast, disputed_case: Adjudication, talk: Discussion
) -> None:
    decide(disputed_case, 4, 0)
    revise(cast.ann, talk, 4, -1)
    undo = {"actor": cast.judith, "adjudication": disputed_case, "message_index": 4}
    with pytest.raises(StaleVersion):
        adjudicate.withdraw_decision(**undo, version=2)
    adjudicate.withdraw_decision(**undo, version=1)
    decide(disputed_case, None)
    close(disputed_case)

    assert origins(disputed_case)[1] == (-1, "discussed")
    assert list(CaseEvent.objects.values_list("kind", "value")) == [
        ("decision", 0),
        ("withdrawal", 0),
        ("decision", -1),
    ]


def test_majority_of_three_stands_when_the_adjudicator_says_so(db: None) -> None:
    cast = people.make_cast(annotators_per_trajectory=3)
    people.import_records(cast.project, 1)
    for user, value in ((cast.ann, 1), (cast.ben, 1), (cast.cleo, -1)):
        people.label_next(user, cast.project, [1, value], outcome=value)
    case = people.open_case(cast.judith, Trajectory.objects.get())
    for at in (4, None):
        adjudicate.let_majority_stand(
            actor=cast.judith, adjudication=case, message_index=at, note="Two of three."
        )
    close(case)

    assert origins(case) == [(1, "unanimous"), (1, "majority"), (1, "majority")]
    row = Consensus.objects.get(step__message_index=4)
    assert (row.resolved_by, row.note) == (cast.judith, "Two of three.")


def test_majority_there_is_none_of_two(cast: Cast, disputed_case: Adjudication) -> None:
    with pytest.raises(Invalid) as refusal:
        adjudicate.let_majority_stand(actor=cast.judith, adjudication=disputed_case, message_index=4)
    assert refusal.value.code == "no_majority"


def test_root_that_is_no_error_in_the_end_is_refused_or_left_out(
    cast: Cast, disputed_case: Adjudication
) -> None:
    decide(disputed_case, 4, 1)
    decide(disputed_case, 6, -1, root=4, reason="fabrication")
    decide(disputed_case, None)
    with pytest.raises(Invalid, match="step 2 is no error") as refusal:
        close(disputed_case)
    assert refusal.value.code == "root_is_no_error"
    assert not Consensus.objects.exists()
    decide(disputed_case, 6, -1, version=1, root=6, reason="fabrication")
    close(disputed_case)

    row = Consensus.objects.get(step__message_index=6)
    assert (row.kind, row.root, row.reason, row.resolved_by) == (
        "unanimous",
        row.step,
        "fabrication",
        cast.judith,
    )
    release.freeze(actor=cast.admin, project=cast.project, version="1.0")
    record = json.loads(zlib.decompress(bytes(ReleaseRecord.objects.get().body)))
    assert (record["step_roots"], record["step_reasons"]) == ({"6": 6}, {"6": "fabrication"})
    assert release.verify(actor=OPERATOR, release=cast.project.releases.get()).ok


def test_agreed_step_takes_a_root_and_no_other_value(disputed_case: Adjudication) -> None:
    for given in ({"value": 1}, {"value": 0, "reason": "exploratory"}, {"value": -1}):
        with pytest.raises(Invalid, match="agree on step 3"):
            decide(disputed_case, 6, **given)  # type: ignore[arg-type]


@pytest.mark.postgres
def test_case_is_reopened_by_another_adjudicator_who_goes_on_with_it(
    cast: Cast, disputed_case: Adjudication, talk: Discussion
) -> None:
    people.make_member(cast.project, cast.oscar, "adjudicator")
    decide(disputed_case, 4)
    decide(disputed_case, None)
    close(disputed_case)

    taken = adjudicate.reopen_case(actor=cast.oscar, adjudication=disputed_case)

    assert (taken.pk, taken.adjudicator, taken.state) == (
        disputed_case.pk,
        cast.oscar,
        AdjudicationState.OPEN,
    )
    assert AuditEvent.objects.get(verb="case.reopen").detail == {"username": "judith"}
    erased = CaseEvent.objects.filter(kind="erasure").order_by("step__message_index")
    assert sorted(erased.values_list("value", "detail__origin")) == [
        (-1, "adjudicated"),
        (-1, "adjudicated"),
        (-1, "unanimous"),
        (1, "unanimous"),
    ]
    assert told(cast.ann)[-2:] == ["resolved", "reopened"]
    with pytest.raises(Denied):
        close(disputed_case)
    close(taken)


def test_case_is_reopened_by_an_admin_for_the_queue(cast: Cast, disputed_case: Adjudication) -> None:
    decide(disputed_case, 4)
    decide(disputed_case, None)
    close(disputed_case)

    adjudicate.reopen_case(actor=cast.admin, adjudication=disputed_case)

    assert people.open_case(cast.judith, disputed_case.trajectory).pk != disputed_case.pk


def test_case_in_a_release_stays_closed_until_that_is_withdrawn(
    cast: Cast, disputed_case: Adjudication
) -> None:
    decide(disputed_case, 4)
    decide(disputed_case, None)
    close(disputed_case)
    made = release.freeze(actor=cast.admin, project=cast.project, version="1.0")
    for who in (cast.judith, cast.admin):
        with pytest.raises(Conflict, match=r"Release 1\.0 holds this trajectory") as refusal:
            adjudicate.reopen_case(actor=who, adjudication=disputed_case)
        assert refusal.value.code == "frozen"
    assert Consensus.objects.count() == 3
    release.withdraw(actor=cast.admin, release=made, reason="Faulty.")

    adjudicate.reopen_case(actor=cast.judith, adjudication=disputed_case)
    decide(disputed_case, 4, 1, version=1)
    close(disputed_case)
    release.freeze(actor=cast.admin, project=cast.project, version="1.1")
    assert release.verify(actor=OPERATOR, release=made).ok
