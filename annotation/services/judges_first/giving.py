"""Take what judges settled back into the queue."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import F, Min

from annotation.core.vocabulary import TrajectoryState
from annotation.models import Consensus, OutcomeConsensus, Project, Trajectory, given_to_people

from ..cursors import lower_cursors
from ..transitions import advance_all


def give_to_people(project: Project, pks: Sequence[int]) -> list[int]:
    """Make these trajectories, as far as judges settled them, free for people again, as part of a
    transaction; which they were. Five statements. Releases hold copies and are not touched."""
    rows = Trajectory.objects.filter(pk__in=pks, project=project, state=TrajectoryState.JUDGED)
    given = list(rows.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))
    Consensus.objects.filter(trajectory__in=given).delete()
    OutcomeConsensus.objects.filter(trajectory__in=given).delete()
    places = project.annotators_per_trajectory
    advance_all(Trajectory, given, TrajectoryState.JUDGED, TrajectoryState.LABELLING, free_slots=places)
    return given


def lower_to_first(project: Project) -> None:
    """Lower all claim cursors to the first trajectory that people can claim."""
    open_to_all = Trajectory.objects.filter(project=project, live=True, free_slots__gt=F("reserved"))
    free = open_to_all.filter(given_to_people())
    first = free.aggregate(first=Min("position"))["first"]
    if first is not None:
        lower_cursors(project_id=project.pk, position=first)
