"""Claim trajectories: the next one, or what is unfinished; among them what is asked for once more."""

import re
from datetime import UTC, date, datetime

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Greatest
from django.utils import timezone

from annotation.core.errors import Conflict, Invalid, StaleState
from annotation.core.i18n import translatable
from annotation.core.rechecks import sampling
from annotation.core.sharing.even_shares import by_preference
from annotation.core.vocabulary import SEEN_LABELS, AssignmentState, QueueTurn
from annotation.models import (
    Assignment,
    CrowdPlace,
    Exposure,
    Membership,
    ProficiencyTest,
    Project,
    Quota,
    Recheck,
    Reservation,
    Subset,
    Trajectory,
    User,
)
from annotation.models.prepared import Prepared
from annotation.policies import require, withheld
from annotation.policies.crowd import keep_place
from annotation.policies.rechecks import askable

from .. import arms, claim_expiry, rechecks, training
from ..shares import meetings
from ..training import gold
from ..transitions import advance
from .queue import Queue, queue_of
from .slots import guideline_in_force, take_slot

CLAIM_TRIES = 50
TRIED = 8
CLAIM_KEY = re.compile(r"[!-~]{1,64}")
CLAIM_KEY_RULE = translatable("1 to 64 visible ASCII characters.")
NOTHING_LEFT = translatable("There is nothing left for you to label in this project.")


def has_seen_labels(user: User, trajectory: Trajectory) -> bool:
    """Whether a person has seen others' labels or the consensus of a trajectory."""
    return Exposure.objects.filter(trajectory=trajectory, user=user, kind__in=SEEN_LABELS).exists()


class _Held(Exception):
    """Every remaining trajectory is locked by others at this moment; `pk` is the first of them."""

    def __init__(self, pk: int) -> None:
        super().__init__(pk)
        self.pk = pk


def unfinished(user: User | int, project: Project | int) -> QuerySet[Assignment]:
    """A person's open assignments in a project, the last used first; not what an import is just storing."""
    mine = Assignment.stored.filter(
        annotator=user, project=project, state=AssignmentState.OPEN, imported=False
    )
    return mine.order_by("-last_used_at", "-pk")


def label_next(*, actor: User, project: Project, claim_key: str | None = None) -> Assignment:
    """The actor's next assignment: the unfinished trajectory that they used last, else a new one, as of
    `claim_next`."""
    require(actor, "claim", project)
    return unfinished(actor, project).first() or claim_next(actor=actor, project=project, claim_key=claim_key)


