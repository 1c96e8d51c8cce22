"""The limits of a place of a crowd link: so many trajectories, in so much time."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation import models as m
from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.vocabulary import AssignmentState, AttemptState, CrowdState, RecheckKind

from .qualifying import counting

NOT_COUNTED = (RecheckKind.TUTORIAL, RecheckKind.TEST)
"""Rechecks that do not count as trajectories to submit: those to learn from and to be tested with."""


def _work(user: Any, project: Any, since: Any) -> QuerySet[m.Assignment]:
    rows = m.Assignment.stored.filter(annotator=user, project=project, claimed_at__gte=since)
    return rows.exclude(recheck__kind__in=NOT_COUNTED)


def work_at(place: m.CrowdPlace) -> QuerySet[m.Assignment]:
    """The claims of somebody at their place, of what counts."""
    return _work(place.user_id, place.project_id, place.begun_at)


def submitted_at(place: m.CrowdPlace) -> int:
    """The number of trajectories that somebody has submitted at their place. One query."""
    return work_at(place).filter(state=AssignmentState.SUBMITTED).count()


def with_work(places: QuerySet[m.CrowdPlace]) -> QuerySet[m.CrowdPlace]:
    """Places with `done`, the trajectories submitted, and `active_ms`, the time at work on all of them."""
    rows = _work(OuterRef("user"), OuterRef("link__project"), OuterRef("begun_at")).order_by()
    mine = rows.values("annotator")
    submitted = mine.filter(state=AssignmentState.SUBMITTED).annotate(n=Count("pk"))
    active = mine.annotate(n=Sum("active_ms"))
    return places.annotate(
        done=Coalesce(Subquery(submitted.values("n"), output_field=IntegerField()), 0),
        active_ms=Coalesce(Subquery(active.values("n"), output_field=IntegerField()), 0),
    )


def screened_out(user: m.User, project: m.Project) -> bool:
    """Whether tests leave somebody nothing to label in a project: each subset asks for one of which all their
    attempts that count today have failed. Two queries."""
    labelled = m.Subset.objects.filter(project=project, training=False).order_by()
    asked = dict(labelled.values_list("required_test", "required_test__attempts"))
    if not asked or None in asked:
        return False
    attempts = m.TestAttempt.objects.filter(test__in=asked, annotator=user, waived=False).order_by()
    ended = Counter(counting(attempts).values_list("test", "state"))
    return all(
        ended[test, AttemptState.FAILED.value] >= most and not ended[test, AttemptState.PASSED.value]
        for test, most in asked.items()
    )


def keep_place(user: m.User, project: m.Project, now: datetime) -> None:
    """Refuse more work to somebody of a crowd whose place is over, or who has as much as it asks for.

    Whoever never had a place is asked nothing. Raises Conflict (codes "place_over", "place_done"). At most
    two queries.
    """
    places = list(m.CrowdPlace.objects.filter(user=user, link__project=project).select_related("link"))
    if not places:
        return
    place = next((place for place in places if place.state == CrowdState.ACTIVE), None)
    if place is None or place.expires_at <= now:
        raise Conflict(
            translatable("Your place in this project is over. Open your link again to see your code."),
            code="place_over",
        )
    held = (AssignmentState.OPEN, AssignmentState.SUBMITTED)
    if work_at(place).filter(state__in=held).count() >= place.link.trajectories:
        raise Conflict(
            translatable(
                "These are all {trajectories} trajectories of your place: submit what is open, then finish.",
                trajectories=place.link.trajectories,
            ),
            code="place_done",
        )
