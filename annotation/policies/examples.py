"""Permission to see examples (docs/decisions/0033-cases-teach-where-they-tell-nothing.md)."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q

from annotation import models as m
from annotation.core.vocabulary import AssignmentState, TrajectoryState


def still_blind() -> Exists:
    """Whether any run of an example's task is still being labelled."""
    return Exists(
        m.Trajectory.objects.filter(
            task=OuterRef("trajectory__task"), live=True, state=TrajectoryState.LABELLING
        )
    )


def readable(user: m.User) -> Q:
    """The examples that a member may see, whatever else they are.

    Nobody sees an example of a task of which they have a run open, nor of a trajectory that they are, were or
    will be asked to label once more: not even afterwards, or the recheck would be known by it. Annotators see
    none before all runs of its task have their labels, and none whose case was opened again.
    """
    of_it = {"trajectory": OuterRef("trajectory")}
    on_task = m.Assignment.stored.filter(
        project=OuterRef("project"),
        trajectory__task=OuterRef("trajectory__task"),
        annotator=user,
        state=AssignmentState.OPEN,
    )
    asked_again = m.Assignment.stored.filter(**of_it, annotator=user, recheck__isnull=False)
    dealt = m.Recheck.objects.filter(**of_it, annotator=user)
    labels = m.Membership.objects.filter(project=OuterRef("project"), user=user, is_annotator=True)
    decides = m.Membership.objects.filter(
        Q(is_admin=True) | Q(is_adjudicator=True), project=OuterRef("project"), user=user
    )
    manages = Q(pk__isnull=False) if user.is_superuser else Q(Exists(decides))
    resolved = Q(trajectory__state=TrajectoryState.ADJUDICATED)
    return (
        Q(trajectory__live=True)
        & ~Q(Exists(on_task))
        & ~Q(Exists(asked_again))
        & ~Q(Exists(dealt))
        & (~Q(Exists(labels)) | ~Q(still_blind()))
        & (manages | resolved)
    )
