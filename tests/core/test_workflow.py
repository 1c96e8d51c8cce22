"""States, and the ways between them."""

import pytest

from annotation.core import workflow
from annotation.core.errors import StaleState
from annotation.core.vocabulary import AdjudicationState, AssignmentState, ImportState, TrajectoryState

A, T, I, J = AssignmentState, TrajectoryState, ImportState, AdjudicationState  # noqa: E741


@pytest.mark.parametrize(
    ("from_state", "to"),
    [
        (A.OPEN, A.SUBMITTED),
        (A.OPEN, A.RETURNED),
        (A.OPEN, A.EXPIRED),
        (A.SUBMITTED, A.OPEN),
        (A.RETURNED, A.OPEN),
        (T.LABELLING, T.UNANIMOUS),
        (T.LABELLING, T.DISPUTED),
        (T.DISPUTED, T.ADJUDICATED),
        (T.DISPUTED, T.LABELLING),
        (T.UNANIMOUS, T.LABELLING),
        (I.RUNNING, I.PUBLISHED),
        (I.RUNNING, I.QUEUED),
        (J.OPEN, J.RELEASED),
        (J.DECIDED, J.RELEASED),
    ],
)
def test_transition_to_these_follows(from_state, to) -> None:
    workflow.check(from_state, to)


@pytest.mark.parametrize(
    ("from_state", "to"),
    [
        (A.OPEN, A.OPEN),
        (A.RETURNED, A.SUBMITTED),
        (A.SUBMITTED, A.RETURNED),
        (T.LABELLING, T.ADJUDICATED),
        (T.UNANIMOUS, T.ADJUDICATED),
        (I.PUBLISHED, I.RUNNING),
        (I.ABANDONED, I.QUEUED),
        (J.RELEASED, J.DECIDED),
    ],
)
def test_transition_to_these_does_not_follow(from_state, to) -> None:
    with pytest.raises(StaleState, match=f"The state cannot change from {from_state.value} to {to.value}."):
        workflow.check(from_state, to)


def test_states_have_an_entry_and_lead_only_to_states_of_their_kind() -> None:
    for kind, table in workflow.TABLES.items():
        assert set(table) == set(kind)
        assert all(type(to) is kind for targets in table.values() for to in targets)


def test_states_of_different_things_are_never_mixed() -> None:
    with pytest.raises(TypeError):
        workflow.allowed(A.OPEN, J.DECIDED)
