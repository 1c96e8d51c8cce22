"""Whether the experiment on influence can be believed, on real trajectories:
`python -m bench.influence TRAJECTORIES.jsonl PREDICTIONS.jsonl… [--studies 1000]`.

The trajectories, their people's labels and the judges' are real; the annotators are made. Each study draws
200 tasks with replacement (as many as the published benchmark has), and two of a few people label each of
their trajectories. Arms are dealt by `core.influence.experiment.deal` as they claim. A person gives the
published
label, or errs: at a rate of their own, drawn for every task, such that two people agree on about 89 % of the
steps, as the reference work's do. They err "anywhere" (any other label, every step alike) or "where judges
differ" (as often as judges differ from the published label, with the label of one of these). Whoever sees
suggestions takes what most judges say in a share of the cases ("giving in"), half as often once they have a
label of their own. There are all judges, or the first alone. Every study is analysed by the functions of
the product; the truth is how much more often the same people would agree with most judges if all of them saw
suggestions from the start than if none did.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from annotation.core.influence.arm_figures import Tables, difference, estimates
from annotation.core.influence.effects import IntArray
from annotation.core.influence.experiment import ARMS, Arm, arms_of, deal
from annotation.core.influence.experiment_effects import (
    MISSING,
    ArmLabels,
    Effect,
    effects_of,
    level_of_others,
)
from annotation.core.influence.interim_analysis import LEVEL, looks
from bench.judged_steps import World, read

SLIP: Final = 0.057
"""How often an annotator errs: two who err independently then agree on 89 % of the steps."""
SPREAD: Final = 1.0
"""The variance of a person's rate of errors from task to task, in squares of the mean rate."""
LOOKED_AT: Final = (0.25, 0.5, 0.75, 1.0)
OLD_STUDIES: Final = 200
DRAWS_OF_RATE: Final = 1_000
SIZES: Final = {3: 0.033, 2: 0.024}
"""By the number of arms: the influence that 200 tasks are meant to find, as a difference of shares."""


