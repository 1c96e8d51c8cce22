"""Assign trajectories: claim the next one, give it back, take it up again, take it from somebody."""

import re

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from annotation.core import text
from annotation.core.errors import Conflict, Denied, Invalid, NotFound, StaleState
from annotation.core.i18n import translatable
from annotation.core.vocabulary import AssignmentState, ExpiryReason, ExposureKind, TrajectoryState
from annotation.models import (
    ACTIVE_STATES,
    Assignment,
    Exposure,
    Guideline,
    Membership,
    Project,
    Trajectory,
    User,
)
from annotation.policies import Actor, require

from . import audit, open_work
from .cursors import lower_cursors
from .transitions import advance

MAX_REASON = 2_000
CLAIM_TRIES = 50
CLAIM_KEY = re.compile(r"[!-~]{1,64}")
CLAIM_KEY_RULE = translatable("1 to 64 visible ASCII characters.")
NOTHING_LEFT = translatable("There is nothing left for you to label in this project.")
# What nobody may have seen of a trajectory that they label.
SPOILS = (ExposureKind.LABEL, ExposureKind.CONSENSUS)


def _claimable(user: User, project: Project, cursor: int) -> QuerySet[Trajectory]:
    """What a person may claim, in queue order: a free slot, never theirs before, nothing of it seen."""
    theirs = Assignment.objects.filter(trajectory=OuterRef("pk"), annotator=user)
    seen = Exposure.objects.filter(trajectory=OuterRef("pk"), user=user, kind__in=SPOILS)
    return (
        Trajectory.objects.filter(
            ~Exists(theirs), ~Exists(seen), project=project, live=True, free_slots__gt=0, position__gte=cursor
        )
        .only("pk", "position")
        .order_by("position")
    )


def has_seen_labels(user: User, trajectory: Trajectory) -> bool:
    """Whether a person has seen others' labels or the consensus of a trajectory."""
    return Exposure.objects.filter(trajectory=trajectory, user=user, kind__in=SPOILS).exists()


class _Held(Exception):
    """All that is left is locked by others at this moment; `pk` is the first of it."""

    def __init__(self, pk: int) -> None:
        super().__init__(pk)
        self.pk = pk


def _first(queryset: QuerySet[Trajectory]) -> Trajectory | None:
    """The first row, locked; on PostgreSQL rows that others hold are passed over."""
    if connection.features.has_select_for_update_skip_locked:
        queryset = queryset.select_for_update(skip_locked=True, of=("self",), no_key=True)
    return queryset.first()


def unfinished(user: User, project: Project) -> QuerySet[Assignment]:
    """A person's open assignments in a project, the last used first; not what an import is just storing."""
    mine = Assignment.objects.filter(
        annotator=user, project=project, state=AssignmentState.OPEN, imported=False
    )
    return mine.order_by("-last_used_at", "-pk")


def label_next(*, actor: User, project: Project, claim_key: str | None = None) -> Assignment:
    """What the actor labels next: the unfinished trajectory that they used last, else a new one, as of
    `claim_next`."""
    require(actor, "claim", project)
    return unfinished(actor, project).first() or claim_next(actor=actor, project=project, claim_key=claim_key)


def claim_next(*, actor: User, project: Project, claim_key: str | None = None) -> Assignment:
    """Give the actor the next trajectory to label. Safe under concurrency; the same `claim_key` gives the
    same one.

    Raises Conflict (codes "claim_limit" to whoever holds as many as the project allows, "nothing_left" when
    nothing is left for this person), Invalid for an unusable key.
    """
    if claim_key and not CLAIM_KEY.fullmatch(claim_key):
        raise Invalid(
            translatable("claim_key: {claim_key_rule}", claim_key_rule=CLAIM_KEY_RULE),
            fields={"claim_key": CLAIM_KEY_RULE},
        )
    wait_for: int | None = None
    for _ in range(CLAIM_TRIES):
        try:
            with transaction.atomic():
                return _claim(actor, project, claim_key, wait_for)
        except _Held as held:
            wait_for = held.pk
        except (IntegrityError, StaleState):
            wait_for = None  # somebody else was faster; look again
    raise Conflict(translatable("Many people are claiming at this moment; try again."), code="busy")


def _claim(actor: User, project: Project, claim_key: str | None, wait_for: int | None) -> Assignment:
    require(open_work.hold(actor), "claim", project)
    if claim_key:
        again = Assignment.objects.filter(annotator=actor, claim_key=claim_key).first()
        if again is not None:
            return again
    _keep_limit(actor, project)
    membership = Membership.objects.get(project=project, user=actor)
    chosen = _choose(actor, project, membership.claim_cursor, wait_for)
    assignment = _assign(actor, project, chosen, claim_key)
    Membership.objects.filter(pk=membership.pk, claim_cursor__lt=chosen.position).update(
        claim_cursor=chosen.position
    )
    return assignment


def _keep_limit(actor: User, project: Project) -> None:
    """Raises Conflict (code "claim_limit") to whoever holds as many unfinished trajectories as they may."""
    limits = unfinished(actor, project).order_by().values_list("project__claim_limit", flat=True)
    held = list(limits)
    if held and len(held) >= held[0]:
        raise Conflict(
            translatable(
                "You hold {limit} unfinished trajectories, as many as this project allows; finish one first.",
                limit=held[0],
            ),
            code="claim_limit",
        )


