"""Open claims and cases of a project, for the admins who may take them back."""

from django.db.models import QuerySet

from annotation.core.vocabulary import AdjudicationState, AssignmentState
from annotation.models import Adjudication, Assignment, Project
from annotation.policies import Actor, require, visible

from .my_progress import with_progress


def open_claims(*, actor: Actor, project: Project) -> QuerySet[Assignment]:
    """Unfinished trajectories with their holders, the longest unused first, with progress. One query.

    Without the trajectories that the actor is labelling: the others' work on those is sealed for them.
    """
    require(actor, "assign", project)
    rows = Assignment.stored.filter(project=project, state=AssignmentState.OPEN)
    claims = with_progress(visible(actor, rows)).select_related(
        "project", "annotator", "trajectory__subset", "trajectory__task"
    )
    return claims.order_by("last_used_at", "pk")


def open_cases(*, actor: Actor, project: Project) -> QuerySet[Adjudication]:
    """Undecided cases with their adjudicators, the oldest first. One query."""
    require(actor, "assign", project)
    rows = Adjudication.objects.filter(project=project, state=AdjudicationState.OPEN)
    cases = visible(actor, rows).select_related("project", "adjudicator", "trajectory__subset")
    return cases.order_by("opened_at", "pk")
