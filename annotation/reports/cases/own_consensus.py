"""The consensus of a trajectory beside the labels that its reader gave."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.core.errors import Denied
from annotation.core.i18n import translatable
from annotation.models import Assignment, Consensus, Label, OutcomeConsensus, OutcomeLabel, Step, User
from annotation.policies import require
from annotation.policies.own_consensus import why_no_consensus


@dataclass(frozen=True, slots=True)
class OwnLine:
    """One step, or the outcome (`message_index` and `number` None): one's own label and the resolved one, its
    origin and, of an error, its reason code."""

    message_index: int | None
    number: int | None
    own: int | None
    consensus: int
    kind: str
    reason_code: str

    @property
    def same(self) -> bool:
        """Whether the consensus is one's own label."""
        return self.own == self.consensus


@dataclass(frozen=True, slots=True)
class OwnConsensus:
    """The steps in order and the outcome last; none of them where `why_not` says why."""

    assignment: Assignment
    why_not: str
    lines: tuple[OwnLine, ...] = ()


def own_consensus(*, actor: User, assignment: Assignment) -> OwnConsensus:
    """The consensus beside one's own labels. For services/noted_reads.py, which notes what is shown. Seven
    queries and that of the permission. `assignment` comes with its project and trajectory."""
    require(actor, "label", assignment)
    if assignment.annotator_id != actor.pk:
        raise Denied(translatable("You are not allowed to do this."))
    if why_not := why_no_consensus(actor, assignment):
        return OwnConsensus(assignment, why_not)
    own: dict[int | None, int | None] = dict(
        Label.stored.filter(assignment=assignment).values_list("step", "value")
    )
    own |= {None: OutcomeLabel.stored.filter(assignment=assignment).values_list("value", flat=True).first()}
    steps = Step.objects.filter(trajectory=assignment.trajectory_id).in_bulk()
    resolved = Consensus.objects.filter(trajectory=assignment.trajectory_id).order_by("step__message_index")
    lines = [
        OwnLine(
            steps[row.step_id].message_index,
            steps[row.step_id].ordinal + 1,
            own.get(row.step_id),
            row.value,
            row.kind,
            row.reason,
        )
        for row in resolved
    ]
    outcome = OutcomeConsensus.objects.get(trajectory=assignment.trajectory_id)
    lines.append(OwnLine(None, None, own[None], outcome.value, outcome.kind, outcome.reason))
    return OwnConsensus(assignment, "", tuple(lines))
