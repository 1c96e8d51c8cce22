"""Decide what is disputed in a case, step by step."""

from django.db import transaction
from django.utils import timezone

from annotation.core import text
from annotation.core.errors import Invalid, StaleVersion
from annotation.core.i18n import translatable
from annotation.core.resolution import majority
from annotation.core.vocabulary import CaseEventKind, ConsensusKind
from annotation.models import Adjudication, Decision, Step, User

from .. import consensus
from ..judged_steps import checked_note, checked_reason, checked_value, root_at, step_at
from . import rulings
from .own_case import own_open


@transaction.atomic
def decide(
    *,
    actor: User,
    adjudication: Adjudication,
    message_index: int | None,
    value: int,
    note: str = "",
    version: int = 0,
    root: int | None = None,
    reason: str = "",
) -> Decision:
    """Decide one disputed step, or with `message_index` None the outcome.

    `version` is the version the decision was based on (0: none yet); `root` (a message index) and `reason`
    are those of the error graph. On a step that the annotators agree is −1 only these can be decided.
    Raises StaleVersion, or Invalid when the step is not disputed or the value is not −1, 0 or 1.
    """
    case = own_open(actor, adjudication)
    checked_value(value)
    step = step_at(case.trajectory_id, message_index)
    origin = root_at(case.trajectory_id, step=step, value=value, root=root)
    ruling = {"value": value, "root": origin, "reason": checked_reason(reason, value)}
    positions = consensus.positions(case.trajectory_id).get(step.pk if step else None, [])
    rulings.require_contested(case, positions, step=step, value=value, names_origin=bool(origin or reason))
    return _put(
        case, step, version, actor, {**ruling, "kind": ConsensusKind.ADJUDICATED, "note": checked_note(note)}
    )


@transaction.atomic
def let_majority_stand(
    *,
    actor: User,
    adjudication: Adjudication,
    message_index: int | None,
    note: str = "",
    version: int = 0,
    root: int | None = None,
    reason: str = "",
) -> Decision:
    """Decide that what most annotators say of a disputed step (or the outcome) stands: an act of the
    adjudicator, for projects of three and more annotators. `root` and `reason` as in `decide`.

    Raises Invalid (code "no_majority") without one, or as in `decide`.
    """
    case = own_open(actor, adjudication)
    step = step_at(case.trajectory_id, message_index)
    positions = consensus.positions(case.trajectory_id).get(step.pk if step else None, [])
    value = majority(positions)
    if value is None:
        raise Invalid(
            translatable("There is no majority here: it takes more than half of at least three annotators."),
            code="no_majority",
        )
    rulings.require_contested(case, positions, step=step, value=value, names_origin=False)
    origin = root_at(case.trajectory_id, step=step, value=value, root=root)
    ruling = {"value": value, "root": origin, "reason": checked_reason(reason, value)}
    return _put(
        case, step, version, actor, {**ruling, "kind": ConsensusKind.MAJORITY, "note": checked_note(note)}
    )


def _put(
    case: Adjudication, step: Step | None, version: int, actor: User, ruling: dict[str, object]
) -> Decision:
    """Store a decision that is based on `version`, and append it to the history."""
    current = _current(case, step, version)
    now = timezone.now()
    decision = current or Decision(adjudication=case, step=step, version=0)
    for name, value in ruling.items():
        setattr(decision, name, value)
    decision.version, decision.updated_at = version + 1, now
    decision.save()
    rulings.note_event(decision=decision, kind=CaseEventKind.DECISION, case=case, actor=actor, now=now)
    return decision


def _current(case: Adjudication, step: Step | None, version: int) -> Decision | None:
    current = Decision.objects.filter(adjudication=case, step=step).first()
    if (current.version if current else 0) != version:
        stored = {"value": None, "version": 0, "note": ""}
        if current is not None:
            stored = {"value": current.value, "version": current.version, "note": text.unescape(current.note)}
        raise StaleVersion(
            translatable("This decision was changed elsewhere, and yours is not saved."), details=stored
        )
    return current


@transaction.atomic
def withdraw_decision(
    *, actor: User, adjudication: Adjudication, message_index: int | None, version: int
) -> None:
    """Take a decision back: the step is open again, or what the annotators have come to agree on counts.

    Raises StaleVersion when it was changed elsewhere; without a decision nothing happens.
    """
    case = own_open(actor, adjudication)
    decision = _current(case, step_at(case.trajectory_id, message_index), version)
    if decision is None:
        return
    rulings.note_event(
        decision=decision, kind=CaseEventKind.WITHDRAWAL, case=case, actor=actor, now=timezone.now()
    )
    decision.delete()