# ── One study ─────────────────────────────
@dataclass(frozen=True, slots=True)
class People:
    """How people label: how many there are, where they err, how often they give in."""

    number: int
    errs: str
    giving_in: float


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels (m,), two a step: step, annotator, arm (a place in ARMS), value."""

    step: IntArray
    annotator: IntArray
    arm: IntArray
    value: IntArray


def giving_in_for(world: World, people: int, errs: str, effect: float) -> float:
    """How often people must give in for their agreement with most judges to rise by `effect`: who gives in
    gains where they would have said something else."""
    rng = np.random.default_rng([people, len(errs)])
    step = np.flatnonzero(world.said[-1] != MISSING)
    differs = []
    for _ in range(DRAWS_OF_RATE):  # with other rates of errors each time
        who = rng.integers(people, size=len(step))
        alone = _alone(world, step, who, People(people, errs, 0.0), rng)
        differs.append((alone != world.said[-1, step]).mean())
    return effect / float(np.mean(differs))


def dealt(world: World, arms: tuple[Arm, ...], people: int, rng: np.random.Generator) -> IntArray:
    """Who labels each trajectory, and in which arm: (trajectories, 2, 2). Two of the people, by chance."""
    seed = int(rng.integers(2**53))
    of_task: dict[int, Counter[Arm]] = defaultdict(Counter)
    of_annotator: dict[int, Counter[Arm]] = defaultdict(Counter)
    units: dict[tuple[int, int], Arm] = {}
    found = []
    for task in world.of_trajectory:
        beside: Counter[Arm] = Counter()
        for who in rng.permutation(people)[:2].tolist():
            arm = units.get((task, who))
            if arm is None:
                counts = {"of_task": of_task[task], "of_annotator": of_annotator[who]}
                arm = deal(seed, ("hotpotqa", str(task), who), arms, beside=beside, **counts)
                units[task, who] = arm
                for counter in counts.values():
                    counter[arm] += 1
            beside[arm] += 1
            found.append((who, ARMS.index(arm)))
    return np.array(found, dtype=np.int64).reshape(-1, 2, 2)


def dealt_by_task(world: World, people: int, rng: np.random.Generator) -> IntArray:
    """As experiments used to be: one of three arms for a task and everybody on it."""
    arm = rng.integers(len(ARMS), size=world.n_tasks)[world.of_trajectory]
    who = np.stack([rng.permutation(people)[:2] for _ in arm])
    return np.stack([who, np.repeat(arm[:, None], 2, axis=1)], axis=2)


def labelled(world: World, turns: IntArray, people: People, rng: np.random.Generator) -> tuple[Labels, float]:
    """What people say, and how much more often they would agree with most judges in sight of them."""
    step = np.repeat(np.arange(len(world.label)), 2)
    place = np.tile([0, 1], len(world.label))
    who, arm = turns[world.trajectory[step], place].T
    alone = _alone(world, step, who, people, rng)
    most = world.said[-1, step]
    gives_in = (rng.random(len(step)) < people.giving_in) & (most != MISSING)
    swayed = np.where(gives_in, most, alone)
    holds_on = (arm == ARMS.index(Arm.AFTER_LABEL)) & (rng.random(len(step)) < 0.5)
    sees = (arm != ARMS.index(Arm.SEALED)) & ~holds_on
    there = most != MISSING
    more = float((swayed == most)[there].mean() - (alone == most)[there].mean())
    return Labels(step, who, arm, np.where(sees, swayed, alone)), more


def _alone(world: World, step: IntArray, who: IntArray, people: People, rng: np.random.Generator) -> IntArray:
    """What people say of steps (m,) without any influence."""
    truth = world.label[step]
    rate = rng.gamma(1 / SPREAD, SPREAD, size=(world.n_tasks, people.number))[world.task[step], who]
    if people.errs == "anywhere":
        wrong = (truth + 1 + rng.integers(1, 3, len(step))) % 3 - 1
        slips = rng.random(len(step)) < np.minimum(SLIP * rate, 0.5)
        return np.where(slips, wrong, truth)
    said = world.said[:-1, step]
    differs = (said != truth) & (said != MISSING)
    wrong = said[(rng.random(said.shape) * differs).argmax(axis=0), np.arange(len(step))]
    often = differs.sum(axis=0) / differs.sum(axis=0).mean()
    slips = rng.random(len(step)) < np.minimum(SLIP * rate * often, 0.5)
    return np.where(slips, wrong, truth)


def contrasts(world: World, labels: Labels, arms: tuple[Arm, ...], share: float = 1.0) -> list[Effect]:
    """The contrasts of a study, the primary one first; `share`: of the first part of the trajectories."""
    rows = np.flatnonzero(world.trajectory[labels.step] < share * (world.trajectory[-1] + 1))
    step, said = labels.step[rows], world.said[:, labels.step[rows]]
    if share < 1:  # early looks are at the primary contrast: no judge by itself
        said = said[-1:]
    columns = (np.zeros_like(step), world.task[step], step, labels.annotator[rows], labels.arm[rows])
    return effects_of(ArmLabels(*columns, labels.value[rows], said[:-1], said[-1]), arms)


def _p(effect: Effect) -> float:
    return 1.0 if effect.measured is None else effect.measured.p() or 0.0


# ── Many studies ──────────────────────────
@dataclass(frozen=True, slots=True)
class Result:
    """Of many studies: effects in points, everything else in shares. `looked`: found at any of four looks
    with the bounds that the page uses, `peeked`: with the same level each time."""

    truth: float
    mean: float
    covered: float
    detectable: float
    primary: float
    any_of_them: float
    looked: float
    peeked: float

    def cells(self) -> tuple[str, ...]:
        shares = (self.covered, self.primary, self.any_of_them, self.looked, self.peeked)
        covered, *found = (f"{100 * one:.1f} %" for one in shares)
        return (f"{self.truth:.1f}", f"{self.mean:.1f}", covered, f"{self.detectable:.1f}", *found)


def study(world: World, tasks: int, number: int, people: People, studies: int) -> Result:
    """Experiments with two or three arms, dealt and analysed as the product does."""
    rng = np.random.default_rng(
        [tasks, number, people.number, round(100 * people.giving_in), len(people.errs)]
    )
    arms, bounds, rows = arms_of(number), looks(LOOKED_AT), []
    for _ in range(studies):
        its = world.drawn(tasks, rng)
        labels, more = labelled(its, dealt(its, arms, people.number, rng), people, rng)
        found = contrasts(its, labels, arms)
        of_others = level_of_others(found, LEVEL, rng)
        first, p = found[0].measured, _p(found[0])
        if first is None:
            raise ValueError("too few tasks for a study")
        seen = [*(_p(contrasts(its, labels, arms, share)[0]) for share in LOOKED_AT[:-1]), p]
        looked = any(one <= look.level for one, look in zip(seen, bounds, strict=True))
        others = any(_p(one) <= of_others for one in found[1:])
        ends = (first.value, first.half_width(LEVEL), first.detectable())
        rows.append((more, *ends, p <= LEVEL, others, looked, min(seen) <= LEVEL))
    more, value, half, mde, primary, others, looked, peeked = np.array(rows, dtype=float).T
    return Result(
        truth=100 * more.mean(),
        mean=100 * value.mean(),
        covered=float((abs(value - more.mean()) <= half).mean()),
        detectable=100 * mde.mean(),
        primary=primary.mean(),
        any_of_them=float(((primary > 0) | (others > 0)).mean()),
        looked=looked.mean(),
        peeked=peeked.mean(),
    )


def old_study(world: World, tasks: int, people: People, studies: int) -> tuple[float, float, float]:
    """Experiments by task as they used to be reported: the detectable effect in points, the share that found
    always − sealed (judges pooled), and the share with any interval that leaves out 0."""
    rng = np.random.default_rng([tasks, people.number, round(100 * people.giving_in)])
    rows = []
    for _ in range(studies):
        its = world.drawn(tasks, rng)
        labels, _more = labelled(its, dealt_by_task(its, people.number, rng), people, rng)
        found = list(_old_differences(its, labels, rng))
        lows = [
            (one.measure.interval.low, one.measure.interval.high) for one in found if one.measure.interval
        ]
        outside = [low is not None and high is not None and (low > 0 or high < 0) for low, high in lows]
        rows.append((found[0].mde, outside[0], any(outside)))
    mde, primary, anything = np.array(rows, dtype=float).mean(axis=0)
    return 100 * mde, primary, anything


def _old_differences(world: World, labels: Labels, rng: np.random.Generator) -> Iterator[Any]:
    """always − sealed with the judges pooled, then all the others: agreement and κ, pooled, by judge, and of
    the annotators with each other."""
    task, subset = world.task[labels.step], np.zeros_like(labels.step)
    tables = []
    for one, said in enumerate(world.said[:-1]):
        there = said[labels.step] != MISSING
        columns = (subset, task, subset + one, labels.value, said[labels.step], labels.arm)
        tables.append(np.stack(columns, axis=1)[there])
    who, value = labels.annotator.reshape(-1, 2), labels.value.reshape(-1, 2)
    turned = who[:, 0] > who[:, 1]
    a, b = np.where(turned[:, None], value[:, ::-1], value).T
    pair = who.min(axis=1) * 100 + who.max(axis=1)
    between = np.stack([subset[::2], task[::2], pair, a, b, labels.arm[::2]], axis=1)
    for rows in (np.concatenate(tables), *tables, between):
        by_arm = [estimates(Tables.of(rows[rows[:, 5] == arm, :5]), rng) for arm in range(len(ARMS))]
        for arm in (ARMS.index(Arm.ALWAYS), ARMS.index(Arm.AFTER_LABEL)):
            for figure in (0, 1):
                yield difference(by_arm[arm][figure], by_arm[0][figure])


HEAD: Final = (
    *("arms", "tasks", "people", "judges", "they err", "give in", "true effect", "mean estimate", "coverage"),
    *("MDE", "primary found", "any found", "at one of 4 looks", "… without spending"),
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.influence", description=__doc__.splitlines()[0])
    parser.add_argument("trajectories", type=Path)
    parser.add_argument("predictions", type=Path, nargs="+")
    parser.add_argument("--studies", type=int, default=1_000)
    options = parser.parse_args()
    world = read(options.trajectories, options.predictions)
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    every = len(options.predictions)
    cases = [(200, 4, every, "anywhere"), (200, 4, every, "where judges differ"), (50, 4, every, "anywhere")]
    if every > 1:
        cases.insert(2, (200, 4, 1, "anywhere"))
    for number in (3, 2):
        for tasks, people, judges, errs in cases:
            sizes, its = [0.0, 0.1], world.of_judges(judges)
            if tasks == 200 and judges == every:
                sizes.append(giving_in_for(its, people, errs, SIZES[number]))
            for giving_in in sizes:
                one = study(its, tasks, number, People(people, errs, giving_in), options.studies)
                about = (str(number), str(tasks), str(people), str(judges), errs, f"{100 * giving_in:.3g} %")
                print(f"| {' | '.join((*about, *one.cells()))} |", flush=True)
    for giving_in in (0.0, 0.1):
        people_of_old = People(4, "anywhere", giving_in)
        mde, primary, anything = old_study(world, 200, people_of_old, min(options.studies, OLD_STUDIES))
        print(
            f"by task, {giving_in:.0%}: MDE {mde:.1f}, primary {primary:.1%}, any {anything:.1%}", flush=True
        )


if __name__ == "__main__":
    main()
