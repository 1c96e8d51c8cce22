"""Influence of judges' suggestions on the annotators of a project: by arm of its experiment, or as observed.

An experiment deals people on tasks to arms (`trial`), or, when it was begun in an older version, whole tasks:
then arms are compared as what they are, different tasks.

Only trajectories whose N labels are all in count, as in the agreement report, so that nobody who may yet
label one learns of others' labels through a figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from annotation import models as m
from annotation.core.agreement.pairs import LabelTable, pair_up
from annotation.core.figures.measure import Measure
from annotation.core.influence.arm_figures import (
    NOT_RANDOMISED,
    ArmDifference,
    ArmMeasure,
    LabelPairTables,
    difference,
    estimates,
)
from annotation.core.influence.experiment import ARMS, Arm
from annotation.core.influence.experiment_effects import NO_ARM
from annotation.core.seed import SEED
from annotation.policies import Actor, deals_people, require

from ..shared import influence_rows as rows_of
from ..shared.influence_rows import MISSING, CountedLabels, JudgesLabels
from ..shared.integer_rows import Integers
from ..shared.label_changes import (
    ChangeRates,
    RevealedLabel,
    change_rates,
    revealed_labels,
    suggestions_seen,
)
from .annotator_effects import AnnotatorEffect, annotator_effects, annotator_json
from .experiment_report import ArmFate, ExperimentReport, fates, most_of, trial, trial_json


@dataclass(frozen=True, slots=True)
class ComparisonLine:
    """One comparison. `who`: "people" (pairs of annotators), "judges" (people with all judges, pooled),
    "majority" (people with what most judges say) or "judge" with its name. `basis`: "final" values, or
    "blind" ones, from before anything was seen."""

    who: str
    judge: str
    basis: str
    agreement: ArmMeasure
    kappa: ArmMeasure


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """One arm; `arm` empty: everything, where nothing was randomised. `allocated`: its tasks, or people on
    tasks, also those without labels so far; the other counts are of what the figures are made of. `pairs`:
    pairs of labels; 0 where people are dealt."""

    arm: str
    allocated: int
    tasks: int
    trajectories: int
    steps: int
    pairs: int
    lines: tuple[ComparisonLine, ...]


@dataclass(frozen=True, slots=True)
class Contrast:
    """The difference between an arm and the sealed one, in final values, for a comparison as in
    `ComparisonLine`."""

    arm: str
    who: str
    judge: str
    agreement: ArmDifference
    kappa: ArmDifference


@dataclass(frozen=True, slots=True)
class Influence:
    """The data of the influence page and `influence --json`. `seed` is the experiment's; None: not
    randomised, and then there is one arm without a name, and `reason` says why there are no contrasts.
    `trial`: the contrasts and all else of an experiment whose units are people on tasks. `seen`: somebody has
    seen a suggestion, or an experiment decides who does. `annotators`: each one's own effect."""

    project: m.Project
    seed: int | None
    arms: tuple[ArmFigures, ...]
    contrasts: tuple[Contrast, ...]
    change_rates: tuple[ChangeRates, ...]
    reason: str
    seen: bool = True
    trial: ExperimentReport | None = None
    annotators: tuple[AnnotatorEffect, ...] = ()

    @property
    def randomised(self) -> bool:
        """Whether the tasks were randomised over arms."""
        return self.seed is not None

    @property
    def unit(self) -> str | None:
        """The unit dealt to arms: "annotator" (a person on a task) or "task"; None without an experiment."""
        return self.project.experiment_unit if self.randomised else None


def influence(*, viewer: Actor, project: m.Project) -> Influence:
    """Compute every figure. At most 15 queries; raises Denied to all but admins.

    Of a running experiment it is read through `services.interim`, which notes the look.
    """
    require(viewer, "influence.view", project)
    if deals_people(project):
        return _of_people(project)
    judges = dict(m.Judge.objects.filter(project=project).order_by("name").values_list("pk", "name"))
    labels = rows_of.labels(project)
    of_step = rows_of.suggested(project)
    arm_of_task = rows_of.arms(project)
    names: tuple[str, ...] = tuple(ARMS) if project.experiment_seed is not None else ("",)
    arms = tuple(
        _arm_figures(
            name,
            sum(arm == name for arm in arm_of_task.values()),
            labels.where(np.isin(labels.task, [task for task, arm in arm_of_task.items() if arm == name])),
            judges,
            of_step,
        )
        for name in names
    )
    randomised = project.experiment_seed is not None
    exposures = suggestions_seen(project)
    seen = randomised or exposures
    of_steps = revealed_labels(project, m.Label) if exposures else []
    of_outcomes = revealed_labels(project, m.OutcomeLabel) if exposures else []
    most = most_of(rows_of.said_of_labels(labels, judges, of_step))
    arm = np.array([_place(arm_of_task[task]) for task in labels.task.tolist()], dtype=np.int64)
    return Influence(
        project=project,
        seed=project.experiment_seed,
        arms=arms,
        contrasts=tuple(_contrasts(arms)) if randomised else (),
        change_rates=_changes(of_steps, of_outcomes, judges),
        reason="" if randomised else NOT_RANDOMISED,
        seen=seen,
        annotators=annotator_effects(labels, arm if randomised else None, most, of_steps) if seen else (),
    )


