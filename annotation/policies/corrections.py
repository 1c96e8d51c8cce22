"""First errors that a person may correct (docs/next-actions.md, "Corrections").

Whoever corrects sees the consensus of a trajectory. So it is resolved; nobody is shown one of which they are
labelling a sibling, or could still claim one; and annotators nothing that a project keeps from them anyway.
"""

from __future__ import annotations

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotation import models as m
from annotation.core.kinds import Feature
from annotation.core.vocabulary import RESOLVED, AssignmentState, Role, SecondReader, TrajectoryState

from .own_consensus import JUDGES
from .people import roles


def first_errors(project: m.Project) -> QuerySet[m.Consensus]:
    """The first −1 of each resolved trajectory, in the order of the queue, but for those right after another
    step, at which nothing is derived. No query by itself."""
    errors = m.Consensus.objects.filter(trajectory=OuterRef("trajectory"), value=-1)
    before = m.Step.objects.filter(
        trajectory=OuterRef("trajectory"), message_index=OuterRef("step__message_index") - 1
    )
    return m.Consensus.objects.filter(
        ~Exists(errors.filter(step__message_index__lt=OuterRef("step__message_index"))),
        ~Exists(before),
        trajectory__project=project,
        trajectory__live=True,
        trajectory__state__in=RESOLVED,
        value=-1,
    ).order_by("trajectory__position", "trajectory_id")


def is_first_error(correction: m.Correction) -> bool:
    """Whether the step of a correction is the first error of its trajectory (still). One query."""
    return first_errors(correction.project).filter(step=correction.step_id).exists()


def waiting(project: m.Project) -> QuerySet[m.Consensus]:
    """The first errors that nobody has taken or corrected. No query by itself."""
    taken = m.Correction.objects.filter(step=OuterRef("step"), state__in=m.ACTIVE_CORRECTIONS)
    return first_errors(project).filter(~Exists(taken))


def correctable(user: m.User, project: m.Project) -> QuerySet[m.Consensus]:
    """Those of them that a person may take. One query, that of the roles."""
    held = roles(user, project)
    rows = waiting(project)
    if not held or not project.of_kind.has(Feature.DERIVATION) or why_none(project, held):
        return rows.none()
    runs = m.Trajectory.objects.filter(task=OuterRef("trajectory__task"), live=True)
    mine = m.Assignment.stored.filter(
        project=project,
        trajectory__task=OuterRef("trajectory__task"),
        annotator=user,
        state=AssignmentState.OPEN,
    )
    rows = rows.filter(~Exists(mine))
    if Role.ANNOTATOR not in held:
        return rows
    rows = rows.filter(~Exists(runs.filter(state=TrajectoryState.LABELLING)))
    if project.retest_percent:
        # who is asked once more about their own labels must not know the consensus
        own = m.Assignment.stored.filter(trajectory=OuterRef("trajectory"), annotator=user)
        rows = rows.filter(~Exists(own))
    return rows


def why_none(project: m.Project, held: frozenset[Role]) -> str:
    """The reason why somebody with these roles may correct nothing at all; empty where they may."""
    only_annotates = held == {Role.ANNOTATOR}
    return JUDGES if only_annotates and project.second_reader == SecondReader.JUDGES else ""


def has_own(user: m.User, trajectory: str) -> Exists:
    """Whether a person has an active correction of the trajectory that `trajectory` refers to."""
    return Exists(
        m.Correction.objects.filter(
            trajectory=OuterRef(trajectory), author=user, state__in=m.ACTIVE_CORRECTIONS
        )
    )


def proposals(correction: m.Correction) -> QuerySet[m.Correction]:
    """Proposals of judges for a step, which nobody but the author of a saved correction of it is shown. No
    query by itself."""
    return (
        m.Correction.objects.filter(Q(step=correction.step_id, judge__isnull=False))
        .select_related("judge")
        .order_by(F("judge__name").asc(), "pk")
    )
