"""An experiment whose units are people on tasks: its contrasts at the level that this look may use, what
became of each arm, which labels had which judge on screen, and the annotators with each other.

The analysis is by intention to treat: labels count in the arm that was dealt, whatever was on screen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from django.db.models import Count

from annotation import models as m
from annotation.core.figures.measure import MIN_TASKS, NO_SPREAD
from annotation.core.i18n import translatable
from annotation.core.influence import experiment_effects as core
from annotation.core.influence.arm_figures import FEW_TO_TELL, ArmMeasure, LabelPairTables, estimates
from annotation.core.influence.experiment import ARMS, Arm, arms_of
from annotation.core.influence.interim_analysis import LEVEL, InterimLook, looks
from annotation.core.seed import SEED
from annotation.core.vocabulary import SETTLED, VALUES, AssignmentState

from ..shared.influence_rows import MISSING, CountedLabels
from ..shared.integer_rows import Integers

NOTHING_BESIDE: Final = translatable("no two people in different arms have labelled the same steps")
NO_LOOK: Final = translatable("less than one percent of the trajectories are settled")


@dataclass(frozen=True, slots=True)
class LookState:
    """The look that these figures are: its `number`, of how many `settled` of the `planned` trajectories, how
    much of the level is spent and what is left for this look. None of it before a hundredth is settled."""

    number: int
    settled: int
    planned: int
    spent: float
    level: float | None


@dataclass(frozen=True, slots=True)
class ArmFate:
    """Counts of one arm. `dealt`: people on tasks. Of the trajectories that they claimed: `counted` in the
    figures, `waiting` for somebody's labels, `lost` (returned, expired, withdrawn). Of the `labels` counted:
    how many were given with suggestions on screen (`before`) or got them on screen afterwards (`after`), and
    beside how many each judge, by name, was."""

    arm: str
    dealt: int
    claimed: int
    counted: int
    waiting: int
    lost: int
    labels: int
    before: int
    after: int
    judges: dict[str, int]


@dataclass(frozen=True, slots=True)
class PairFigures:
    """Annotators with each other where one is in one arm and one in the other."""

    arms: tuple[Arm, Arm]
    tasks: int
    pairs: int
    agreement: ArmMeasure
    kappa: ArmMeasure


@dataclass(frozen=True, slots=True)
class TestedContrast:
    """A contrast with the two-sided level of its test and interval; None: at this look there is no test."""

    effect: core.Effect
    judge: str
    primary: bool
    level: float | None

    @property
    def found(self) -> bool | None:
        """Whether the test says that the contrast is not 0; None without a test."""
        fit = self.effect.measured
        if fit is None or self.level is None:
            return None
        p = fit.p()
        return p is not None and p <= self.level

    @property
    def reason(self) -> str:
        """The reason for a missing difference, or a missing test of it; empty where there is one."""
        if self.effect.fit is None:
            return NOTHING_BESIDE
        if self.effect.measured is None:
            return FEW_TO_TELL if self.effect.tasks < MIN_TASKS else NO_SPREAD
        return NO_LOOK if self.level is None else ""


@dataclass(frozen=True, slots=True)
class ExperimentReport:
    """The report on an experiment that deals people on tasks."""

    arms: tuple[Arm, ...]
    look: LookState
    tested: tuple[TestedContrast, ...]
    fates: tuple[ArmFate, ...]
    pairs: tuple[PairFigures, ...]


def progress(project: m.Project) -> tuple[int, int]:
    """The number of a project's settled trajectories, and of all. One query."""
    live = m.Trajectory.objects.filter(project=project, live=True).order_by()
    counted = dict(live.values_list("state").annotate(n=Count("pk")))
    return sum(n for state, n in counted.items() if state in SETTLED), sum(counted.values())


