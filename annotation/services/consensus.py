"""Settle a trajectory from its submitted labels: unanimous, with consensus at once, or disputed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.utils import timezone

from annotation.core.disputes import differences
from annotation.core.resolution import Position, Resolution, resolve
from annotation.core.vocabulary import AdjudicationState, AssignmentState, CaseEventKind, TrajectoryState
from annotation.models import (
    Adjudication,
    Assignment,
    CaseEvent,
    Consensus,
    Dispute,
    Label,
    LookAgain,
    OutcomeConsensus,
    OutcomeLabel,
    Revision,
    Trajectory,
    User,
)

from . import pairing
from .transitions import advance


@dataclass(frozen=True, slots=True)
class SubmittedLabels:
    """All submitted labels of one trajectory: per step (by step pk, in order) the values by slot; and the
    outcomes."""

    steps: Mapping[int, tuple[int, ...]]
    outcomes: tuple[int, ...]

    @property
    def disputed_steps(self) -> tuple[int, ...]:
        """The pks of the steps on which the annotators differ."""
        return tuple(step for step, values in self.steps.items() if len(set(values)) > 1)

    @property
    def outcome_disputed(self) -> bool:
        """Whether they differ on the outcome."""
        return len(set(self.outcomes)) > 1

    @property
    def unanimous(self) -> bool:
        """Whether they differ nowhere: neither on a step nor on the outcome."""
        return not self.disputed_steps and not self.outcome_disputed

    @property
    def agreement(self) -> float | None:
        """The share of steps on which all annotators agree; None with one annotator, who agrees with
        nobody."""
        if len(self.outcomes) < 2 or not self.steps:
            return None
        return 1 - len(self.disputed_steps) / len(self.steps)


Positions = dict[int | None, list[Position]]
"""What each annotator says of each step (by pk, in order), and under None of the outcome; by slot."""


def positions(trajectory_id: int) -> Positions:
    """What the annotators of a trajectory say: what they submitted, and what they have changed since in its
    discussion. Three queries."""
    submitted = {"assignment__trajectory": trajectory_id, "assignment__state": AssignmentState.SUBMITTED}
    given = {**submitted, "value__isnull": False}
    of_steps = (
        Label.objects.filter(**given)
        .order_by("step__message_index", "assignment__slot")
        .values_list("step_id", "assignment_id", "value", "root_id", "reason")
    )
    of_outcome = (
        OutcomeLabel.objects.filter(**given)
        .order_by("assignment__slot")
        .values_list("assignment_id", "value", "reason")
    )
    changed = {
        (row.step_id, row.assignment_id): row for row in Revision.objects.filter(**submitted).order_by("pk")
    }
    found: Positions = {}

    def put(step: int | None, assignment: int, position: Position) -> None:
        row = changed.get((step, assignment))
        if row is not None:
            position = replace(
                position, value=row.value, root=row.root_id, reason=row.reason, revised_at=row.created_at
            )
        found.setdefault(step, []).append(position)

    for step, assignment, value, root, reason in of_steps:
        if value is not None:
            put(step, assignment, Position(submitted=value, value=value, root=root, reason=reason))
    for assignment, value, reason in of_outcome:
        if value is not None:
            put(None, assignment, Position(submitted=value, value=value, reason=reason))
    return found


def submitted_labels(found: Positions) -> SubmittedLabels:
    """What the annotators submitted, without what they have changed since."""
    return SubmittedLabels(
        steps={
            step: tuple(one.submitted for one in said) for step, said in found.items() if step is not None
        },
        outcomes=tuple(one.submitted for one in found.get(None, ())),
    )


def settle(*, trajectory_id: int) -> TrajectoryState:
    """Called when an assignment has been submitted: decide the trajectory's state if all N are in.

    The row lock makes the last two submissions wait for each other, so that exactly one of them settles it.
    """
    trajectory = (
        Trajectory.objects.select_for_update(no_key=True, of=("self",))
        .select_related("project")
        .get(pk=trajectory_id)
    )
    state = TrajectoryState(trajectory.state)
    if state is not TrajectoryState.LABELLING:
        return state
    submitted = Assignment.objects.filter(trajectory=trajectory, state=AssignmentState.SUBMITTED).count()
    if submitted < trajectory.project.annotators_per_trajectory:
        return state
    asked = LookAgain.objects.filter(assignment__trajectory=trajectory, begun_at__isnull=True)
    if asked.exists():
        return state  # the others are still to look at theirs again
    found = positions(trajectory.pk)
    cast = submitted_labels(found)
    pairing.write(trajectory_id=trajectory.pk)
    reached = TrajectoryState.UNANIMOUS if cast.unanimous else TrajectoryState.DISPUTED
    advance(Trajectory, trajectory.pk, TrajectoryState.LABELLING, reached, agreement=cast.agreement)
    if reached is TrajectoryState.DISPUTED:
        _note_dispute(trajectory, cast)
        return reached
    agreed = {step: resolve(said, None) for step, said in found.items()}
    write(
        trajectory_id=trajectory.pk,
        resolved={step: one for step, one in agreed.items() if one is not None},
    )
    return reached


def _note_dispute(trajectory: Trajectory, cast: SubmittedLabels) -> None:
    found = differences(cast.steps.values(), cast.outcomes)
    Dispute.objects.create(
        trajectory=trajectory,
        project_id=trajectory.project_id,
        subset_id=trajectory.subset_id,
        disputed_steps=len(cast.disputed_steps),
        sign_flips=found.sign_flips,
        neutral_boundaries=found.neutral_boundaries,
        first_error=found.first_error,
        outcome=found.outcome,
        arisen_at=timezone.now(),
    )


def write(
    *, trajectory_id: int, resolved: Mapping[int | None, Resolution], adjudicator: User | None = None
) -> None:
    """Write the consensus of a whole trajectory: of each step by its pk, and under None of the outcome.

    `adjudicator` is who stands for what was decided.
    """
    now = timezone.now()

    def shared(one: Resolution) -> dict[str, object]:
        return {
            "trajectory_id": trajectory_id,
            "value": one.value,
            "kind": one.kind.value,
            "reason": one.reason,
            "note": one.note,
            "resolved_by": adjudicator if one.by_ruling else None,
            "resolved_at": one.at or now,
            "created_at": now,
        }

    Consensus.objects.bulk_create(
        Consensus(step_id=step, root_id=one.root, **shared(one))
        for step, one in resolved.items()
        if step is not None
    )
    OutcomeConsensus.objects.create(**shared(resolved[None]))


def unsettle(*, trajectory: Trajectory, actor: User | None) -> None:
    """Take a settled trajectory back to labelling, for services that have locked it: consensus, dispute and
    pairs go, a decided case goes back. What was decided stays in the histories."""
    state = TrajectoryState(trajectory.state)
    if state is TrajectoryState.LABELLING:
        return
    if state is TrajectoryState.ADJUDICATED:
        case = Adjudication.objects.get(trajectory=trajectory, state=AdjudicationState.DECIDED)
        advance(Adjudication, case.pk, AdjudicationState.DECIDED, AdjudicationState.RELEASED, decided_at=None)
        erase(case=case, actor=actor)
        advance(Trajectory, trajectory.pk, state, TrajectoryState.DISPUTED)
        state = TrajectoryState.DISPUTED
    Consensus.objects.filter(trajectory=trajectory).delete()
    OutcomeConsensus.objects.filter(trajectory=trajectory).delete()
    Dispute.objects.filter(trajectory=trajectory).delete()
    pairing.forget(trajectory_id=trajectory.pk)
    advance(Trajectory, trajectory.pk, state, TrajectoryState.LABELLING, agreement=None)


def erase(*, case: Adjudication, actor: User | None) -> None:
    """Take the consensus of a case back, because it is opened again; the case's history says what it was.
    Releases hold copies and are not touched."""
    now = timezone.now()
    steps = list(Consensus.objects.filter(trajectory=case.trajectory_id))
    outcomes = list(OutcomeConsensus.objects.filter(trajectory=case.trajectory_id))
    CaseEvent.objects.bulk_create(
        CaseEvent(
            adjudication=case,
            step_id=row.step_id if isinstance(row, Consensus) else None,
            kind=CaseEventKind.ERASURE.value,
            value=row.value,
            note=row.note,
            detail={
                "origin": row.kind,
                "root": row.root_id if isinstance(row, Consensus) else None,
                "reason": row.reason,
                "resolved_at": row.created_at.isoformat(),
            },
            actor=actor,
            created_at=now,
        )
        for row in (*steps, *outcomes)
    )
    Consensus.objects.filter(trajectory=case.trajectory_id).delete()
    OutcomeConsensus.objects.filter(trajectory=case.trajectory_id).delete()
