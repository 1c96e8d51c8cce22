"""Subsets open to a person: those whose test they have passed."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation import models as m
from annotation.core.vocabulary import AttemptState
from annotation.models.prepared import Prepared


def in_force(project: str) -> Coalesce:
    """The version of the guidelines that are in force in a project, as an expression; 0 without any.
    `project`: how the rows asked for reach it."""
    newest = m.Guideline.objects.filter(project=OuterRef(project)).order_by("-version")
    return Coalesce(Subquery(newest.values("version")[:1]), 0)


def counting(attempts: QuerySet[m.TestAttempt]) -> QuerySet[m.TestAttempt]:
    """Those attempts that count today: where a test is asked again for new guidelines, those that began under
    the ones in force. No query by itself."""
    return attempts.annotate(newest=in_force("test__project")).filter(
        Q(test__each_guideline=False) | Q(guideline_version__gte=F("newest"))
    )


def passed(user: m.User) -> QuerySet[m.TestAttempt]:
    """The attempts by which a person has passed a test, as of today. No query by itself."""
    return counting(m.TestAttempt.objects.filter(annotator=user, state=AttemptState.PASSED.value))


def closed_subsets(user: m.User, projects: Iterable[int]) -> dict[int, dict[int, int]]:
    """Project pk → the subsets (pk) that are closed to a person, each with the test (pk) that opens it. One
    query."""
    closed: dict[int, dict[int, int]] = {}
    for project, subset, test in _closed(user=user.pk, projects=[*projects]):
        closed.setdefault(project, {})[subset] = test
    return closed


def _closed_to(user: int, projects: Collection[int]) -> QuerySet[m.Subset, tuple[int, int, int]]:
    by = passed(m.User(pk=user)).filter(test=OuterRef("required_test"))
    rows = m.Subset.objects.filter(~Exists(by), project__in=projects, required_test__isnull=False)
    return rows.order_by("pk").values_list("project", "pk", "required_test")


_closed = Prepared(_closed_to, "user", "projects")
