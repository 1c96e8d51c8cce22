"""Take a second person's labels that come from a file, where one place was left for one person and judges.

Until they are submitted nothing changes for anybody: the trajectory stays closed, with the consensus that it
has, and an import that is stopped leaves it so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from django.db.models import QuerySet
from django.utils import timezone

from annotation.core.vocabulary import SecondPersonState
from annotation.models import ACTIVE_STATES, Assignment, SecondPerson, Trajectory
from annotation.reports.judging.second_person import CLOSED

from .. import consensus
from ..transitions import advance_all
from .offering import PLACES


def second_slots(trajectories: Collection[int]) -> dict[int, int]:
    """The second slot of those of these trajectories, which are locked, whose one place is taken."""
    rows = _closed(trajectories).filter(trajectory__free_slots=0, trajectory__live=True)
    alone = _held(list(rows.values_list("trajectory", flat=True)))
    return {pk: min({*range(PLACES)} - held) for pk, held in alone.items() if len(held) == 1}


def still_closed(trajectories: Collection[int]) -> set[int]:
    """Those of these trajectories where somebody has the one place, so that a second one that was taken is
    nobody's to free."""
    return set(_held(list(_closed(trajectories).values_list("trajectory", flat=True))))


def make_two(trajectories: Collection[int]) -> None:
    """Have two people label those of these trajectories where a second has taken a place, as part of the
    transaction that submits theirs: a consensus of one person is taken back, for the two to be compared."""
    if not _closed(trajectories).exists():
        return
    # all of them, in the order in which everybody locks them
    list(Trajectory.objects.filter(pk__in=trajectories).order_by("pk").select_for_update(no_key=True))
    rows = list(_closed(trajectories).values_list("pk", "trajectory", "state"))
    held = _held([trajectory for _, trajectory, _ in rows])
    both = {pk for pk, slots in held.items() if len(slots) == PLACES}
    spared = [pk for _, pk, state in rows if pk in both and state == SecondPersonState.SPARED]
    consensus.unsettle_alone(spared)
    advance_all(
        SecondPerson,
        [row for row, pk, _ in rows if pk in both],
        CLOSED,
        SecondPersonState.ASKED,
        decided_at=timezone.now(),
    )


def _closed(trajectories: Collection[int]) -> QuerySet[SecondPerson]:
    return SecondPerson.objects.filter(trajectory__in=trajectories, state__in=CLOSED).order_by("trajectory")


def _held(trajectories: Collection[int]) -> dict[int, set[int | None]]:
    """The slots of each trajectory that somebody holds or has submitted; without those that nobody has."""
    held: dict[int, set[int | None]] = defaultdict(set)
    rows = Assignment.objects.filter(trajectory__in=trajectories, state__in=ACTIVE_STATES).order_by()
    for trajectory, slot in rows.values_list("trajectory", "slot"):
        held[trajectory].add(slot)
    return held
