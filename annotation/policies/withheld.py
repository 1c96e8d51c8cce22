"""Reasons why a member is given nothing new: they are paused or away, or have as many trajectories as they
may."""

from __future__ import annotations

from datetime import date, datetime

from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation import models as m
from annotation.core.i18n import translatable

PAUSED = translatable(
    "You are given nothing new at the moment; what you have begun you can finish. The project's admins know "
    "of it, and will tell you more."
)
QUOTA = translatable(
    "You have as many trajectories as are meant for you here; the rest is for others. An admin of the "
    "project can give you more."
)


def away_text(until: date) -> str:
    """The sentence for somebody who is away."""
    return translatable(
        "You are noted as away until {date}, and get nothing new; tell an admin if that is wrong.",
        date=until.isoformat(),
    )


def today(person: m.User, now: datetime | None = None) -> date:
    """The day that it is where a person is."""
    return timezone.localdate(now or timezone.now(), person.zone)


def away_until(day: date) -> Subquery:
    """Of a membership: the last day on which its person is away, if they are on this one."""
    away = m.DaysAway.objects.filter(membership=OuterRef("pk"), first__lte=day, last__gte=day)
    return Subquery(away.order_by("-last").values("last")[:1])


def reached(person: m.User) -> QuerySet[m.Quota]:
    """The quotas of which a person has as many trajectories as they may, open and submitted ones. No query by
    itself."""
    held = m.Assignment.objects.filter(
        annotator=person,
        project=OuterRef("membership__project"),
        trajectory__subset=OuterRef("subset"),
        state__in=m.ACTIVE_STATES,
    ).order_by()
    number = Subquery(held.values("annotator").annotate(n=Count("pk")).values("n"))
    quotas = m.Quota.objects.filter(membership__user=person).order_by()
    return quotas.annotate(has=Coalesce(number, 0)).filter(has__gte=F("most"))
