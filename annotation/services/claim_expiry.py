"""Open work that must not stay with somebody: expire claims and release cases, so that others can go on.

A claim expires when its annotator leaves, when an admin takes it back, or unused after the project's
`claim_days` and a warning (core.sharing.unused_claims). The draft is kept, and the slot is free at once.
Whoever locks several rows locks them in this order: the person, their assignments and cases, the project,
trajectories, tasks, memberships.
"""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from annotation.core import text
from annotation.core.errors import StaleState
from annotation.core.sharing.unused_claims import expires_at, warned_before
from annotation.core.vocabulary import (
    AdjudicationState,
    AssignmentState,
    CorrectionState,
    ExpiryReason,
    NoticeKind,
    ReservationEnd,
)
from annotation.models import (
    Adjudication,
    Assignment,
    Correction,
    LabelEvent,
    Membership,
    Project,
    Reservation,
    Trajectory,
    User,
)
from annotation.models.prepared import Prepared
from annotation.policies import OPERATOR, Actor

from . import audit, notices, rechecks
from .cursors import lower_cursors
from .shares import limits, meetings, reservations
from .transitions import advance

LOOKED_AT_ONCE = 200


def hold(user: User) -> User:
    """The person as they are now, their row locked: whatever changes the roles or takes open work of one
    person asks for this first, so that nobody claims anything while they are being removed. Raises
    User.DoesNotExist when the account is gone."""
    if (held := _held.first(user=user.pk)) is None:
        raise User.DoesNotExist(f"There is no account {user.pk} any more")
    return held


_held = Prepared(lambda user: User.objects.select_for_update(no_key=True).filter(pk=user), "user")


def lock_claims(claims: QuerySet[Assignment]) -> list[Assignment]:
    """The open ones of these assignments, locked, with their trajectories and annotators; without those of an
    import of labels in progress, which was finished before it began."""
    rows = claims.filter(state=AssignmentState.OPEN, imported=False).select_related("trajectory", "annotator")
    return list(rows.select_for_update(no_key=True, of=("self",)).order_by("pk"))


def expire(
    *,
    actor: Actor,
    claims: Collection[Assignment],
    because: ExpiryReason,
    reason: str = "",
    now: datetime | None = None,
    kept: QuerySet[Reservation] | None = None,
) -> list[Assignment]:
    """End open claims, and of a trajectory that is replaced submitted ones too: the drafts stay, the slots
    are free; those that ended. For services that asked permission.

    `claims` come from `lock_claims`, in the transaction that this is part of. `kept`: the places kept for
    whoever leaves, whose row is held; these are free as well.
    """
    now = now or timezone.now()
    reserved = [] if kept is None else reservations.lock(kept, besides=[one.trajectory_id for one in claims])
    ends = [AssignmentState.OPEN]
    if because is ExpiryReason.REPLACED:
        ends.append(AssignmentState.SUBMITTED)
    ended = []
    for claim in claims:
        changed = {"slot": None, "returned_at": now, "warned_at": None}
        reasons = {"expiry_reason": because.value, "return_reason": text.escape(reason)}
        try:
            advance(Assignment, claim.pk, ends, AssignmentState.EXPIRED, **changed, **reasons)
        except StaleState:
            continue
        ended.append(claim)
    freed: dict[int, int] = defaultdict(lambda: 2**63 - 1, reservations.free(reserved))
    gone: list[tuple[int, int, int]] = []
    for claim in sorted(ended, key=lambda claim: claim.trajectory_id):
        if claim.recheck_id is not None:
            rechecks.put_back(recheck=claim.recheck_id, now=now)
            continue
        Trajectory.objects.filter(pk=claim.trajectory_id).update(free_slots=F("free_slots") + 1)
        gone.append((claim.project_id, claim.trajectory_id, claim.annotator_id))
        freed[claim.project_id] = min(freed[claim.project_id], claim.trajectory.position)
    leaving = (
        {*(one.annotator_id for one in ended), *(one.annotator_id for one in reserved)}
        if because is ExpiryReason.LEFT
        else ()
    )
    meetings.left(gone)
    for project_id, position in sorted(freed.items()):
        lower_cursors(project_id=project_id, position=position, leaving=leaving)
    reservations.record_end(reserved, actor=actor, because=ReservationEnd.LEFT)
    for claim in ended:
        detail = {"because": because.value}
        LabelEvent.objects.create(assignment=claim, kind="expire", detail=detail, created_at=now)
        audit.record(
            actor=actor,
            verb="assignment.expire",
            project=claim.project,
            obj=claim,
            username=claim.annotator.username,
            **detail,
        )
        if because is not ExpiryReason.LEFT:
            notices.tell_one(user=claim.annotator_id, kind=NoticeKind.CLAIM_ENDED, now=now, assignment=claim)
    return ended


