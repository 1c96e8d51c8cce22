"""Labelling: saving in batches with a version per label, and submitting (DESIGN §5 and §6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.core import text
from annotation.core.canonical import canonical_json, sha256_hex
from annotation.core.errors import Conflict, Invalid, StaleState
from annotation.core.propagation import Rules, StepInput, StepResult, allowed_confirmation, resolve
from annotation.core.vocabulary import AssignmentState, LabelSource
from annotation.models import Assignment, Label, LabelEvent, OutcomeLabel, SaveOperation, Step, User
from annotation.policies import require

from . import assign, audit, consensus
from .changes import MAX_CHANGES, TARGETS, Change, parse_change
from .transitions import advance

RESULT = dict[str, Any]


def rules_of(assignment: Assignment) -> Rules:
    """The propagation settings in force for an assignment (its project's and its subset's)."""
    return Rules(
        suspend_on_user_turn=assignment.trajectory.subset.suspend_on_user_turn,
        carry_forward=assignment.project.carry_forward,
    )


@dataclass(slots=True)
class Sheet:
    """All labels of one assignment in memory: read once, changed, resolved by the rule, written once."""

    assignment: Assignment
    steps: list[Step]
    labels: dict[int, Label]
    outcome: OutcomeLabel | None
    now: datetime
    touched: dict[int, Label] = field(default_factory=dict)
    events: list[LabelEvent] = field(default_factory=list)
    outcome_touched: bool = False

    @classmethod
    def load(cls, assignment: Assignment, now: datetime) -> "Sheet":
        """Three queries, however long the trajectory is."""
        steps = list(Step.objects.filter(trajectory=assignment.trajectory_id).order_by("message_index"))
        by_pk = {step.pk: step for step in steps}
        labels = {}
        for label in Label.objects.filter(assignment=assignment):
            label.step = by_pk[label.step_id]
            labels[label.step.message_index] = label
        outcome = OutcomeLabel.objects.filter(assignment=assignment).first()
        return cls(assignment=assignment, steps=steps, labels=labels, outcome=outcome, now=now)

    def step(self, message_index: int | None) -> Step | None:
        """The step at a message index, or None when that message is not a step."""
        return next((step for step in self.steps if step.message_index == message_index), None)

    def index_of(self, step_pk: int | None) -> int | None:
        """The message index of a step's pk."""
        return next((step.message_index for step in self.steps if step.pk == step_pk), None)

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
        """Write one accepted change of a step into the sheet."""
        label = self.labels.get(step.message_index)
        if label is None:
            label = Label(assignment=self.assignment, step=step, version=0)
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
        """Write an accepted change of the outcome into the sheet."""
        if self.outcome is None:
            self.outcome = OutcomeLabel(assignment=self.assignment, version=0)
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
            "labels": [self.shown(step.message_index) for step in self.steps],
            "outcome": self.shown_outcome(),
        }

    def shown(self, message_index: int) -> dict[str, Any]:
        """One step's label as JSON; version 0 when it has never been touched."""
        label = self.labels.get(message_index) or Label(version=0)
        return {
            "message_index": message_index,
            "value": label.value,
            "source": label.source or None,
            "root": self.index_of(label.root_id),
            "root_pinned": label.root_pinned,
            "closes": label.closes,
            **_marks(label),
        }

    def shown_outcome(self) -> dict[str, Any]:
        """The outcome as JSON; version 0 when it has never been touched."""
        outcome = self.outcome or OutcomeLabel(version=0)
        return {"value": outcome.value, **_marks(outcome)}


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


def _marks(judgement: Label | OutcomeLabel) -> dict[str, Any]:
    return {
        "unsure": judgement.unsure,
        "flagged": judgement.flagged,
        "note": text.unescape(judgement.note),
        "reason": judgement.reason,
        "version": judgement.version,
    }


def _locked(assignment: Assignment) -> Assignment:
    return (
        Assignment.objects.select_for_update(of=("self",))
        .select_related("project", "trajectory__subset")
        .get(pk=assignment.pk)
    )


