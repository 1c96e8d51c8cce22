"""Hold gold against its key, and pause people whose labels are too often unlike it (docs/training.md).

Both is done by `sweep`, in the background and a few submissions later: nothing that an annotator sends takes
longer because it was gold, or is answered by a pause.
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, IntegerField, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.core.errors import StaleState
from annotation.core.i18n import translatable
from annotation.core.rechecks import sampling
from annotation.core.training.marks import compare
from annotation.core.vocabulary import (
    AssignmentState,
    NoticeKind,
    PauseReason,
    RecheckKind,
    RecheckState,
    WebhookEvent,
)
from annotation.models import (
    Assignment,
    Label,
    Membership,
    OutcomeLabel,
    Recheck,
    RelabelRequest,
)
from annotation.policies import OPERATOR, Actor, require
from annotation.policies.training import key_rows
from annotation.reports.quality.look_again import waiting
from annotation.reports.training.gold import running_accuracy

from .. import audit, notices, webhooks
from . import turns

MARKED_AT_ONCE = 200
NO_STEP = Value(None, IntegerField(null=True))
LATER = 4
"""Gold is held against its key after 1 to so many further submissions of its annotator, by chance."""
AT_THE_LATEST = timedelta(hours=24)


def sweep(*, now: datetime | None = None) -> int:
    """Every worker calls this now and then: mark gold that is due, and pause whom it puts below the bound.
    Returns how much gold was marked."""
    now = now or timezone.now()
    done = Assignment.stored.filter(recheck=OuterRef("pk"), state=AssignmentState.SUBMITTED).order_by()
    since = Assignment.stored.filter(
        annotator=OuterRef("annotator"),
        project=OuterRef("project"),
        state=AssignmentState.SUBMITTED,
        submitted_at__gt=OuterRef("at"),
    ).order_by()
    later = since.values("project").annotate(n=Count("pk")).values("n")
    unmarked = (
        Recheck.objects.filter(
            ~_looked_at_again(),
            kind=RecheckKind.GOLD.value,
            state=RecheckState.DONE.value,
            agreed__isnull=True,
        )
        .annotate(at=Subquery(done.values("submitted_at")[:1]))
        .annotate(later=Coalesce(Subquery(later), 0))
        .filter(Q(later__gt=0) | Q(at__lt=now - AT_THE_LATEST))
        .select_related("project", "trajectory")
        .order_by("pk")
    )
    due = []
    for turn in unmarked[:MARKED_AT_ONCE]:
        wait = 1 + int(sampling.fraction(turn.project.recheck_seed, "marked", turn.pk) * LATER)
        if turn.later >= wait or turn.at < now - AT_THE_LATEST:
            due.append(turn)
    return _mark_all(due, now)


def _looked_at_again() -> Exists:
    """Whether somebody has begun to look again at a turn: what they then say of it is no first answer."""
    return Exists(RelabelRequest.objects.filter(assignment__recheck=OuterRef("pk"), begun_at__isnull=False))


def mark_now(gold: Collection[int], *, now: datetime) -> int:
    """Hold gold (by pk) against its key before somebody looks at it again; how much that was. Part of the
    caller's transaction."""
    rows = Recheck.objects.filter(
        ~_looked_at_again(),
        pk__in=gold,
        kind=RecheckKind.GOLD.value,
        state=RecheckState.DONE.value,
        agreed__isnull=True,
    )
    return _mark_all(rows.select_related("project", "trajectory").order_by("pk"), now)


def _mark_all(due: Iterable[Recheck], now: datetime) -> int:
    touched: set[tuple[int, int]] = set()
    marked = 0
    for turn in due:
        marked += _mark(turn)
        turns.note_sat(user=turn.annotator_id or 0, trajectory=turn.trajectory, now=now)
        touched.add((turn.project_id, turn.annotator_id or 0))
    for project, annotator in sorted(touched):
        _pause_below(project, annotator, now)
    return marked


