"""All labels of one assignment in memory: read once, changed, resolved by the propagation rule, written
once."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotation.core.propagation import StepInput, StepResult, resolve
from annotation.core.vocabulary import LabelSource
from annotation.reports.shared.label_json import label_json, outcome_json

from . import rows
from .changes import LabelUpdate
from .rows import LabelRow, OutcomeRow, SaveContext, StepRow


@dataclass(slots=True)
class LabelSet:
    """All labels of one assignment in memory: read once, changed, resolved by the rule, written once.

    A label that is made after its annotator saw something that tells of it (`StepRow.exposed_at`) is not
    blind.
    """

    assignment: int
    stored: SaveContext
    now: datetime
    labels: dict[int, LabelRow] = field(init=False)
    outcome: OutcomeRow | None = field(init=False)
    touched: dict[int, LabelRow] = field(default_factory=dict)
    events: list[tuple[Any, ...]] = field(default_factory=list)
    outcome_touched: bool = False
    _by_index: dict[int, StepRow] = field(init=False)
    _index_by_pk: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.labels, self.outcome = self.stored.labels, self.stored.outcome
        self._by_index = {step.message_index: step for step in self.stored.steps}
        self._index_by_pk = {step.pk: step.message_index for step in self.stored.steps}

    def step(self, message_index: int | None) -> StepRow | None:
        """The step at a message index, or None when that message is not a step."""
        return None if message_index is None else self._by_index.get(message_index)

    def index_of(self, step_pk: int | None) -> int | None:
        """The message index of a step's pk."""
        return None if step_pk is None else self._index_by_pk.get(step_pk)

    def inputs(self) -> list[StepInput]:
        """What the propagation rule reads."""
        return [self._input(step, self.labels.get(step.message_index)) for step in self.stored.steps]

    def _input(self, step: StepRow, label: LabelRow | None) -> StepInput:
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

    def put(self, change: LabelUpdate, step: StepRow, root: StepRow, op_id: str) -> None:
        """Write one accepted change of a step into the set."""
        label = self.labels.setdefault(step.message_index, LabelRow())
        label.value = change.value
        label.source = change.source if change.value is not None else ""
        label.root_id = root.pk if change.value == -1 else None
        label.root_pinned = change.root_pinned and change.value == -1
        label.closes = change.closes if change.value == 1 else ""
        label.unsure, label.flagged = change.unsure, change.flagged
        label.note, label.reason = change.note, change.reason
        self._touch(step, label, op_id, "save")

    def put_outcome(self, change: LabelUpdate, op_id: str) -> None:
        """Write an accepted change of the outcome into the set."""
        outcome = self.outcome = self.outcome or OutcomeRow()
        outcome.value, outcome.unsure, outcome.flagged = change.value, change.unsure, change.flagged
        outcome.note, outcome.reason = change.note, change.reason
        outcome.version += 1
        self.outcome_touched = True
        self._note(None, outcome.value, "", outcome.version, op_id, "save")

    def settle(self, op_id: str) -> None:
        """Apply the rule: roots follow what they depend on, and fills whose root is gone lose their value."""
        results = resolve(self.inputs(), self.stored.rules)
        for step, result in zip(self.stored.steps, results, strict=True):
            label = self.labels.get(step.message_index)
            if label is not None and label.value is not None:
                self._follow(step, label, result, op_id)

    def _follow(self, step: StepRow, label: LabelRow, result: StepResult, op_id: str) -> None:
        root = self.step(result.root)
        root_id = root.pk if root else None
        if (label.value, label.root_id, label.root_pinned) == (result.value, root_id, result.root_pinned):
            return
        label.value, label.root_id, label.root_pinned = result.value, root_id, result.root_pinned
        if result.value is None:
            label.source = ""
        self._touch(step, label, op_id, "orphan" if result.orphaned else "root")

    def _touch(self, step: StepRow, label: LabelRow, op_id: str, kind: str) -> None:
        """Raise the version once a batch, however often the batch and the rule change the label."""
        if step.message_index not in self.touched:
            label.version += 1
            self.touched[step.message_index] = label
        self._note(step.pk, label.value, label.source, label.version, op_id, kind)

    def _note(
        self, step: int | None, value: int | None, source: str, version: int, op_id: str, kind: str
    ) -> None:
        self.events.append((self.assignment, step, op_id, kind, value, source, version, "{}", self.now))

    def write(self) -> None:
        """Store what changed: at most three statements."""
        if self.touched:
            changed = [(self._by_index[index], label) for index, label in self.touched.items()]
            rows.write_labels(self.assignment, changed, self.now)
        if self.outcome_touched and self.outcome is not None:
            seen_at = self.stored.outcome_exposed_at
            rows.write_outcome(self.assignment, self.outcome, seen_at, self.now)
        rows.write_events(self.events)

    def state(self) -> dict[str, Any]:
        """Every label as the browser keeps it: {"labels": [...], "outcome": {...}}."""
        return {
            "labels": [self.label_json(step.message_index) for step in self.stored.steps],
            "outcome": self.outcome_json(),
        }

    def label_json(self, message_index: int) -> dict[str, Any]:
        """One step's label as the browser keeps it."""
        return label_json(message_index, self.labels.get(message_index), self._index_by_pk)

    def outcome_json(self) -> dict[str, Any]:
        """The outcome as the browser keeps it."""
        return outcome_json(self.outcome)