def claim_next(*, actor: User, project: Project, claim_key: str | None = None) -> Assignment:
    """Give the actor the next trajectory to label. Safe under concurrency; the same `claim_key` gives the
    same one.

    Raises Conflict (codes "claim_limit" to whoever holds as many as the project allows, "away" to whoever is
    away, "quota" to whoever has as many as they may, "nothing_left" when nothing is left for this person,
    "test_needed" where a test stands before what is left, "claim_key_reused" for a key of another project,
    those of `training.gate`), Invalid for an unusable key.
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
    raise Conflict(translatable("Many people are claiming trajectories right now; try again."), code="busy")


def _claim(actor: User, project: Project, claim_key: str | None, wait_for: int | None) -> Assignment:
    require(claim_expiry.hold(actor), "claim", project)
    if claim_key:
        again = Assignment.stored.filter(annotator=actor, claim_key=claim_key).first()
        if again is not None and again.project_id != project.pk:
            message = translatable("This claim_key was used in another project.")
            raise Conflict(message, code="claim_key_reused")
        if again is not None:
            return again
    keep_limit(actor, project)
    membership = _member(actor, project)
    if getattr(membership, "of_crowd", False):
        keep_place(actor, project, timezone.now())
    turn = training.gate(membership, project)
    if turn is not None:
        return _take_turn(actor, project, turn, claim_key)
    recheck: int | None = getattr(membership, "recheck", None)
    assigned: bool = getattr(membership, "assigned", False)
    drawn = gold.drawn(membership, project, getattr(membership, "last", None))
    # whatever comes of it, so that a recheck takes no less time
    queue = queue_of(membership, project)
    ranked, first, last = _evenly(queue, membership.claim_cursor)
    if recheck is not None and drawn is None and not membership.recheck_gap:
        return _assign_recheck(actor, project, recheck, claim_key)
    try:
        passed = 0  # what was assigned may stand anywhere: what is before it has not been looked at
        # of what is assigned to them, the first one that nobody else holds just now
        chosen = queue.next(0, assigned=True) if assigned else None
        if chosen is None and wait_for is None and ranked:
            chosen, passed = queue.best(ranked, first, last), first
        if chosen is None:
            chosen = _choose(queue, membership.claim_cursor, wait_for, assigned=assigned)
            passed = chosen.position
    except Conflict:
        if recheck is None:
            raise
        return _assign_recheck(actor, project, recheck, claim_key)
    if drawn is not None:
        # in place of what was chosen: where nothing is left, gold would be told by being the last
        given = gold.give(user=actor, project=project, trajectory=drawn, now=timezone.now())
        return _begin(actor, project, drawn, claim_key, recheck=given)
    assignment = _assign(actor, project, chosen, claim_key, assigned=assigned)
    moved = Membership.objects.filter(Q(claim_cursor__lt=passed) | Q(recheck_gap__gt=0), pk=membership.pk)
    moved.update(
        claim_cursor=Greatest(F("claim_cursor"), passed),
        recheck_gap=Greatest(F("recheck_gap"), 1) - 1,
    )
    return assignment


def _members(user: int, project: int, now: datetime, day: date) -> QuerySet[Membership]:
    """A person's membership, with `recheck`, the one that may come next, `last`, their newest assignment,
    whether anything is `assigned` to them, or `limited`, whether a subset is `tested`, whether they came
    `of_crowd`, and until when they are `away`. One query, so that nobody waits longer because there are
    rechecks."""
    of_project = {"project": OuterRef("project")}
    waiting = askable(user, now=now).filter(**of_project).values("pk")[:1]
    newest = Assignment.stored.filter(**of_project, annotator=user).order_by("-pk").values("pk")[:1]
    members = Membership.objects.order_by().annotate(
        recheck=Subquery(waiting),
        last=Subquery(newest),
        assigned=Exists(Reservation.objects.filter(**of_project, annotator=user)),
        limited=Exists(Quota.objects.filter(membership=OuterRef("pk"))),
        tested=Exists(Subset.objects.filter(**of_project, required_test__isnull=False)),
        of_crowd=Exists(CrowdPlace.objects.filter(link__project=OuterRef("project"), user=user)),
        away=withheld.away_until(day),
    )
    return members.filter(project=project, user=user)


_membership = Prepared(
    _members,
    "user",
    "project",
    now=(datetime(1, 2, 3, tzinfo=UTC), datetime(2, 3, 4, tzinfo=UTC)),
    day=(date(4, 5, 6), date(5, 6, 7)),
)


def _member(actor: User, project: Project) -> Membership:
    """The actor's membership, as `_members` has it. Raises Conflict (code "away") on days on which they are
    away."""
    now = timezone.now()
    [membership] = _membership(user=actor.pk, project=project.pk, now=now, day=withheld.today(actor, now))
    membership.user = actor
    last: date | None = getattr(membership, "away", None)
    if last is not None:
        raise Conflict(withheld.away_text(last), code="away")
    return membership


def _take_turn(actor: User, project: Project, turn: int, claim_key: str | None) -> Assignment:
    """The actor's assignment at a training turn: the one they have of it, taken up again, or a new one."""
    mine = Assignment.stored.filter(recheck=turn, annotator=actor).first()
    if mine is not None and mine.state == AssignmentState.OPEN:
        return mine
    taken = rechecks.take(recheck=turn, user=actor)
    if mine is None:
        return _begin(actor, project, taken.trajectory_id, claim_key, recheck=taken)
    take_up(mine.pk)
    mine.refresh_from_db()
    return mine


def take_up(assignment: int, *, slot: int | None = None) -> None:
    """Open an assignment that was given back or has expired again, draft included. Raises StaleState when it
    is in another state."""
    advance(
        Assignment,
        assignment,
        (AssignmentState.RETURNED, AssignmentState.EXPIRED),
        AssignmentState.OPEN,
        slot=slot,
        returned_at=None,
        return_reason="",
        expiry_reason="",
        last_used_at=timezone.now(),
        warned_at=None,
    )


def _limit_of_each(user: int, project: int) -> QuerySet[Assignment, int]:
    return unfinished(user, project).order_by().values_list("project__claim_limit", flat=True)


_limits = Prepared(_limit_of_each, "user", "project")


