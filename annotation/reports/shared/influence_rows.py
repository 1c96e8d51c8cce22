"""Read what the influence report counts: labels, judges' suggestions, and the arms of tasks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
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


def labels(project: m.Project) -> Integers:
    """Labels of steps (n, 8): subset, task, trajectory, ordinal, step, annotator, final and blind value.
    Where people are dealt to arms, without imported ones: who gave them was in no arm then."""
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
    return integer_rows(query, 8)


def suggested(project: m.Project) -> Integers:
    """Suggestions for steps (n, 3): judge, step, value; sorted.

    Where people are dealt to arms, only what was said before anybody was dealt one on the task: no judge that
    comes later, with labels in sight, changes what the experiment measures.
    """
    found = m.SuggestedLabel.objects.filter(
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
        found = found.filter(suggestion__in=in_time)
    rows = integer_rows(found.order_by().values_list("suggestion__judge", "step", "value"), 3)
    ordered: Integers = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    return ordered


def arms_of_labels(project: m.Project, rows: Integers) -> Integers:
    """The arm of each label's author on its task (n,), a place in ARMS; NO_ARM for whoever has none. `rows`
    as of `labels`. One query."""
    dealt = m.Allocation.objects.filter(task__subset__project=project).order_by()
    arm_of_unit = {
        (task, who): ARMS.index(Arm(arm)) for task, who, arm in dealt.values_list("task", "annotator", "arm")
    }
    keys = zip(rows[:, 1].tolist(), rows[:, 5].tolist(), strict=True)
    return np.array([arm_of_unit.get(key, NO_ARM) for key in keys], dtype=np.int64)


def said_of_labels(rows: Integers, judges: Iterable[int], suggestions: Integers) -> Integers:
    """The suggestion of each judge for each label's step (J, n), MISSING where there is none; `suggestions`
    as of `suggested`."""
    found = []
    for judge in judges:
        its = suggestions[suggestions[:, 0] == judge]
        if not len(its):
            found.append(np.full(len(rows), MISSING, dtype=np.int64))
            continue
        place = np.minimum(np.searchsorted(its[:, 1], rows[:, 4]), len(its) - 1)
        found.append(np.where(its[place, 1] == rows[:, 4], its[place, 2], MISSING))
    return np.stack(found) if found else np.zeros((0, len(rows)), dtype=np.int64)


def arms(project: m.Project) -> dict[int, str]:
    """The arm of each task that has a live trajectory, where tasks are dealt; "" for all where nothing is
    randomised, or people are."""
    tasks = m.Task.objects.filter(subset__project=project, trajectories__live=True).distinct()
    seed = None if deals_people(project) else project.experiment_seed
    return {
        pk: "" if seed is None else arm_of(seed, subset, key).value
        for pk, subset, key in tasks.values_list("pk", "subset__name", "key")
    }
