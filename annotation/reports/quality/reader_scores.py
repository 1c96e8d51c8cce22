"""Scores of the readers of an audit against the consensus, in whose making they had no part: the human
ceiling (docs/agreement.md, "Audits").

Each of the two labellings of a drawn trajectory counts as often as the trajectory was drawn, over its chance:
so they stand for all that the audit could draw (M. H. Hansen and W. N. Hurwitz, "On the theory of sampling
from finite populations", 1943). The consensus is that of today, with what the audit corrected: where a reader
and it differed, an adjudicator has decided.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
from django.db.models import Count

from annotation import models as m
from annotation.core.figures.measure import Measure
from annotation.core.i18n import translatable
from annotation.core.kinds import available
from annotation.core.rechecks.sampling import READERS
from annotation.core.scoring.counts import task_sums
from annotation.core.scoring.figures import FIGURES
from annotation.core.scoring.labels import MISSING, Predictions, ReleasedLabels
from annotation.core.scoring.scores import estimated
from annotation.core.vocabulary import RESOLVED, AssignmentState, AuditedState
from annotation.models.blindness import BLIND_VALUE

RESOLVED_STILL: Final = {"trajectory__live": True, "trajectory__state__in": RESOLVED}
SHOWN: Final = ("step_accuracy", "first_error_accuracy", "exact_match", "outcome_accuracy")
FEWEST: Final = 20
"""Of fewer trajectories nothing is said: what somebody said of one is told to nobody."""
TOO_FEW: Final = translatable("too few: the audit has fewer than 20 trajectories back")


def reader_scores(audit: m.LabelAudit) -> dict[str, Measure]:
    """StepAcc and the like of the readers, by name, as far as the kind of project has them, over the
    trajectories whose audit is done, with intervals over tasks; n counts both readers. Five queries."""
    figures = {name: one for name, one in available(audit.project.of_kind, FIGURES).items() if name in SHOWN}
    done = m.AuditedTrajectory.objects.filter(audit=audit, state=AuditedState.DONE, **RESOLVED_STILL)
    columns = ("trajectory", "trajectory__task", "trajectory__subset", "chance")
    counted_draws = done.annotate(times=Count("draws")).order_by("trajectory")
    rows = list(counted_draws.values_list(*columns, "times"))
    if len(rows) < FEWEST:
        return dict.fromkeys(figures, Measure(None, len(rows), TOO_FEW))
    released, steps = _consensus(audit, rows)
    readings = _readings(audit, released, steps, [row[0] for row in rows])
    alone = replace(released, task=np.arange(released.n_records))
    counted = np.sum([task_sums(alone, one) * one.there[:, None] for one in readings], axis=0)
    weights = np.array([times / chance for *_row, chance, times in rows])
    sums = np.zeros((1, released.n_tasks, counted.shape[1]))
    np.add.at(sums[0], released.task, counted * weights[:, None] / weights.mean())
    estimates, totals = estimated(released, sums, figures), counted.sum(axis=0)
    return {name: estimates[name].measures(one.n(totals))[0] for name, one in figures.items()}


def _consensus(audit: m.LabelAudit, rows: list[tuple[Any, ...]]) -> tuple[ReleasedLabels, dict[int, int]]:
    """The consensus of these trajectories, and the place of each step (by pk) in it."""
    place = {row[0]: at for at, row in enumerate(rows)}
    of = {"trajectory__audited__audit": audit, "trajectory__audited__state": AuditedState.DONE}
    labels = m.Consensus.objects.filter(**of).order_by("trajectory", "step__message_index")
    kept = [row for row in labels.values_list("trajectory", "step", "value") if row[0] in place]
    record = np.array([place[row[0]] for row in kept])
    task, subset = (np.array([row[at] for row in rows])[record] for at in (1, 2))
    released = ReleasedLabels.of_steps(subset, task, record, np.array([row[2] for row in kept]))
    outcomes = dict(m.OutcomeConsensus.objects.filter(**of).values_list("trajectory", "value"))
    outcome = np.array([outcomes[row[0]] for row in rows])
    return replace(released, outcome=outcome), {row[1]: at for at, row in enumerate(kept)}


def _readings(
    audit: m.LabelAudit, released: ReleasedLabels, steps: dict[int, int], trajectories: list[int]
) -> list[Predictions]:
    """The labels of the first and the second reader of each trajectory before they had seen anything of it. A
    reading that is not blind throughout is none."""
    of = {
        "assignment__recheck__audited__audit": audit,
        "assignment__recheck__audited__state": AuditedState.DONE,
        "assignment__state": AssignmentState.SUBMITTED,
    }
    labels = m.Label.stored.filter(**of).annotate(blind=BLIND_VALUE).order_by("assignment__recheck")
    outcomes = m.OutcomeLabel.stored.filter(**of).annotate(blind=BLIND_VALUE).order_by("assignment__recheck")
    readings = [Predictions.none(released) for _ in range(READERS)]
    turns: dict[int, list[int]] = {trajectory: [] for trajectory in trajectories}
    place = {trajectory: at for at, trajectory in enumerate(trajectories)}
    of_label = ("assignment", "assignment__trajectory", "step", "blind")
    for assignment, trajectory, step, blind in labels.values_list(*of_label):
        if assignment not in turns[trajectory]:
            turns[trajectory].append(assignment)
        number = turns[trajectory].index(assignment)
        if number < READERS and step in steps and blind is not None:
            readings[number].steps[steps[step]] = blind
    for assignment, trajectory, blind in outcomes.values_list(*of_label[:2], "blind"):
        if assignment in turns[trajectory] and blind is not None:
            readings[turns[trajectory].index(assignment)].outcome[place[trajectory]] = blind
    for one in readings:
        lacking = np.bincount(released.record[one.steps == MISSING], minlength=released.n_records) > 0
        one.there[:] = ~lacking & (one.outcome != MISSING)
    return readings
