"""Every contrast of an experiment whose units are people on tasks: one primary, named before the start, and
the others, which share one level.

Primary: how much more often a label is the one that most judges suggest, where its author saw suggestions
from the start than where they never did. The others: the same after a label of one's own, both beside each
judge, and the annotators with each other, by the arms that the two are in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from annotation.core.figures.measure import MIN_TASKS
from annotation.core.influence.effects import ContrastFit, IntArray, TaskSums, fit, level_beside, sums_of
from annotation.core.influence.experiment import ARMS, Arm
from annotation.core.influence.label_changes import NO_MAJORITY

MISSING: Final = NO_MAJORITY
"""Stands for a judge that said nothing, and for a missing majority."""
NO_ARM: Final = -1
MAJORITY: Final = "majority"
JUDGE: Final = "judge"
PEOPLE: Final = "people"

Pair = tuple[Arm, Arm]


@dataclass(frozen=True, slots=True)
class ArmLabels:
    """Labels of steps (n,): `subset`, `task`, `step` and `annotator` are any numbers, `arm` a place in ARMS
    or NO_ARM, `value` the label; `said` (J, n) what each judge suggests, `most` (n,) what most of them do."""

    subset: IntArray
    task: IntArray
    step: IntArray
    annotator: IntArray
    arm: IntArray
    value: IntArray
    said: IntArray
    most: IntArray

    def where(self, rows: IntArray) -> ArmLabels:
        """Some of the labels, in the order of `rows`."""
        return ArmLabels(
            subset=self.subset[rows],
            task=self.task[rows],
            step=self.step[rows],
            annotator=self.annotator[rows],
            arm=self.arm[rows],
            value=self.value[rows],
            said=self.said[:, rows],
            most=self.most[rows],
        )


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect: the difference of shares between `arms` and `base`. `who`: with whom the labels agree, with
    most judges ("majority"), with one ("judge", a place in `said`), or with the other annotators ("people";
    then both names are pairs of arms). `labels`: how many stand beside one of another arm, of pairs how many
    there are; `tasks`: in how many tasks. `fit` is None where nothing tells; below 20 tasks it has no
    error."""

    who: str
    judge: int | None
    arms: tuple[Arm, ...]
    base: tuple[Arm, ...]
    labels: int
    tasks: int
    fit: ContrastFit | None

    @property
    def measured(self) -> ContrastFit | None:
        """The fit, where it has an error."""
        return self.fit if self.fit is not None and self.fit.se is not None else None


def effects_of(labels: ArmLabels, arms: Sequence[Arm]) -> list[Effect]:
    """All contrasts, the primary one first: always − sealed, with most of the judges."""
    labels = labels.where(np.flatnonzero(labels.arm != NO_ARM))
    tasks, task = np.unique(labels.task, return_inverse=True)
    others = [arm for arm in (Arm.ALWAYS, Arm.AFTER_LABEL) if arm in arms]
    effects = _with_judges(labels, task, len(tasks), others, MAJORITY, None)
    for judge in range(len(labels.said)):
        effects += _with_judges(labels, task, len(tasks), others, JUDGE, judge)
    return effects + _with_each_other(labels, task, len(tasks))


def level_of_others(effects: Sequence[Effect], level: float, rng: np.random.Generator) -> float:
    """At which level each contrast but the primary one is tested, which has `level` for itself: where nothing
    differs, any of all is found in 1.25 times `level` of all experiments."""
    primary, *others = effects
    return level_beside(primary.measured, [one.measured for one in others if one.measured], level, rng)


def _with_judges(
    labels: ArmLabels, task: IntArray, n_tasks: int, others: Sequence[Arm], who: str, judge: int | None
) -> list[Effect]:
    suggested = labels.most if judge is None else labels.said[judge]
    rows = np.flatnonzero(suggested != MISSING)
    agrees = (labels.value[rows] == suggested[rows]).astype(np.float64)
    item = np.unique(labels.step[rows], return_inverse=True)[1]
    design = np.stack([labels.arm[rows] == ARMS.index(arm) for arm in others], axis=1).astype(np.float64)
    sums = sums_of(task[rows], item, design, agrees, n_tasks)
    telling = int((np.abs(sums.squares).sum(axis=(1, 2)) > 0).sum())
    return [
        Effect(who, judge, (arm,), (Arm.SEALED,), sums.n, telling, _fit(sums, place, telling))
        for place, arm in enumerate(others)
    ]


