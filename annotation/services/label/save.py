"""Save labels in batches, with a version per label and a client-made id per batch (docs/design.md, "Who may
see what")."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.core.decisions.record import kind_asked
from annotation.core.errors import Conflict, Invalid, NotFound, StaleState
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json, sha256_hex
from annotation.core.label_fields import LabelFields
from annotation.core.propagation import allowed_confirmation
from annotation.core.vocabulary import AssignmentState, DecisionKind, LabelSource
from annotation.models import Assignment, TrajectoryContent, User
from annotation.policies import require

from . import rows
from .changes import MAX_CHANGES, TARGETS, parse_change
from .label_set import LabelSet
from .rows import StepRow

RESULT = dict[str, Any]
REPEATABLE = timedelta(days=1)
"""So long a batch may be repeated after the assignment was handed in, for an answer that was lost; later it
would show labels that may be closed (policies.rechecks)."""
OP_ID = re.compile(r"[!-~]{1,64}")
OP_ID_RULE = translatable("1 to 64 visible ASCII characters.")


def save_labels(
    *,
    actor: User,
    assignment: Assignment | int,
    op_id: str,
    changes: Sequence[Mapping[str, Any]],
    known_versions: int | None = None,
) -> dict[str, Any]:
    """Apply a batch of changes to an open assignment; repeating a batch (same `op_id`) changes nothing.

    `assignment` may be its pk: a save is made for every key press, so the row is read once, under its lock.

    Each change names its target ("step" with `message_index`, or "outcome"), the version it is based on, and
    the whole new content (see services/label/changes.py). Changes are taken one by one: a stale or refused
    one leaves the others standing. Returns {"op_id", "results", "labels", "outcome"}; each result is
    {"target", "message_index", "status": "saved" | "stale" | "refused", "reason", "label"}. An empty batch
    asks what is stored, and leaves no trace.

    `labels` are all labels, unless `known_versions`, the sum of the versions that the client knows, is that
    of what was stored before the batch: then nothing else has changed, and they are those that the batch
    named or changed. Versions only rise, so that equal sums are equal versions.

    Raises NotFound for what is not the actor's own, Invalid for a batch that cannot be read, Conflict for an
    `op_id` that was used for other changes, StaleState when the assignment is not open.
    """
    if not OP_ID.fullmatch(op_id):
        raise Invalid(
            translatable("op_id: {op_id_rule}", op_id_rule=OP_ID_RULE), fields={"op_id": OP_ID_RULE}
        )
    if len(changes) > MAX_CHANGES:
        raise Invalid(
            translatable("At most {changes} changes in one batch.", changes=MAX_CHANGES),
            code="too_many_changes",
        )
    pk = assignment if isinstance(assignment, int) else assignment.pk
    with transaction.atomic():
        stored = rows.read(assignment=pk, annotator=actor.pk, op_id=op_id) if actor.is_active else None
        if stored is None:
            raise NotFound(translatable("This does not exist, or you may not see it."))
        mine = Assignment(pk=pk, annotator_id=actor.pk, project_id=stored.project_id)
        require(actor, "label", mine, held=stored.held)
        label_set = LabelSet(pk, stored, timezone.now())
        whole = known_versions != label_set.versions()
        results = _save(label_set, op_id, changes)
    # of a change that could not be read, the result has no name
    named = [change.get("message_index") for change in changes]
    about = None if whole else {*label_set.touched, *(index for index in named if isinstance(index, int))}
    return _answer(label_set, op_id, results, about)


def _save(label_set: LabelSet, op_id: str, changes: Sequence[Mapping[str, Any]]) -> Sequence[RESULT]:
    """The results of a batch: those of then, when it was applied before."""
    stored = label_set.stored
    digest = sha256_hex(canonical_json([dict(change) for change in changes]))
    if stored.operation is not None:
        if stored.operation.digest != digest:
            raise Conflict(translatable("This op_id was used for other changes."), code="op_id_reused")
        if stored.state == AssignmentState.OPEN or label_set.now - stored.operation.created_at < REPEATABLE:
            return stored.operation.results
    if stored.state != AssignmentState.OPEN:
        # the same sentence whatever others have done: nobody learns by it whether theirs are in
        raise StaleState(
            translatable(
                "This is no longer open for labelling: what you have changed since it was is not saved."
            ),
            code="not_open",
        )
    if not changes:
        return []
    versions = {index: label.version for index, label in label_set.labels.items()}
    outcome_version = label_set.outcome.version if label_set.outcome else 0
    _refuse_fills_of_pairs(label_set, changes)
    results: list[RESULT] = [{}] * len(changes)
    for at in _in_order(label_set, changes):
        results[at] = _apply(label_set, changes[at], versions, outcome_version, op_id)
    label_set.write()
    rows.write_operation(label_set.assignment, op_id, digest, results, label_set.now)
    return results


def _is_fill(change: Mapping[str, Any]) -> bool:
    return change.get("source") == LabelSource.PROPAGATED


def _in_order(label_set: LabelSet, changes: Sequence[Mapping[str, Any]]) -> Sequence[int]:
    """The order in which changes are taken: as they come, with a root before its fills; of alternatives what
    gives a ground before what stands on it, wherever they stand."""
    if not label_set.stored.rules.others:
        return range(len(changes))

    def rank(at: int) -> int:
        return 2 if _is_fill(changes[at]) else 0 if changes[at].get("value") == 1 else 1

    return sorted(range(len(changes)), key=rank)


def _refuse_fills_of_pairs(label_set: LabelSet, changes: Sequence[Mapping[str, Any]]) -> None:
    """Of a pair nothing is proposed. What an item asks for stands in its content, which is read for this
    alone."""
    rules = label_set.stored.rules
    if not rules.others or not any(map(_is_fill, changes)):
        return
    content = TrajectoryContent.objects.get(pk=label_set.stored.trajectory_id)
    if kind_asked(content.parsed()) is DecisionKind.PAIR:
        label_set.stored = replace(label_set.stored, rules=replace(rules, others=False))


def _answer(
    label_set: LabelSet, op_id: str, results: Sequence[RESULT], about: Collection[int] | None
) -> dict[str, Any]:
    """The results of a batch, each with the label as it is now, and labels: all, or those it is about."""
    with_labels = [
        {
            **result,
            "label": label_set.outcome_json()
            if result["target"] == "outcome"
            else label_set.label_json(result["message_index"])
            if label_set.step(result["message_index"])
            else None,
        }
        for result in results
    ]
    return {"op_id": op_id, "results": with_labels, **label_set.state(about)}


def _apply(
    label_set: LabelSet,
    raw: Mapping[str, Any],
    versions: Mapping[int, int],
    outcome_version: int,
    op_id: str,
) -> RESULT:
    """Take one change into the set, or say why not. The versions are those from before the batch."""
    change = parse_change(raw)
    if isinstance(change, str):
        target = raw.get("target") if raw.get("target") in TARGETS else None
        return {"target": target, "message_index": None, "status": "refused", "reason": change}
    result: RESULT = {"target": change.target, "message_index": change.message_index}
    based_on = outcome_version if change.message_index is None else versions.get(change.message_index, 0)
    if change.content.version != based_on:
        return {
            **result,
            "status": "stale",
            "reason": translatable("Changed elsewhere since this page was loaded."),
        }
    if change.message_index is None:
        label_set.put_outcome(change.content, op_id)
        return {**result, "status": "saved", "reason": ""}
    step = label_set.step(change.message_index)
    if step is None:
        return {
            **result,
            "status": "refused",
            "reason": translatable("Message {index} is not a step.", index=change.message_index),
        }
    if change.content.source == LabelSource.PROPAGATED and label_set.confirm(step, change.content, op_id):
        return {**result, "status": "saved", "reason": ""}
    refusal = _unfit(label_set, change.content, step)
    if refusal:
        return {**result, "status": "refused", "reason": refusal}
    label_set.put(step, change.content, op_id)
    label_set.settle(op_id)
    return {**result, "status": "saved", "reason": ""}


def _unfit(label_set: LabelSet, content: LabelFields, step: StepRow) -> str:
    """The reason why a label's new content does not fit the trajectory as labelled so far; empty when it
    does."""
    if content.value is None:
        return ""
    if content.source == LabelSource.PROPAGATED:
        inputs = label_set.inputs()
        fits = allowed_confirmation(
            inputs, label_set.stored.rules, step.message_index, content.value, content.root
        )
        return "" if fits else translatable("There is no longer a proposal here to confirm.")
    pinned = content.value == -1 and content.root_pinned
    if pinned and (
        content.root is None or content.root > step.message_index or label_set.step(content.root) is None
    ):
        return translatable("The root of an error is this step or an earlier one.")
    return ""
