"""The size of a benchmark before it is frozen, or labelled at all: how sure its figures would be, and which
difference of two models it would show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

from django.db.models import Count, Exists, OuterRef

from annotation import models as m
from annotation.core.figures.measure import MIN_TASKS
from annotation.core.kinds import Feature
from annotation.core.scoring.planning import (
    PUBLISHED,
    Design,
    StepAccuracyVariance,
    VarianceComponents,
    variance_so_far,
)
from annotation.core.vocabulary import RESOLVED
from annotation.policies import Actor, require

from ..judging.stack import material

MOST_TASKS: Final = 100_000
MOST_RUNS: Final = 100
SIZES: Final = (50, 100, 200, 500, 1_000)
"""The numbers of tasks that are planned beside the project's own."""
POINTS: Final = (0.01, 0.02, 0.05)
"""The half widths and differences for which the number of tasks is said."""
FIRST_TASKS: Final = 100
"""The number of tasks to begin with where there is no data."""
FEWEST_JUDGES: Final = 2


@dataclass(frozen=True, slots=True)
class SizePlan:
    """The plan for a project. `design`: its tasks and runs of each, or what was asked for. `variance`: from
    what its judges say of the `labelled` tasks that are resolved, or, where that is too little, from
    published labels (`from_labels` False)."""

    project: m.Project
    design: Design
    variance: StepAccuracyVariance
    from_labels: bool
    labelled: int

    @property
    def sizes(self) -> list[Design]:
        """The design, and others with as many runs, by their number of tasks."""
        tasks = sorted({self.design.tasks, *SIZES})
        return [Design(n, self.design.runs) for n in tasks]


def size_plan(
    *, viewer: Actor, project: m.Project, tasks: int | None = None, runs: float | None = None
) -> SizePlan:
    """Plan for so many `tasks` with `runs` each, by default the project's. Two queries; three with 20
    resolved tasks, and where two judges suggest labels also those of `judging.stack.material`. Raises Denied
    to whoever may not see agreement."""
    require(viewer, "agreement.view", project)
    project.of_kind.require(Feature.STEP_SCORES)
    live = m.Trajectory.objects.filter(project=project, live=True).order_by()
    counted = live.aggregate(tasks=Count("task", distinct=True), runs=Count("pk"))
    resolved = live.filter(state__in=RESOLVED).values("task").distinct().count()
    so_far = _so_far(project) if resolved >= MIN_TASKS else None
    return SizePlan(
        project,
        Design(
            tasks or max(MIN_TASKS, counted["tasks"] or FIRST_TASKS),
            runs or (counted["runs"] / counted["tasks"] if counted["tasks"] else 1.0),
        ),
        so_far or PUBLISHED,
        so_far is not None,
        resolved,
    )


def _so_far(project: m.Project) -> StepAccuracyVariance | None:
    suggesting = m.Judge.objects.filter(
        Exists(m.Suggestion.objects.filter(judge=OuterRef("pk"))), project=project
    )
    if suggesting.count() < FEWEST_JUDGES:
        return None  # without reading any label
    data = material(project)
    if len(data.judges) < FEWEST_JUDGES:
        return None
    predicted = [judge.predicted.only(data.known, data.labelled) for judge in data.judges.values()]
    return variance_so_far(data.known.only(data.labelled), predicted)


def as_json(plan: SizePlan) -> dict[str, Any]:
    """The plan as JSON: unrounded fractions; null where it takes more than a million tasks."""
    accuracy, difference = plan.variance.accuracy, plan.variance.difference

    def needed(of: Callable[[float, Design], int | None]) -> list[dict[str, Any]]:
        return [{"points": points, "tasks": of(points, plan.design)} for points in POINTS]

    return {
        "project": plan.project.slug,
        "tasks": plan.design.tasks,
        "runs": plan.design.runs,
        "from_labels": plan.from_labels,
        "resolved_tasks": plan.labelled,
        "variance": {"step_accuracy": _variance(accuracy), "difference": _variance(difference)},
        "sizes": [
            {
                "tasks": size.tasks,
                "runs": size.runs,
                "half_width": accuracy.half_width(size),
                "detectable_difference": difference.detectable(size),
            }
            for size in plan.sizes
        ],
        "tasks_for_half_width": needed(accuracy.tasks_within),
        "tasks_for_difference": needed(difference.tasks_for),
    }


def _variance(variance: VarianceComponents) -> dict[str, float]:
    return {name: value for name, value in asdict(variance).items() if name != "reader"}
