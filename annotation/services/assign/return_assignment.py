"""Give a trajectory back, take it up again, take it from somebody."""

from collections.abc import Collection

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.core import text
from annotation.core.errors import Denied, Invalid, NotFound, StaleState
from annotation.core.i18n import translatable
from annotation.core.vocabulary import AssignmentState, ExpiryReason, RecheckKind
from annotation.models import (
    Assignment,
    Membership,
    Project,
    Trajectory,
    User,
)
from annotation.policies import Actor, require
from annotation.policies.crowd import keep_place

from .. import audit, claim_expiry, rechecks
from ..chosen import Outcome
from ..cursors import lower_cursors
from ..shares import meetings
from ..training import refuse_paused
from ..transitions import advance
from .claiming import has_seen_labels, keep_limit, take_up
from .slots import take_slot

MAX_REASON = 2_000
REPLACED = translatable(
    "This was replaced by other content, which is labelled anew: it comes to you as any other does."
)

IN_TURN = translatable("The tutorial and tests come to you in their turn: ask for the next one.")


@transaction.atomic
def return_assignment(*, actor: User, assignment: Assignment, reason: str) -> Assignment:
    """Give a trajectory back unfinished: the draft is kept, the slot is free for somebody else."""
    require(actor, "label", assignment)
    reason = _checked_reason(reason)
    if not reason:
        raise Invalid(
            translatable("Give a reason for returning it."),
            fields={"reason": translatable("Give a reason for returning it.")},
        )
    advance(
        Assignment,
        assignment.pk,
        AssignmentState.OPEN,
        AssignmentState.RETURNED,
        slot=None,
        returned_at=timezone.now(),
        return_reason=text.escape(reason),
    )
    if assignment.recheck_id is not None:
        rechecks.put_back(recheck=assignment.recheck_id, now=timezone.now())
    else:
        trajectory = assignment.trajectory
        Trajectory.objects.filter(pk=trajectory.pk).update(free_slots=F("free_slots") + 1)
        meetings.left([(trajectory.project_id, trajectory.pk, assignment.annotator_id)])
        lower_cursors(project_id=trajectory.project_id, position=trajectory.position)
    audit.record(actor=actor, verb="assignment.return", project=assignment.project, obj=assignment)
    assignment.refresh_from_db()
    return assignment


def _checked_reason(reason: str) -> str:
    reason = reason.strip()
    if len(reason) > MAX_REASON:
        message = translatable("Keep the reason under {reason} characters.", reason=f"{MAX_REASON:,}")
        raise Invalid(message, fields={"reason": message})
    return reason


@transaction.atomic
def take_back(
    *, actor: Actor, project: Project, assignments: Collection[Assignment], reason: str = ""
) -> Outcome[Assignment, Assignment]:
    """End open claims of a project, so that others can have their places; the drafts are kept, and the
    annotators read the reason in their lists of work.

    What is not open (any more) is refused (StaleState): submitted labels stay where they are.
    """
    require(actor, "assign", project)
    reason = _checked_reason(reason)
    rows = Assignment.stored.filter(project=project, pk__in=[row.pk for row in assignments])
    claims = claim_expiry.lock_claims(rows)
    ended = claim_expiry.expire(actor=actor, claims=claims, because=ExpiryReason.TAKEN_BACK, reason=reason)
    stale = StaleState(translatable("This has already been submitted or returned."), code="not_open")
    return Outcome(ended, [(row, stale) for row in assignments if row not in ended])


@transaction.atomic
def resume_assignment(*, actor: User, assignment: Assignment) -> Assignment:
    """Take up a returned trajectory again, draft included, if a slot is still free.

    Raises Denied to whoever has seen others' labels of it meanwhile (an admin may have), Conflict (code
    "claim_limit") to whoever holds as many as they may, and "paused" to whoever is, StaleState when no slot
    is free, or when it was replaced.
    """
    require(claim_expiry.hold(actor), "label", assignment)
    current = Assignment.stored.select_for_update(no_key=True).filter(pk=assignment.pk).first()
    if current is None:
        raise NotFound(translatable("There is no such assignment."))
    if current.recheck is not None and current.recheck.kind in (RecheckKind.TUTORIAL, RecheckKind.TEST):
        raise StaleState(IN_TURN, code="in_turn")
    if not current.trajectory.in_use:
        raise StaleState(REPLACED, code="replaced")
    if has_seen_labels(actor, current.trajectory):
        raise Denied(translatable("You have seen other people's labels of this trajectory."), code="exposed")
    keep_limit(actor, current.project)
    keep_place(actor, current.project, timezone.now())
    refuse_paused(Membership.objects.filter(project=current.project_id, user=actor).first())
    slot = None
    if current.recheck_id is not None:
        rechecks.take(recheck=current.recheck_id, user=actor, dealt=False)
    else:
        slot = take_slot(current.trajectory_id, current.project_id, annotator=actor.pk)
    take_up(current.pk, slot=slot)
    audit.record(actor=actor, verb="assignment.resume", project=current.project, obj=current)
    current.refresh_from_db()
    return current
