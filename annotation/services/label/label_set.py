"""All labels of one assignment in memory: read once, changed, resolved by the propagation rule, written
once."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from annotation.core.label_fields import LabelFields, OutcomeFields
from annotation.core.propagation import Proposal, StepInput, StepResult, resolve
from annotation.core.vocabulary import LabelSource
from annotation.reports.shared.label_json import label_json, outcome_json

from . import rows
from .rows import SaveContext, StepRow


@dataclass(slots=True)
class LabelSet:
    """All labels of one assignment in memory: read once, changed, resolved by the rule, written once.

    A label that is made after its annotator saw something that tells of it (`StepRow.exposed_at`) is not
    blind.
    """

    assignment: int
    stored: SaveContext
    now: datetime
    labels: dict[int, LabelFields] = field(init=False)
    outcome: OutcomeFields | None = field(init=False)
    touched: dict[int, LabelFields] = field(default_factory=dict)
    events: list[tuple[Any, ...]] = field(default_factory=list)
    outcome_touched: bool = False
    _by_index: dict[int, StepRow] = field(init=False)
    # what the rule says of each step, since it was last asked in this batch
    _results: dict[int, StepResult] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.labels, self.outcome = self.stored.labels, self.stored.outcome
        self._by_index = {step.message_index: step for step in self.stored.steps}

    def step(self, message_index: int | None) -> StepRow | None:
        """The step at a message index, or None when that message is not a step."""
        return None if message_index is None else self._by_index.get(message_index)

    def inputs(self) -> list[StepInput]:
        """The input of the propagation rule."""
        return [self._input(step, self.labels.get(step.message_index)) for step in self.stored.steps]

    def _input(self, step: StepRow, label: LabelFields | None) -> StepInput:
        if label is None or label.value is None:
            return StepInput(message_index=step.message_index, after_user_turn=step.after_user_turn)
        return StepInput(
            message_index=step.message_index,
            value=label.value,
            source="propagated" if label.source == LabelSource.PROPAGATED else "explicit",
            root=label.root,
            root_pinned=label.root_pinned,
            after_user_turn=step.after_user_turn,
        )

    def put(self, step: StepRow, content: LabelFields, op_id: str) -> None:
        """Write the accepted new content of a step's label into the set."""
        label = self.labels.setdefault(step.message_index, LabelFields())
        label.source = content.source if content.value is not None else ""
        root = step.message_index if self.step(content.root) is None else content.root
        label.root = root if content.value == -1 else None
        label.root_pinned = content.root_pinned and content.value == -1
        label.closes = content.closes if content.value == 1 else ""
        _put(label, content)
        self._touch(step, label, op_id, "save")

    def put_outcome(self, content: OutcomeFields, op_id: str) -> None:
        """Write the accepted new content of the outcome into the set."""
        outcome = self.outcome = self.outcome or OutcomeFields()
        _put(outcome, content)
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
        self._results = {result.message_index: result for result in results}

    def confirm(self, step: StepRow, content: LabelFields, op_id: str) -> bool:
        """Take in a step's proposal as its label; False, and nothing taken in, if it is not known to be that.

        A fill goes on with the run that proposes it, so that the rule says of all other steps what it said
        before. It need not be asked again: for a thousand steps that are confirmed at once it would be a
        thousand times, each of all steps.
        """
        known = self._results.get(step.message_index)
        label = self.labels.get(step.message_index)
        if known is None or (label is not None and label.value is not None) or content.root_pinned:
            return False
        if content.value is None or known.proposal != Proposal(content.value, content.root):
            return False
        self.put(step, content, op_id)
        self._results[step.message_index] = replace(
            known, value=content.value, source="propagated", root=content.root, proposal=None
        )
        return True

    def _follow(self, step: StepRow, label: LabelFields, result: StepResult, op_id: str) -> None:
        now = (result.value, result.root, result.root_pinned)
        if (label.value, label.root, label.root_pinned) == now:
            return
        label.value, label.root, label.root_pinned = now
        if result.value is None:
            label.source = ""
        self._touch(step, label, op_id, "orphan" if result.orphaned else "root")

    def _touch(self, step: StepRow, label: LabelFields, op_id: str, kind: str) -> None:
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
            rows.write_labels(self.assignment, self._by_index, self.touched, self.now)
        if self.outcome_touched and self.outcome is not None:
            seen_at = self.stored.outcome_exposed_at
            rows.write_outcome(self.assignment, self.outcome, seen_at, self.now)
        rows.write_events(self.events)

    def versions(self) -> int:
        """The sum of all versions, that of the outcome included."""
        return sum(label.version for label in self.labels.values()) + (
            self.outcome.version if self.outcome else 0
        )

    def state(self, about: Collection[int] | None = None) -> dict[str, Any]:
        """Labels as the browser keeps them, {"labels": [...], "outcome": {...}}: all, or those of some
        messages."""
        indexes = (step.message_index for step in self.stored.steps)
        return {
            "labels": [self.label_json(index) for index in indexes if about is None or index in about],
            "outcome": self.outcome_json(),
        }

    def label_json(self, message_index: int) -> dict[str, Any]:
        """One step's label as the browser keeps it."""
        return label_json(message_index, self.labels.get(message_index))

    def outcome_json(self) -> dict[str, Any]:
        """The outcome as the browser keeps it."""
        return outcome_json(self.outcome)


def _put(label: OutcomeFields, content: OutcomeFields) -> None:
    """Copy the fields of every label but its version, which is counted here."""
    label.value, label.unsure, label.flagged = content.value, content.unsure, content.flagged
    label.note, label.reason = content.note, content.reason
