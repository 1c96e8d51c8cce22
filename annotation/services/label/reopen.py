"""Reopen one's own submission, as long as no other annotator has submitted the trajectory; a recheck, as
if it were one of the N annotators' (services/rechecks.py)."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from annotation.core.errors import Conflict, Denied
from annotation.core.i18n import translatable
from annotation.core.vocabulary import AssignmentState, SecondReader, TrajectoryState
from annotation.models import Assignment, LabelEvent, RelabelRequest, Trajectory, User
from annotation.policies import require

from .. import assign, audit, claim_expiry, rechecks
from ..transitions import advance

TOO_LATE = translatable(
    "Another annotator has submitted this trajectory, so yours can no longer be reopened."
)
FINAL = translatable("What is submitted in this project stays as it is.")
"""Where judges are the second reader: whether one can still reopen would tell if they doubted."""


@transaction.atomic
def reopen(*, actor: User, assignment: Assignment) -> Assignment:
    """Open one's own submitted assignment again; recorded in the history and the audit log.

    Raises Conflict (code "too_late") once another annotator has submitted, and where judges are the second
    reader; Denied to whoever has seen others' labels of it meanwhile (an admin may have), StaleState when it
    is not submitted.
    """
    require(claim_expiry.hold(actor), "label", assignment)
    # The assignment's row before the trajectory's, as in submitting: else the two could wait for
    # each other.
    Assignment.stored.select_for_update(no_key=True).get(pk=assignment.pk)
    trajectory = Trajectory.objects.select_for_update(no_key=True, of=("self",)).get(
        pk=assignment.trajectory_id
    )
    if assignment.project.second_reader == SecondReader.JUDGES:
        raise Conflict(FINAL, code="too_late")
    if _too_late(assignment, trajectory):
        raise Conflict(TOO_LATE, code="too_late")
    if assign.has_seen_labels(actor, trajectory):
        raise Denied(translatable("You have seen other people's labels of this trajectory."), code="exposed")
    open_again(assignment, timezone.now())
    if assignment.recheck_id is not None:
        rechecks.reopen(recheck=assignment.recheck_id)
    audit.record(actor=actor, verb="assignment.reopen", project=assignment.project, obj=assignment)
    assignment.refresh_from_db()
    return assignment


def _too_late(assignment: Assignment, trajectory: Trajectory) -> bool:
    if assignment.recheck_id is not None:
        return rechecks.too_late(assignment=assignment)
    others = Assignment.objects.filter(trajectory=trajectory, state=AssignmentState.SUBMITTED).exclude(
        pk=assignment.pk
    )
    return trajectory.state != TrajectoryState.LABELLING or others.exists()


def open_again(assignment: Assignment, now: datetime) -> None:
    """Put a submitted assignment back among the open ones, as if it were claimed now: no warning from before
    lets it expire, and another look that was asked for has begun. Part of the caller's transaction; raises
    StaleState when it is not submitted."""
    advance(
        Assignment,
        assignment.pk,
        AssignmentState.SUBMITTED,
        AssignmentState.OPEN,
        submitted_at=None,
        last_used_at=now,
        warned_at=None,
    )
    RelabelRequest.objects.filter(assignment=assignment, begun_at__isnull=True).update(begun_at=now)
    LabelEvent.objects.create(assignment=assignment, kind="reopen", created_at=now)
