"""The certified label error: how often the consensus of a step is not what a third person says, blind.

It is an estimate by design: it holds for the resolved steps of the project because the rechecked trajectories
are a random sample of them, whatever made the labels. The third person errs too, so it is how often consensus
and a careful reader part: an upper guess at how often the consensus is wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from annotation.core.figures.measure import Measure
from annotation.core.i18n import translatable

CONFIDENCE: Final = 0.95
FEWEST_TASKS: Final = 2
FEWEST_WITHOUT_ERROR: Final = 59
"""Of so many independent units, all without error, the bound is below 5 %: 0.95^59 < 0.05."""
LABELS: Final = 3
MILLISECONDS: Final = 3_600_000

NOTHING: Final = translatable("no third person has labelled a resolved trajectory blind yet")
ONE_TASK: Final = translatable("a bound needs rechecks of at least two tasks")
NO_TIME: Final = translatable("no time at work is recorded")

Stratum = tuple[Hashable, ...]
"""A stratum, the coarser part of its name first: what was never rechecked takes the rate of its first
part."""


@dataclass(frozen=True, slots=True)
class RecheckedTrajectory:
    """One trajectory that a third person labelled: how many of its steps count, and how many of them have
    another label in the consensus."""

    stratum: Stratum
    task: Hashable
    steps: int
    wrong: int


@dataclass(frozen=True, slots=True)
class LabelError:
    """`error` over `error.n` steps; `bound`: with 95 % confidence it is no larger (one-sided), or None and
    `bound_reason`. `deff` is the design effect: how many labels tell as much as one independent label.
    `tasks` and `trajectories` are those rechecked; `covered` the share of the steps whose stratum has
    rechecks of its own."""

    error: Measure
    bound: float | None
    bound_reason: str
    deff: float | None
    tasks: int
    trajectories: int
    covered: float | None


def label_error(rechecked: Sequence[RecheckedTrajectory], steps: Mapping[Stratum, int]) -> LabelError:
    """ê = Σ W_h x_h / n_h over strata h, with the Clopper–Pearson bound at n/deff.

    `steps` says how many resolved steps each stratum has (W_h is its share of them), x_h of the n_h rechecked
    steps are wrong. A stratum without rechecks takes the rate of all that share the first part of its name,
    failing that of all (collapsed strata; Cochran 1977, section 5A.12). Labels of one task are no independent
    evidence, so tasks are clusters: the variance of ê is linearised over them (Särndal, Swensson and Wretman
    1992, section 5.5), `deff` is its quotient with the variance of as many independent labels (Kish 1965),
    and the bound is exact binomial at the effective n (Clopper and Pearson 1934; Korn and Graubard 1998).
    Where no error was found, or nothing but errors, deff is what it would be if all labels of a task stood or
    fell together. deff is never below 1.
    """
    counted = [trajectory for trajectory in rechecked if trajectory.steps]
    groups = _groups(counted, steps)
    n = sum(trajectory.steps for trajectory in counted)
    if not n:
        return LabelError(Measure(None, 0, NOTHING), None, NOTHING, None, 0, 0, None)
    error = 0.0
    residuals: dict[Hashable, float] = defaultdict(float)
    for weight, members in groups:
        size = sum(member.steps for member in members)
        rate = sum(member.wrong for member in members) / size
        error += weight * rate
        for member in members:
            residuals[member.task] += weight * (member.wrong - rate * member.steps) / size
    tasks = len(residuals)
    total = sum(steps.values())
    own = {trajectory.stratum for trajectory in counted}
    covered = sum(count for stratum, count in steps.items() if stratum in own) / total if total else None
    measure = Measure(error, n)
    if tasks < FEWEST_TASKS:
        return LabelError(measure, None, ONE_TASK, None, tasks, len(counted), covered)
    deff = _design_effect(counted, error, np.array(list(residuals.values())), n)
    effective = n / deff
    wrong = error * effective
    return LabelError(measure, _upper_bound(wrong, effective), "", deff, tasks, len(counted), covered)


def _upper_bound(wrong: float, n: float) -> float:
    """Clopper and Pearson's upper bound of a share of which `wrong` of `n` were seen: a quantile of the beta
    distribution."""
    return 1.0 if wrong >= n else float(scipy.special.betaincinv(wrong + 1, n - wrong, CONFIDENCE))


def _groups(
    counted: Sequence[RecheckedTrajectory], steps: Mapping[Stratum, int]
) -> list[tuple[float, list[RecheckedTrajectory]]]:
    """The share of the steps that takes its rate from these rechecks, each."""
    members: dict[Stratum, list[RecheckedTrajectory]] = defaultdict(list)
    for trajectory in counted:
        for name in {trajectory.stratum, trajectory.stratum[:1], ()}:
            members[name].append(trajectory)
    # what was rechecked weighs by itself where nobody says how much there is
    weights = steps if sum(steps.values()) else {(): sum(trajectory.steps for trajectory in counted)}
    share: dict[Stratum, float] = defaultdict(float)
    total = sum(weights.values())
    for stratum, count in weights.items():
        name = next((name for name in (stratum, stratum[:1]) if name in members), ())
        share[name] += count / total if total else 0.0
    return [(weight, members[name]) for name, weight in share.items() if members[name]]


def _design_effect(
    counted: Sequence[RecheckedTrajectory], error: float, residuals: np.typing.NDArray[np.float64], n: int
) -> float:
    by_task: dict[Hashable, int] = defaultdict(int)
    for one in counted:
        by_task[one.task] += one.steps
    together = sum(size**2 for size in by_task.values()) / n
    independent = error * (1 - error) / n
    if independent <= 0:
        return max(1.0, together)
    tasks = len(residuals)
    variance = tasks / (tasks - 1) * float(np.square(residuals - residuals.mean()).sum())
    return max(1.0, variance / independent)


def effective_labels_per_hour(*, labels: int, error: LabelError, milliseconds: int) -> Measure:
    """n (1 − 3ê/2)² / deff per person-hour.

    A label that is wrong with probability e, in favour of either other value alike, tells as much of the
    truth as a right label does with probability 1 − 3e/2, and noise otherwise; of labels diluted so, (1 −
    3e/2)² is what is worth having (misclassification attenuates differences by this factor; Bross 1954). At ê
    = 2/3 labels are chance, and nothing is left of them.
    """
    value = error.error.value
    if value is None:
        return Measure(None, 0, error.error.reason)
    if error.deff is None:
        return Measure(None, labels, error.bound_reason)
    if milliseconds <= 0:
        return Measure(None, labels, NO_TIME)
    kept = max(0.0, 1 - value * LABELS / (LABELS - 1)) ** 2
    return Measure(labels * kept / error.deff / (milliseconds / MILLISECONDS), labels)
