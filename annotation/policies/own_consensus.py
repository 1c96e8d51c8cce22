"""Permission to read the consensus beside one's own labels (docs/sealing.md, "What annotators learn")."""

from __future__ import annotations

from annotation import models as m
from annotation.core.i18n import translatable
from annotation.core.vocabulary import RESOLVED, AssignmentState, SecondReader, TrajectoryState

UNFINISHED = translatable("You have not submitted this trajectory.")
RETESTS = translatable(
    "This project asks annotators to label some of their trajectories again, which nobody could who knew the "
    "consensus. So it is shown of none."
)
GOLD = translatable(
    "Some of what annotators are given in this project is there to check them, and has no consensus. So the "
    "consensus is shown of none."
)
JUDGES = translatable(
    "In this project judges may be the second reader. What became of a trajectory would tell of them, so the "
    "consensus is shown of none."
)
NOTHING = translatable("There is nothing to show: labels are missing, people differ, or it is kept back.")
SAME_TASK = translatable(
    "Other runs of the same task are still being labelled, and the consensus of this one would tell of them."
)


def why_no_consensus(user: m.User, assignment: m.Assignment) -> str:
    """The reason why a person reads no consensus beside their labels; empty where they may.

    `assignment` is their own, with its project and trajectory. What one was asked to label once more has the
    same reason as what is unresolved: not even afterwards is it told. At most three queries.
    """
    trajectory = assignment.trajectory
    if assignment.state != AssignmentState.SUBMITTED:
        return UNFINISHED
    if assignment.project.retest_percent:
        return RETESTS
    if assignment.project.gold_percent:
        return GOLD
    if assignment.project.second_reader == SecondReader.JUDGES:
        return JUDGES
    asked_again = m.Assignment.stored.filter(trajectory=trajectory, annotator=user, recheck__isnull=False)
    if trajectory.state not in RESOLVED or asked_again.exists():
        return NOTHING
    runs = m.Trajectory.objects.filter(task=trajectory.task_id, live=True)
    held = m.Assignment.stored.filter(annotator=user, state=AssignmentState.OPEN, trajectory__in=runs)
    if held.exists() or runs.filter(state=TrajectoryState.LABELLING).exists():
        return SAME_TASK
    return ""
