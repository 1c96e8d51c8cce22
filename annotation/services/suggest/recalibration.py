"""Recalibrate a judge on the resolved labels of its project, cross-fitted by task.

What is shown beside a judge's label of a step is made of resolved labels of other tasks alone: a suggestion
that had seen the consensus of its own task would give it away to whoever labels it (docs/sealing.md,
"Recalibrated suggestions").
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation import dispatch
from annotation.core.errors import Invalid
from annotation.core.scoring import MISSING
from annotation.core.scoring.labels import Labels
from annotation.core.scoring.recalibration import VERSION, of_project
from annotation.core.seed import SEED
from annotation.core.vocabulary import VALUES
from annotation.models import UNFINISHED_RUNS, Judge, SuggestedLabel, Suggestion, SuggestionRun
from annotation.policies import OPERATOR, Actor, require
from annotation.reports.judging.recalibration import material, recalibration
from annotation.reports.shared.integer_rows import Integers

from .. import audit

STEPS_AT_ONCE = 1_000


@transaction.atomic
def set_recalibration(*, actor: Actor, judge: Judge, on: bool) -> None:
    """Switch recalibration on, or fit it anew, in the background; or switch it off, and forget it.

    Raises Invalid (code "too_little_consensus") when the judge has labelled too few resolved steps.
    """
    require(actor, "judges.change", judge)
    current = Judge.objects.select_for_update(no_key=True).get(pk=judge.pk)
    if on and (lacking := recalibration(viewer=actor, judge=current).lacking):
        raise Invalid(lacking, code="too_little_consensus")
    if on or current.recalibrate:
        audit.record(actor=actor, verb="judge.recalibrate", project=judge.project, obj=judge, on=on)
    Judge.objects.filter(pk=judge.pk).update(recalibrate=on, recalibration={}, recalibrated_at=None)
    if on:
        dispatch.send("fit_recalibration", judge.pk)
    else:
        _labels(judge).filter(recalibrated__isnull=False).update(recalibrated=None)


def fit_recalibration(*, judge_id: int) -> None:
    """Fit a judge's recalibration on what is resolved now, and keep what it makes of each of its labels.

    Nothing happens when it has been switched off. With too little resolved by now, labels lose what stood
    beside them, and `recalibration` stays empty.
    """
    judge = Judge.objects.get(pk=judge_id)
    if not judge.recalibrate:
        return
    now = timezone.now()
    state = recalibration(viewer=OPERATOR, judge=judge)
    data = material(judge)
    made = None if state.lacking else of_project(data.known, data.predicted, data.resolved)
    taught = data.resolved & (data.predicted.steps != MISSING)
    about = {
        "steps": int(taught.sum()),
        "tasks": len(np.unique(data.known.task[data.known.record[taught]])),
        "seed": SEED,
        "version": VERSION,
    }
    _write(judge, {} if made is None else about, data.step, made, now)


def sweep_recalibrations() -> int:
    """Send the job for judges that nobody has recalibrated, or that have made suggestions since; how many."""
    later = Suggestion.objects.filter(judge=OuterRef("pk"), created_at__gt=OuterRef("recalibrated_at"))
    at_work = SuggestionRun.objects.filter(judge=OuterRef("pk"), state__in=UNFINISHED_RUNS)
    waiting = Judge.objects.filter(
        Q(recalibrated_at=None) | Exists(later), ~Exists(at_work), recalibrate=True
    ).order_by("pk")
    pks = list(waiting.values_list("pk", flat=True))
    for pk in pks:
        dispatch.send("fit_recalibration", pk)
    return len(pks)


@transaction.atomic
def _write(judge: Judge, about: dict[str, Any], step: Integers, made: Labels | None, now: datetime) -> None:
    """Store the recalibration, unless it was switched off, or fitted by somebody else, meanwhile."""
    current = Judge.objects.select_for_update(no_key=True).get(pk=judge.pk)
    if not current.recalibrate or current.recalibrated_at != judge.recalibrated_at:
        return
    Judge.objects.filter(pk=judge.pk).update(recalibration=about, recalibrated_at=now)
    for start in range(0, len(step), STEPS_AT_ONCE):
        part = step[start : start + STEPS_AT_ONCE]
        values = np.full(len(part), MISSING) if made is None else made[start : start + STEPS_AT_ONCE]
        for value in (*VALUES, MISSING):
            if steps := part[values == value].tolist():
                labels = _labels(judge).filter(step__in=steps)
                labels.update(recalibrated=None if value == MISSING else value)


def _labels(judge: Judge) -> QuerySet[SuggestedLabel]:
    return SuggestedLabel.stored.filter(suggestion__judge=judge)
