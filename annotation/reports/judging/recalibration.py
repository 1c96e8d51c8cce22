"""Recalibration of a judge on the resolved labels of its project: whether there are enough of them, and what
the regression is fitted on and asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Exists, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce

from annotation import models as m
from annotation.core.baseline.training import task_of
from annotation.core.i18n import translatable
from annotation.core.scoring import MISSING, Predictions, ReleasedLabels
from annotation.core.vocabulary import RESOLVED
from annotation.policies import Actor, require

from ..shared.integer_rows import Integers, integer_rows
from .judge_figures import its_label

FEWEST_STEPS: Final = 30
FEWEST_TASKS: Final = 5


@dataclass(frozen=True, slots=True)
class Recalibration:
    """The state of a judge's recalibration. `steps` and `tasks`: resolved ones that it has labelled, at this
    moment; `details`: the data of the present fit, empty before the first."""

    on: bool
    steps: int
    tasks: int
    details: dict[str, Any]

    @property
    def lacking(self) -> str:
        """The shortage of data for a fit, as a sentence; empty when there is none."""
        if self.steps >= FEWEST_STEPS and self.tasks >= FEWEST_TASKS:
            return ""
        return translatable(
            "Recalibration needs {fewest_steps} resolved steps of {fewest_tasks} tasks that this judge has "
            "labelled. So far there are {steps} steps of {tasks} tasks.",
            fewest_steps=FEWEST_STEPS,
            fewest_tasks=FEWEST_TASKS,
            steps=self.steps,
            tasks=self.tasks,
        )


@dataclass(frozen=True, slots=True)
class RecalibrationMaterial:
    """All steps (S,) of the trajectories that a judge has suggestions for: `known` with the resolved labels,
    of which only those where `resolved` (S,) count, `predicted` by the judge, and `step`, the steps' pks."""

    known: ReleasedLabels
    predicted: Predictions
    resolved: npt.NDArray[np.bool_]
    step: Integers


def recalibration(*, viewer: Actor, judge: m.Judge) -> Recalibration:
    """The state of a judge's recalibration. One query and those of the permission. Raises Denied."""
    require(viewer, "judges.change", judge)
    labelled = m.SuggestedLabel.objects.filter(
        suggestion__judge=judge, step=OuterRef("step"), value__isnull=False
    )
    consensus = m.Consensus.objects.filter(
        Exists(labelled),
        trajectory__project=judge.project_id,
        trajectory__live=True,
        trajectory__state__in=RESOLVED,
    ).aggregate(steps=Count("pk"), tasks=Count("trajectory__task", distinct=True))
    return Recalibration(judge.recalibrate, consensus["steps"], consensus["tasks"], judge.recalibration)


def material(judge: m.Judge) -> RecalibrationMaterial:
    """The data for a fit, in two queries. A question that stands in two subsets is one task."""
    resolved = m.Consensus.objects.filter(
        step=OuterRef("pk"), trajectory__state__in=RESOLVED, trajectory__live=True
    ).order_by()
    rows = integer_rows(
        m.Step.objects.filter(
            trajectory__live=True, trajectory__suggestions__judge=judge, trajectory__suggestions__live=True
        )
        .annotate(
            suggested=its_label(judge, "pk"),
            agreed=Coalesce(Subquery(resolved.values("value")[:1]), Value(MISSING)),
        )
        .order_by("trajectory", "ordinal")
        .values_list("trajectory__subset", "trajectory__task", "trajectory", "pk", "suggested", "agreed"),
        6,
    )
    subset, task, trajectory, step, suggested, consensus = rows.T
    released = ReleasedLabels.of_steps(
        subset, question_numbers(judge.project_id, task), trajectory, consensus, step
    )
    predicted = Predictions.constant(suggested, released.outcome)
    return RecalibrationMaterial(released, predicted, consensus != MISSING, step)


def question_numbers(project: int, task: Integers) -> Integers:
    """A number for each task of a project (its pk): the same for those that ask the same question."""
    rows = m.Task.objects.filter(subset__project=project).order_by()
    questions = rows.values_list("pk", "question").iterator()
    names = {pk: task_of(question, f"task {pk}") for pk, question in questions}
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(names[int(pk)], len(numbers)) for pk in task], dtype=np.int64)
