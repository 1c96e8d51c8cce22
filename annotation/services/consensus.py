"""Settle trajectories from their submitted labels: unanimous, with consensus at once, or disputed."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from django.db.models import F, Model, QuerySet
from django.utils import timezone

from annotation.core.disputes import differences
from annotation.core.kinds import Feature, by_name
from annotation.core.resolution import AnnotatorPosition, Resolution, resolve
from annotation.core.vocabulary import (
    AdjudicationState,
    AssignmentState,
    AuditedState,
    CaseEventKind,
    ConsensusKind,
    SecondPersonState,
    TrajectoryState,
    WebhookEvent,
)
from annotation.models import (
    Adjudication,
    Assignment,
    AuditedTrajectory,
    AuditRuling,
    CaseEvent,
    Consensus,
    Dispute,
    Label,
    OutcomeConsensus,
    OutcomeLabel,
    RelabelRequest,
    Revision,
    SecondPerson,
    Trajectory,
    User,
    ruling_drafts,
)
from annotation.models.prepared import Prepared

from . import pairing, webhooks
from .bulk import insert, moment
from .transitions import advance, advance_all

S = TypeVar("S", bound=Model)


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


Positions = dict[int | None, list[AnnotatorPosition]]
"""The annotators' labels of each step (by pk, in order), and under None of the outcome; by slot."""


def positions(trajectory_id: int) -> Positions:
    """The positions of a trajectory's annotators: labels as submitted, and as changed since in its
    discussion. Three queries."""
    return positions_of([trajectory_id])[trajectory_id]


def positions_of(trajectories: Collection[int]) -> dict[int, Positions]:
    """The same of several trajectories, by their pks. Three queries."""
    of_steps = _of_steps(trajectories=trajectories)
    of_outcome = _of_outcome(trajectories=trajectories)
    changed = {(row.step_id, row.assignment_id): row for row in _revisions(trajectories=trajectories)}
    positions: dict[int, Positions] = {pk: {} for pk in trajectories}

    def put(trajectory: int, step: int | None, assignment: int, position: AnnotatorPosition) -> None:
        row = changed.get((step, assignment))
        if row is not None:
            position = replace(
                position, value=row.value, root=row.root_id, reason=row.reason, revised_at=row.created_at
            )
        positions[trajectory].setdefault(step, []).append(position)

    for trajectory, step, assignment, value, root, reason in of_steps:
        if value is not None:
            position = AnnotatorPosition(submitted=value, value=value, root=root, reason=reason)
            put(trajectory, step, assignment, position)
    for trajectory, assignment, value, reason in of_outcome:
        if value is not None:
            put(trajectory, None, assignment, AnnotatorPosition(submitted=value, value=value, reason=reason))
    return positions


def _submitted(rows: QuerySet[S], trajectories: Collection[int]) -> QuerySet[S]:
    """The rows that hang on the submitted assignments of trajectories."""
    of_state = AssignmentState.SUBMITTED
    return rows.filter(assignment__trajectory__in=trajectories, assignment__state=of_state)


_of_steps = Prepared(
    lambda trajectories: (
        _submitted(Label.objects.filter(value__isnull=False), trajectories)
        .order_by("step__message_index", "assignment__slot")
        .values_list("assignment__trajectory", "step_id", "assignment_id", "value", "root_id", "reason")
    ),
    "trajectories",
)
_of_outcome = Prepared(
    lambda trajectories: (
        _submitted(OutcomeLabel.objects.filter(value__isnull=False), trajectories)
        .order_by("assignment__slot")
        .values_list("assignment__trajectory", "assignment_id", "value", "reason")
    ),
    "trajectories",
)
_revisions = Prepared(
    lambda trajectories: _submitted(Revision.objects.all(), trajectories).order_by("pk"), "trajectories"
)


def submitted_labels(positions: Positions) -> SubmittedLabels:
    """Labels as the annotators submitted them, without later changes."""
    return SubmittedLabels(
        steps={
            step: tuple(label.submitted for label in labels)
            for step, labels in positions.items()
            if step is not None
        },
        outcomes=tuple(label.submitted for label in positions.get(None, ())),
    )


