"""The data of the workbench: one assignment, its trajectory, and its labels so far."""

from dataclasses import asdict, dataclass
from typing import Any, Final

from annotation.core.decisions.display import display_order
from annotation.core.errors import StaleState
from annotation.core.i18n import translatable
from annotation.core.kinds import Feature
from annotation.core.vocabulary import AssignmentState, DecisionKind, RecheckKind
from annotation.models import Assignment, Guideline, Label, OutcomeLabel, Step, User
from annotation.policies import FieldAccess, field_access, require
from annotation.policies.rechecks import closed

from ..shared.label_json import fields_of, label_json, outcome_json, rules_of
from ..shared.transcripts import Transcript, transcript
from ..training.guided import Guided, guided
from .my_progress import reopenable

PRESET: Final = 1
"""The outcome of a decision unless its annotator says otherwise: most items are fit for use. It is shown, and
is no label before they press it or submit with it: what saved itself would be a label that nobody gave."""


@dataclass(frozen=True, slots=True)
class Workbench:
    """One assignment, ready to be labelled (or, when it is not `open` any more, to be read).

    `state` is JSON-ready: {"rules": {...}, "kind": what a decision asks for, "steps": [...], "outcome":
    {...}}, with labels as `save_labels`
    answers them, each step with its `ordinal` (from 0) and `after_user_turn` besides, in the order in which
    they are shown: alternatives in one of chance, of its own for each person. `preset` is the outcome that
    stands on the screen while none is set. `reopenable`: it was
    submitted, and for all that its annotator knows can be opened again. `guided`: which item of the tutorial
    or of a test it is.
    """

    assignment: Assignment
    open: bool
    access: FieldAccess
    transcript: Transcript
    steps: list[Step]
    state: dict[str, Any]
    preset: int | None
    reopenable: bool
    guidelines: Guideline | None
    guided: Guided | None = None

    @property
    def order(self) -> list[int]:
        """The messages of the steps in the order in which they are shown."""
        return [step["message_index"] for step in self.state["steps"]]

    @property
    def first_unlabelled(self) -> int | None:
        """The message of the first step without a label, where the work goes on; None without one."""
        return next((step["message_index"] for step in self.state["steps"] if step["value"] is None), None)


def workbench(*, actor: User, assignment: Assignment) -> Workbench:
    """The data of the workbench of one's own assignment, in a constant number of queries (at most 9).

    `assignment` comes with its project, its recheck, and its trajectory's subset and task. Raises Denied
    for somebody else's, StaleState for one that was returned, has expired or is closed.
    """
    require(actor, "label", assignment)
    if assignment.state not in (AssignmentState.OPEN, AssignmentState.SUBMITTED):
        raise StaleState(
            translatable("This trajectory has been returned. You can resume it from My work."),
            code="not_open",
        )
    is_submitted = assignment.state == AssignmentState.SUBMITTED
    if is_submitted and closed(assignment):
        raise StaleState(
            translatable(
                "Work that you submitted more than {days} days ago is closed once all of its labels are in: "
                "you may be asked to label some of it again without seeing your earlier labels.",
                days=assignment.project.retest_days,
            ),
            code="closed",
        )
    trajectory = assignment.trajectory
    trajectory.project = assignment.project  # the same row: spares a query
    access = field_access(actor, trajectory)
    own = Assignment.stored.filter(pk=assignment.pk)
    steps = list(Step.objects.filter(trajectory=trajectory).order_by("message_index"))
    read = transcript(trajectory=trajectory, access=access)
    return Workbench(
        assignment=assignment,
        open=assignment.state == AssignmentState.OPEN,
        access=access,
        transcript=read,
        steps=steps,
        state=_state(assignment, steps, read.kind),
        preset=PRESET if assignment.project.of_kind.has(Feature.PAIRS) else None,
        reopenable=is_submitted and own.filter(reopenable()).exists(),
        guidelines=Guideline.objects.filter(project=assignment.project_id).order_by("-version").first(),
        guided=guided(assignment),
    )


def _state(assignment: Assignment, steps: list[Step], kind: DecisionKind) -> dict[str, Any]:
    index_of = {step.pk: step.message_index for step in steps}
    rows = Label.stored.filter(assignment=assignment)
    labels = {label.step_id: fields_of(label, index_of) for label in rows}
    outcome = OutcomeLabel.stored.filter(assignment=assignment).first()
    tested = assignment.recheck is not None and assignment.recheck.kind == RecheckKind.TEST
    rules = rules_of(assignment.project, assignment.trajectory.subset, tested=tested)
    of_index = {step.message_index: step for step in steps}
    shown = list(of_index)
    if assignment.project.of_kind.has(Feature.PAIRS):
        shown = display_order(
            shown,
            seed=assignment.project.recheck_seed,
            item=assignment.trajectory.record_id,
            person=assignment.annotator_id,
        )
    return {
        "rules": {**asdict(rules), "others": rules.others and kind is not DecisionKind.PAIR},
        "kind": kind.value,
        "steps": [
            {
                "ordinal": step.ordinal,
                "after_user_turn": step.after_user_turn,
                **label_json(step.message_index, labels.get(step.pk)),
            }
            for step in map(of_index.__getitem__, shown)
        ],
        "outcome": outcome_json(outcome),
    }