def _place(arm: str) -> int:
    return ARMS.index(Arm(arm)) if arm else NO_ARM


def _changes(
    of_steps: list[RevealedLabel], of_outcomes: list[RevealedLabel], judges: dict[int, str]
) -> tuple[ChangeRates, ...]:
    return *change_rates("step", of_steps, judges), *change_rates("outcome", of_outcomes, judges)


def _of_people(project: m.Project) -> Influence:
    """An experiment whose units are people on tasks."""
    everybody = dict(m.Judge.objects.filter(project=project).order_by("name").values_list("pk", "name"))
    labels = rows_of.labels(project)
    arm = rows_of.arms_of_labels(project, labels)
    suggested = rows_of.suggested(project)
    in_time = set(suggested.judge.tolist())
    judges = {pk: name for pk, name in everybody.items() if pk in in_time}
    suggestions = rows_of.said_of_labels(labels, judges, suggested)
    became = fates(project, labels, arm, everybody)
    rng = np.random.default_rng(SEED)
    results = trial(project, labels, arm, list(judges.values()), suggestions, became, rng)
    most = most_of(suggestions)
    beside = np.concatenate([suggestions, most[None]])
    of_steps = revealed_labels(project, m.Label)
    return Influence(
        project=project,
        seed=project.experiment_seed,
        arms=tuple(
            _arm_of_people(fate, labels.where(rows), beside[:, rows], judges)
            for fate in results.fates
            for rows in [np.flatnonzero(arm == ARMS.index(Arm(fate.arm)))]
        ),
        contrasts=(),
        change_rates=_changes(of_steps, revealed_labels(project, m.OutcomeLabel), everybody),
        reason="",
        trial=results,
        annotators=annotator_effects(labels, arm, most, of_steps),
    )


def _arm_of_people(
    fate: ArmFate, labels: CountedLabels, beside: Integers, judges: dict[int, str]
) -> ArmFigures:
    """The people of one arm with most judges, then with each; `beside` (J + 1, n): each judge, then most."""
    lines = []
    for basis in ("final", "blind") if fate.arm == Arm.AFTER_LABEL else ("final",):
        values = labels.values(basis)
        for place, name in [(len(judges), ""), *enumerate(judges.values())]:
            there = (values != MISSING) & (beside[place] != MISSING)
            rows = [labels.subset, labels.task, np.zeros_like(values), values, beside[place]]
            tables = LabelPairTables.of(np.stack(rows, axis=1)[there])
            lines.append(ComparisonLine("judge" if name else "majority", name, basis, *estimates(tables)))
    return ArmFigures(fate.arm, fate.dealt, *_distinct(labels), pairs=0, lines=tuple(lines))


# ── Arms ──────────────────────────────────
def _arm_figures(
    arm: str,
    allocated: int,
    labels: CountedLabels,
    judges: dict[int, str],
    suggested: JudgesLabels,
) -> ArmFigures:
    # blind values differ from final ones only where something is shown after labelling
    bases = ("final", "blind") if arm in ("", Arm.AFTER_LABEL) else ("final",)
    pairs = _people(labels, "final")
    by_judges = rows_of.said_of_labels(labels, judges, suggested)
    lines = []
    for basis in bases:
        tables = pairs if basis == "final" else _people(labels, basis)
        lines.append(ComparisonLine("people", "", basis, *estimates(tables)))
        beside = [_beside_judge(labels, basis, pk, its) for pk, its in zip(judges, by_judges, strict=True)]
        pooled = np.concatenate([np.zeros((0, 5), dtype=np.int64), *beside])
        lines.append(ComparisonLine("judges", "", basis, *estimates(LabelPairTables.of(pooled))))
        lines += [
            ComparisonLine("judge", name, basis, *estimates(LabelPairTables.of(rows)))
            for name, rows in zip(judges.values(), beside, strict=True)
        ]
    return ArmFigures(arm, allocated, *_distinct(labels), pairs=int(pairs.counts.sum()), lines=tuple(lines))


