"""Measures and intervals; an undefined one is None, with a reason in words (docs/design.md, "Rules")."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from annotation.core.i18n import translatable

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

NO_PAIRS: Final = translatable("there are no steps that two annotators labelled")
ONE_LABEL: Final = translatable("both annotators used one label only")
NO_TRAJECTORIES: Final = translatable("there are no trajectories that two annotators labelled completely")
ONE_VERDICT: Final = translatable("both annotators found errors in every trajectory, or in none")
NO_SHARED_ERROR: Final = translatable("there is no trajectory in which both annotators found an error")
NO_PAIR_DEFINED: Final = translatable("it is undefined for every pair of annotators")
FEW_TASKS: Final = translatable("an interval needs at least 20 tasks")
NOT_RESAMPLED: Final = translatable("no interval was asked for")
UNSTABLE: Final = translatable("it is undefined in too many of the resamples")
ONE_TASK: Final = translatable("without one of the tasks it would be undefined")
NO_SPREAD: Final = translatable("every task gives the same figure")


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval; without one, both bounds are None and `reason` says why."""

    low: float | None
    high: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure: `value`, or None and `reason`; `n` is the number of units that it is made of."""

    value: float | None
    n: int
    reason: str = ""
    interval: Interval | None = None


def measured(value: float, n: int, reason: str, *, empty: str = NO_PAIRS) -> Measure:
    """A measure from a float that is NaN when undefined; `reason` says why, `empty` why when n is 0."""
    if n == 0:
        return Measure(None, 0, empty)
    if np.isnan(value):
        return Measure(None, n, reason)
    return Measure(float(value), n)


def divide(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> FloatArray:
    """Quotients, NaN where the denominator is 0: shapes as NumPy broadcasts them."""
    below = np.asarray(denominator, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        result = np.asarray(np.asarray(numerator, dtype=np.float64) / below)
    undefined = np.broadcast_to(below == 0, result.shape)
    return np.where(undefined, np.nan, result) if undefined.any() else result


def weighted_mean(values: FloatArray, n: FloatArray) -> FloatArray:
    """The mean over strata, weighted by their n: (…, strata) → (…), NaN where no stratum has a value."""
    weight = np.where(np.isnan(values), 0.0, n)
    return divide((np.nan_to_num(values) * weight).sum(axis=-1), weight.sum(axis=-1))