def settle(trajectories: Collection[int]) -> None:
    """Called when assignments have been submitted: decide the state of each of their trajectories whose N
    are all in.

    The row locks make the last two submissions of one wait for each other, so that exactly one of them
    settles it. They are taken in order, so that two who settle several cannot deadlock.
    """
    ready = _complete(trajectories)
    if not ready:
        return
    positions = positions_of([row.pk for row in ready])
    casts = {pk: submitted_labels(labels) for pk, labels in positions.items()}
    pairing.write(positions)
    same: dict[tuple[TrajectoryState, float | None], list[int]] = defaultdict(list)
    for pk, cast in casts.items():
        reached = TrajectoryState.UNANIMOUS if cast.unanimous else TrajectoryState.DISPUTED
        same[reached, cast.agreement].append(pk)
    for (reached, agreement), pks in same.items():
        advance_all(Trajectory, pks, TrajectoryState.LABELLING, reached, agreement=agreement)
    _note_disputes((row, casts[row.pk]) for row in ready if not casts[row.pk].unanimous)
    agreed = {pk: positions[pk] for pk, cast in casts.items() if cast.unanimous}
    write(
        {pk: {step: resolve(labels, None) for step, labels in steps.items()} for pk, steps in agreed.items()}
    )
    events: dict[tuple[int, WebhookEvent], list[int]] = defaultdict(list)
    for row in ready:
        event = WebhookEvent.RESOLVED if casts[row.pk].unanimous else WebhookEvent.DISPUTED
        events[row.project_id, event].append(row.pk)
    for (project, event), pks in events.items():
        webhooks.note_each(event, project=project, keys=pks)


def settle_alone(trajectory: Trajectory) -> None:
    """Make the labels of one person the consensus, for services that have locked the trajectory and asked
    judges: it says of itself how it came about."""
    positions = positions_of([trajectory.pk])[trajectory.pk]
    advance(Trajectory, trajectory.pk, TrajectoryState.LABELLING, TrajectoryState.UNANIMOUS)
    alone = {step: resolve(labels, None) for step, labels in positions.items()}
    write(
        {
            trajectory.pk: {
                step: it and replace(it, kind=ConsensusKind.ONE_PERSON) for step, it in alone.items()
            }
        }
    )
    webhooks.note_each(WebhookEvent.RESOLVED, project=trajectory.project_id, keys=[trajectory.pk])


def unsettle_alone(trajectories: Collection[int]) -> None:
    """Take trajectories that one person's labels settled back to labelling, for services that have locked
    them. Seven statements."""
    _void_audits(trajectories)
    Consensus.objects.filter(trajectory__in=trajectories).delete()
    OutcomeConsensus.objects.filter(trajectory__in=trajectories).delete()
    advance_all(Trajectory, trajectories, TrajectoryState.UNANIMOUS, TrajectoryState.LABELLING)


def _complete(trajectories: Collection[int]) -> list[Any]:
    """The trajectories, all of them locked, that are being labelled and have all N labels, each with the
    `kind` of its project; without those that somebody is still to look at again."""
    rows: list[Any] = _locked(trajectories=trajectories)
    labelling = [row for row in rows if row.state == TrajectoryState.LABELLING]
    submitted = Counter(_submissions(trajectories=[row.pk for row in labelling]))
    complete = [row for row in labelling if submitted[row.pk] >= row.wanted]
    if not complete:
        return []
    waiting = set(_to_look_again(trajectories=[row.pk for row in complete]))
    return [row for row in complete if row.pk not in waiting]


_locked = Prepared(
    lambda trajectories: (
        Trajectory.objects.filter(pk__in=trajectories)
        .annotate(wanted=F("project__annotators_per_trajectory"), kind=F("project__kind"))
        .only("project", "subset", "state")
        .order_by("pk")
        .select_for_update(no_key=True, of=("self",))
    ),
    "trajectories",
)
_submissions = Prepared(
    lambda trajectories: (
        Assignment.objects.filter(trajectory__in=trajectories, state=AssignmentState.SUBMITTED)
        .order_by()
        .values_list("trajectory", flat=True)
    ),
    "trajectories",
)
_to_look_again = Prepared(
    lambda trajectories: (
        RelabelRequest.objects.filter(
            assignment__trajectory__in=trajectories, assignment__recheck__isnull=True, begun_at__isnull=True
        )
        .order_by()
        .values_list("assignment__trajectory", flat=True)
    ),
    "trajectories",
)


