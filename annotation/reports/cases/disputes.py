"""The queue of disputes: who may take what, filtered and sorted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from annotation.core.disputes import DisputeKind
from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.vocabulary import AdjudicationState, TrajectoryState
from annotation.models import (
    Adjudication,
    Assignment,
    Dispute,
    Membership,
    Project,
    Subset,
    Trajectory,
    User,
)
from annotation.models.consensus import OF_KIND
from annotation.policies import being_labelled, visible
from annotation.policies.deciding import barred

from ..releases.release_preview import releases_holding

AGES: Final[Mapping[str, timedelta]] = {
    "1d": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
"""At least how long ago the last labels came in."""
DISPUTE_SIZES: Final[Mapping[str, Q]] = {
    "1": Q(disputed_steps=1),
    "2-4": Q(disputed_steps__range=(2, 4)),
    "5+": Q(disputed_steps__gte=5),
}
"""Filters by the number of disputed steps."""
SORTS: Final[Mapping[str, tuple[str, ...]]] = {
    "oldest": ("arisen_at", "trajectory_id"),
    "newest": ("-arisen_at", "-trajectory_id"),
    "most": ("-disputed_steps", "-arisen_at", "-trajectory_id"),
    "fewest": ("disputed_steps", "arisen_at", "trajectory_id"),
    "gravest": ("-sign_flips", "-first_error", "-neutral_boundaries", "arisen_at", "trajectory_id"),
}
ACTIVE_CASES: Final = (AdjudicationState.OPEN, AdjudicationState.DECIDED)
DISPUTE_FILTERS: Final = ("kind", "subset", "age", "size", "sort")


@dataclass(frozen=True, slots=True)
class DisputeFilter:
    """The filter of the queue; an empty string asks nothing."""

    kind: str = ""
    subset: str = ""
    age: str = ""
    size: str = ""
    sort: str = "oldest"


def dispute_filter(asked: Mapping[str, str], *, project: Project, besides: Collection[str]) -> DisputeFilter:
    """The filter that a query string asks for; `besides` are names that mean something else there.

    Raises Invalid, with the one thing that is wrong in words. One query when a subset is named.
    """
    for name in asked:
        if name not in DISPUTE_FILTERS and name not in besides:
            raise _unknown(translatable("There is no filter “{name}”.", name=name[:40]))
    wanted = DisputeFilter(**{name: asked[name] for name in DISPUTE_FILTERS if asked.get(name)})
    known: dict[str, Collection[str]] = {
        "kind": [kind.value for kind in DisputeKind],
        "age": AGES,
        "size": DISPUTE_SIZES,
        "sort": SORTS,
    }
    for name, values in known.items():
        value = getattr(wanted, name)
        if value and value not in values:
            message = translatable(
                "“{value}” is no value of the filter “{name}”.", value=value[:40], name=name
            )
            raise _unknown(message)
    if wanted.subset and not Subset.objects.filter(project=project, name=wanted.subset).exists():
        raise _unknown(translatable("There is no subset “{name}”.", name=wanted.subset[:40]))
    return wanted


def _unknown(message: str) -> Invalid:
    return Invalid(message, code="unknown_filter")


def untaken(projects: Iterable[int]) -> QuerySet[Dispute]:
    """Disputes of live trajectories that nobody has taken."""
    active = Adjudication.objects.filter(trajectory=OuterRef("trajectory"), state__in=ACTIVE_CASES)
    return Dispute.objects.filter(
        ~Exists(active),
        project__in=projects,
        trajectory__live=True,
        trajectory__state=TrajectoryState.DISPUTED,
    )


def waiting(projects: Iterable[int]) -> QuerySet[Trajectory]:
    """The trajectories of `untaken`, to be counted: an index tells them, and the few open cases. A decided
    case has no dispute any more."""
    taken = Adjudication.objects.filter(project__in=projects, state=AdjudicationState.OPEN).order_by()
    disputed = Trajectory.objects.filter(
        project__in=projects, live=True, state=TrajectoryState.DISPUTED
    ).order_by()
    return disputed.exclude(pk__in=taken.values("trajectory"))


def waiting_to_decide(user: User, projects: Iterable[int]) -> QuerySet[Trajectory]:
    """The trajectories of `to_decide`, to be counted."""
    return waiting(projects).filter(~barred(user, "pk"))


def waiting_to_see(user: User, project: Project) -> QuerySet[Trajectory]:
    """The trajectories of a project whose dispute waits, to be counted for one of its admins: without those
    that they are labelling."""
    return waiting([project.pk]).exclude(pk__in=being_labelled(user))


def to_decide(user: User, projects: Iterable[int]) -> QuerySet[Dispute]:
    """The disputes that this person may take."""
    return untaken(projects).filter(~barred(user, "trajectory"))


def decided_by_others(user: User, projects: Iterable[int]) -> QuerySet[Dispute]:
    """Disputes whose case somebody else has decided, and this person may open again. Each with `case` (its
    id), `decided_at`, and `release`, the version of the release that keeps it closed."""
    cases = Adjudication.objects.filter(trajectory=OuterRef("trajectory"), state=AdjudicationState.DECIDED)
    return (
        Dispute.objects.filter(
            Exists(cases.exclude(adjudicator=user)), project__in=projects, trajectory__live=True
        )
        .filter(~barred(user, "trajectory"))
        .annotate(
            case=Subquery(cases.values("pk")[:1]),
            decided_at=Subquery(cases.values("decided_at")[:1]),
            release=Subquery(releases_holding("trajectory__record_id", "subset__name", "project")),
        )
        .order_by("-decided_at", "-trajectory_id")
    )


def filtered(disputes: QuerySet[Dispute], wanted: DisputeFilter) -> QuerySet[Dispute]:
    """The disputes that a filter leaves, in its order."""
    if wanted.kind:
        disputes = disputes.filter(OF_KIND[DisputeKind(wanted.kind)])
    if wanted.subset:
        disputes = disputes.filter(subset__name=wanted.subset)
    if wanted.age:
        disputes = disputes.filter(arisen_at__lte=timezone.now() - AGES[wanted.age])
    if wanted.size:
        disputes = disputes.filter(DISPUTE_SIZES[wanted.size])
    return disputes.order_by(*SORTS[wanted.sort])


def adjudicators(*, actor: User, project: Project) -> list[User]:
    """The adjudicators of a project whose accounts are open, by user name. For admins. One query."""
    members = Membership.objects.filter(project=project, is_adjudicator=True, user__is_active=True)
    return [row.user for row in visible(actor, members).select_related("user").order_by("user__username")]


def may_adjudicate(
    *, actor: User, people: Sequence[User], disputes: Iterable[Dispute]
) -> dict[int, list[User]]:
    """By trajectory pk, those of these people who never held it. For admins. One query for a whole list."""
    wanted = [row.pk for row in disputes]
    held: dict[int, set[int]] = defaultdict(set)
    rows = Assignment.stored.filter(trajectory__in=wanted, annotator__in=[person.pk for person in people])
    for trajectory, annotator in visible(actor, rows).order_by().values_list("trajectory", "annotator"):
        held[trajectory].add(annotator)
    return {pk: [person for person in people if person.pk not in held[pk]] for pk in wanted}
