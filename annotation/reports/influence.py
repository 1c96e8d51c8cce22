"""How far judges' suggestions move the annotators of a project: by arm of its experiment, or as observed.

Only trajectories whose N labels are all in count, as in the agreement report, so that nobody who may yet
label one learns of others' labels through a figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from django.db import connections
from django.db.models import QuerySet, Value
from django.db.models.functions import Coalesce

from annotation import models as m
from annotation.core.agreement.influence import (
    NOT_RANDOMISED,
    Difference,
    Estimate,
    Tables,
    difference,
    estimates,
)
from annotation.core.agreement.label_changes import NO_MAJORITY
from annotation.core.agreement.pairs import LabelTable, pair_up
from annotation.core.experiment import ARMS, Arm, arm_of
from annotation.policies import Actor, require

from ..models.blindness import BLIND_VALUE
from .agreement import SETTLED
from .label_changes import ChangeRates, change_rates, counted, revealed_labels

SEED: Final = 20_260_314
BLOCK: Final = 10_000
MISSING: Final = NO_MAJORITY
"""Stands for a missing blind value or suggestion: no label has this value."""

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Line:
    """One comparison. `who`: "people" (pairs of annotators), "judges" (people with all judges, pooled) or
    "judge" with its name. `basis`: "final" values, or "blind" ones, from before anything was seen."""

    who: str
    judge: str
    basis: str
    agreement: Estimate
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """One arm; `arm` empty: everything, where nothing was randomised. `allocated`: its tasks, also those
    without labels so far; the other counts are of what the figures are made of. `pairs`: pairs of labels."""

    arm: str
    allocated: int
    tasks: int
    trajectories: int
    steps: int
    pairs: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Contrast:
    """What an arm has more than the sealed one, in final values, for one comparison as in `Line`."""

    arm: str
    who: str
    judge: str
    agreement: Difference
    kappa: Difference


@dataclass(frozen=True, slots=True)
class Influence:
    """What the influence page and `influence --json` show. `seed` is the experiment's; None: not randomised,
    and then there is one arm without a name, and `reason` says why there are no contrasts."""

    project: m.Project
    seed: int | None
    arms: tuple[ArmFigures, ...]
    contrasts: tuple[Contrast, ...]
    change_rates: tuple[ChangeRates, ...]
    reason: str
    interval_seed: int = SEED

    @property
    def randomised(self) -> bool:
        """Whether the tasks were randomised over arms."""
        return self.seed is not None


def influence(*, viewer: Actor, project: m.Project) -> Influence:
    """Compute every figure. Eight queries; raises Denied to all but admins."""
    require(viewer, "influence.view", project)
    rng = np.random.default_rng(SEED)
    judges = dict(m.Judge.objects.filter(project=project).order_by("name").values_list("pk", "name"))
    labels = _labels(project)
    of_step = _suggested(project)
    arm_of_task = _arms(project)
    names: tuple[str, ...] = tuple(ARMS) if project.experiment_seed is not None else ("",)
    arms = tuple(
        _arm_figures(
            name,
            sum(found == name for found in arm_of_task.values()),
            labels[np.isin(labels[:, 1], [task for task, found in arm_of_task.items() if found == name])],
            judges,
            of_step,
            rng,
        )
        for name in names
    )
    randomised = project.experiment_seed is not None
    return Influence(
        project=project,
        seed=project.experiment_seed,
        arms=arms,
        contrasts=tuple(_contrasts(arms)) if randomised else (),
        change_rates=(
            *change_rates("step", revealed_labels(project, m.Label), judges, rng),
            *change_rates("outcome", revealed_labels(project, m.OutcomeLabel), judges, rng),
        ),
        reason="" if randomised else NOT_RANDOMISED,
    )


# ── What is counted ─────────────────────────────────────────────────────────
def _labels(project: m.Project) -> Numbers:
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
    return _numbers(query, 8)


def _suggested(project: m.Project) -> Numbers:
    """What judges say of steps (n, 3): judge, step, value; sorted."""
    found = m.SuggestedLabel.objects.filter(
        suggestion__judge__project=project,
        suggestion__trajectory__live=True,
        suggestion__trajectory__state__in=SETTLED,
        value__isnull=False,
    )
    rows = _numbers(found.order_by().values_list("suggestion__judge", "step", "value"), 3)
    ordered: Numbers = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    return ordered


def _numbers(query: QuerySet[Any, Any], columns: int) -> Numbers:
    """Whole numbers by the driver's own cursor, as in the agreement report: (n, columns)."""
    statement, values = query.query.sql_with_params()
    with connections[query.db].cursor() as cursor:
        cursor.execute(statement, values)
        blocks = iter(lambda: cursor.fetchmany(BLOCK), [])
        numbers = chain.from_iterable(chain.from_iterable(blocks))
        return np.fromiter(numbers, dtype=np.int64).reshape(-1, columns)


