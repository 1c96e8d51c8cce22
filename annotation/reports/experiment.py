"""The state of a project's experiment, and whether it can still be changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from annotation import models as m
from annotation.core.experiment import ARMS, arm_of
from annotation.core.vocabulary import ExposureKind
from annotation.policies import Actor, require


@dataclass(frozen=True, slots=True)
class Experiment:
    """`seed` None: off. `locked`: labelling has begun. `tasks`: how many are in each arm; empty when off."""

    seed: int | None
    locked: bool
    tasks: dict[str, int]


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
    seed = project.experiment_seed
    counts: dict[str, int] = {}
    if seed is not None:
        tasks = m.Task.objects.filter(subset__project=project, trajectories__live=True).distinct()
        found = Counter(arm_of(seed, *one).value for one in tasks.values_list("subset__name", "key"))
        counts = {arm.value: found[arm.value] for arm in ARMS}
    return Experiment(seed, has_begun(project), counts)
