"""The N slots of a trajectory."""

from collections import Counter
from collections.abc import Collection

from django.db.models import F, Q

from annotation.core.errors import StaleState
from annotation.core.vocabulary import TrajectoryState
from annotation.models import (
    Guideline,
    Project,
    Trajectory,
)
from annotation.models.prepared import Prepared

from ..rechecks import FULL
from ..shares import meetings, reservations


def guideline_in_force(project_id: int) -> int:
    """The version of the newest guidelines; 0 without guidelines."""
    return _newest_guideline.first(project=project_id) or 0


_newest_guideline = Prepared(
    lambda project: (
        Guideline.objects.filter(project=project).order_by("-version").values_list("version", flat=True)[:1]
    ),
    "project",
)
_number_of_slots = Prepared(
    lambda project: Project.objects.filter(pk=project).values_list("annotators_per_trajectory", flat=True),
    "project",
)


def take_slot(trajectory_id: int, project_id: int, *, annotator: int, assigned: bool = True) -> int:
    """Take one free slot of a trajectory (its row is locked from here on) for a person, and say which.

    Raises StaleState when no slot is free for them any more.
    """
    taken = take_slots([trajectory_id], project_id, annotator=annotator, assigned=assigned)
    if not taken:
        raise StaleState(FULL, code="no_free_slot")
    return taken[trajectory_id]


def take_slots(
    trajectories: Collection[int], project_id: int, *, annotator: int, assigned: bool = True
) -> dict[int, int]:
    """Take one free slot of each of a project's trajectories for a person, and say which: the one that is
    kept for them, or one that is kept for nobody. Those without one are left out. Their rows are locked from
    here on, in order, so that two who take several cannot deadlock. `assigned`: something may be kept for
    them."""
    free = Trajectory.objects.filter(live=True, free_slots__gt=0, state=TrajectoryState.LABELLING)
    kept = reservations.kept_for(annotator, trajectories) if assigned else set()
    open_to_all = free.filter(free_slots__gt=F("reserved"))
    pks = list(trajectories)
    if len(pks) > 1:
        rows = free.filter(Q(pk__in=kept) | Q(free_slots__gt=F("reserved")), pk__in=pks)
        pks = list(rows.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))
    taken = open_to_all.filter(pk__in={*pks} - kept).update(free_slots=F("free_slots") - 1)
    if kept:
        mine = free.filter(pk__in=kept.intersection(pks))
        taken += mine.update(free_slots=F("free_slots") - 1, reserved=F("reserved") - 1)
        reservations.used(annotator, kept.intersection(pks))
    if not taken:
        return {}
    [number] = _number_of_slots(project=project_id)
    held: dict[int, set[int | None]] = {pk: set() for pk in pks}
    met: Counter[int] = Counter()
    for pk, person, slot in meetings.active(trajectories=pks):
        held[pk].add(slot)
        met[person] += 1
    meetings.count(project_id, {(annotator, person): times for person, times in met.items()})
    return {pk: min(slot for slot in range(number) if slot not in used) for pk, used in held.items()}
