"""Compare models on the same tasks, and say of each which ranks it may have.

Two models of one release err on the same tasks, so their difference is taken task by task: D = θ_i − θ_j, its
influences u_i − u_j (core.agreement.intervals), and its standard error the root of their sum of squares. A
model compared with itself differs by nothing, exactly.

Ranks are intervals: from 1 + (how many are better for certain) to M − (how many are worse for certain).

- pairwise: each pair on its own, two-sided at 5 % by Student's t;
- simultaneous: all pairs together at 5 %, by Holm's step-down of the same p-values (S. Holm, "A simple
  sequentially rejective multiple test procedure", 1979), which holds whatever the pairs have in common.

Labels of a release may be wrong. A wrong one moves D, of StepAcc, by two steps at most where one model is
right and the other says something else (share s of the steps), by one where neither is right and they differ,
or one is right and the other says nothing (share o). So with a share e of wrong labels two models still
differ if |D| − t · SE > 2 min(e, s) + min(max(e − s, 0), o).
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import scipy

from annotation.core.figures.intervals import LEAST_VARIANCE, UPPER, Estimates, freedom
from annotation.core.figures.measure import FloatArray, IntArray
from annotation.core.scoring.labels import MISSING, Predictions, ReleasedLabels

LEVEL: Final = 2 * (1 - UPPER)
"""Models are told apart at 5 %."""

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ModelDifferences:
    """Every model against every other, (M, M): the difference, half the width of its 95 % interval, and the
    p-value of there being none. NaN where a figure or its interval is undefined; without a spread, a
    difference is certain."""

    value: FloatArray
    half: FloatArray
    p: FloatArray


@dataclass(frozen=True, slots=True)
class FigureChange:
    """The change of a model's figure, and half the width of its 95 % interval; None without one. `most`: no
    figure of its kind can change by more, and the interval ends there."""

    value: float
    half: float | None
    most: float

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""
        return None if self.half is None else max(self.value - self.half, -self.most)

    @property
    def high(self) -> float | None:
        """The upper end."""
        return None if self.half is None else min(self.value + self.half, self.most)

    def as_json(self) -> dict[str, Any]:
        """The change with its interval."""
        return {"value": self.value, "interval": None if self.half is None else [self.low, self.high]}


@dataclass(frozen=True, slots=True)
class Rank:
    """The best and the worst rank that a model may have, from 1; `alone` pair by pair, `together` for all
    pairs at once."""

    alone: tuple[int, int]
    together: tuple[int, int]

    @property
    def alone_in_words(self) -> str:
        """The ranks pair by pair, for people: "2–4", or "3"."""
        return _written(self.alone)

    @property
    def together_in_words(self) -> str:
        """The ranks for all pairs at once, for people: "2–4", or "3"."""
        return _written(self.together)

    def as_json(self) -> dict[str, Any]:
        """Both ranks."""
        return {"pairwise": list(self.alone), "simultaneous": list(self.together)}


def _written(ranks: tuple[int, int]) -> str:
    best, worst = ranks
    return str(best) if best == worst else f"{best}–{worst}"


def differences(estimated: Estimates) -> ModelDifferences:
    """Every pair of models on one figure."""
    value, error, degrees = _pairs(estimated)
    half = np.where(error > 0, scipy.special.stdtrit(degrees, UPPER) * error, 0.0)
    return ModelDifferences(value, np.where(np.isnan(value), np.nan, half), _p_values(value, error, degrees))


def changes(before: Estimates, after: Estimates) -> list[FigureChange | None]:
    """The change of one figure of each model, task by task; None where it is undefined."""
    apart = after.influence - before.influence
    variance = (apart**2).sum(axis=-1)
    usable = before.usable & after.usable
    spread = usable & (variance >= LEAST_VARIANCE)
    half = np.where(usable, 0.0, np.nan)
    quantile = scipy.special.stdtrit(freedom(apart[spread], after.stratum), UPPER)
    half[spread] = quantile * np.sqrt(variance[spread])
    most = 1.0 if before.figure.percent else 2.0  # shares lie in 0 … 1, other figures in −1 … 1
    return [
        None if np.isnan(value) else FigureChange(float(value), None if np.isnan(wide) else float(wide), most)
        for value, wide in zip(after.value - before.value, half, strict=True)
    ]


def ranks(estimated: Estimates) -> list[Rank | None]:
    """The ranks of each model by one figure, of which more is better; None for a model without a usable
    figure, which the others are not ranked against."""
    value, error, degrees = _pairs(estimated)
    p = _p_values(value, error, degrees)
    alone = _certain(value, p < LEVEL)
    together = _certain(value, _holm(p))
    n = int(estimated.usable.sum())
    return [
        Rank(_range(alone, at, n), _range(together, at, n)) if estimated.usable[at] else None
        for at in range(len(estimated.value))
    ]


def _pairs(estimated: Estimates) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Differences, standard errors and degrees of freedom, (M, M); NaN where a figure is not usable."""
    models = len(estimated.value)
    value, error, degrees = np.full((3, models, models), np.nan)
    for at in np.flatnonzero(estimated.usable):
        apart = estimated.influence[at] - estimated.influence
        variance = (apart**2).sum(axis=-1)
        spread = estimated.usable & (variance >= LEAST_VARIANCE)
        error[at] = np.where(estimated.usable, np.where(spread, np.sqrt(variance), 0.0), np.nan)
        value[at] = np.where(estimated.usable, estimated.value[at] - estimated.value, np.nan)
        degrees[at, spread] = freedom(apart[spread], estimated.stratum)
    return value, error, degrees


