"""Settle a trajectory from its submitted labels: unanimous, with consensus at once, or disputed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils import timezone

from annotation.core.vocabulary import AssignmentState, ConsensusKind, TrajectoryState
from annotation.models import Assignment, Consensus, Label, OutcomeConsensus, OutcomeLabel, Trajectory

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


def submitted_labels(trajectory_id: int) -> SubmittedLabels:
    """The submitted labels of a trajectory. Two queries."""
    submitted = {"assignment__trajectory": trajectory_id, "assignment__state": AssignmentState.SUBMITTED}
    steps: dict[int, list[int]] = {}
    rows = (
        Label.objects.filter(**submitted, value__isnull=False)
        .order_by("step__message_index", "assignment__slot")
        .values_list("step_id", "value")
    )
    for step, value in rows:
        if value is not None:
            steps.setdefault(step, []).append(value)
    outcomes = OutcomeLabel.objects.filter(**submitted, value__isnull=False).order_by("assignment__slot")
    return SubmittedLabels(
        steps={step: tuple(values) for step, values in steps.items()},
        outcomes=tuple(value for value in outcomes.values_list("value", flat=True) if value is not None),
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
    cast = submitted_labels(trajectory.pk)
    if not cast.unanimous:
        advance(Trajectory, trajectory.pk, TrajectoryState.LABELLING, TrajectoryState.DISPUTED)
        return TrajectoryState.DISPUTED
    advance(Trajectory, trajectory.pk, TrajectoryState.LABELLING, TrajectoryState.UNANIMOUS)
    write(
        trajectory_id=trajectory.pk,
        steps=((step, values[0], ConsensusKind.UNANIMOUS) for step, values in cast.steps.items()),
        outcome=(cast.outcomes[0], ConsensusKind.UNANIMOUS),
    )
    return TrajectoryState.UNANIMOUS


def write(
    *,
    trajectory_id: int,
    steps: Iterable[tuple[int, int, ConsensusKind]],
    outcome: tuple[int, ConsensusKind],
) -> None:
    """Write the consensus of a whole trajectory: (step pk, value, kind) for each step, (value, kind) of the
    outcome."""
    now = timezone.now()
    Consensus.objects.bulk_create(
        Consensus(trajectory_id=trajectory_id, step_id=step, value=value, kind=kind.value, created_at=now)
        for step, value, kind in steps
    )
    value, kind = outcome
    OutcomeConsensus.objects.create(trajectory_id=trajectory_id, value=value, kind=kind.value, created_at=now)


def erase(*, trajectory_id: int) -> None:
    """Take a consensus back, because its case is opened again. Releases hold copies and are not touched."""
    Consensus.objects.filter(trajectory=trajectory_id).delete()
    OutcomeConsensus.objects.filter(trajectory=trajectory_id).delete()
