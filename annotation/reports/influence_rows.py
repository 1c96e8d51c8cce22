"""Read what the influence report counts: labels, judges' suggestions, and the arms of tasks."""

from __future__ import annotations

from typing import Final

import numpy as np
from django.db.models import Value
from django.db.models.functions import Coalesce

from annotation import models as m
from annotation.core.agreement.label_changes import NO_MAJORITY
from annotation.core.experiment import arm_of
from annotation.core.vocabulary import SETTLED

from ..models.blindness import BLIND_VALUE
from .integer_rows import Integers, integer_rows
from .label_changes import counted

MISSING: Final = NO_MAJORITY
"""Stands for a missing blind value or suggestion: no label has this value."""


def labels(project: m.Project) -> Integers:
    """Labels of steps (n, 8): subset, task, trajectory, ordinal, step, annotator, final and blind value."""
    query = (
        counted(m.Label, project)
        .annotate(blind=Coalesce(BLIND_VALUE, Value(MISSING)))
        .values_list(
            "assignment__trajectory__subset",
            "assignment__trajectory__task",
            "assignment__trajectory",
            "step__ordinal",
            "step",
            "assignment__annotator",
            "value",
            "blind",
        )
    )
    return integer_rows(query, 8)


def suggested(project: m.Project) -> Integers:
    """What judges say of steps (n, 3): judge, step, value; sorted."""
    found = m.SuggestedLabel.objects.filter(
        suggestion__judge__project=project,
        suggestion__trajectory__live=True,
        suggestion__trajectory__state__in=SETTLED,
        value__isnull=False,
    )
    rows = integer_rows(found.order_by().values_list("suggestion__judge", "step", "value"), 3)
    ordered: Integers = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    return ordered


def arms(project: m.Project) -> dict[int, str]:
    """The arm of each task that has a live trajectory; "" for all where nothing is randomised."""
    tasks = m.Task.objects.filter(subset__project=project, trajectories__live=True).distinct()
    seed = project.experiment_seed
    return {
        pk: "" if seed is None else arm_of(seed, subset, key).value
        for pk, subset, key in tasks.values_list("pk", "subset__name", "key")
    }
