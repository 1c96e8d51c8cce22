"""Save what somebody says would have been right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from annotation.core.decisions.corrections import (
    ActionCheck,
    CorrectionAnswer,
    CorrectionOrigin,
    ErrorClass,
    TypedCall,
    action,
    check_action,
    error_class_of,
)
from annotation.core.decisions.record import option_digest, shown_message
from annotation.core.errors import Invalid, StaleState, StaleVersion
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.text import unescape
from annotation.core.trajectories.tool_schema import SchemaProblem, Tool
from annotation.core.vocabulary import CorrectionState
from annotation.models import ACTIVE_CORRECTIONS, Correction, Trajectory, User
from annotation.policies import require
from annotation.policies.corrections import is_first_error, proposals
from annotation.reports.cases.corrections import siblings
from annotation.reports.shared.transcripts import read_content

from .. import audit
from ..judged_steps import checked_note
from ..transitions import CHANGED_MEANWHILE, advance

NOT_FIRST: Final = translatable(
    "This step is no first error any more: its consensus was taken back or has changed. Give the correction "
    "up."
)
SAME: Final = translatable("This is the action that was wrong.")
UNCHECKED: Final = translatable(
    "“{name}” says nothing that a call can be checked against. Say that you have checked it yourself."
)
EDITED: Final = ("answer", "origin", "sibling_id", "message", "error_class", "reason")


@dataclass(frozen=True, slots=True)
class Draft:
    """A correction, as it is typed.

    `answer`: a CorrectionAnswer. Of an action, `origin`: a CorrectionOrigin; `sibling`: the step (by pk) of
    another run whose action is right; `proposal`: a judge's proposal (by pk); else `text` and `calls`.
    `error_class`: an ErrorClass, "" for none of them, None for what the two actions say. `checked_myself`: go
    on with calls that no schema can be held against.
    """

    answer: str
    origin: str = ""
    sibling: int | None = None
    proposal: int | None = None
    text: str = ""
    calls: Sequence[TypedCall] = ()
    error_class: str | None = None
    reason: str = ""
    checked_myself: bool = False


@transaction.atomic
def save_correction(*, actor: User, correction: Correction, draft: Draft, version: int) -> Correction:
    """Save one's own correction, for the first time or again; `version` is the one that was seen.

    Raises Invalid by field, StaleState when it was withdrawn or the step is no first error any more,
    StaleVersion when it says something else by now (details: "version" and "current"). The same again changes
    nothing.
    """
    require(actor, "correct", correction)
    row = (
        Correction.objects.select_related("project", "step", "trajectory__content")
        .select_for_update(of=("self",), no_key=True)
        .get(pk=correction.pk)
    )
    if row.state not in ACTIVE_CORRECTIONS:
        raise StaleState(translatable("This correction was withdrawn."), code="withdrawn")
    wanted = _wanted(row, draft)
    now = {name: getattr(row, name) for name in EDITED}
    if row.version and now == wanted:
        return row
    if version != row.version:
        raise StaleVersion(CHANGED_MEANWHILE, details={"version": row.version, "current": described(row)})
    if not is_first_error(row):
        raise StaleState(NOT_FIRST, code="no_first_error")
    advance(
        Correction,
        row.pk,
        CorrectionState(row.state),
        CorrectionState.SAVED,
        version=row.version + 1,
        saved_at=timezone.now(),
        **wanted,
    )
    audit.record(
        actor=actor,
        verb="correction.save",
        project=row.project,
        obj=row,
        version=row.version + 1,
        proposals_seen=row.proposals_seen_at is not None,
    )
    row.refresh_from_db()
    return row


def described(row: Correction) -> dict[str, Any]:
    """The fields of a correction, under the names of the API."""
    return {
        "answer": row.answer,
        "origin": row.origin,
        "message": row.action,
        "error_class": row.error_class,
        "reason": unescape(row.reason),
    }


def check_draft(correction: Correction, text: str, calls: Sequence[TypedCall]) -> ActionCheck:
    """The faults of an action that somebody is writing. `correction` comes with its trajectory's content."""
    return check_action(offered_tools(correction.trajectory), text, calls)