def _arms(project: m.Project) -> dict[int, str]:
    """The arm of each task that has a live trajectory; "" for all where nothing is randomised."""
    tasks = m.Task.objects.filter(subset__project=project, trajectories__live=True).distinct()
    seed = project.experiment_seed
    return {
        pk: "" if seed is None else arm_of(seed, subset, key).value
        for pk, subset, key in tasks.values_list("pk", "subset__name", "key")
    }


# ── Arms ────────────────────────────────────────────────────────────────────
def _arm_figures(
    arm: str,
    allocated: int,
    labels: Numbers,
    judges: dict[int, str],
    suggested: Numbers,
    rng: np.random.Generator,
) -> ArmFigures:
    # blind values differ from final ones only where something is shown after labelling
    bases = ("final", "blind") if arm in ("", Arm.AFTER_LABEL) else ("final",)
    pairs = _people(labels, "final")
    lines = []
    for basis in bases:
        tables = pairs if basis == "final" else _people(labels, basis)
        lines.append(Line("people", "", basis, *estimates(tables, rng)))
        against = _against(labels, basis, judges, suggested)
        lines.append(Line("judges", "", basis, *estimates(Tables.of(against), rng)))
        lines += [
            Line("judge", name, basis, *estimates(Tables.of(against[against[:, 2] == pk]), rng))
            for pk, name in judges.items()
        ]
    return ArmFigures(
        arm=arm,
        allocated=allocated,
        tasks=len(np.unique(labels[:, 1])),
        trajectories=len(np.unique(labels[:, 2])),
        steps=len(np.unique(labels[:, 4])),
        pairs=int(pairs.counts.sum()),
        lines=tuple(lines),
    )


def _values(labels: Numbers, basis: str) -> tuple[Numbers, Numbers]:
    """The labels that have a value of that basis, and the values."""
    values = labels[:, 6 if basis == "final" else 7]
    there = values != MISSING
    return labels[there], values[there]


def _people(labels: Numbers, basis: str) -> Tables:
    """Each pair of annotators is a stratum."""
    rows, values = _values(labels, basis)
    subset, task, trajectory, ordinal, _step, annotator = rows[:, :6].T
    pairs = pair_up(LabelTable.of(np.column_stack([trajectory, ordinal, annotator, values, task, subset])))
    if not len(pairs):
        return Tables.of([])
    return Tables.of(
        np.column_stack([pairs.task_subset[pairs.task], pairs.task, pairs.pair, pairs.a, pairs.b])
    )


def _against(labels: Numbers, basis: str, judges: dict[int, str], suggested: Numbers) -> Numbers:
    """People's labels beside each judge's: subset, task, judge, the person's value, the judge's."""
    rows, values = _values(labels, basis)
    found = [np.zeros((0, 5), dtype=np.int64)]
    for judge in judges:
        its = suggested[suggested[:, 0] == judge]
        if not len(its):
            continue
        place = np.minimum(np.searchsorted(its[:, 1], rows[:, 4]), len(its) - 1)
        said = its[place, 1] == rows[:, 4]
        columns = [rows[:, 0], rows[:, 1], np.full(len(rows), judge), values, its[place, 2]]
        found.append(np.column_stack(columns)[said])
    return np.concatenate(found)


def _contrasts(arms: tuple[ArmFigures, ...]) -> Iterator[Contrast]:
    """The other arms against the sealed one, in final values."""
    sealed = {(line.who, line.judge): line for line in _final(arms[ARMS.index(Arm.SEALED)])}
    for name in (Arm.ALWAYS, Arm.AFTER_LABEL):
        for line in _final(arms[ARMS.index(name)]):
            base = sealed[line.who, line.judge]
            yield Contrast(
                arm=name.value,
                who=line.who,
                judge=line.judge,
                agreement=difference(line.agreement, base.agreement),
                kappa=difference(line.kappa, base.kappa),
            )


def _final(arm: ArmFigures) -> Iterator[Line]:
    return (line for line in arm.lines if line.basis == "final")
