"""Compare what one person has submitted with the stack of judges, and ask a second where they doubt."""

from __future__ import annotations

from datetime import datetime

import numpy as np
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.core.scoring import second_person as core
from annotation.core.scoring.stack import stack
from annotation.core.vocabulary import AssignmentState, SecondPersonState, TrajectoryState
from annotation.models import ACTIVE_STATES, Assignment, Project, RelabelRequest, SecondPerson, Trajectory
from annotation.reports.judging.second_person import labels_of_people, places_of
from annotation.reports.judging.stack import material

from .. import consensus
from ..transitions import advance
from .fitting import in_force
from .offering import open_second_place

COMPARED_AT_ONCE = 500


def compare(project: Project) -> None:
    """Decide of each trajectory with one place that has been submitted whether it needs a second person."""
    fit = in_force(project)
    waiting = dict(_submitted(project).values_list("trajectory", "submitted_at")[:COMPARED_AT_ONCE])
    if fit is None or not waiting:
        return
    rule = core.SecondPersonRule.from_json(fit.rule)
    doubts = _doubts(project, fit.taught, fit.judges, rule, sorted(waiting))
    for trajectory, submitted_at in waiting.items():
        doubt = doubts.get(trajectory)
        asked = doubt is None or bool(core.needs_second(np.array([doubt]), rule)[0])
        decide(trajectory, submitted_at, doubt=doubt, asked=asked)


def _submitted(project: Project) -> QuerySet[Assignment]:
    """The submissions that wait, but for those that somebody is still to look at again."""
    asked = RelabelRequest.objects.filter(assignment=OuterRef("pk"), begun_at__isnull=True)
    return Assignment.objects.filter(
        ~Exists(asked),
        state=AssignmentState.SUBMITTED,
        trajectory__project=project,
        trajectory__live=True,
        trajectory__state=TrajectoryState.LABELLING,
        trajectory__second_person__state=SecondPersonState.WAITING,
    ).order_by("pk")


def _doubts(
    project: Project, taught: list[int], judges: list[int], rule: core.SecondPersonRule, asked: list[int]
) -> dict[int, float]:
    """The doubt about each of these trajectories; those that it cannot be told of are left out."""
    data = material(project, only=[*taught, *asked], judges=judges)
    if len(data.judges) < len(judges):
        return {}
    released, each = data.known, list(data.judges.values())
    stacked = stack(released, each, data.labelled & places_of(data, taught))
    if stacked is None:
        return {}
    person = labels_of_people(data)
    doubt = core.doubts(released, stacked, person, rule)
    there = places_of(data, asked) & person.there & core.labelled_by_all(released, each) & np.isfinite(doubt)
    return dict(zip(data.trajectory[there].tolist(), doubt[there].tolist(), strict=True))


@transaction.atomic
def decide(trajectory: int, submitted_at: datetime | None, *, doubt: float | None, asked: bool) -> None:
    """Open the second place of a trajectory, or make the labels of its one person the consensus. Nothing
    happens to what has changed since that was submitted."""
    row = Trajectory.objects.select_for_update(no_key=True).get(pk=trajectory)
    waiting = SecondPerson.objects.filter(trajectory=trajectory, state=SecondPersonState.WAITING).first()
    turns = Assignment.objects.filter(trajectory=trajectory, state__in=ACTIVE_STATES)
    same = list(turns.values_list("state", "submitted_at")) == [(AssignmentState.SUBMITTED, submitted_at)]
    if waiting is None or not same or row.state != TrajectoryState.LABELLING:
        return
    to = SecondPersonState.ASKED if asked else SecondPersonState.SPARED
    now = timezone.now()
    advance(SecondPerson, waiting.pk, SecondPersonState.WAITING, to, doubt=doubt, decided_at=now)
    if asked:
        open_second_place(row)
    else:
        consensus.settle_alone(row)
