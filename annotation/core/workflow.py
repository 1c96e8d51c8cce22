"""Permitted changes of states (docs/design.md, "Rules").

Services change states by guarded UPDATEs; these tables say which changes exist at all.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from annotation.core.errors import StaleState
from annotation.core.i18n import translatable
from annotation.core.vocabulary import (
    AdjudicationState,
    AssignmentState,
    AuditedState,
    CorrectionState,
    CrowdState,
    DeliveryState,
    FreezeState,
    ImportState,
    LabelAuditState,
    PilotState,
    RecheckState,
    SecondPersonState,
    SuggestionItemState,
    SuggestionRunState,
    TrajectoryState,
)

ASSIGNMENT: Final[Mapping[AssignmentState, frozenset[AssignmentState]]] = {
    AssignmentState.OPEN: frozenset(
        {AssignmentState.SUBMITTED, AssignmentState.RETURNED, AssignmentState.EXPIRED}
    ),
    # expired: what was labelled has been replaced
    AssignmentState.SUBMITTED: frozenset({AssignmentState.OPEN, AssignmentState.EXPIRED}),
    # returned and expired keep their draft and have lost their slot: going back to open needs a free one
    AssignmentState.RETURNED: frozenset({AssignmentState.OPEN}),
    AssignmentState.EXPIRED: frozenset({AssignmentState.OPEN}),
}

TRAJECTORY: Final[Mapping[TrajectoryState, frozenset[TrajectoryState]]] = {
    TrajectoryState.LABELLING: frozenset(
        {TrajectoryState.UNANIMOUS, TrajectoryState.DISPUTED, TrajectoryState.JUDGED}
    ),
    # a reopened submission takes its trajectory back to labelling
    TrajectoryState.UNANIMOUS: frozenset({TrajectoryState.LABELLING}),
    TrajectoryState.DISPUTED: frozenset({TrajectoryState.ADJUDICATED, TrajectoryState.LABELLING}),
    # a decided case may be taken up again; releases have copied what they needed
    TrajectoryState.ADJUDICATED: frozenset({TrajectoryState.DISPUTED}),
    # drawn for people to label as well, or sent back to them
    TrajectoryState.JUDGED: frozenset({TrajectoryState.LABELLING}),
}

IMPORT: Final[Mapping[ImportState, frozenset[ImportState]]] = {
    ImportState.UPLOADED: frozenset(
        {ImportState.QUEUED, ImportState.RUNNING, ImportState.FAILED, ImportState.ABANDONED}
    ),
    ImportState.QUEUED: frozenset({ImportState.RUNNING, ImportState.FAILED, ImportState.ABANDONED}),
    # back to queued: the reaper found that its lease had run out
    ImportState.RUNNING: frozenset(
        {ImportState.QUEUED, ImportState.PUBLISHED, ImportState.FAILED, ImportState.ABANDONED}
    ),
    ImportState.PUBLISHED: frozenset(),
    ImportState.FAILED: frozenset({ImportState.QUEUED, ImportState.ABANDONED}),
    ImportState.ABANDONED: frozenset(),
}

ADJUDICATION: Final[Mapping[AdjudicationState, frozenset[AdjudicationState]]] = {
    AdjudicationState.OPEN: frozenset({AdjudicationState.DECIDED, AdjudicationState.RELEASED}),
    # opened again by an adjudicator, who has it from then on, or by an admin, for the queue
    AdjudicationState.DECIDED: frozenset({AdjudicationState.OPEN, AdjudicationState.RELEASED}),
    AdjudicationState.RELEASED: frozenset({AdjudicationState.OPEN}),
}

SUGGESTION_RUN: Final[Mapping[SuggestionRunState, frozenset[SuggestionRunState]]] = {
    SuggestionRunState.QUEUED: frozenset(
        {SuggestionRunState.RUNNING, SuggestionRunState.PAUSED, SuggestionRunState.CANCELLED}
    ),
    # back to queued: its worker died, or was asked to end and handed it on
    SuggestionRunState.RUNNING: frozenset(
        {
            SuggestionRunState.QUEUED,
            SuggestionRunState.PAUSED,
            SuggestionRunState.CANCELLED,
            SuggestionRunState.FINISHED,
            SuggestionRunState.STOPPED,
            SuggestionRunState.OVER_BUDGET,
        }
    ),
    SuggestionRunState.PAUSED: frozenset({SuggestionRunState.QUEUED, SuggestionRunState.CANCELLED}),
    SuggestionRunState.CANCELLED: frozenset(),
    # what failed in it is tried again
    SuggestionRunState.FINISHED: frozenset({SuggestionRunState.QUEUED}),
    SuggestionRunState.STOPPED: frozenset({SuggestionRunState.QUEUED, SuggestionRunState.CANCELLED}),
    SuggestionRunState.OVER_BUDGET: frozenset({SuggestionRunState.QUEUED, SuggestionRunState.CANCELLED}),
}

SUGGESTION_ITEM: Final[Mapping[SuggestionItemState, frozenset[SuggestionItemState]]] = {
    SuggestionItemState.DUE: frozenset({SuggestionItemState.DONE, SuggestionItemState.FAILED}),
    SuggestionItemState.DONE: frozenset(),
    SuggestionItemState.FAILED: frozenset({SuggestionItemState.DUE}),
}

RECHECK: Final[Mapping[RecheckState, frozenset[RecheckState]]] = {
    RecheckState.WAITING: frozenset({RecheckState.CLAIMED}),
    RecheckState.CLAIMED: frozenset({RecheckState.DONE, RecheckState.WAITING}),
    # its annotator reopens it
    RecheckState.DONE: frozenset({RecheckState.CLAIMED}),
}

LABEL_AUDIT: Final[Mapping[LabelAuditState, frozenset[LabelAuditState]]] = {
    LabelAuditState.RUNNING: frozenset({LabelAuditState.ENDED}),
    LabelAuditState.ENDED: frozenset(),
}

AUDITED: Final[Mapping[AuditedState, frozenset[AuditedState]]] = {
    AuditedState.LISTED: frozenset({AuditedState.READING}),
    AuditedState.READING: frozenset({AuditedState.DECIDING, AuditedState.DONE}),
    # back to reading: its consensus was taken back, and is compared anew when there is one
    AuditedState.DECIDING: frozenset({AuditedState.DONE, AuditedState.READING}),
    AuditedState.DONE: frozenset({AuditedState.READING}),
}

CORRECTION: Final[Mapping[CorrectionState, frozenset[CorrectionState]]] = {
    CorrectionState.OPEN: frozenset({CorrectionState.SAVED, CorrectionState.WITHDRAWN}),
    # saved again, with other words
    CorrectionState.SAVED: frozenset({CorrectionState.SAVED, CorrectionState.WITHDRAWN}),
    CorrectionState.WITHDRAWN: frozenset({CorrectionState.OPEN, CorrectionState.SAVED}),
    CorrectionState.PROPOSED: frozenset(),
}

CROWD: Final[Mapping[CrowdState, frozenset[CrowdState]]] = {
    CrowdState.ACTIVE: frozenset(set(CrowdState) - {CrowdState.ACTIVE}),
    **{state: frozenset() for state in CrowdState if state != CrowdState.ACTIVE},
}

FREEZE: Final[Mapping[FreezeState, frozenset[FreezeState]]] = {
    FreezeState.QUEUED: frozenset({FreezeState.RUNNING, FreezeState.CANCELLED}),
    # back to queued: the reaper found that its lease had run out
    FreezeState.RUNNING: frozenset(
        {FreezeState.QUEUED, FreezeState.FROZEN, FreezeState.FAILED, FreezeState.CANCELLED}
    ),
    FreezeState.FROZEN: frozenset(),
    FreezeState.FAILED: frozenset(),
    FreezeState.CANCELLED: frozenset(),
}

SECOND_PERSON: Final[Mapping[SecondPersonState, frozenset[SecondPersonState]]] = {
    SecondPersonState.WAITING: frozenset({SecondPersonState.SPARED, SecondPersonState.ASKED}),
    # its one annotator looks again; a second person's labels come from a file
    SecondPersonState.SPARED: frozenset({SecondPersonState.WAITING, SecondPersonState.ASKED}),
    SecondPersonState.ASKED: frozenset(),
}

PILOT: Final[Mapping[PilotState, frozenset[PilotState]]] = {
    PilotState.RUNNING: frozenset({PilotState.PASSED, PilotState.STOPPED}),
    PilotState.PASSED: frozenset(),
    PilotState.STOPPED: frozenset(),
}

DELIVERY: Final[Mapping[DeliveryState, frozenset[DeliveryState]]] = {
    DeliveryState.WAITING: frozenset({DeliveryState.DELIVERED, DeliveryState.GIVEN_UP}),
    # sent again by hand
    DeliveryState.DELIVERED: frozenset({DeliveryState.WAITING}),
    DeliveryState.GIVEN_UP: frozenset({DeliveryState.WAITING}),
}

# by type first: "open" of an assignment equals "open" of a case
TABLES: Final[Mapping[type[StrEnum], Mapping[Any, frozenset[Any]]]] = {
    AssignmentState: ASSIGNMENT,
    TrajectoryState: TRAJECTORY,
    ImportState: IMPORT,
    AdjudicationState: ADJUDICATION,
    SuggestionRunState: SUGGESTION_RUN,
    SuggestionItemState: SUGGESTION_ITEM,
    RecheckState: RECHECK,
    LabelAuditState: LABEL_AUDIT,
    AuditedState: AUDITED,
    CorrectionState: CORRECTION,
    CrowdState: CROWD,
    FreezeState: FREEZE,
    SecondPersonState: SECOND_PERSON,
    PilotState: PILOT,
    DeliveryState: DELIVERY,
}


def allowed(from_state: StrEnum, to: StrEnum) -> bool:
    """Whether `to` may follow `from_state`. TypeError unless both are states of the same thing."""
    table = TABLES.get(type(from_state))
    if table is None or type(to) is not type(from_state):
        raise TypeError(f"{from_state!r} and {to!r} are not states of one thing")
    return to in table[from_state]


def check(from_state: StrEnum, to: StrEnum) -> None:
    """Raise StaleState unless `to` may follow `from_state`."""
    if not allowed(from_state, to):
        raise StaleState(
            translatable(
                "The state cannot change from {state} to {next}.", state=from_state.value, next=to.value
            )
        )
