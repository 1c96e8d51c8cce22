"""Numbers of live trajectories of projects. Counting reads an index alone, and still takes a third of a
second for a million: large numbers are remembered for a while."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from django.core.cache import cache
from django.db.models import Count, Sum

from annotation.models import Trajectory

MANY: Final = 10_000
"""More trajectories than this are not counted at each request."""
REMEMBERED: Final = 60
"""Seconds for which a large number is remembered."""
STATES_REMEMBERED: Final = 15
"""Seconds for which the numbers of each state are: people watch these change."""

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Alike:
    """Trajectories of one subset (pk), in one state, with equally many free slots, and the steps of them."""

    subset: int
    state: str
    free_slots: int
    trajectories: int
    steps: int


def totals(projects: Iterable[int]) -> dict[int, int]:
    """By project. At most one query."""

    def count(asked: Collection[int]) -> dict[int, int]:
        rows = Trajectory.objects.filter(project__in=asked, live=True).order_by().values_list("project")
        return dict(rows.annotate(n=Count("pk")))

    return _remembered("live-trajectories", set(projects), REMEMBERED, count, lambda total: total)


def by_state(projects: Iterable[int], *, now: bool) -> dict[int, list[Alike]]:
    """By project. `now`: as they are, however many. At most one query."""

    def count(asked: Collection[int]) -> dict[int, list[list[Any]]]:
        rows = Trajectory.objects.filter(project__in=asked, live=True).order_by()
        kinds = rows.values_list("project", "subset", "state", "free_slots")
        counted: dict[int, list[list[Any]]] = {}
        for project, *alike in kinds.annotate(n=Count("pk"), all_steps=Sum("step_count")):
            counted.setdefault(project, []).append(alike)
        return counted

    def size(kinds: list[list[Any]]) -> int:
        return sum(Alike(*alike).trajectories for alike in kinds)

    asked = set(projects)
    counted = (
        count(asked) if now else _remembered("trajectories-by-state", asked, STATES_REMEMBERED, count, size)
    )
    return {project: [Alike(*alike) for alike in kinds] for project, kinds in counted.items()}


def _remembered(
    name: str,
    projects: set[int],
    seconds: int,
    count: Callable[[Collection[int]], Mapping[int, C]],
    size: Callable[[C], int],
) -> dict[int, C]:
    """What is counted must be the same after a way through JSON: in Redis it is kept so."""
    names = {project: f"{name}:{project}" for project in projects}
    cached = cache.get_many(names.values())
    remembered = {project: cached[key] for project, key in names.items() if key in cached}
    missing = projects - remembered.keys()
    for project, counted in (count(missing) if missing else {}).items():
        remembered[project] = counted
        if size(counted) > MANY:
            cache.set(names[project], counted, seconds)
    return remembered
