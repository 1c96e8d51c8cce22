"""The stack of a project's judges: its material from the database, and what it expects of the consensus."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.db.models import Exists, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce

from annotation import models as m
from annotation.core.scoring import MISSING, Predictions, ReleasedLabels
from annotation.core.scoring.labels import BoolArray
from annotation.core.scoring.stack import FEWEST_JUDGES, JudgeLabels, stack
from annotation.core.vocabulary import RESOLVED

from ..shared.integer_rows import Integers, integer_rows
from .recalibration import FEWEST_STEPS, FEWEST_TASKS, question_numbers


@dataclass(frozen=True, slots=True)
class StackMaterial:
    """The live trajectories of a project that are resolved or that judges have suggestions for: `known` with
    the consensus of those that are `labelled` (R,), their pks `trajectory` (R,), and the `judges` by pk."""

    known: ReleasedLabels
    labelled: BoolArray
    trajectory: Integers
    judges: dict[int, JudgeLabels]

    @property
    def enough(self) -> bool:
        """Whether there are judges, steps and tasks enough for a stack."""
        released, labelled = self.known, self.labelled
        return (
            len(self.judges) >= FEWEST_JUDGES
            and int(labelled[released.record].sum()) >= FEWEST_STEPS
            and len(np.unique(released.task[labelled])) >= FEWEST_TASKS
        )


def expected_wrong(project: m.Project) -> dict[int, float]:
    """The expected number of steps whose consensus is wrong, by the pk of each resolved trajectory, by the
    project's stacked judges; empty where there is no stack. For services, which have asked permission."""
    data = material(project)
    made = stack(data.known, list(data.judges.values()), data.labelled) if data.enough else None
    if made is None:
        return {}
    doubt = made.expected_wrong(data.known)[data.labelled]
    return dict(zip(data.trajectory[data.labelled].tolist(), doubt.tolist(), strict=True))


def material(
    project: m.Project, *, only: Collection[int] | None = None, judges: Collection[int] | None = None
) -> StackMaterial:
    """Of all trajectories and judges, or of these alone (pks). In five queries, and two for each judge."""
    suggested = m.Suggestion.objects.filter(trajectory=OuterRef("trajectory"))
    resolved = Q(trajectory__live=True, trajectory__state__in=RESOLVED)
    here = Q() if only is None else Q(trajectory__in=only)
    agreed = m.Consensus.objects.filter(resolved, step=OuterRef("pk")).order_by()
    rows = integer_rows(
        m.Step.objects.filter(
            Exists(suggested) | resolved, here, trajectory__project=project, trajectory__live=True
        )
        .annotate(agreed=Coalesce(Subquery(agreed.values("value")[:1]), Value(MISSING)))
        .order_by("trajectory", "ordinal")
        .values_list("trajectory__subset", "trajectory__task", "trajectory", "pk", "agreed"),
        5,
    )
    subset, task, of_step, step, value = rows.T
    released = ReleasedLabels.of_steps(subset, question_numbers(project.pk, task), of_step, value)
    trajectory = of_step[released.starts()[:-1]]
    outcomes = m.OutcomeConsensus.objects.filter(resolved, here, trajectory__project=project).order_by()
    place = {pk: at for at, pk in enumerate(trajectory.tolist())}
    labelled = np.zeros(released.n_records, dtype=bool)
    for pk, outcome in integer_rows(outcomes.values_list("trajectory", "value"), 2).tolist():
        if pk in place:
            released.outcome[place[pk]], labelled[place[pk]] = outcome, True
    place_of_step = {pk: at for at, pk in enumerate(step.tolist())}
    rows_ = m.Judge.objects.filter(project=project, suggestions__isnull=False).order_by("pk").distinct()
    asked = rows_ if judges is None else rows_.filter(pk__in=judges)
    labels = {
        pk: labels_of(pk, released, place, place_of_step, only) for pk in asked.values_list("pk", flat=True)
    }
    return StackMaterial(released, labelled, trajectory, labels)


def labels_of(
    judge: int,
    released: ReleasedLabels,
    place: Mapping[int, int],
    place_of_step: Mapping[int, int],
    only: Collection[int] | None = None,
    until: datetime | None = None,
) -> JudgeLabels:
    """The labels of a judge, of some trajectories or up to a moment, for records whose trajectories and steps
    (pks) have these places. Two queries."""
    predicted, probability = Predictions.none(released), np.full(released.n_steps, np.nan)
    suggestions = m.Suggestion.objects.filter(judge=judge).order_by("pk")
    labels = m.SuggestedLabel.objects.filter(suggestion__judge=judge, value__isnull=False).order_by("pk")
    if only is not None:
        suggestions = suggestions.filter(trajectory__in=only)
        labels = labels.filter(suggestion__trajectory__in=only)
    if until is not None:
        suggestions = suggestions.filter(created_at__lt=until)
        labels = labels.filter(suggestion__created_at__lt=until)
    for trajectory, outcome in suggestions.values_list("trajectory", "outcome").iterator():
        if trajectory in place:
            at = place[trajectory]
            predicted.there[at], predicted.outcome[at] = True, MISSING if outcome is None else outcome
    for step, value, sure in labels.values_list("step", "value", "probability").iterator():
        if step in place_of_step and value is not None:
            at = place_of_step[step]
            predicted.steps[at], probability[at] = value, np.nan if sure is None else sure
    return JudgeLabels(predicted, None if np.isnan(probability).all() else probability)