@transaction.atomic
def claim_this(*, actor: User, trajectory: Trajectory) -> Assignment:
    """Give the actor this very trajectory, if they may have it; pages offer `claim_next` instead.

    Raises Conflict when all places are taken, they have had it or seen others' labels of it before, or they
    hold as many as they may.
    """
    require(open_work.hold(actor), "claim", trajectory.project)
    _keep_limit(actor, trajectory.project)
    chosen = _claimable(actor, trajectory.project, 0).filter(pk=trajectory.pk).first()
    if chosen is None:
        raise Conflict(
            translatable("This trajectory is not yours to claim (any more)."), code="not_claimable"
        )
    return _assign(actor, trajectory.project, chosen, None)


def _assign(actor: User, project: Project, chosen: Trajectory, claim_key: str | None) -> Assignment:
    """The assignment itself, in a free slot of the trajectory, whose row is locked from here on."""
    slot = _take_slot(chosen.pk, project.pk)
    now = timezone.now()
    return Assignment.objects.create(
        project=project,
        trajectory_id=chosen.pk,
        annotator=actor,
        slot=slot,
        guideline_version=guideline_in_force(project.pk),
        claim_key=claim_key or None,
        claimed_at=now,
        last_used_at=now,
    )


def _choose(actor: User, project: Project, cursor: int, wait_for: int | None) -> Trajectory:
    """The trajectory to claim, its row locked.

    Waiting is done for one row only, in a transaction that holds no other: whoever held one and waited for
    the next could wait for somebody who waits for them.
    """
    if wait_for is not None:
        held = _claimable(actor, project, 0).filter(pk=wait_for)
        chosen = held.select_for_update(of=("self",), no_key=True).first()
        if chosen is None:
            raise StaleState(translatable("Somebody else has taken it."), code="no_free_slot")
        return chosen
    chosen = _first(_claimable(actor, project, cursor))
    if chosen is None and cursor:
        # The cursor is a short cut, not the truth: before saying no, look from the start.
        chosen = _first(_claimable(actor, project, 0))
    if chosen is None:
        left = _claimable(actor, project, 0).first()
        if left is None:
            raise Conflict(NOTHING_LEFT, code="nothing_left")
        raise _Held(left.pk)
    return chosen


def guideline_in_force(project_id: int) -> int:
    """The version of the newest guidelines; 0 without guidelines."""
    return (
        Guideline.objects.filter(project=project_id)
        .order_by("-version")
        .values_list("version", flat=True)
        .first()
        or 0
    )


def _take_slot(trajectory_id: int, project_id: int) -> int:
    """Take one free slot of a trajectory (its row is locked from here on) and say which.

    Raises StaleState when no slot is free any more.
    """
    taken = Trajectory.objects.filter(
        pk=trajectory_id, live=True, free_slots__gt=0, state=TrajectoryState.LABELLING
    ).update(free_slots=F("free_slots") - 1)
    if not taken:
        raise StaleState(translatable("All places at this trajectory are taken."), code="no_free_slot")
    wanted = Project.objects.values_list("annotators_per_trajectory", flat=True).get(pk=project_id)
    held = set(
        Assignment.objects.filter(trajectory=trajectory_id, state__in=ACTIVE_STATES).values_list(
            "slot", flat=True
        )
    )
    return min(slot for slot in range(wanted) if slot not in held)


def take_slot(*, trajectory: Trajectory) -> int:
    """A slot for finished labels that come from a file; for services that have asked permission
    themselves."""
    return _take_slot(trajectory.pk, trajectory.project_id)


@transaction.atomic
def return_assignment(*, actor: User, assignment: Assignment, reason: str) -> Assignment:
    """Give a trajectory back unfinished: the draft is kept, the slot is free for somebody else."""
    require(actor, "label", assignment)
    reason = _checked_reason(reason)
    if not reason:
        raise Invalid(
            translatable("Say why you give it back."),
            fields={"reason": translatable("Say why you give it back.")},
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
    trajectory = assignment.trajectory
    Trajectory.objects.filter(pk=trajectory.pk).update(free_slots=F("free_slots") + 1)
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
def take_back(*, actor: Actor, assignment: Assignment, reason: str = "") -> Assignment:
    """End somebody's open claim, so that others can have its place; the draft is kept, and the annotator
    reads the reason in their list of work.

    Raises StaleState when it is not open (any more): submitted labels stay where they are.
    """
    require(actor, "assign", assignment)
    reason = _checked_reason(reason)
    claims = open_work.lock_claims(Assignment.objects.filter(pk=assignment.pk))
    because = ExpiryReason.TAKEN_BACK
    if not open_work.expire(actor=actor, claims=claims, because=because, reason=reason):
        raise StaleState(
            translatable("This trajectory has been submitted or given back already."), code="not_open"
        )
    assignment.refresh_from_db()
    return assignment


@transaction.atomic
def resume_assignment(*, actor: User, assignment: Assignment) -> Assignment:
    """Take up a returned trajectory again, draft included, if a slot is still free.

    Raises Denied to whoever has seen others' labels of it meanwhile (an admin may have), Conflict (code
    "claim_limit") to whoever holds as many as they may.
    """
    require(open_work.hold(actor), "label", assignment)
    current = Assignment.objects.select_for_update(no_key=True).filter(pk=assignment.pk).first()
    if current is None:
        raise NotFound(translatable("There is no such assignment."))
    if has_seen_labels(actor, current.trajectory):
        raise Denied(translatable("You have seen other people's labels of this trajectory."), code="exposed")
    _keep_limit(actor, current.project)
    slot = _take_slot(current.trajectory_id, current.project_id)
    advance(
        Assignment,
        current.pk,
        (AssignmentState.RETURNED, AssignmentState.EXPIRED),
        AssignmentState.OPEN,
        slot=slot,
        returned_at=None,
        return_reason="",
        expiry_reason="",
        last_used_at=timezone.now(),
    )
    audit.record(actor=actor, verb="assignment.resume", project=current.project, obj=current)
    current.refresh_from_db()
    return current
