"""Open one place instead of two where the rule holds, and two again where it holds no more."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F, QuerySet

from annotation.core.scoring.second_person import drawn_for_two
from annotation.core.vocabulary import SecondPersonState, TrajectoryState
from annotation.models import Project, SecondPerson, Trajectory
from annotation.reports.judging.second_person import labelled_by

from ..batched_writes import in_blocks
from ..cursors import lower_cursors
from .fitting import in_force

PLACES = 2


def offer(project: Project) -> None:
    """Leave one place of each trajectory that nobody holds or has submitted, that each judge of the rule
    labels wholly, and that chance does not give to two people."""
    fit = in_force(project)
    if fit is None:
        return
    rows = _untouched(project).filter(second_person__isnull=True).order_by("pk")
    drawn = {pk for pk in rows.values_list("pk", flat=True) if not drawn_for_two(project.recheck_seed, pk)}
    if not drawn:
        return
    labelled = labelled_by(project, drawn)
    offered = drawn.intersection(*(labelled[judge] for judge in fit.judges))
    in_blocks(sorted(offered), lambda pk: _offer(project, pk))


def _untouched(project: Project) -> QuerySet[Trajectory]:
    """Trajectories of which both places are free, and not kept for two people."""
    return Trajectory.objects.filter(
        project=project,
        live=True,
        state=TrajectoryState.LABELLING,
        free_slots=PLACES,
        reserved__lt=PLACES,
    )


def _offer(project: Project, pk: int) -> None:
    # a claim holds the trajectory's row: either it comes first, and both places stay, or it finds one
    if _untouched(project).filter(pk=pk).update(free_slots=1):
        SecondPerson.objects.create(project=project, trajectory_id=pk)


def take_away(project: Project) -> None:
    """Give all trajectories that wait for one person their second place back."""
    waiting = SecondPerson.objects.filter(project=project, state=SecondPersonState.WAITING)
    in_blocks(waiting.order_by("trajectory").values_list("pk", flat=True), _take_away)


def _take_away(pk: int) -> None:
    row = SecondPerson.objects.select_related("trajectory").filter(pk=pk).first()
    if row is None:
        return
    Trajectory.objects.select_for_update(no_key=True).get(pk=row.trajectory_id)
    gone, _models = SecondPerson.objects.filter(pk=pk, state=SecondPersonState.WAITING).delete()
    if gone:
        open_second_place(row.trajectory)


@transaction.atomic
def open_second_place(trajectory: Trajectory) -> None:
    """Free the second place of a trajectory, whose row is locked, for whoever claims next."""
    Trajectory.objects.filter(pk=trajectory.pk).update(free_slots=F("free_slots") + 1)
    lower_cursors(project_id=trajectory.project_id, position=trajectory.position)