def offered_tools(trajectory: Trajectory) -> tuple[Tool, ...]:
    """The tools of a trajectory, which comes with its content."""
    content = trajectory.content.parsed()
    return read_content(content, reference_answer=False, hints=False).offered_tools()


def fields_of(check: ActionCheck, calls: int) -> dict[str, str]:
    """The faults by field, of an action with so many typed calls; those of any other call are under the
    text."""

    def field_of(at: int, faults: Sequence[SchemaProblem]) -> str:
        if at >= calls:
            return "text"
        return f"calls[{at}].{'name' if faults[0].kind == 'unknown_tool' else 'arguments'}"

    schema = {
        field_of(at, faults): reduce(
            lambda one, other: translatable("{one}; {other}", one=one, other=other),
            (fault.sentence for fault in faults),
        )
        for at, faults in check.schema.items()
    }
    return {**check.fields, **schema}


def _wanted(row: Correction, draft: Draft) -> dict[str, Any]:
    """The fields as they are to be stored. Raises Invalid with all that is wrong."""
    problems: dict[str, str] = {}
    wanted: dict[str, Any] = dict.fromkeys(EDITED, "") | {"sibling_id": None}
    try:
        wanted["reason"] = checked_note(draft.reason)
    except Invalid as refused:
        problems["reason"] = refused.message
    if draft.answer not in set(CorrectionAnswer):
        problems["answer"] = translatable("Choose one.")
    wanted["answer"] = draft.answer
    if draft.error_class and draft.error_class not in set(ErrorClass):
        problems["error_class"] = translatable("Choose one.")
    if draft.answer == CorrectionAnswer.ACTION:
        message = _message(row, draft, wanted, problems)
        if message is not None:
            wanted["message"] = canonical_json(message).decode()
            if row.proposals_seen_at is not None and _is_proposed(row, message):
                wanted["origin"] = CorrectionOrigin.JUDGE.value
            wrong = shown_message(row.trajectory.content.parsed()["messages"][row.step.message_index])
            if option_digest(message) == option_digest(wrong):
                problems["text"] = SAME
            wanted["error_class"] = (
                error_class_of(wrong, message) or "" if draft.error_class is None else draft.error_class
            )
    elif draft.answer == CorrectionAnswer.NO_RIGHT_ACTION:
        wanted["error_class"] = draft.error_class or ""
    if problems:
        raise Invalid(next(iter(problems.values())), fields=problems)
    return wanted


def _is_proposed(row: Correction, message: dict[str, Any]) -> bool:
    """Whether a judge proposes just this."""
    every = (one.action for one in proposals(row))
    return option_digest(message) in {option_digest(one) for one in every if one is not None}


def _message(
    row: Correction, draft: Draft, wanted: dict[str, Any], problems: dict[str, str]
) -> dict[str, Any] | None:
    """The right action; None when something is wrong with it."""
    wanted["origin"] = draft.origin
    if draft.origin == CorrectionOrigin.SIBLING:
        others = siblings(trajectory=row.trajectory, index=row.step.message_index)
        sibling = next((one for one in others if one.step.pk == draft.sibling), None)
        if sibling is None:
            problems["sibling"] = translatable("No other run has a right action of this number here.")
            return None
        wanted["sibling_id"] = sibling.step.pk
        return sibling.message
    if draft.origin == CorrectionOrigin.JUDGE:
        rows = proposals(row) if row.proposals_seen_at else Correction.objects.none()
        proposal = rows.filter(pk=draft.proposal or 0, answer=CorrectionAnswer.ACTION).first()
        if proposal is None:
            problems["proposal"] = translatable("No judge that you have seen proposes this.")
            return None
        return proposal.action
    if draft.origin not in (CorrectionOrigin.EDITED, CorrectionOrigin.WRITTEN):
        problems["origin"] = translatable("Choose one.")
        return None
    found_ = check_draft(row, draft.text, draft.calls)
    problems |= fields_of(found_, len(draft.calls))
    if found_.unchecked and not draft.checked_myself:
        problems["checked_myself"] = translatable(UNCHECKED, name=found_.unchecked[0])
    return None if problems else action(draft.text, draft.calls)