def _note_disputes(disputed: Iterable[tuple[Trajectory, SubmittedLabels]]) -> None:
    now = timezone.now()

    def noted(trajectory: Any, cast: SubmittedLabels) -> Dispute:
        difference = differences(cast.steps.values(), cast.outcomes)
        return Dispute(
            trajectory=trajectory,
            project_id=trajectory.project_id,
            subset_id=trajectory.subset_id,
            disputed_steps=len(cast.disputed_steps),
            sign_flips=difference.sign_flips,
            neutral_boundaries=difference.neutral_boundaries,
            first_error=difference.first_error and by_name(trajectory.kind).has(Feature.SEQUENCE),
            outcome=difference.outcome,
            arisen_at=now,
        )

    Dispute.objects.bulk_create(noted(trajectory, cast) for trajectory, cast in disputed)


RESOLVED_COLUMNS = ("value", "kind", "reason", "note", "resolved_by_id", "resolved_at", "created_at")


def write(
    resolved: Mapping[int, Mapping[int | None, Resolution | None]], *, adjudicator: User | None = None
) -> None:
    """Write the consensus of whole trajectories, by their pks: of each step by its pk, and under None of the
    outcome. What is not resolved (None) is left out.

    `adjudicator` is who stands for what was decided.
    """
    now = moment(timezone.now())
    who = adjudicator.pk if adjudicator is not None else None

    def shared(resolution: Resolution) -> tuple[Any, ...]:
        by = who if resolution.by_ruling else None
        at = moment(resolution.at) if resolution.at is not None else now
        return (resolution.value, resolution.kind.value, resolution.reason, resolution.note, by, at, now)

    everything = [
        (pk, step, it) for pk, steps in resolved.items() for step, it in steps.items() if it is not None
    ]
    insert(
        Consensus,
        ("trajectory_id", "step_id", "root_id", *RESOLVED_COLUMNS),
        [(pk, step, it.root, *shared(it)) for pk, step, it in everything if step is not None],
    )
    insert(
        OutcomeConsensus,
        ("trajectory_id", *RESOLVED_COLUMNS),
        [(pk, *shared(it)) for pk, step, it in everything if step is None],
    )


def correct(
    *, trajectory: int, corrected: Mapping[int | None, Resolution], by: Mapping[int | None, int]
) -> None:
    """Put these resolutions in the place of what a settled trajectory's consensus says, for services that
    have locked it. `by`: who decided a step; of one that is not in it only the root or the reason changes.
    Releases hold copies and are not touched."""
    now = timezone.now()
    for step, it in corrected.items():
        values: dict[str, Any] = {"reason": it.reason}
        if step in by:
            values |= {
                "value": it.value,
                "kind": it.kind.value,
                "note": it.note,
                "resolved_by_id": by[step],
                "resolved_at": it.at,
                "created_at": now,
            }
        if step is None:
            OutcomeConsensus.objects.filter(trajectory=trajectory).update(**values)
        else:
            Consensus.objects.filter(trajectory=trajectory, step=step).update(root_id=it.root, **values)


def _void_audits(trajectories: Collection[int]) -> None:
    """Void comparisons and rulings of audits on a consensus that is taken back: they are made anew when there
    is another, and until then count as not having come back."""
    AuditRuling.objects.filter(ruling_drafts(), audited__trajectory__in=trajectories).delete()
    AuditedTrajectory.objects.filter(
        trajectory__in=trajectories, state__in=(AuditedState.DECIDING, AuditedState.DONE)
    ).update(state=AuditedState.READING, wrong=None, done_at=None, adjudicator=None, taken_at=None)


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
    _void_audits([trajectory.pk])
    Consensus.objects.filter(trajectory=trajectory).delete()
    OutcomeConsensus.objects.filter(trajectory=trajectory).delete()
    Dispute.objects.filter(trajectory=trajectory).delete()
    pairing.forget(trajectory_id=trajectory.pk)
    spared = SecondPerson.objects.filter(trajectory=trajectory, state=SecondPersonState.SPARED).first()
    if spared is not None:
        undecided = {"doubt": None, "decided_at": None}
        advance(SecondPerson, spared.pk, SecondPersonState.SPARED, SecondPersonState.WAITING, **undecided)
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
    _void_audits([case.trajectory_id])
    Consensus.objects.filter(trajectory=case.trajectory_id).delete()
    OutcomeConsensus.objects.filter(trajectory=case.trajectory_id).delete()
