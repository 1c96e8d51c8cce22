"""Judges' proposals for first errors: sealed until the author of a correction has saved their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.utils import timezone

from annotation.core.decisions.corrections import (
    CorrectionAnswer,
    CorrectionOrigin,
    ErrorClass,
    TypedCall,
    action,
    check_action,
)
from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.kinds import Feature
from annotation.core.vocabulary import CorrectionState
from annotation.models import Correction, Judge, Step, Trajectory, User
from annotation.policies import Actor, require
from annotation.policies.corrections import first_errors, proposals

from .. import audit, exposures
from ..chosen import Outcome
from ..judged_steps import checked_note
from .saving import fields_of, offered_tools

MAX_PROPOSALS: Final = 500


@dataclass(frozen=True, slots=True)
class Proposal:
    """A judge's proposal for a step, which is named by its trajectory and its message."""

    trajectory: Trajectory
    message_index: int
    answer: str
    text: str = ""
    calls: Sequence[TypedCall] = ()
    error_class: str = ""
    reason: str = ""


@transaction.atomic
def propose(*, actor: Actor, judge: Judge, given: Sequence[Proposal]) -> Outcome[Correction, Proposal]:
    """Store what a judge proposes for first errors of its project, in the place of what it proposed before.
    For admins; nobody is shown it before they have saved a correction of their own.

    A proposal that is refused keeps no other from being stored: for a step that is no first error
    ("no_first_error"), one that an author has seen already ("seen"), or an action that does not fit.
    """
    require(actor, "suggest", judge.project)
    judge.project.of_kind.require(Feature.DERIVATION)
    errors = set(
        first_errors(judge.project)
        .filter(trajectory__in={one.trajectory.pk for one in given})
        .values_list("trajectory", "step__message_index")
    )
    done, refused = [], []
    for one in given:
        try:
            if (one.trajectory.pk, one.message_index) not in errors:
                sentence = translatable("Message {n} is no first error.", n=one.message_index)
                raise Conflict(sentence, code="no_first_error")
            done.append(_store(judge, one))
        except (Conflict, Invalid) as error:
            refused.append((one, error))
    if done:
        audit.record(
            actor=actor, verb="correction.propose", project=judge.project, obj=judge, count=len(done)
        )
    return Outcome(done, refused)


def _store(judge: Judge, one: Proposal) -> Correction:
    _check(one)
    step = Step.objects.get(trajectory=one.trajectory, message_index=one.message_index)
    seen = Correction.objects.filter(step=step, proposals_seen_at__isnull=False)
    if seen.exists():
        raise Conflict(translatable("The author of a correction has seen what judges propose."), code="seen")
    now = timezone.now()
    says = {
        "answer": one.answer,
        "message": "",
        "error_class": one.error_class,
        "reason": checked_note(one.reason),
        "saved_at": now,
    }
    if one.answer == CorrectionAnswer.ACTION:
        says["message"] = canonical_json(action(one.text, one.calls)).decode()
    origin = CorrectionOrigin.JUDGE.value if says["message"] else ""
    stored, _made = Correction.objects.update_or_create(
        step=step,
        judge=judge,
        defaults={**says, "origin": origin},
        create_defaults={
            **says,
            "project": judge.project,
            "trajectory": one.trajectory,
            "state": CorrectionState.PROPOSED,
            "origin": origin,
            "created_at": now,
        },
    )
    return stored


def _check(one: Proposal) -> None:
    """Raises Invalid for words that are not known, and for an action that does not fit its tools."""
    problems: dict[str, str] = {}
    if one.answer not in set(CorrectionAnswer):
        problems["answer"] = translatable("Choose one.")
    if one.error_class and one.error_class not in set(ErrorClass):
        problems["error_class"] = translatable("Choose one.")
    if one.answer == CorrectionAnswer.ACTION:
        check = check_action(offered_tools(one.trajectory), one.text, one.calls)
        problems |= fields_of(check, len(one.calls))
    if problems:
        raise Invalid(next(iter(problems.values())), fields=problems)


@transaction.atomic
def reveal(*, actor: User, correction: Correction) -> list[Correction]:
    """Show the proposals of judges for the step of one's own correction, once it is saved. Noted.

    Raises Conflict ("save_first") before.
    """
    require(actor, "correct", correction)
    row = Correction.objects.select_for_update(no_key=True, of=("self",)).get(pk=correction.pk)
    if row.state != CorrectionState.SAVED:
        raise Conflict(
            translatable("Save your own correction first: what judges propose is sealed until then."),
            code="save_first",
        )
    proposed = list(proposals(row))
    if proposed and row.proposals_seen_at is None:
        now = timezone.now()
        Correction.objects.filter(pk=row.pk).update(proposals_seen_at=now)
        correction.proposals_seen_at = now
        exposures.expose_suggestions(
            user=actor, trajectory=correction.trajectory, steps=[row.step_id], now=now
        )
        audit.record(actor=actor, verb="correction.reveal", project=row.project, obj=row)
    return proposed
