"""Assign trajectories: claim the next one, give it back, take it up again."""

import re

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from annotation.core import text
from annotation.core.errors import Conflict, Denied, Invalid, NotFound, StaleState
from annotation.core.i18n import translatable
from annotation.core.vocabulary import AssignmentState, ExposureKind, TrajectoryState
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
from annotation.policies import require

from . import audit, projects
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


def claim_next(*, actor: User, project: Project, claim_key: str | None = None) -> Assignment:
    """Give the actor the next trajectory to label. Safe under concurrency; the same `claim_key` gives the
    same one.

    Raises Conflict (code "nothing_left") when nothing is left for this person, Invalid for an unusable key.
    """
    require(actor, "claim", project)
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
    if claim_key:
        again = Assignment.objects.filter(annotator=actor, claim_key=claim_key).first()
        if again is not None:
            return again
    membership = Membership.objects.get(project=project, user=actor)
    chosen = _choose(actor, project, membership.claim_cursor, wait_for)
    assignment = _assign(actor, project, chosen, claim_key)
    Membership.objects.filter(pk=membership.pk, claim_cursor__lt=chosen.position).update(
        claim_cursor=chosen.position
    )
    return assignment


@transaction.atomic
def claim_this(*, actor: User, trajectory: Trajectory) -> Assignment:
    """Give the actor this very trajectory, if they may have it; pages offer `claim_next` instead.

    Raises Conflict when all places are taken, or they have had it or seen others' labels of it before.
    """
    require(actor, "claim", trajectory.project)
    chosen = _claimable(actor, trajectory.project, 0).filter(pk=trajectory.pk).first()
    if chosen is None:
        raise Conflict(
            translatable("This trajectory is not yours to claim (any more)."), code="not_claimable"
        )
    return _assign(actor, trajectory.project, chosen, None)


def _assign(actor: User, project: Project, chosen: Trajectory, claim_key: str | None) -> Assignment:
    """The assignment itself, in a free slot of the trajectory, whose row is locked from here on."""
    slot = _take_slot(chosen.pk, project.pk)
    return Assignment.objects.create(
        project=project,
        trajectory_id=chosen.pk,
        annotator=actor,
        slot=slot,
        guideline_version=guideline_in_force(project.pk),
        claim_key=claim_key or None,
        claimed_at=timezone.now(),
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
    reason = reason.strip()
    if not reason:
        raise Invalid(
            translatable("Say why you give it back."),
            fields={"reason": translatable("Say why you give it back.")},
        )
    if len(reason) > MAX_REASON:
        message = translatable("Keep the reason under {reason} characters.", reason=f"{MAX_REASON:,}")
        raise Invalid(message, fields={"reason": message})
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
    projects.lower_cursors(project_id=trajectory.project_id, position=trajectory.position)
    audit.record(actor=actor, verb="assignment.return", project=assignment.project, obj=assignment)
    assignment.refresh_from_db()
    return assignment


@transaction.atomic
def resume_assignment(*, actor: User, assignment: Assignment) -> Assignment:
    """Take up a returned trajectory again, draft included, if a slot is still free.

    Raises Denied to whoever has seen others' labels of it meanwhile (an admin may have).
    """
    require(actor, "label", assignment)
    current = Assignment.objects.select_for_update(no_key=True).filter(pk=assignment.pk).first()
    if current is None:
        raise NotFound(translatable("There is no such assignment."))
    if has_seen_labels(actor, current.trajectory):
        raise Denied(translatable("You have seen other people's labels of this trajectory."), code="exposed")
    slot = _take_slot(current.trajectory_id, current.project_id)
    advance(
        Assignment,
        current.pk,
        (AssignmentState.RETURNED, AssignmentState.EXPIRED),
        AssignmentState.OPEN,
        slot=slot,
        returned_at=None,
        return_reason="",
    )
    audit.record(actor=actor, verb="assignment.resume", project=current.project, obj=current)
    current.refresh_from_db()
    return current
