"""Ways to bring a project to where rechecks are."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from annotation.core.vocabulary import AssignmentState, RecheckKind
from annotation.models import Assignment, Project, Recheck, Trajectory, User
from annotation.policies import OPERATOR
from annotation.services import assign, label, projects, rechecks
from tests import people
from tests.people import Cast


def everything_is_rechecked(project: Project, *, third: int = 100, retest: int = 0) -> None:
    """The project's settings: all that is resolved is labelled by a third person, or again, or both."""
    values = {"recheck_percent": third, "retest_percent": retest}
    projects.update_project(actor=OPERATOR, project=project, values=values)
    project.refresh_from_db()


def a_while_ago(project: Project, *, days: int = 10) -> None:
    """Move all submissions so far some days back."""
    for row in Assignment.stored.filter(project=project, state=AssignmentState.SUBMITTED):
        row.submitted_at = (row.submitted_at or timezone.now()) - timedelta(days=days)
        row.save(update_fields=["submitted_at"])


def resolved(cast: Cast, how_many: int = 1) -> list[Trajectory]:
    """Trajectories that ann and ben have labelled alike, ten days ago, as a worker finds them."""
    rows = people.import_records(cast.project, how_many)
    people.make_unanimous(cast, how_many)
    a_while_ago(cast.project)
    rechecks.sweep()
    return rows


def waiting(kind: RecheckKind) -> list[Recheck]:
    """The rechecks of a kind that nobody is at work on."""
    return list(Recheck.objects.filter(kind=kind, state="waiting"))


def relabel(user: User, project: Project, value: int = 1) -> Assignment:
    """Claim what comes next, which is a recheck, label it whole and submit it."""
    claimed = assign.claim_next(actor=user, project=project)
    assert claimed.recheck_id is not None
    people.label_all(claimed, value, outcome=value, note="recheck-canary")
    return label.submit(actor=user, assignment=claimed)


def claim_as_third(user: User, trajectory: Trajectory) -> Assignment:
    """Claim a resolved trajectory as its third person."""
    now = timezone.now()
    of_it = {"project": trajectory.project, "trajectory": trajectory, "annotator": user}
    times = {"due_at": now, "dealt_at": now, "created_at": now}
    Recheck.objects.create(kind=RecheckKind.THIRD.value, **of_it, **times)
    made = assign.claim_next(actor=user, project=trajectory.project)
    assert made.recheck_id is not None
    return made