def release_cases(
    *, actor: Actor, cases: QuerySet[Adjudication], because: ExpiryReason
) -> list[Adjudication]:
    """Hand open cases back undecided in somebody's place; which. The decisions so far stay with them."""
    rows = cases.filter(state=AdjudicationState.OPEN).select_related("project", "adjudicator")
    released = []
    for case in rows.select_for_update(no_key=True, of=("self",)).order_by("pk"):
        advance(Adjudication, case.pk, AdjudicationState.OPEN, AdjudicationState.RELEASED)
        audit.record(
            actor=actor,
            verb="case.release",
            project=case.project,
            obj=case,
            username=case.adjudicator.username,
            because=because.value,
        )
        released.append(case)
    return released


def sweep(*, now: datetime | None = None) -> int:
    """Every worker calls this now and then: end open work of people who have left by a way that did not, warn
    of unused claims, and expire them. Returns how many claims, cases and corrections it did something
    about."""
    now = now or timezone.now()
    return _left(now) + _left_corrections() + sum(_unused(days, now) for days in _periods())


def _without(role: str, person: str) -> Q:
    """Rows whose person has left: the account is closed, or no longer holds the role in the project."""
    held = Membership.objects.filter(user=OuterRef(person), project=OuterRef("project"), **{role: True})
    return Q(**{f"{person}__is_active": False}) | ~Q(Exists(held))


def _left(now: datetime) -> int:
    claims = Assignment.stored.filter(
        _without("is_annotator", "annotator"), state=AssignmentState.OPEN, imported=False
    )
    cases = Adjudication.objects.filter(
        _without("is_adjudicator", "adjudicator"), state=AdjudicationState.OPEN
    )
    people = {
        *claims.order_by().values_list("annotator", flat=True)[:LOOKED_AT_ONCE],
        *cases.order_by().values_list("adjudicator", flat=True)[:LOOKED_AT_ONCE],
    }
    ended = 0
    for user in sorted(people):
        with transaction.atomic():
            hold(User(pk=user))
            locked = lock_claims(claims.filter(annotator=user))
            released = release_cases(
                actor=OPERATOR, cases=cases.filter(adjudicator=user), because=ExpiryReason.LEFT
            )
            expired = expire(actor=OPERATOR, claims=locked, because=ExpiryReason.LEFT, now=now)
            ended += len(released) + len(expired)
    return ended


def _left_corrections() -> int:
    """Free the first errors that people have taken to correct, and who are no members any more."""
    held = Membership.objects.filter(user=OuterRef("author"), project=OuterRef("project"))
    gone = Q(author__is_active=False) | (~Q(Exists(held)) & Q(author__is_superuser=False))
    rows = Correction.objects.filter(gone, state=CorrectionState.OPEN)
    return Correction.objects.filter(pk__in=rows.values("pk"), state=CorrectionState.OPEN).update(
        state=CorrectionState.WITHDRAWN
    )


def _periods() -> list[int]:
    days = Project.objects.filter(claim_days__isnull=False).order_by("claim_days")
    return list(days.values_list("claim_days", flat=True).distinct())  # type: ignore[arg-type]


def _warn(same: QuerySet[Assignment], claim: Assignment, now: datetime) -> int:
    """Say that a claim will expire, once."""
    with transaction.atomic():
        warned = same.update(warned_at=now)
        if warned:
            notices.tell_one(user=claim.annotator_id, kind=NoticeKind.CLAIM_WARNED, now=now, assignment=claim)
    return warned


def _unused(days: int, now: datetime) -> int:
    """Warn of claims that were not used for nearly `days`, and expire those whose warning was in vain.

    Saves are not noted on the assignment, to be quick: what was labelled is seen by its events, here.
    """
    events = LabelEvent.stored.filter(assignment=OuterRef("pk")).order_by("-pk").values("created_at")
    claims = Assignment.stored.filter(state=AssignmentState.OPEN, project__claim_days=days)
    # whoever is away is warned, or warned again, when they are back
    claims.filter(limits.is_away(now), warned_at__isnull=False).update(warned_at=None)
    unused = claims.filter(~limits.is_away(now), last_used_at__lt=warned_before(days, now))
    touched = 0
    for claim in list(
        unused.annotate(event_at=Subquery(events[:1])).order_by("last_used_at")[:LOOKED_AT_ONCE]
    ):
        same = unused.filter(pk=claim.pk, last_used_at=claim.last_used_at, warned_at=claim.warned_at)
        if claim.event_at is not None and claim.event_at > claim.last_used_at:
            same.update(last_used_at=claim.event_at, warned_at=None)
        elif claim.warned_at is None:
            touched += _warn(same, claim, now)
        elif now >= (expires_at(days, claim.last_used_at, claim.warned_at) or now):
            with transaction.atomic():
                locked = lock_claims(same.annotate(event_at=Subquery(events[:1])))
                still = [claim_ for claim_ in locked if getattr(claim_, "event_at", None) == claim.event_at]
                touched += len(expire(actor=OPERATOR, claims=still, because=ExpiryReason.UNUSED, now=now))
    return touched
