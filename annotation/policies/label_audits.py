"""Whom the cases of audits may be given to (docs/agreement.md, "Audits").

They are adjudicators and nothing else: admins could look up which of the three labels is the consensus.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation import models as m
from annotation.core.vocabulary import SEEN_LABELS, AuditedState

ONLY_ADJUDICATES = Q(is_adjudicator=True, is_admin=False, user__is_superuser=False)


def _blank(person: Any, trajectory: Any) -> Q:
    """Whether a person has neither labelled a trajectory, nor had its case, nor seen labels or the consensus
    of it."""
    of_it = {"trajectory": trajectory}
    return Q(
        ~Exists(m.Assignment.stored.filter(**of_it, annotator=person)),
        ~Exists(m.Adjudication.objects.filter(**of_it, adjudicator=person)),
        ~Exists(m.Exposure.objects.filter(**of_it, user=person, kind__in=SEEN_LABELS)),
    )


def takeable(user: m.User, project: m.Project) -> QuerySet[m.AuditedTrajectory]:
    """The cases of a project's audits that wait, and that a person may take. No query by itself."""
    return waiting(project).filter(_may_take(user, project))


def to_decide(user: m.User, project: m.Project) -> QuerySet[m.AuditedTrajectory]:
    """The cases that a person has taken, and those that they may take. No query by itself."""
    return _open_cases(project).filter(
        Q(adjudicator=user) | Q(_may_take(user, project), adjudicator__isnull=True)
    )


def _may_take(user: m.User, project: m.Project) -> Q:
    held = m.Membership.objects.filter(ONLY_ADJUDICATES, user=user, user__is_active=True, project=project)
    return Q(Exists(held)) & _blank(user, OuterRef("trajectory"))


def _open_cases(project: m.Project) -> QuerySet[m.AuditedTrajectory]:
    return m.AuditedTrajectory.objects.filter(
        audit__project=project, state=AuditedState.DECIDING.value, trajectory__live=True
    ).order_by("pk")


def waiting(project: m.Project) -> QuerySet[m.AuditedTrajectory]:
    """The cases of a project's audits that no adjudicator has taken. No query by itself."""
    return _open_cases(project).filter(adjudicator__isnull=True)


def for_nobody(project: m.Project) -> QuerySet[m.AuditedTrajectory]:
    """Those of them that no adjudicator of the project may take. No query by itself."""
    held = m.Membership.objects.filter(
        ONLY_ADJUDICATES,
        _blank(OuterRef("user"), OuterRef(OuterRef("trajectory"))),
        project=project,
        user__is_active=True,
    )
    return waiting(project).filter(~Exists(held))


def own_case(user: m.User) -> QuerySet[m.AuditedTrajectory]:
    """The cases of audits that a person has taken and not decided. No query by itself."""
    return m.AuditedTrajectory.objects.filter(
        adjudicator=user, state=AuditedState.DECIDING.value, trajectory__live=True
    )
