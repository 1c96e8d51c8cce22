"""What the workbench shows: one assignment, its trajectory, and its labels so far."""

from dataclasses import asdict, dataclass
from typing import Any

from annotation.core.errors import StaleState
from annotation.core.i18n import translatable
from annotation.core.propagation import Rules
from annotation.core.text import unescape
from annotation.core.vocabulary import AssignmentState
from annotation.models import Assignment, Guideline, Label, OutcomeLabel, Step, User
from annotation.policies import FieldAccess, field_access, require

from .transcripts import Transcript, transcript


@dataclass(frozen=True, slots=True)
class Workbench:
    """One assignment, ready to be labelled (or, when it is not `open` any more, to be read).

    `state` is JSON-ready: {"rules": {...}, "steps": [...], "outcome": {...}}, with labels as `save_labels`
    answers them, each step with its `ordinal` (from 0) and `after_user_turn` besides.
    """

    assignment: Assignment
    open: bool
    access: FieldAccess
    transcript: Transcript
    steps: list[Step]
    state: dict[str, Any]
    guidelines: Guideline | None


def workbench(*, actor: User, assignment: Assignment) -> Workbench:
    """Everything the workbench of one's own assignment needs, in a constant number of queries (at most 8).

    `assignment` comes with its project and its trajectory's subset and task. Raises Denied for somebody
    else's, StaleState for one that was returned or has expired.
    """
    require(actor, "label", assignment)
    if assignment.state not in (AssignmentState.OPEN, AssignmentState.SUBMITTED):
        raise StaleState(
            translatable("This trajectory has been given back. You can take it up again from your work."),
            code="not_open",
        )
    trajectory = assignment.trajectory
    trajectory.project = assignment.project  # the same row: spares a query
    access = field_access(actor, trajectory)
    steps = list(Step.objects.filter(trajectory=trajectory).order_by("message_index"))
    return Workbench(
        assignment=assignment,
        open=assignment.state == AssignmentState.OPEN,
        access=access,
        transcript=transcript(trajectory=trajectory, access=access),
        steps=steps,
        state=_state(assignment, steps),
        guidelines=Guideline.objects.filter(project=assignment.project_id).order_by("-version").first(),
    )


def _state(assignment: Assignment, steps: list[Step]) -> dict[str, Any]:
    index_of = {step.pk: step.message_index for step in steps}
    labels = {label.step_id: label for label in Label.objects.filter(assignment=assignment)}
    outcome = OutcomeLabel.objects.filter(assignment=assignment).first() or OutcomeLabel(version=0)
    rules = Rules(
        suspend_on_user_turn=assignment.trajectory.subset.suspend_on_user_turn,
        carry_forward=assignment.project.carry_forward,
    )
    return {
        "rules": asdict(rules),
        "steps": [
            {
                "ordinal": step.ordinal,
                "after_user_turn": step.after_user_turn,
                **_label(step, labels.get(step.pk) or Label(version=0), index_of),
            }
            for step in steps
        ],
        "outcome": {"value": outcome.value, **_marks(outcome)},
    }


def _label(step: Step, label: Label, index_of: dict[int, int]) -> dict[str, Any]:
    return {
        "message_index": step.message_index,
        "value": label.value,
        "source": label.source or None,
        "root": index_of.get(label.root_id) if label.root_id else None,
        "root_pinned": label.root_pinned,
        "closes": label.closes,
        **_marks(label),
    }


def _marks(judgement: Label | OutcomeLabel) -> dict[str, Any]:
    return {
        "unsure": judgement.unsure,
        "flagged": judgement.flagged,
        "note": unescape(judgement.note),
        "reason": judgement.reason,
        "version": judgement.version,
    }
