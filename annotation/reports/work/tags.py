"""Tags on trajectories, as far as a person may see them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Count, Exists, OuterRef, QuerySet
from django.db.models.functions import Coalesce

from annotation.core.names import folded
from annotation.models import Project, Tag, Trajectory, TrajectoryTag, User
from annotation.policies import visible


def tags_of(actor: User, rows: Iterable[Trajectory]) -> dict[int, list[str]]:
    """By trajectory pk, the names of its tags, in their order. One query."""
    tags = visible(actor, TrajectoryTag.objects.filter(trajectory__in=[row.pk for row in rows]))
    named = tags.order_by("tag__key").values_list("trajectory", "tag__name", "tag__key").distinct()
    names: dict[int, list[str]] = defaultdict(list)
    for pk, name, _key in named:
        names[pk].append(name)
    return names


def tagged(actor: User, name: str) -> Exists:
    """Whether a trajectory bears the tag of that name, whatever the case of its letters."""
    rows = TrajectoryTag.objects.filter(trajectory=OuterRef("pk"), tag__key=folded(name))
    return Exists(visible(actor, rows.filter(tag__project=OuterRef("project"))))


def counted_tags(actor: User, project: Project) -> QuerySet[Tag]:
    """The tags of a project by name, with `trajectories`, the number of those that one sees them on."""
    seen = visible(actor, TrajectoryTag.objects.filter(tag=OuterRef("pk")))
    each = seen.order_by().values("tag").annotate(n=Count("trajectory", distinct=True)).values("n")
    return visible(actor, Tag.objects.filter(project=project)).annotate(trajectories=Coalesce(each, 0))
