"""Limits of members: quotas of each subset, and the days on which they are given nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Subquery

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.vocabulary import QueueTurn
from annotation.models import DaysAway, Membership, Project, Quota, Subset, User
from annotation.models.versioned import Versioned
from annotation.policies import Actor, require, withheld

from .. import audit
from ..transitions import require_version

MOST = 1_000_000
MAX_PERIODS = 50
DAY = timedelta(days=1)
BACKWARDS = translatable("The last day away comes before the first.")
TOO_MANY_PERIODS = translatable("Note at most {n} periods away.", n=MAX_PERIODS)
NOT_A_QUOTA = translatable("A quota is a whole number from 0 to {most}.", most=f"{MOST:,}")

Period = tuple[date, date]


@dataclass
class Limits(Versioned):
    """A member's limits: quotas by the name of their subset, and periods away."""

    EDITED = ("quotas", "days_away")
    quotas: dict[str, int]
    days_away: list[Period]


def noted(membership: Membership) -> Limits:
    """The limits of a member. Two queries."""
    return Limits(
        dict(membership.quotas.values_list("subset__name", "most")),
        list(membership.days_away.values_list("first", "last")),
    )


@transaction.atomic
def set_limits(
    *,
    actor: Actor,
    membership: Membership,
    quotas: Mapping[Subset, int | None] | None = None,
    days_away: Collection[Period] | None = None,
    version: str | None = None,
) -> None:
    """Set how many trajectories of each subset a member may have (None: any number; a subset that is left out
    stays as it is), and all days on which they are away, in place of those so far.

    Raises Invalid for a number that is out of range, for days that end before they begin, and for too many,
    StaleVersion when the limits are no longer at the `version` that the actor began from.
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
    if version is not None:
        now = noted(membership)
        wanted = now.quotas | {subset.name: most for subset, most in (quotas or {}).items()}
        given = {name: most for name, most in wanted.items() if most is not None}
        require_version(
            now, version, {"quotas": given, "days_away": now.days_away if days_away is None else periods}
        )
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


@dataclass(frozen=True, slots=True)
class Quotas:
    """`full`: the subsets (pk) of which a person has as many trajectories as they may. `by_turn`: how many
    they may have of the subsets of each turn; None: any number of one of them."""

    full: list[int]
    by_turn: dict[str, int | None]

    def most(self, turn: QueueTurn) -> int | None:
        """The most that they may have of all that comes until a turn is over. None: any number."""
        turns = list(QueueTurn)
        mosts = [self.by_turn.get(one, 0) for one in turns[: turns.index(turn) + 1]]
        return None if None in mosts else sum(most for most in mosts if most is not None)


ANY_NUMBER = Quotas([], dict.fromkeys(QueueTurn, None))


def quotas(person: User, project: Project) -> Quotas:
    """The quotas of a person in a project's subsets. Two queries."""
    own = Quota.objects.filter(subset=OuterRef("pk"), membership__user=person)
    rows = (
        Subset.objects.filter(project=project, training=False)
        .order_by()
        .annotate(most=Subquery(own.values("most")))
    )
    by_turn: dict[str, int | None] = {}
    for turn, most in rows.values_list("turn", "most"):
        before = by_turn.get(turn, 0)
        by_turn[turn] = None if most is None or before is None else before + most
    full = withheld.reached(person).filter(membership__project=project)
    return Quotas(list(full.values_list("subset", flat=True)), by_turn)


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
