"""Ways to bring a project to where rechecks are: retests, and readings for audits."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from annotation.core.vocabulary import RESOLVED, AssignmentState, LabelAuditState, RecheckKind
from annotation.models import (
    Assignment,
    AuditedTrajectory,
    LabelAudit,
    Membership,
    Project,
    Recheck,
    Trajectory,
    User,
)
from annotation.policies import OPERATOR
from annotation.services import assign, label, label_audits, projects, rechecks
from tests import people
from tests.people import Cast


def retests_are_asked(project: Project, percent: int = 100) -> None:
    """The project's setting: annotators label so many of their trajectories again."""
    projects.update_project(actor=OPERATOR, project=project, values={"retest_percent": percent})
    project.refresh_from_db()


def audit_everything(project: Project) -> LabelAudit:
    """Begin an audit that draws all that is resolved, each at least once, in place of one that runs."""
    for running in LabelAudit.objects.filter(project=project, state=LabelAuditState.RUNNING):
        label_audits.end_audit(actor=OPERATOR, audit=running)
    size = Trajectory.objects.filter(project=project, live=True, state__in=RESOLVED).count()
    return label_audits.begin_audit(actor=OPERATOR, project=project, wished=0.2, draws=20 * size)


def a_while_ago(project: Project, *, days: int = 10) -> None:
    """Move all submissions so far some days back."""
    for row in Assignment.stored.filter(project=project, state=AssignmentState.SUBMITTED):
        row.submitted_at = (row.submitted_at or timezone.now()) - timedelta(days=days)
        row.save(update_fields=["submitted_at"])


def resolved(cast: Cast, how_many: int = 1) -> list[Trajectory]:
    """Trajectories that ann and ben have labelled alike, ten days ago, as a worker finds them; audited,
    unless the project asks for retests."""
    rows = people.import_records(cast.project, how_many)
    people.make_unanimous(cast, how_many)
    a_while_ago(cast.project)
    rechecks.sweep()
    if not cast.project.retest_percent:
        audit_everything(cast.project)
    return rows


def waiting(kind: RecheckKind) -> list[Recheck]:
    """The rechecks of a kind that wait for somebody, and that nobody is at work on."""
    return list(Recheck.objects.filter(kind=kind, state="waiting", annotator__isnull=False))


def asked() -> list[User]:
    """The people whom readings for audits wait for."""
    return [one.annotator for one in waiting(RecheckKind.AUDIT) if one.annotator is not None]


def relabel(user: User, project: Project, value: int = 1) -> Assignment:
    """Claim what comes next, which is a recheck, label it whole and submit it."""
    claimed = assign.claim_next(actor=user, project=project)
    assert claimed.recheck_id is not None
    people.label_all(claimed, value, outcome=value, note="recheck-canary")
    return label.submit(actor=user, assignment=claimed)


def claim_as_reader(user: User, trajectory: Trajectory) -> Assignment:
    """Claim a resolved trajectory as its reader for an audit, whoever else was to be asked."""
    if not LabelAudit.objects.filter(project=trajectory.project_id).exists():
        audit_everything(trajectory.project)
    drawn = AuditedTrajectory.objects.get(trajectory=trajectory)
    readings = Recheck.objects.filter(audited=drawn, state="waiting")
    if not readings.filter(annotator=user).exists():
        mine = readings.order_by("pk").first()
        assert mine is not None
        Recheck.objects.filter(pk=mine.pk).update(annotator=user)
    Recheck.objects.filter(annotator=user).exclude(audited=drawn).update(annotator=None)
    Membership.objects.filter(user=user, project=trajectory.project).update(recheck_gap=0)
    made = assign.claim_next(actor=user, project=trajectory.project)
    assert made.recheck_id is not None and made.trajectory_id == trajectory.pk
    return made
