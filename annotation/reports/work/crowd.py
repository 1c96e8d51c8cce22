"""Places of crowd links: one's own, and for admins all of a link."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q, QuerySet

from annotation.core.vocabulary import CrowdState
from annotation.models import CrowdLink, CrowdPlace, Project, User
from annotation.policies import Actor, require, visible
from annotation.policies.crowd import submitted_at, with_work


@dataclass(frozen=True, slots=True)
class PlaceProgress:
    """Somebody's active place: the trajectories submitted, of so many, and the end of its time."""

    place: CrowdPlace
    done: int
    wanted: int
    expires_at: datetime

    @property
    def enough(self) -> bool:
        """Whether the place can be finished."""
        return self.done >= self.wanted


def own_progress(user: User, project: Project) -> PlaceProgress | None:
    """One's active place in a project; None for everybody else, at no query: people of a crowd have no
    password. Two queries."""
    if user.has_usable_password():
        return None
    places = CrowdPlace.objects.filter(user=user, link__project=project, state=CrowdState.ACTIVE)
    place = places.select_related("link").first()
    return None if place is None else progress_of(place)


def progress_of(place: CrowdPlace) -> PlaceProgress:
    """The progress of a place that comes with its link. One query."""
    return PlaceProgress(place, submitted_at(place), place.link.trajectories, place.expires_at)


def ended_place(user: User) -> CrowdPlace | None:
    """The last place of somebody of a crowd, if it has ended: all that they still have here may be its code.
    None for everybody else, at no query."""
    if user.has_usable_password():
        return None
    place = CrowdPlace.objects.filter(user=user).order_by("-pk").first()
    return None if place is None or place.state == CrowdState.ACTIVE else place


def crowd_links(*, actor: Actor, project: Project) -> QuerySet[CrowdLink]:
    """The links of a project, the newest first, with `active` and `completed` places. One query."""
    require(actor, "members.change", project)
    counts = {
        name: Count("taken_places", filter=Q(taken_places__state=state))
        for name, state in (("active", CrowdState.ACTIVE), ("completed", CrowdState.COMPLETED))
    }
    rows = visible(actor, CrowdLink.objects.filter(project=project))
    return rows.annotate(**counts).order_by("-created_at", "-pk")


def crowd_places(*, actor: Actor, link: CrowdLink) -> QuerySet[CrowdPlace]:
    """The places of a link with `done`, the trajectories submitted, and `active_ms`. One query."""
    require(actor, "members.change", link)
    rows = CrowdPlace.objects.filter(link=link).select_related("user")
    return with_work(visible(actor, rows))