def _fit(sums: TaskSums, place: int, telling: int) -> ContrastFit | None:
    fitted = fit(sums, np.eye(sums.squares.shape[1])[place])
    if fitted is None or telling >= MIN_TASKS:
        return fitted
    return replace(fitted, se=None)


def pairs_of(labels: ArmLabels) -> tuple[IntArray, IntArray]:
    """Every two labels of a step, as rows of `labels`: two arrays (m,)."""
    order = np.lexsort((labels.annotator, labels.step))
    step = labels.step[order]
    one: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    other: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    apart = 1
    while len(same := np.flatnonzero(step[apart:] == step[:-apart])):
        one.append(order[same])
        other.append(order[same + apart])
        apart += 1
    return np.concatenate(one), np.concatenate(other)


def arms_of_pairs(labels: ArmLabels, one: IntArray, other: IntArray) -> IntArray:
    """The two arms of pairs (m,), whichever way round, as one number: `number_of` says which."""
    arms = np.sort(np.stack([labels.arm[one], labels.arm[other]]), axis=0)
    numbers: IntArray = arms[0] * len(ARMS) + arms[1]
    return numbers


def number_of(pair: Pair) -> int:
    """The number of two arms, in the order of ARMS."""
    return ARMS.index(pair[0]) * len(ARMS) + ARMS.index(pair[1])


BASES: Final[tuple[Pair, ...]] = ((Arm.SEALED, Arm.SEALED), (Arm.SEALED, Arm.AFTER_LABEL))
"""The bases of comparison for pairs: of these the one that most tasks have."""
MIN_TASKS_OF_PAIRS: Final = 50
"""From so many tasks on, pairs of two arms are compared with others. Two people in the same arm meet in few:
with 23 tasks of them, where nothing differs, 9 % of experiments found something at a level of 5 %."""
PAIRS: Final[tuple[Pair, ...]] = tuple(
    (one, other) for place, one in enumerate(ARMS) for other in ARMS[place:]
)


def _with_each_other(labels: ArmLabels, task: IntArray, n_tasks: int) -> list[Effect]:
    """Annotators with each other. A step has one pair or few, so that tasks are compared with tasks, within
    their subset."""
    one, other = pairs_of(labels)
    arms, of_task = arms_of_pairs(labels, one, other), task[one]
    tasks = {pair: len(np.unique(of_task[arms == number_of(pair)])) for pair in PAIRS}
    enough = [pair for pair in PAIRS if tasks[pair] >= MIN_TASKS_OF_PAIRS]
    base = max((pair for pair in BASES if pair in enough), key=tasks.__getitem__, default=None)
    others = [pair for pair in enough if pair != base]
    if base is None or not others:
        return []
    rows = np.flatnonzero(np.isin(arms, [number_of(pair) for pair in (base, *others)]))
    subset = labels.subset[one[rows]]
    columns = [arms[rows] == number_of(pair) for pair in others]
    # a column for each subset: sweeping them out would leave them out of the error, as tasks do not hold them
    columns += [subset == one_subset for one_subset in np.unique(subset)]
    design = np.stack(columns, axis=1).astype(np.float64)
    agrees = (labels.value[one[rows]] == labels.value[other[rows]]).astype(np.float64)
    sums = sums_of(of_task[rows], None, design, agrees, n_tasks)
    return [
        Effect(PEOPLE, None, pair, base, int((arms == number_of(pair)).sum()), tasks[pair], fitted)
        for place, pair in enumerate(others)
        for fitted in [fit(sums, np.eye(design.shape[1])[place])]
    ]
