"""The state of a project's experiment, and whether it can still be changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef

from annotation import models as m
from annotation.core.influence.experiment import Unit, arm_of, arms_of
from annotation.core.vocabulary import ExposureKind
from annotation.policies import Actor, deals_people, require


@dataclass(frozen=True, slots=True)
class Experiment:
    """`seed` None: off, and all but `locked` (labelling has begun) is empty. `unit`: what is dealt to the
    `arms`. `tasks`: how many tasks are in each, where tasks are dealt; `dealt`: how many people on tasks so
    far, where people are."""

    seed: int | None
    locked: bool
    unit: str | None
    arms: tuple[str, ...]
    tasks: dict[str, int]
    dealt: dict[str, int]


def has_begun(project: m.Project) -> bool:
    """Whether anybody has labelled anything of a project, or an annotator has seen a suggestion of what they
    have claimed. At most three queries."""
    claimed = m.Assignment.objects.filter(trajectory=OuterRef("trajectory"), annotator=OuterRef("user"))
    return (
        m.Label.objects.filter(assignment__project=project).exists()
        or m.OutcomeLabel.objects.filter(assignment__project=project).exists()
        or m.Exposure.objects.filter(
            Exists(claimed), trajectory__project=project, kind=ExposureKind.SUGGESTION
        ).exists()
    )


def experiment(*, viewer: Actor, project: m.Project) -> Experiment:
    """For admins. At most four queries."""
    require(viewer, "influence.view", project)
    seed, locked = project.experiment_seed, has_begun(project)
    if seed is None:
        return Experiment(None, locked, None, (), {}, {})
    arms = tuple(arm.value for arm in arms_of(project.experiment_arms))
    if deals_people(project):
        # of the N alone: how many are asked once more is told by nothing
        turns = m.Assignment.objects.filter(
            trajectory__task=OuterRef("task"), annotator=OuterRef("annotator"), imported=False
        )
        rows = m.Allocation.objects.filter(Exists(turns), task__subset__project=project).order_by()
        counts = Counter(dict(rows.values_list("arm").annotate(n=Count("pk"))))
        return Experiment(seed, locked, Unit.ANNOTATOR, arms, {}, {arm: counts[arm] for arm in arms})
    tasks = m.Task.objects.filter(subset__project=project, trajectories__live=True).distinct()
    counts = Counter(arm_of(seed, *one).value for one in tasks.values_list("subset__name", "key"))
    return Experiment(seed, locked, Unit.TASK, arms, {arm: counts[arm] for arm in arms}, {})