def keep_limit(actor: User, project: Project) -> None:
    """Raises Conflict (code "claim_limit") to whoever holds as many unfinished trajectories as they may."""
    held = _limits(user=actor.pk, project=project.pk)
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
    hold or have as many as they may, or are away.
    """
    require(claim_expiry.hold(actor), "claim", trajectory.project)
    training.refuse_paused(Membership.objects.filter(project=trajectory.project_id, user=actor).first())
    keep_limit(actor, trajectory.project)
    keep_place(actor, trajectory.project, timezone.now())
    queue = queue_of(_member(actor, trajectory.project), trajectory.project)
    chosen = queue.this(trajectory.pk)
    if chosen is None:
        raise Conflict(translatable("This trajectory is not available to you."), code="not_claimable")
    return _assign(actor, trajectory.project, chosen, None, assigned=True)


def _assign(
    actor: User, project: Project, chosen: Trajectory, claim_key: str | None, *, assigned: bool
) -> Assignment:
    """The assignment itself, in a free slot of the trajectory, whose row is locked from here on."""
    slot = take_slot(chosen.pk, project.pk, annotator=actor.pk, assigned=assigned)
    return _begin(actor, project, chosen.pk, claim_key, slot=slot)


def _assign_recheck(actor: User, project: Project, waiting: int, claim_key: str | None) -> Assignment:
    """The assignment of a recheck, and how many trajectories from the queue come before the next one."""
    taken = rechecks.take(recheck=waiting, user=actor)
    demand = project.retest_percent / 100 + rechecks.demand_of_audits(actor, project)
    gap = sampling.gap(seed=project.recheck_seed, recheck=taken.pk, demand=demand)
    Membership.objects.filter(project=project, user=actor).update(recheck_gap=gap)
    return _begin(actor, project, taken.trajectory_id, claim_key, recheck=taken)


def _begin(
    actor: User,
    project: Project,
    trajectory: int,
    claim_key: str | None,
    *,
    slot: int | None = None,
    recheck: Recheck | None = None,
) -> Assignment:
    now = timezone.now()
    made = Assignment.objects.create(
        project=project,
        trajectory_id=trajectory,
        annotator=actor,
        slot=slot,
        recheck=recheck,
        guideline_version=guideline_in_force(project.pk),
        claim_key=claim_key or None,
        claimed_at=now,
        last_used_at=now,
    )
    arms.deal_for_claim(made, now=now)
    return made


def _evenly(queue: Queue, cursor: int) -> tuple[dict[int, int], int, int]:
    """Of the next trajectories in the queue those by which people meet most evenly, the best first, each with
    its free slots; the position before which nothing is left, and the one behind which none of them is. None
    when these are all the person's own: it looks at no more than NEXT rows. Three queries; with quotas two
    more."""
    user, project = queue.user, queue.project
    if project.annotators_per_trajectory == 1:
        return {}, 0, 0
    following = queue.following(cursor)
    if not following:
        return {}, 0, 0
    places = {pk: at for pk, at, _free in following}
    first = min(places.values())
    # subsets keep their turn
    turn = first // sampling.PLACES
    waiting = {pk: free for pk, at, free in following if at // sampling.PLACES == turn}
    most = queue.quotas.most(list(QueueTurn)[turn])
    share: float | None = None
    if most is not None:
        partners = most * (project.annotators_per_trajectory - 1)
        share = partners / max(1, meetings.others(project.pk, user.pk))
        # however many begun ones wait before them
        unbegun = queue.claimable(cursor, assigned=False).filter(
            free_slots=project.annotators_per_trajectory, position__lt=(turn + 1) * sampling.PLACES
        )
        for pk, at, free in unbegun.values_list("pk", "position", "free_slots")[:TRIED]:
            places[pk], waiting[pk] = at, free
    held = meetings.holders(waiting)
    met = meetings.met(project.pk, user.pk)
    order = by_preference([(pk, held.get(pk, ())) for pk in waiting], met, share=share)
    ranked = order[:TRIED]
    return {pk: waiting[pk] for pk in ranked}, first, max(places[pk] for pk in ranked)


def _nothing_left(queue: Queue) -> Conflict:
    """The reason why there is nothing to claim: nothing is left, or a test stands before what is."""
    left = queue.claimable(0, untested=True) if queue.closed else Trajectory.objects.none()
    subset = left.filter(subset__in=queue.closed).values_list("subset", flat=True).first()
    if subset is None:
        return Conflict(NOTHING_LEFT, code="nothing_left")
    number = ProficiencyTest.objects.get(pk=queue.closed[subset]).number
    return Conflict(
        translatable("Pass test {number} first: what is left to label is for those who have.", number=number),
        code="test_needed",
        details={"test": number},
    )


def _choose(queue: Queue, cursor: int, wait_for: int | None, *, assigned: bool) -> Trajectory:
    """The trajectory to claim from the queue, its row locked.

    Waiting is done for one row only, in a transaction that holds no other: whoever held one and waited for
    the next could wait for somebody who waits for them.
    """
    if wait_for is not None:
        held = queue.claimable(0).filter(pk=wait_for)
        chosen = held.select_for_update(of=("self",), no_key=True).first()
        if chosen is None:
            raise StaleState(translatable("Somebody else has claimed it."), code="no_free_slot")
        return chosen
    chosen = queue.next(cursor, assigned=False)
    if chosen is None and cursor:
        # The cursor is a short cut, not the truth: before saying no, look from the start.
        chosen = queue.next(0, assigned=False)
    if chosen is None:
        left = queue.claimable(0, assigned=None if assigned else False).first()
        if left is None:
            raise Conflict(withheld.QUOTA, code="quota") if queue.quotas.full else _nothing_left(queue)
        raise _Held(left.pk)
    return chosen
