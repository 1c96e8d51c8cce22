"""The influence of suggestions on each annotator: their own labels where they saw suggestions from the start,
beside their own where they never did, and how they changed labels after seeing some.

Intervals are over tasks, so they say what other tasks would show of these annotators. That is why each one's
effect stands beside the figures of all (docs/influence.md, "The report").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from annotation import models as m
from annotation.core.figures.measure import MIN_TASKS, Measure
from annotation.core.i18n import translatable
from annotation.core.influence.arm_figures import (
    FEW_TO_TELL,
    ArmDifference,
    LabelPairTables,
    difference,
    estimates,
)
from annotation.core.influence.experiment import ARMS, Arm
from annotation.core.influence.label_changes import changes, majority

from ..shared.influence_rows import MISSING, CountedLabels
from ..shared.integer_rows import Integers
from ..shared.label_changes import RevealedLabel

FEWEST_LABELS: Final = 30
"""Of fewer labels there is no share of a single person."""
FEW_LABELS: Final = translatable("fewer than 30 labels")


@dataclass(frozen=True, slots=True)
class AnnotatorEffect:
    """One annotator, by name. `effect`: always − sealed, agreement with most judges, over their own tasks in
    both arms, `exposed` and `sealed` of them; None without an experiment. Of `labels` that had a value when
    their suggestions were first seen: the shares `changed`, and `followed` as in ChangeShares."""

    name: str
    exposed: int
    sealed: int
    effect: ArmDifference | None
    labels: int
    changed: Measure
    followed: Measure


def annotator_effects(
    labels: CountedLabels, arm: Integers | None, most: Integers, revealed: Iterable[RevealedLabel]
) -> tuple[AnnotatorEffect, ...]:
    """From labels, the arm of each (a place in ARMS or NO_ARM; None: nothing was randomised), what most
    judges say of its step, and the labels of steps that were revealed. One query."""
    seen: dict[int, list[RevealedLabel]] = defaultdict(list)
    for label in revealed:
        seen[label.annotator].append(label)
    people = m.User.objects.filter(pk__in={*labels.annotator.tolist(), *seen})
    names = sorted((str(user), user.pk) for user in people)
    decided = np.flatnonzero(most != MISSING)
    labels, most = labels.where(decided), most[decided]
    arm = None if arm is None else arm[decided]
    return tuple(_effect(name, pk, labels, arm, most, seen[pk]) for name, pk in names)


def _effect(
    name: str,
    annotator: int,
    labels: CountedLabels,
    arm: Integers | None,
    most: Integers,
    revealed: list[RevealedLabel],
) -> AnnotatorEffect:
    own = labels.annotator == annotator
    exposed = sealed = 0
    effect = None
    if arm is not None:
        columns = np.stack([labels.subset, labels.task, labels.annotator, labels.final, most], axis=1)
        tables = [
            LabelPairTables.of(columns[own & (arm == ARMS.index(one))]) for one in (Arm.ALWAYS, Arm.SEALED)
        ]
        exposed, sealed = (table.n_tasks for table in tables)
        effect = difference(*(estimates(table)[0] for table in tables))
        if min(exposed, sealed) < MIN_TASKS:
            effect = replace(effect, measure=Measure(None, effect.measure.n, FEW_TO_TELL))
    shares = changes([one.beside(majority(one.judge_values.values())) for one in revealed])
    return AnnotatorEffect(
        name, exposed, sealed, effect, shares.labels, _enough(shares.changed), _enough(shares.followed)
    )


def _enough(share: Measure) -> Measure:
    return share if share.n >= FEWEST_LABELS else Measure(None, share.n, FEW_LABELS)


def annotator_json(one: AnnotatorEffect) -> dict[str, Any]:
    """An annotator as JSON: unrounded, null with a reason where there is too little."""
    effect = one.effect
    return {
        "name": one.name,
        "tasks": None if effect is None else {"always": one.exposed, "sealed": one.sealed},
        "difference": None if effect is None else effect.measure.as_json(),
        "standard_error": None if effect is None else effect.se,
        "labels": one.labels,
        "changed": one.changed.as_json(),
        "followed": one.followed.as_json(),
    }