def _p_values(value: FloatArray, error: FloatArray, degrees: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * scipy.special.stdtr(degrees, -np.abs(value) / error)
    # without a spread a difference is certain, and so is that there is none
    return np.where(error == 0, np.where(np.abs(value) < 1e-12, 1.0, 0.0), p)


def _certain(value: FloatArray, rejected: BoolArray) -> BoolArray:
    """A mask of certain differences: the model of the row is better than that of the column."""
    better: BoolArray = rejected & (value > 0)
    return better


def _range(better: BoolArray, at: int, models: int) -> tuple[int, int]:
    return 1 + int(better[:, at].sum()), models - int(better[at].sum())


def _holm(p: FloatArray) -> BoolArray:
    """A mask (M, M) of the pairs that differ when all are asked together, from their p-values."""
    first, second = np.triu_indices(len(p), 1)
    asked = ~np.isnan(p[first, second])
    first, second = first[asked], second[asked]
    order = np.argsort(p[first, second], kind="stable")
    held = p[first[order], second[order]] * np.arange(len(order), 0, -1) < LEVEL
    count = len(held) if held.all() else int(np.argmin(held))
    rejected = np.zeros(p.shape, dtype=bool)
    rejected[first[order[:count]], second[order[:count]]] = True
    return rejected | rejected.T


def movable(released: ReleasedLabels, one: Predictions, other: Predictions) -> tuple[float, float]:
    """(s, o) for the difference of two models' StepAcc: the shares of steps at which a wrong label can
    make it smaller by two steps and by one, whichever of the two is ahead."""
    truth, a, b = released.value, one.steps, other.steps
    if (a == truth).sum() < (b == truth).sum():
        a, b = b, a
    ahead = (a == truth) & (b != truth)
    given = b != MISSING
    twice = ahead & given
    once = (ahead & ~given) | ((a != truth) & given & (b != truth) & (a != b))
    return float(twice.mean()), float(once.mean())


def tolerated(value: float, half: float, shares: tuple[float, float]) -> float | None:
    """The share of wrong labels up to which a difference holds; 1.0: any; None: it does not hold at all."""
    left = abs(value) - half
    if left <= 0:
        return None
    two, one = shares
    if left <= 2 * two:
        return left / 2
    return two + (left - 2 * two) if left <= 2 * two + one else 1.0


def order(values: FloatArray) -> IntArray:
    """Places of models from the best to the worst; undefined ones last, equal ones as they came."""
    return np.argsort(np.where(np.isnan(values), np.inf, -values), kind="stable")