@transaction.atomic
def save_labels(
    *, actor: User, assignment: Assignment, op_id: str, changes: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Apply a batch of changes to an open assignment; repeating a batch (same `op_id`) changes nothing.

    Each change names its target ("step" with `message_index`, or "outcome"), the version it is based on, and the
    whole new content (see services/changes.py). Changes are taken one by one: a stale or refused one leaves the
    others standing. Returns {"op_id", "results": [{"target", "message_index", "status": "saved"|"stale"|"refused",
    "reason", "label"}], "labels": [...], "outcome": {...}}.

    Raises Invalid for a batch that cannot be read, Conflict for an `op_id` that was used for other changes,
    StaleState when the assignment is not open.
    """
    require(actor, "label", assignment)
    if not 1 <= len(op_id) <= 64:
        raise Invalid("op_id: 1 to 64 characters.", fields={"op_id": "1 to 64 characters."})
    if len(changes) > MAX_CHANGES:
        raise Invalid(f"At most {MAX_CHANGES} changes in one batch.", code="too_many_changes")
    current = _locked(assignment)
    digest = sha256_hex(canonical_json([dict(change) for change in changes]))
    sheet = Sheet.load(current, timezone.now())
    earlier = SaveOperation.objects.filter(assignment=current, op_id=op_id).first()
    if earlier is not None:
        if earlier.digest != digest:
            raise Conflict("This op_id was used for other changes.", code="op_id_reused")
        return _answer(sheet, op_id, earlier.results)
    if current.state != AssignmentState.OPEN:
        raise StaleState("This trajectory is not open for labelling any more.", code="not_open")
    rules = rules_of(current)
    versions = {index: label.version for index, label in sheet.labels.items()}
    outcome_version = sheet.outcome.version if sheet.outcome else 0
    results = [_apply(sheet, raw, versions, outcome_version, rules, op_id) for raw in changes]
    sheet.write()
    SaveOperation.objects.create(
        assignment=current, op_id=op_id, digest=digest, results=results, created_at=sheet.now
    )
    return _answer(sheet, op_id, results)


def _answer(sheet: Sheet, op_id: str, results: Sequence[RESULT]) -> dict[str, Any]:
    """The results of a batch, each with the label as it is now, and the whole sheet."""
    with_labels = [
        {
            **result,
            "label": sheet.shown_outcome()
            if result["target"] == "outcome"
            else sheet.shown(result["message_index"])
            if sheet.step(result["message_index"])
            else None,
        }
        for result in results
    ]
    return {"op_id": op_id, "results": with_labels, **sheet.state()}


def _apply(
    sheet: Sheet,
    raw: Mapping[str, Any],
    versions: Mapping[int, int],
    outcome_version: int,
    rules: Rules,
    op_id: str,
) -> RESULT:
    """Take one change into the sheet, or say why not. The versions are those from before the batch."""
    change = parse_change(raw)
    if isinstance(change, str):
        target = raw.get("target") if raw.get("target") in TARGETS else None
        return {"target": target, "message_index": None, "status": "refused", "reason": change}
    result: RESULT = {"target": change.target, "message_index": change.message_index}
    based_on = outcome_version if change.message_index is None else versions.get(change.message_index, 0)
    if change.version != based_on:
        return {**result, "status": "stale", "reason": "Changed elsewhere since this page last saw it."}
    if change.target == "outcome":
        sheet.put_outcome(change, op_id)
        return {**result, "status": "saved", "reason": ""}
    step = sheet.step(change.message_index)
    if step is None:
        return {**result, "status": "refused", "reason": f"Message {change.message_index} is not a step."}
    refusal = _unfit(sheet, change, step, rules)
    if refusal:
        return {**result, "status": "refused", "reason": refusal}
    root = sheet.step(change.root)
    sheet.put(change, step, root or step, op_id)
    sheet.settle(rules, op_id)
    return {**result, "status": "saved", "reason": ""}


def _unfit(sheet: Sheet, change: Change, step: Step, rules: Rules) -> str:
    """Why a change does not fit the trajectory as labelled so far; empty when it does."""
    if change.value is None:
        return ""
    if change.source == LabelSource.PROPAGATED:
        inputs = sheet.inputs()
        fits = allowed_confirmation(inputs, rules, step.message_index, change.value, change.root)
        return "" if fits else "Nothing is proposed here any more that could be confirmed."
    if change.value == -1 and change.root_pinned:
        if change.root is None or change.root > step.message_index or sheet.step(change.root) is None:
            return "The root of an error is this step or an earlier one."
    return ""


@transaction.atomic
def submit(*, actor: User, assignment: Assignment) -> Assignment:
    """Hand in: every step must be labelled and the outcome set. The last of the N decides the trajectory's state.

    Raises Invalid (code "incomplete", details {"missing": [message indexes], "outcome": bool}), or StaleState when
    it is not open (a second submit, for example).
    """
    require(actor, "label", assignment)
    current = _locked(assignment)
    if current.state != AssignmentState.OPEN:
        raise StaleState("This trajectory has been submitted or given back already.", code="not_open")
    done = set(
        Label.objects.filter(assignment=current, value__isnull=False).values_list(
            "step__message_index", flat=True
        )
    )
    indexes = Step.objects.filter(trajectory=current.trajectory_id).order_by("message_index")
    missing = [index for index in indexes.values_list("message_index", flat=True) if index not in done]
    outcome_missing = not OutcomeLabel.objects.filter(assignment=current, value__isnull=False).exists()
    if missing or outcome_missing:
        first = f"step {missing[0]} has no label" if missing else "the outcome is not set"
        raise Invalid(
            f"Not complete yet: {first}.",
            code="incomplete",
            details={"missing": missing, "outcome": outcome_missing},
        )
    finish(assignment=current, now=timezone.now())
    audit.record(actor=actor, verb="assignment.submit", project=current.project, obj=current)
    current.refresh_from_db()
    return current


def finish(*, assignment: Assignment, now: datetime) -> None:
    """Turn a complete open assignment into a submitted one, and settle its trajectory when it was the last."""
    advance(
        Assignment,
        assignment.pk,
        AssignmentState.OPEN,
        AssignmentState.SUBMITTED,
        submitted_at=now,
        guideline_version=assign.guideline_in_force(assignment.project_id),
    )
    consensus.settle(trajectory_id=assignment.trajectory_id)