def trial(
    project: m.Project,
    labels: CountedLabels,
    arm: Integers,
    judges: Sequence[str],
    suggested: Integers,
    became: Sequence[ArmFate],
    rng: np.random.Generator,
) -> ExperimentReport:
    """From labels, the arm of each (a place in ARMS, or NO_ARM), what `judges` say (J, n), in their order,
    and what became of the arms. At most two queries."""
    arms = arms_of(project.experiment_arms)
    rows = core.ArmLabels(
        subset=labels.subset,
        task=labels.task,
        step=labels.step,
        annotator=labels.annotator,
        arm=arm,
        value=labels.final,
        said=suggested,
        most=most_of(suggested),
    )
    effects = core.effects_of(rows, arms)
    look = _look(project)
    others = None if look.level is None else core.level_of_others(effects, look.level, rng)
    return ExperimentReport(
        arms=arms,
        look=look,
        tested=tuple(
            TestedContrast(
                effect,
                "" if effect.judge is None else judges[effect.judge],
                place == 0,
                others if place else look.level,
            )
            for place, effect in enumerate(effects)
        ),
        fates=tuple(became),
        pairs=tuple(_pairs(rows, arms)),
    )


def most_of(suggested: Integers) -> Integers:
    """The majority of judges on each label's step (n,): MISSING where no value has more than any other."""
    votes = np.stack([(suggested == value).sum(axis=0) for value in VALUES])
    first = votes.argmax(axis=0)
    tied = (votes == votes.max(axis=0)).sum(axis=0) > 1
    most: Integers = np.where(tied, MISSING, first - 1).astype(np.int64)
    return most


def _look(project: m.Project) -> LookState:
    """The last look that was noted, and what it may use."""
    noted = list(m.InterimAnalysis.objects.filter(project=project).order_by("percent"))
    if not noted:
        settled, planned = progress(project)
        return LookState(0, settled, planned, 0.0, None)
    bounds = bounds_at(tuple(one.percent for one in noted))
    last = noted[-1]
    return LookState(len(noted), last.settled, last.planned, bounds[-1].spent, bounds[-1].level)


def bounds_at(percents: Sequence[int]) -> list[InterimLook]:
    """The bounds of looks at these hundredths of the information."""
    return looks([percent / 100 for percent in percents], LEVEL)


def fates(project: m.Project, labels: CountedLabels, arm: Integers, judges: dict[int, str]) -> list[ArmFate]:
    """The counts of each arm; labels and arms as of `trial`, `judges` by key: all that may have been on
    screen. Three queries."""
    arms = arms_of(project.experiment_arms)
    of_unit = dict(_allocations(project))
    claims = m.Assignment.objects.filter(project=project, imported=False).order_by()
    columns = ("trajectory__task", "annotator", "state", "trajectory__state", "trajectory__live")
    counts: dict[str, Counter[str]] = {one.value: Counter() for one in arms}
    units: dict[str, set[tuple[int, int]]] = {one.value: set() for one in arms}
    for task, annotator, state, settled, live in claims.values_list(*columns):
        name = of_unit.get((task, annotator))
        if name in counts:
            units[name].add((task, annotator))
            counts[name][_fate(state, settled, live)] += 1
    shown = _shown(project)
    return [
        _arm_fate(
            one.value,
            len(units[one.value]),
            counts[one.value],
            labels.where(arm == ARMS.index(one)),
            shown,
            judges,
        )
        for one in arms
    ]


def _allocations(project: m.Project) -> list[tuple[tuple[int, int], str]]:
    rows = m.Allocation.objects.filter(task__subset__project=project).order_by()
    return [((task, who), arm) for task, who, arm in rows.values_list("task", "annotator", "arm")]


def _fate(state: str, of_trajectory: str, live: bool) -> str:
    if not live or state in (AssignmentState.RETURNED, AssignmentState.EXPIRED):
        return "lost"
    if state == AssignmentState.SUBMITTED and of_trajectory in SETTLED:
        return "counted"
    return "waiting"


Shown = dict[tuple[int, int], tuple[bool, frozenset[int]]]


