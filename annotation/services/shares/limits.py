"""What members are given at most of each subset, and the days on which they are given nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.models import ACTIVE_STATES, Assignment, DaysAway, Membership, Project, Quota, Subset, User
from annotation.policies import Actor, require

from .. import audit

MOST = 1_000_000
MAX_PERIODS = 50
DAY = timedelta(days=1)
BACKWARDS = translatable("The last day away comes before the first.")
TOO_MANY_PERIODS = translatable("Note at most {n} periods away.", n=MAX_PERIODS)
NOT_A_QUOTA = translatable("A quota is a whole number from 0 to {most}.", most=f"{MOST:,}")

Period = tuple[date, date]


@transaction.atomic
def set_limits(
    *,
    actor: Actor,
    membership: Membership,
    quotas: Mapping[Subset, int | None] | None = None,
    days_away: Collection[Period] | None = None,
) -> None:
    """Set how many trajectories of each subset a member may have (None: any number; a subset that is left out
    stays as it is), and all days on which they are away, in place of those so far.

    Raises Invalid for a number that is out of range, for days that end before they begin, and for too many.
    """
    require(actor, "members.change", membership)
    for most in (quotas or {}).values():
        if most is not None and not 0 <= most <= MOST:
            raise Invalid(NOT_A_QUOTA, fields={"quotas": NOT_A_QUOTA})
    periods = sorted({*(days_away or ())})
    if any(last < first for first, last in periods):
        raise Invalid(BACKWARDS, fields={"days_away": BACKWARDS})
    if len(periods) > MAX_PERIODS:
        raise Invalid(TOO_MANY_PERIODS, fields={"days_away": TOO_MANY_PERIODS})
    # what was passed over because of a quota is looked at again
    Membership.objects.filter(pk=membership.pk).update(claim_cursor=0)
    detail: dict[str, object] = {}
    if quotas is not None:
        for subset, most in quotas.items():
            if most is None:
                Quota.objects.filter(membership=membership, subset=subset).delete()
            else:
                Quota.objects.update_or_create(membership=membership, subset=subset, defaults={"most": most})
        detail["quotas"] = {subset.name: most for subset, most in quotas.items()}
    if days_away is not None:
        DaysAway.objects.filter(membership=membership).delete()
        DaysAway.objects.bulk_create(
            DaysAway(membership=membership, first=first, last=last) for first, last in periods
        )
        detail["days_away"] = [[first.isoformat(), last.isoformat()] for first, last in periods]
    audit.record(
        actor=actor,
        verb="member.limits",
        project=membership.project,
        obj=membership,
        username=membership.user.username,
        **detail,
    )


def full(person: User, project: Project) -> list[int]:
    """The subsets (pks) of which a person has as many trajectories as they may. Two queries."""
    most = dict(
        Quota.objects.filter(membership__user=person, membership__project=project)
        .order_by()
        .values_list("subset", "most")
    )
    held = Assignment.objects.filter(
        annotator=person, project=project, state__in=ACTIVE_STATES, trajectory__subset__in=most
    )
    has = Counter(held.order_by().values_list("trajectory__subset", flat=True))
    return [subset for subset, quota in most.items() if has[subset] >= quota]


def today(person: User, now: datetime | None = None) -> date:
    """The day that it is where a person is."""
    zone = ZoneInfo(person.time_zone or settings.TIME_ZONE)
    return timezone.localdate(now or timezone.now(), zone)


def is_away(now: datetime) -> Exists:
    """Whether the annotator of an assignment is away, wherever in the world they are."""
    return Exists(
        DaysAway.objects.filter(
            membership__user=OuterRef("annotator"),
            membership__project=OuterRef("project"),
            first__lte=now.date() + DAY,
            last__gte=now.date() - DAY,
        )
    )
