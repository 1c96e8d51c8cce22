"""Flags on a whole trajectory, and the time an annotator was at work on it."""

from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.core.errors import Invalid, StaleState
from annotation.core.i18n import translatable
from annotation.core.vocabulary import AssignmentState
from annotation.models import ActiveTime, Assignment, LabelEvent, User
from annotation.policies import require

# A browser reports at least once a minute; more than this in one report is a clock that jumped.
MAX_ACTIVE_MS = 10 * 60 * 1000


@transaction.atomic
def set_flags(*, actor: User, assignment: Assignment, needs_discussion: bool, broken: bool) -> Assignment:
    """Set the flags "needs discussion" and "broken trajectory" of one's own open assignment.

    Raises StaleState when it is not open.
    """
    require(actor, "label", assignment)
    changed = Assignment.stored.filter(pk=assignment.pk, state=AssignmentState.OPEN).update(
        needs_discussion=needs_discussion, broken=broken
    )
    if not changed:
        raise StaleState(translatable("This trajectory is no longer open for labelling."), code="not_open")
    LabelEvent.objects.create(
        assignment=assignment,
        kind="mark",
        detail={"needs_discussion": needs_discussion, "broken": broken},
        created_at=timezone.now(),
    )
    assignment.refresh_from_db()
    return assignment


@transaction.atomic
def add_activity(*, actor: User, assignment: Assignment, active_ms: int) -> None:
    """Add time at work, in milliseconds, to one's own open assignment, and to the quarter of an hour in which
    it is reported; later reports are left out.

    Raises Invalid for what cannot be a time.
    """
    require(actor, "label", assignment)
    if type(active_ms) is not int or not 0 <= active_ms <= MAX_ACTIVE_MS:
        message = translatable("active_ms: a whole number from 0 to {active_ms}.", active_ms=MAX_ACTIVE_MS)
        raise Invalid(message, fields={"active_ms": message})
    now = timezone.now()
    added = F("active_ms") + active_ms
    still_open = Assignment.stored.filter(pk=assignment.pk, state=AssignmentState.OPEN)
    if not still_open.update(active_ms=added, last_used_at=now, warned_at=None):
        return
    of_whom = {"project_id": assignment.project_id, "annotator": actor, "begins_at": quarter_of(now)}
    quarter = ActiveTime.objects.filter(**of_whom)
    if not quarter.update(active_ms=added):
        # another window of the same person may have begun it meanwhile
        ActiveTime.objects.bulk_create([ActiveTime(**of_whom)], ignore_conflicts=True)
        quarter.update(active_ms=added)


def quarter_of(moment: datetime) -> datetime:
    """The beginning of the quarter of an hour that a moment lies in."""
    return moment.replace(minute=moment.minute // 15 * 15, second=0, microsecond=0)
