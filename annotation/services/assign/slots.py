"""The N slots of a trajectory."""

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
    taken = Trajectory.objects.filter(
        pk=trajectory_id, live=True, free_slots__gt=0, state=TrajectoryState.LABELLING
    ).update(free_slots=F("free_slots") - 1)
    if not taken:
        raise StaleState(FULL, code="no_free_slot")
    wanted = Project.objects.values_list("annotators_per_trajectory", flat=True).get(pk=project_id)
    held = set(
        Assignment.objects.filter(trajectory=trajectory_id, state__in=ACTIVE_STATES).values_list(
            "slot", flat=True
        )
    )
    return min(slot for slot in range(wanted) if slot not in held)
