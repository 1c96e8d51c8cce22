"""The N slots of a trajectory."""

from collections.abc import Collection

from django.db.models import F

from annotation.core.errors import StaleState
from annotation.core.vocabulary import TrajectoryState
from annotation.models import (
    ACTIVE_STATES,
    Assignment,
    Guideline,
    Project,
    Trajectory,
)

from ..rechecks import FULL


def guideline_in_force(project_id: int) -> int:
    """The version of the newest guidelines; 0 without guidelines."""
    return (
        Guideline.objects.filter(project=project_id)
        .order_by("-version")
        .values_list("version", flat=True)
        .first()
        or 0
    )


def take_slot(trajectory_id: int, project_id: int) -> int:
    """Take one free slot of a trajectory (its row is locked from here on) and say which.

    Raises StaleState when no slot is free any more.
    """
    taken = take_slots([trajectory_id], project_id)
    if not taken:
        raise StaleState(FULL, code="no_free_slot")
    return taken[trajectory_id]


def take_slots(trajectories: Collection[int], project_id: int) -> dict[int, int]:
    """Take one free slot of each of a project's trajectories and say which; those without one are left out.
    Their rows are locked from here on, in order, so that two who take several cannot deadlock."""
    free = Trajectory.objects.filter(live=True, free_slots__gt=0, state=TrajectoryState.LABELLING)
    pks = list(trajectories)
    if len(pks) > 1:
        rows = free.filter(pk__in=pks).order_by("pk").select_for_update(no_key=True)
        pks = list(rows.values_list("pk", flat=True))
    if not free.filter(pk__in=pks).update(free_slots=F("free_slots") - 1):
        return {}
    slots = range(Project.objects.values_list("annotators_per_trajectory", flat=True).get(pk=project_id))
    held: dict[int, set[int | None]] = {pk: set() for pk in pks}
    active = Assignment.objects.filter(trajectory__in=pks, state__in=ACTIVE_STATES).order_by()
    for pk, slot in active.values_list("trajectory", "slot"):
        held[pk].add(slot)
    return {pk: min(slot for slot in slots if slot not in taken) for pk, taken in held.items()}
