"""Read what the influence report counts: labels, judges' suggestions, and the arms of tasks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from django.db.models import Exists, OuterRef, Value
from django.db.models.functions import Coalesce

from annotation import models as m
from annotation.core.influence.experiment import ARMS, Arm, arm_of
from annotation.core.influence.experiment_effects import NO_ARM
from annotation.core.influence.label_changes import NO_MAJORITY
from annotation.core.vocabulary import SETTLED
from annotation.models.blindness import BLIND_VALUE
from annotation.policies import deals_people

from .integer_rows import Integers, integer_rows
from .label_changes import counted

MISSING: Final = NO_MAJORITY
"""Stands for a missing blind value or suggestion: no label has this value."""


@dataclass(frozen=True, slots=True)
class CountedLabels:
    """Labels of steps, each column (n,); all are primary keys, but `ordinal`, the `final` value and the
    `blind` one, MISSING without any."""

    subset: Integers
    task: Integers
    trajectory: Integers
    ordinal: Integers
    step: Integers
    annotator: Integers
    final: Integers
    blind: Integers

    def __len__(self) -> int:
        return len(self.step)

    def where(self, rows: npt.NDArray[Any]) -> CountedLabels:
        """Some of the labels, in the order of `rows`."""
        return CountedLabels(*(getattr(self, field.name)[rows] for field in fields(self)))

    def values(self, basis: str) -> Integers:
        """The "final" values, or the "blind" ones."""
        return self.final if basis == "final" else self.blind


@dataclass(frozen=True, slots=True)
class JudgesLabels:
    """Suggestions for steps, each column (n,), sorted by judge and step."""

    judge: Integers
    step: Integers
    value: Integers

    def of(self, judge: int, steps: Integers) -> Integers:
        """The suggestions of a judge for these steps (n,), MISSING where there is none."""
        first, last = np.searchsorted(self.judge, [judge, judge + 1])
        if first == last:
            return np.full(len(steps), MISSING, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.step[first:last], steps), last - first - 1) + first
        return np.where(self.step[place] == steps, self.value[place], MISSING)


def labels(project: m.Project) -> CountedLabels:
    """The labels that count. Where people are dealt to arms, without imported ones: who gave them was in no
    arm then."""
    rows = counted(m.Label, project)
    if deals_people(project):
        rows = rows.filter(assignment__imported=False)
    query = rows.annotate(blind=Coalesce(BLIND_VALUE, Value(MISSING))).values_list(
        "assignment__trajectory__subset",
        "assignment__trajectory__task",
        "assignment__trajectory",
        "step__ordinal",
        "step",
        "assignment__annotator",
        "value",
        "blind",
    )
    return CountedLabels(*integer_rows(query, 8).T)


def suggested(project: m.Project) -> JudgesLabels:
    """Suggestions for steps.

    Where people are dealt to arms, only what was said before anybody was dealt one on the task: no judge that
    comes later, with labels in sight, changes what the experiment measures.
    """
    labels = m.SuggestedLabel.objects.filter(
        suggestion__judge__project=project,
        suggestion__trajectory__live=True,
        suggestion__trajectory__state__in=SETTLED,
        value__isnull=False,
    )
    if deals_people(project):
        dealt = m.Allocation.objects.filter(
            task=OuterRef("trajectory__task"), dealt_at__lt=OuterRef("created_at")
        )
        in_time = m.Suggestion.objects.filter(~Exists(dealt), judge__project=project)
        labels = labels.filter(suggestion__in=in_time)
    rows = labels.order_by().values_list("suggestion__judge", "step", "value")
    judge, step, value = integer_rows(rows, 3).T
    order = np.lexsort((step, judge))
    return JudgesLabels(judge[order], step[order], value[order])


def arms_of_labels(project: m.Project, of: CountedLabels) -> Integers:
    """The arm of each label's author on its task (n,), a place in ARMS; NO_ARM for whoever has none. One
    query."""
    dealt = m.Allocation.objects.filter(task__subset__project=project).order_by()
    arm_of_unit = {
        (task, who): ARMS.index(Arm(arm)) for task, who, arm in dealt.values_list("task", "annotator", "arm")
    }
    keys = zip(of.task.tolist(), of.annotator.tolist(), strict=True)
    return np.array([arm_of_unit.get(key, NO_ARM) for key in keys], dtype=np.int64)


def said_of_labels(of: CountedLabels, judges: Iterable[int], suggestions: JudgesLabels) -> Integers:
    """The suggestion of each judge for each label's step (J, n), MISSING where there is none."""
    labels = [suggestions.of(judge, of.step) for judge in judges]
    return np.stack(labels) if labels else np.zeros((0, len(of)), dtype=np.int64)


def arms(project: m.Project) -> dict[int, str]:
    """The arm of each task that has a live trajectory, where tasks are dealt; "" for all where nothing is
    randomised, or people are."""
    tasks = m.Task.objects.filter(subset__project=project, trajectories__live=True).distinct()
    seed = None if deals_people(project) else project.experiment_seed
    return {
        pk: "" if seed is None else arm_of(seed, subset, key).value
        for pk, subset, key in tasks.values_list("pk", "subset__name", "key")
    }