def _mark(turn: Recheck) -> int:
    """Hold a gold turn against its key; 1, or 0 where it is being labelled again or its key is gone."""
    key: dict[int | None, int] = dict(
        key_rows(turn.trajectory).order_by().values_list("step__message_index", "value")
    )
    if not key:
        return 0
    of_it = {"assignment__recheck": turn, "value__isnull": False}
    labels: dict[int | None, Any] = dict(
        Label.stored.filter(**of_it).order_by().values_list("step__message_index", "value")
    )
    labels |= dict(OutcomeLabel.stored.filter(**of_it).annotate(of=NO_STEP).values_list("of", "value"))
    marks = compare(labels, key)
    submitted = Assignment.stored.filter(recheck=turn, state=AssignmentState.SUBMITTED)
    answered_at = submitted.values_list("submitted_at", flat=True).first()
    if answered_at is None:
        return 0
    rows = Recheck.objects.filter(pk=turn.pk, state=RecheckState.DONE, agreed__isnull=True)
    return rows.update(keyed=marks.labels, agreed=marks.agreed, answered_at=answered_at)


@transaction.atomic
def _pause_below(project: int, annotator: int, now: datetime) -> None:
    """Pause a member whose whole interval lies below the project's bound; once, whoever looks meanwhile."""
    rows = Membership.objects.select_for_update(no_key=True, of=("self",)).select_related("project", "user")
    membership = rows.filter(project=project, user=annotator, paused_at__isnull=True).first()
    if membership is None:
        return
    accuracy = running_accuracy(membership)
    if accuracy.below(membership.project.gold_bound / 100):
        _pause(OPERATOR, membership, PauseReason.GOLD, now)


@transaction.atomic
def pause(*, actor: Actor, membership: Membership) -> Membership:
    """Give a member nothing new until somebody resumes them; what they have begun they can finish.

    Raises StaleState when they are paused already.
    """
    require(actor, "members.change", membership)
    current = _held(membership)
    if current.paused_at is not None:
        raise StaleState(translatable("They are paused already."), code="paused")
    _pause(actor, current, PauseReason.ADMIN, timezone.now())
    return current


@transaction.atomic
def resume(*, actor: Actor, membership: Membership) -> Membership:
    """Give a paused member work again, and what they were asked meanwhile to look at again. Their accuracy is
    counted anew, from the gold that they submit from now on. Raises StaleState when they are not paused."""
    require(actor, "members.change", membership)
    current = _held(membership)
    if current.paused_at is None:
        raise StaleState(translatable("They are not paused."), code="not_paused")
    now, paused_at = timezone.now(), current.paused_at
    current.paused_at, current.pause_reason, current.gold_since = None, "", now
    current.save(update_fields=["paused_at", "pause_reason", "gold_since"])
    notices.tell_one(user=current.user_id, kind=NoticeKind.RESUMED, now=now, membership=current)
    asked = waiting(actor=current.user, project=current.project).filter(asked_at__gte=paused_at)
    if (first := asked.order_by("pk").first()) is not None:
        notices.tell_one(
            user=current.user_id, kind=NoticeKind.LOOK_AGAIN, now=now, assignment=first.assignment
        )
    audit.record(
        actor=actor,
        verb="member.resume",
        project=current.project,
        obj=current,
        username=current.user.username,
    )
    return current


def _held(membership: Membership) -> Membership:
    rows = Membership.objects.select_for_update(no_key=True, of=("self",)).select_related("project", "user")
    return rows.get(pk=membership.pk)


def _pause(actor: Actor, membership: Membership, reason: PauseReason, now: datetime) -> None:
    membership.paused_at, membership.pause_reason = now, reason.value
    membership.save(update_fields=["paused_at", "pause_reason"])
    admins = Membership.objects.filter(
        project=membership.project_id, is_admin=True, user__is_active=True
    ).exclude(user=membership.user_id)
    if reason is PauseReason.GOLD:
        for admin in admins.order_by("user").values_list("user", flat=True):
            notices.tell_one(user=admin, kind=NoticeKind.PAUSED, now=now, membership=membership)
    webhooks.note_each(WebhookEvent.MEMBER_PAUSED, project=membership.project_id, keys=[membership.pk])
    audit.record(
        actor=actor,
        verb="member.pause",
        project=membership.project,
        obj=membership,
        username=membership.user.username,
        reason=reason.value,
    )


def forget_mark(turn: int) -> None:
    """Gold that is reopened is marked anew once it is submitted; but not what somebody was asked to look at
    again, whose first answer counts."""
    marked = Recheck.objects.filter(~_looked_at_again(), pk=turn, agreed__isnull=False)
    marked.update(keyed=None, agreed=None, answered_at=None)
