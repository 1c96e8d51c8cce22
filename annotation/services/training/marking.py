"""The items of an attempt at a test: which comes next, and what the attempt comes to after the last."""

from datetime import datetime

from django.db.models import QuerySet

from annotation.core.training.marks import compare, marks
from annotation.core.vocabulary import AttemptState, RecheckKind, RecheckState
from annotation.models import Membership, Recheck, TestAttempt, User
from annotation.models.prepared import Prepared
from annotation.reports.training.proficiency import asked_of, key_values, labels_of_attempt

from .. import audit
from . import turns


def next_item(membership: Membership) -> int | None:
    """The turn (pk) that comes next in the attempt that a member is at; None: they are at none. One query."""
    return _next.first(user=membership.user_id, project=membership.project_id)


def _next_of(user: int, project: int) -> QuerySet[Recheck, int]:
    rows = Recheck.objects.filter(
        annotator=user,
        project=project,
        kind=RecheckKind.TEST.value,
        attempt__state=AttemptState.RUNNING.value,
    ).exclude(state=RecheckState.DONE.value)
    return rows.order_by("pk").values_list("pk", flat=True)[:1]


_next = Prepared(_next_of, "user", "project")


def after_item(recheck: Recheck, *, now: datetime) -> None:
    """An item of an attempt is labelled; after the last of them it is marked."""
    held = TestAttempt.objects.select_for_update(no_key=True, of=("self",)).select_related("test")
    attempt = held.get(pk=recheck.attempt_id or 0)
    if attempt.state != AttemptState.RUNNING or attempt.turns.exclude(state=RecheckState.DONE.value).exists():
        return
    rows = [turn.trajectory for turn in attempt.turns.select_related("trajectory")]
    keys, own = key_values(rows), labels_of_attempt(attempt)
    reached = marks([compare(own.get(row.pk, {}), keys[row.pk]) for row in rows])
    attempt.agreement, attempt.error_recall, attempt.first_error = (
        reached.agreement,
        reached.error_recall,
        reached.first_error,
    )
    passes = asked_of(attempt.test).passed(reached)
    attempt.state = (AttemptState.PASSED if passes else AttemptState.FAILED).value
    attempt.ended_at = now
    attempt.save()
    annotator = User.objects.get(pk=attempt.annotator_id)
    if passes:  # what stood before their place in the queue is open to them now
        Membership.objects.filter(user=annotator, project=recheck.project).update(claim_cursor=0)
    for row in rows:  # the result shows their keys
        turns.note_key_seen(user=annotator, trajectory=row, now=now)
    audit.record(
        actor=annotator,
        verb="test.end",
        project=recheck.project,
        obj=attempt,
        number=attempt.test.number,
        state=attempt.state,
    )