def _distinct(labels: CountedLabels) -> tuple[int, int, int]:
    """The numbers of tasks, trajectories and steps with labels."""
    tasks, trajectories, steps = map(np.unique, (labels.task, labels.trajectory, labels.step))
    return len(tasks), len(trajectories), len(steps)


def _people(labels: CountedLabels, basis: str) -> LabelPairTables:
    """Each pair of annotators is a stratum."""
    of = labels.where(labels.values(basis) != MISSING)
    # how long trajectories are plays no part in tables
    length = np.ones_like(of.ordinal)
    columns = [of.trajectory, of.ordinal, of.annotator, of.values(basis), of.task, of.subset, length]
    table = np.column_stack(columns)
    pairs = pair_up(LabelTable.of(table))
    if not len(pairs):
        return LabelPairTables.of([])
    return LabelPairTables.of(
        np.column_stack([pairs.task_subset[pairs.task], pairs.task, pairs.pair, pairs.a, pairs.b])
    )


def _beside_judge(labels: CountedLabels, basis: str, judge: int, suggested: Integers) -> Integers:
    """People's labels beside a judge's: subset, task, judge, the person's value, the judge's."""
    values = labels.values(basis)
    columns = [labels.subset, labels.task, np.full(len(labels), judge), values, suggested]
    return np.column_stack(columns)[(values != MISSING) & (suggested != MISSING)]


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


def _final(arm: ArmFigures) -> Iterator[ComparisonLine]:
    return (line for line in arm.lines if line.basis == "final")


# ── JSON ──────────────────────────────────
def as_json(report: Influence) -> dict[str, Any]:
    """The report as JSON: unrounded numbers, null with a reason where undefined.

    {"randomised", "unit", "seed", "reason", "arms", "contrasts", "moves", "annotators"};
    an arm's name is null without an experiment, `judge` is null where it is not about a single judge. Where
    people are dealt to arms, `contrasts` is empty, and there are `look`, `effects`, `level_seed`,
    `accounting` and `each_other` instead.
    """
    return {
        "project": report.project.slug,
        "randomised": report.randomised,
        "unit": report.unit,
        "seed": report.seed,
        "policy": None if report.randomised else report.project.suggestion_policy,
        "reason": report.reason,
        "suggestions_seen": report.seen,
        "arms": [_arm_json(arm) for arm in report.arms],
        "contrasts": [_contrast_json(contrast) for contrast in report.contrasts],
        **(trial_json(report.trial) if report.trial is not None else {}),
        "moves": [_change_rates_json(rates) for rates in report.change_rates],
        "annotators": [annotator_json(one) for one in report.annotators],
    }


def _arm_json(arm: ArmFigures) -> dict[str, Any]:
    return {
        "arm": arm.arm or None,
        "allocated_tasks": arm.allocated,
        "tasks": arm.tasks,
        "trajectories": arm.trajectories,
        "steps": arm.steps,
        "pairs": arm.pairs,
        "figures": [_line_json(line) for line in arm.lines],
    }


def _line_json(line: ComparisonLine) -> dict[str, Any]:
    return {
        "who": line.who,
        "judge": line.judge or None,
        "values": line.basis,
        "percent_agreement": line.agreement.measure.as_json(),
        "kappa": line.kappa.measure.as_json(),
    }


def _contrast_json(contrast: Contrast) -> dict[str, Any]:
    return {
        "arm": contrast.arm,
        "minus": "sealed",
        "who": contrast.who,
        "judge": contrast.judge or None,
        "percent_agreement": _difference_json(contrast.agreement),
        "kappa": _difference_json(contrast.kappa),
    }


def _difference_json(difference: ArmDifference) -> dict[str, Any]:
    return {
        **difference.measure.as_json(),
        "standard_error": difference.se,
        "minimum_detectable_effect": difference.mde,
        "minimum_detectable_effect_reason": difference.mde_reason,
    }


def _change_rates_json(rates: ChangeRates) -> dict[str, Any]:
    shares = {
        field.name: value.as_json()
        for field in fields(rates.changes)
        if isinstance(value := getattr(rates.changes, field.name), Measure)
    }
    return {
        "unit": rates.unit,
        "judge": rates.judge or None,
        "labels": rates.changes.labels,
        **shares,
    }