def _shown(project: m.Project) -> Shown:
    """By annotator and step: whether suggestions were on screen before there was a label, and of whom."""
    events = m.LabelEvent.objects.filter(
        kind="reveal", step__isnull=False, assignment__project=project
    ).order_by("-pk")
    rows = events.values_list("assignment__annotator", "step", "value", "detail")
    return {
        # newest first: what is left at the end was shown first
        (who, step): (
            value is None,
            frozenset(one["judge"] for one in detail.get("judges", ()) if one["value"] is not None),
        )
        for who, step, value, detail in rows
    }


def _arm_fate(
    arm: str, dealt: int, counted: Counter[str], labels: CountedLabels, shown: Shown, judges: dict[int, str]
) -> ArmFate:
    seen = [
        shown[key]
        for key in zip(labels.annotator.tolist(), labels.step.tolist(), strict=True)
        if key in shown
    ]
    beside = Counter(judge for _before, whose in seen for judge in whose)
    return ArmFate(
        arm=arm,
        dealt=dealt,
        claimed=counted.total(),
        counted=counted["counted"],
        waiting=counted["waiting"],
        lost=counted["lost"],
        labels=len(labels),
        before=sum(before for before, _whose in seen),
        after=sum(not before for before, _whose in seen),
        judges={name: beside[pk] for pk, name in judges.items()},
    )


def _pairs(rows: core.ArmLabels, arms: Sequence[Arm]) -> list[PairFigures]:
    rows = rows.where(np.flatnonzero(rows.arm != core.NO_ARM))
    one, other = core.pairs_of(rows)
    number = core.arms_of_pairs(rows, one, other)
    figures = []
    for pair in core.PAIRS:
        at = np.flatnonzero(number == core.number_of(pair))
        if not len(at) or not set(pair) <= set(arms):
            continue
        a, b = one[at], other[at]
        # each pair of people is a stratum, as in the agreement report
        people = rows.annotator[a] * (1 + int(rows.annotator.max())) + rows.annotator[b]
        stack = [rows.subset[a], rows.task[a], people, rows.value[a], rows.value[b]]
        tables = LabelPairTables.of(np.stack(stack, axis=1))
        figures.append(PairFigures(pair, tables.n_tasks, len(at), *estimates(tables)))
    return figures


def trial_json(trial: ExperimentReport) -> dict[str, Any]:
    """The JSON of an experiment whose units are people on tasks."""
    return {
        "look": asdict(trial.look),
        "effects": [_tested_json(one) for one in trial.tested],
        "level_seed": SEED,
        "accounting": [asdict(one) for one in trial.fates],
        "each_other": [_pair_json(one) for one in trial.pairs],
    }


def _tested_json(one: TestedContrast) -> dict[str, Any]:
    effect, fit = one.effect, one.effect.measured
    half = None if fit is None or one.level is None else fit.half_width(one.level)
    value = None if effect.fit is None else effect.fit.value
    return {
        "arms": list(effect.arms),
        "minus": list(effect.base),
        "who": effect.who,
        "judge": one.judge or None,
        "primary": one.primary,
        "labels": effect.labels,
        "tasks": effect.tasks,
        "difference": value,
        "standard_error": None if fit is None else fit.se,
        "degrees_of_freedom": None if fit is None else fit.freedom,
        "minimum_detectable_effect": None if fit is None else fit.detectable(),
        "p": None if fit is None else fit.p(),
        "level": one.level,
        "interval": None if half is None or value is None else {"low": value - half, "high": value + half},
        "found": one.found,
        "reason": one.reason,
    }


def _pair_json(one: PairFigures) -> dict[str, Any]:
    return {
        "arms": list(one.arms),
        "tasks": one.tasks,
        "pairs": one.pairs,
        "percent_agreement": one.agreement.measure.as_json(),
        "kappa": one.kappa.measure.as_json(),
    }
