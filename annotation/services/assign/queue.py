"""A project's queue, as it is to one person: which trajectories they may claim."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection
from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, When

from annotation.core.vocabulary import SEEN_LABELS
from annotation.models import (
    Assignment,
    Exposure,
    Membership,
    Project,
    Reservation,
    Trajectory,
    User,
    given_to_people,
)
from annotation.models.prepared import Prepared
from annotation.policies.qualifying import closed_subsets

from ..shares import limits
from ..shares.limits import Quotas

NEXT = 128
"""So far ahead a claim looks for a trajectory whose people its annotator has met least."""


@dataclass(frozen=True, slots=True)
class Queue:
    """A project's queue, as it is to one person: of the subsets `closed` (each with the test that opens it)
    they get nothing, and of those that are `full` no more than is assigned to them."""

    user: User
    project: Project
    closed: Mapping[int, int]
    quotas: Quotas

    def claimable(
        self, cursor: int, *, assigned: bool | None = None, untested: bool = False
    ) -> QuerySet[Trajectory]:
        """Trajectories that the person may claim, in queue order: a free slot that is kept for nobody else,
        never theirs before, nothing of it seen, and left by judges where these are asked first. `assigned`:
        only those of which a place is kept for them, or only others. `untested`: also of subsets whose test
        they have not passed."""
        of_row = {"trajectory": OuterRef("pk")}
        kept = Q(Exists(Reservation.objects.filter(**of_row, annotator=self.user)), free_slots__gt=0)
        theirs = Assignment.objects.filter(**of_row, annotator=self.user)
        # what was resolved, and is labelled once more: its readers are none of the N
        rechecked = Assignment.stored.filter(recheck__trajectory=OuterRef("pk"), annotator=self.user)
        seen = Exposure.objects.filter(**of_row, user=self.user, kind__in=SEEN_LABELS)
        left = given_to_people() if self.project.judges_first else Q()
        open_to_all = Q(left, free_slots__gt=F("reserved"))
        if self.quotas.full:
            open_to_all &= ~Q(subset__in=self.quotas.full)
        places = {None: kept | open_to_all, True: kept, False: open_to_all}
        return (
            Trajectory.objects.filter(
                places[assigned],
                ~Q(subset__in=self.closed) if self.closed and not untested else Q(),
                ~Exists(theirs),
                ~Exists(rechecked),
                ~Exists(seen),
                project=self.project,
                live=True,
                position__gte=cursor,
            )
            .only("pk", "position")
            .order_by("position")
        )

    def next(self, cursor: int, *, assigned: bool) -> Trajectory | None:
        """The first that is claimable from a place in the queue on, locked; on PostgreSQL rows that others
        hold are passed over."""
        return _next.first(**self._values, cursor=cursor, assigned=assigned)

    def this(self, trajectory: int) -> Trajectory | None:
        """One of them by its key."""
        return _this.first(**self._values, trajectory=trajectory)

    def following(self, cursor: int) -> list[tuple[int, int, int]]:
        """The claimable ones of the next rows: pk, position and free slots."""
        return _following(**self._values, cursor=cursor)

    def best(self, ranked: Mapping[int, int], first: int, last: int) -> Trajectory | None:
        """The first of `ranked`, the best first, that is claimable between these positions, locked as by
        `next`, and has as many free slots still: whoever has taken one meanwhile would be met unasked."""
        free = [*ranked.values()]
        return _best.first(**self._values, ranked=[*ranked], free=free, cursor=first, last=last)

    @property
    def _values(self) -> dict[str, Any]:
        """The parameters of its queries."""
        return {
            "user": self.user.pk,
            "project": self.project.pk,
            "judges_first": self.project.judges_first,
            "closed": self.closed,
            "full": self.quotas.full,
        }


def queue_of(membership: Membership, project: Project) -> Queue:
    """A project's queue for a member, annotated with whether a subset is `tested` and a quota has `limited`
    them. No query without tests and quotas."""
    user = membership.user
    tested, limited = getattr(membership, "tested", False), getattr(membership, "limited", False)
    closed = closed_subsets(user, [project.pk]).get(project.pk, {}) if tested else {}
    return Queue(user, project, closed, limits.quotas(user, project) if limited else limits.ANY_NUMBER)


# ── The queries, composed once ──
def _queue(
    user: int, project: int, judges_first: bool, closed: Collection[int], full: Collection[int]
) -> Queue:
    """A queue of which these things are known; not which test opens a subset."""
    of = Project(pk=project, judges_first=judges_first)
    return Queue(User(pk=user), of, dict.fromkeys(closed, 0), Quotas([*full], {}))


def _first(rows: QuerySet[Trajectory]) -> QuerySet[Trajectory]:
    if connection.features.has_select_for_update_skip_locked:
        rows = rows.select_for_update(skip_locked=True, of=("self",), no_key=True)
    return rows[:1]


def _next_of(cursor: int, assigned: bool, **queue: Any) -> QuerySet[Trajectory]:
    return _first(_queue(**queue).claimable(cursor, assigned=assigned))


def _this_of(trajectory: int, **queue: Any) -> QuerySet[Trajectory]:
    return _queue(**queue).claimable(0).filter(pk=trajectory)


def _following_of(cursor: int, **queue: Any) -> QuerySet[Trajectory, tuple[int, int, int]]:
    of = _queue(**queue)
    rows = Trajectory.objects.filter(
        project=of.project, live=True, free_slots__gt=F("reserved"), position__gte=cursor
    )
    following = rows.exclude(subset__in=of.quotas.full).order_by("position").values("pk")[:NEXT]
    claimable = of.claimable(cursor, assigned=False).filter(pk__in=following)
    return claimable.values_list("pk", "position", "free_slots")


def _best_of(
    cursor: int, last: int, ranked: Collection[int], free: Collection[int], **queue: Any
) -> QuerySet[Trajectory]:
    # between their places, or SQLite reads the whole queue
    among = _queue(**queue).claimable(cursor, assigned=False).filter(position__lte=last)
    still = Q(*(Q(pk=pk, free_slots=slots) for pk, slots in zip(ranked, free, strict=True)), _connector=Q.OR)
    order = Case(*(When(pk=pk, then=rank) for rank, pk in enumerate(ranked)))
    return _first(among.filter(still).order_by(order))


_QUEUE: Final = ("user", "project", "closed", "full")
_next = Prepared(_next_of, *_QUEUE, "cursor")
_this = Prepared(_this_of, *_QUEUE, "trajectory")
_following = Prepared(_following_of, *_QUEUE, "cursor")
_best = Prepared(_best_of, *_QUEUE, "ranked", "cursor", "last", free=(30_001, 30_002))
