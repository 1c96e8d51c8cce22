"""All labels of one assignment in memory: read once, changed, resolved by the propagation rule, written
once."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, Subquery

from annotation.core.propagation import Rules, StepInput, StepResult, resolve
from annotation.core.vocabulary import LabelSource
from annotation.models import Assignment, Exposure, Label, LabelEvent, OutcomeLabel, Step
from annotation.reports.label_json import label_json, outcome_json

from .. import assign, exposures
from .changes import Change

LABEL_FIELDS = [
    "value",
    "source",
    "root",
    "root_pinned",
    "closes",
    "unsure",
    "flagged",
    "note",
    "reason",
    "version",
    "updated_at",
]


@dataclass(slots=True)
class LabelSet:
    """All labels of one assignment in memory: read once, changed, resolved by the rule, written once.

    `exposed` says, by message index, when the annotator first saw something that tells of a step's label: a
    label that is made afterwards is not blind.
    """

    assignment: Assignment
    steps: list[Step]
    labels: dict[int, Label]
    outcome: OutcomeLabel | None
    now: datetime
    exposed: dict[int, datetime] = field(default_factory=dict)
    touched: dict[int, Label] = field(default_factory=dict)
    events: list[LabelEvent] = field(default_factory=list)
    outcome_touched: bool = False
    _by_index: dict[int, Step] = field(init=False)
    _index_by_pk: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self._by_index = {step.message_index: step for step in self.steps}
        self._index_by_pk = {step.pk: step.message_index for step in self.steps}

    @classmethod
    def load(cls, assignment: Assignment, now: datetime) -> "LabelSet":
        """Two queries, however long the trajectory is; a third when the assignment came without its
        outcome."""
        # asked for with the steps: it is wanted for every new label, and there is one at nearly every key
        seen = Exposure.objects.filter(
            user=assignment.annotator_id, trajectory=assignment.trajectory_id, step=OuterRef("pk")
        ).order_by("created_at")
        whole = Exposure.objects.filter(
            user=assignment.annotator_id,
            trajectory=assignment.trajectory_id,
            step__isnull=True,
            kind__in=assign.SPOILS,
        ).order_by("created_at")
        rows = Step.objects.filter(trajectory=assignment.trajectory_id).order_by("message_index")
        exposed = {}
        steps: list[Step] = []
        for step in rows.annotate(
            seen_at=Subquery(seen.values("created_at")[:1]),
            all_seen_at=Subquery(whole.values("created_at")[:1]),
        ):
            steps.append(step)
            moments = [moment for moment in (step.seen_at, step.all_seen_at) if moment is not None]
            if moments:
                exposed[step.message_index] = min(moments)
        by_pk = {step.pk: step for step in steps}
        labels = {}
        for label in Label.objects.filter(assignment=assignment):
            label.step = by_pk[label.step_id]
            labels[label.step.message_index] = label
        outcome = getattr(assignment, "outcome", None)
        return cls(
            assignment=assignment, steps=steps, labels=labels, outcome=outcome, now=now, exposed=exposed
        )

    def step(self, message_index: int | None) -> Step | None:
        """The step at a message index, or None when that message is not a step."""
        return None if message_index is None else self._by_index.get(message_index)

    def index_of(self, step_pk: int | None) -> int | None:
        """The message index of a step's pk."""
        return None if step_pk is None else self._index_by_pk.get(step_pk)

    def inputs(self) -> list[StepInput]:
        """What the propagation rule reads."""
        return [self._input(step, self.labels.get(step.message_index)) for step in self.steps]

    def _input(self, step: Step, label: Label | None) -> StepInput:
        if label is None or label.value is None:
            return StepInput(message_index=step.message_index, after_user_turn=step.after_user_turn)
        return StepInput(
            message_index=step.message_index,
            value=label.value,
            source="propagated" if label.source == LabelSource.PROPAGATED else "explicit",
            root=self.index_of(label.root_id),
            root_pinned=label.root_pinned,
            closes=label.closes,  # type: ignore[arg-type]
            after_user_turn=step.after_user_turn,
        )

    def put(self, change: Change, step: Step, root: Step | None, op_id: str) -> None:
        """Write one accepted change of a step into the set."""
        label = self.labels.get(step.message_index)
        if label is None:
            label = Label(
                assignment=self.assignment,
                step=step,
                version=0,
                exposed_at=self.exposed.get(step.message_index),
            )
            self.labels[step.message_index] = label
        label.value = change.value
        label.source = change.source if change.value is not None else ""
        label.root = root if change.value == -1 else None
        label.root_pinned = change.root_pinned and change.value == -1
        label.closes = change.closes if change.value == 1 else ""
        label.unsure, label.flagged = change.unsure, change.flagged
        label.note, label.reason = change.note, change.reason
        self._touch(label, op_id, "save")

    def put_outcome(self, change: Change, op_id: str) -> None:
        """Write an accepted change of the outcome into the set."""
        if self.outcome is None:
            seen_at = exposures.of_outcome(
                user_id=self.assignment.annotator_id, trajectory_id=self.assignment.trajectory_id
            )
            self.outcome = OutcomeLabel(assignment=self.assignment, version=0, exposed_at=seen_at)
        outcome = self.outcome
        outcome.value, outcome.unsure, outcome.flagged = change.value, change.unsure, change.flagged
        outcome.note, outcome.reason = change.note, change.reason
        outcome.version, outcome.updated_at = outcome.version + 1, self.now
        self.outcome_touched = True
        self.events.append(self._event(None, outcome.value, "", outcome.version, op_id, "save"))

    def settle(self, rules: Rules, op_id: str) -> None:
        """Apply the rule: roots follow what they depend on, and fills whose root is gone lose their value."""
        for step, result in zip(self.steps, resolve(self.inputs(), rules), strict=True):
            label = self.labels.get(step.message_index)
            if label is not None and label.value is not None:
                self._follow(label, result, op_id)

    def _follow(self, label: Label, result: StepResult, op_id: str) -> None:
        root = self.step(result.root)
        same = label.value == result.value and label.root_id == (root.pk if root else None)
        if same and label.root_pinned == result.root_pinned:
            return
        label.value, label.root, label.root_pinned = result.value, root, result.root_pinned
        if result.value is None:
            label.source = ""
        self._touch(label, op_id, "orphan" if result.orphaned else "root")

    def _touch(self, label: Label, op_id: str, kind: str) -> None:
        """Raise the version once a batch, however often the batch and the rule change the label."""
        if label.step.message_index not in self.touched:
            label.version += 1
            self.touched[label.step.message_index] = label
        label.updated_at = self.now
        self.events.append(self._event(label.step, label.value, label.source, label.version, op_id, kind))

    def _event(
        self, step: Step | None, value: int | None, source: str, version: int, op_id: str, kind: str
    ) -> LabelEvent:
        return LabelEvent(
            assignment=self.assignment,
            step=step,
            op_id=op_id,
            kind=kind,
            value=value,
            source=source,
            version=version,
            created_at=self.now,
        )

    def write(self) -> None:
        """Store what changed: at most three statements."""
        if self.touched:
            Label.objects.bulk_create(
                self.touched.values(),
                update_conflicts=True,
                unique_fields=["assignment", "step"],
                update_fields=LABEL_FIELDS,
            )
        if self.outcome_touched and self.outcome is not None:
            self.outcome.save()
        LabelEvent.objects.bulk_create(self.events)

    def state(self) -> dict[str, Any]:
        """Every label as the browser keeps it: {"labels": [...], "outcome": {...}}."""
        return {
            "labels": [self.label_json(step.message_index) for step in self.steps],
            "outcome": self.outcome_json(),
        }

    def label_json(self, message_index: int) -> dict[str, Any]:
        """One step's label as the browser keeps it."""
        return label_json(message_index, self.labels.get(message_index), self._index_by_pk)

    def outcome_json(self) -> dict[str, Any]:
        """The outcome as the browser keeps it."""
        return outcome_json(self.outcome)
