"""Invariants of disputes, whatever people do, for test_disputes_hold.py."""

from __future__ import annotations

from typing import Any

from hypothesis.stateful import invariant

from annotation.core.vocabulary import AdjudicationState, AssignmentState, ConsensusKind, TrajectoryState
from annotation.models import (
    Adjudication,
    Assignment,
    AuditEvent,
    CaseEvent,
    Comment,
    Consensus,
    Discussion,
    Label,
    LabelEvent,
    OutcomeConsensus,
    OutcomeLabel,
    ReleaseRecord,
    Revision,
    Step,
    Trajectory,
    User,
)
from annotation.policies import visible
from tests.services.project_machine import World

APPEND_ONLY: tuple[Any, ...] = (Comment, Revision, CaseEvent, LabelEvent, AuditEvent, Discussion)


class DisputeWorld(World):
    """A project with disputes, and what must never be seen in it."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[Any, int] = {}
        self.submitted: dict[int, Any] = {}

    @invariant()
    def nothing_that_was_said_is_lost(self) -> None:
        counts = {model: model._default_manager.count() for model in APPEND_ONLY}
        assert all(counts[model] >= self.counts.get(model, 0) for model in APPEND_ONLY)
        self.counts = counts

    @invariant()
    def labels_of_settled_trajectories_never_change(self) -> None:
        rows = Assignment.objects.filter(state=AssignmentState.SUBMITTED)
        for pk in rows.exclude(trajectory__state=TrajectoryState.LABELLING).values_list("pk", flat=True):
            steps = Label.objects.filter(assignment=pk).values_list("step", "value", "root", "note")
            outcome = OutcomeLabel.objects.filter(assignment=pk).values_list("value", "note")
            now = (list(steps), list(outcome))
            assert self.submitted.setdefault(pk, now) == now

    @invariant()
    def cases_consensus_and_states_belong_together(self) -> None:
        for row in Trajectory.objects.all():
            steps = Consensus.objects.filter(trajectory=row).count()
            outcome = OutcomeConsensus.objects.filter(trajectory=row).count()
            resolved = row.state in (TrajectoryState.UNANIMOUS, TrajectoryState.ADJUDICATED)
            assert (steps, outcome) == ((row.step_count, 1) if resolved else (0, 0))
            cases = Adjudication.objects.filter(trajectory=row).exclude(state=AdjudicationState.RELEASED)
            states = list(cases.values_list("state", flat=True))
            assert len(states) <= 1
            if row.state == TrajectoryState.ADJUDICATED:
                assert states == [AdjudicationState.DECIDED]
            else:
                assert states in ([], [AdjudicationState.OPEN] if row.state == "disputed" else [])
            labelled = Assignment.objects.filter(trajectory=row).values("annotator")
            assert not cases.filter(adjudicator__in=labelled).exists()
            if row.state == TrajectoryState.LABELLING:
                assert not Discussion.objects.filter(trajectory=row).exists()

    @invariant()
    def origin_of_every_resolved_label_is_true(self) -> None:
        for row in Trajectory.objects.filter(state=TrajectoryState.ADJUDICATED):
            case = Adjudication.objects.get(trajectory=row, state=AdjudicationState.DECIDED)
            decisions = {decision.step_id: decision for decision in case.decisions.all()}
            outcome = OutcomeConsensus.objects.get(trajectory=row)
            resolved: list[tuple[int | None, Any]] = [(None, outcome)]
            resolved += [(one.step_id, one) for one in Consensus.objects.filter(trajectory=row)]
            for step, one in resolved:
                given, now = self._said(row, step)
                decided = decisions.get(step)
                if one.kind == ConsensusKind.ADJUDICATED:
                    assert decided is not None and decided.value == one.value
                    assert one.resolved_by == case.adjudicator
                else:
                    assert set(now) == {one.value}
                    untouched = set(given) == {one.value}
                    assert one.kind == (ConsensusKind.UNANIMOUS if untouched else ConsensusKind.DISCUSSED)
                if step is not None and one.root_id is not None:
                    assert Consensus.objects.get(step=one.root_id).value == -1
                    assert Step.objects.get(pk=one.root_id).ordinal <= Step.objects.get(pk=step).ordinal

    def _said(self, row: Trajectory, step: int | None) -> tuple[list[int], list[int]]:
        """The submitted labels of a step, and the present ones: looked up one by one."""
        given, now = [], []
        for mine in Assignment.objects.filter(trajectory=row, state=AssignmentState.SUBMITTED):
            found: Any = mine.outcome if step is None else mine.labels.get(step=step)
            changed = mine.revisions.filter(step=step).last()
            given.append(found.value)
            now.append(changed.value if changed else found.value)
        return given, now

    @invariant()
    def release_holds_what_is_resolved_and_stays_so(self) -> None:
        held = ReleaseRecord.objects.filter(release__withdrawal__isnull=True, release__number__gt=0)
        for record in held:
            row = Trajectory.objects.get(record_id=record.record_id)
            labels = dict(record.labels.values_list("message_index", "value"))
            steps = dict(row.consensus.values_list("step__message_index", "value"))
            assert labels == {**steps, None: row.outcome_consensus.value}

    @invariant()
    def only_those_speak_and_are_told_whom_it_concerns(self) -> None:
        for talk in Discussion.objects.all():
            labelled = Assignment.objects.filter(
                trajectory=talk.trajectory_id, state=AssignmentState.SUBMITTED
            )
            cases = Adjudication.objects.filter(trajectory=talk.trajectory_id)
            taken = AuditEvent.objects.filter(
                verb__in=("case.open", "case.reopen"), object_id__in=[str(case.pk) for case in cases]
            )
            people_of_it = {self.cast.admin.pk, *labelled.values_list("annotator", flat=True)}
            people_of_it |= set(taken.values_list("actor", flat=True))
            spoken = set(talk.comments.values_list("author", flat=True))
            told = set(talk.notices.values_list("user", flat=True))
            assert spoken | told <= people_of_it
            assert (
                not talk.comments.filter(voice="annotator")
                .exclude(author__in=labelled.values("annotator"))
                .exists()
            )
            strangers = User.objects.exclude(pk__in=people_of_it).filter(is_superuser=False)
            assert not any(
                visible(stranger, Discussion.objects.filter(pk=talk.pk)).exists() for stranger in strangers
            )
