"""Measures and intervals; an undefined one is None, with a reason in words (docs/design.md, "Rules")."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

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
MIN_TASKS: Final = 20
"""Of fewer tasks there is no interval."""
FEW_TASKS: Final = translatable("an interval needs at least 20 tasks")
NOT_RESAMPLED: Final = translatable("no interval was asked for")
ONE_TASK: Final = translatable("without one of the tasks it would be undefined")
FEW_DIFFER: Final = translatable("too few of the tasks differ for an interval")
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

    def as_json(self) -> dict[str, Any]:
        """{"value", "n", "reason", "interval": [low, high] or null, "interval_reason"}."""
        interval = self.interval
        return {
            "value": self.value,
            "n": self.n,
            "reason": self.reason,
            "interval": self.ends,
            "interval_reason": "" if interval is None else interval.reason,
        }

    @property
    def ends(self) -> list[float] | None:
        """The interval as [low, high]; None without one."""
        interval = self.interval
        if interval is None or interval.low is None or interval.high is None:
            return None
        return [interval.low, interval.high]

    @classmethod
    def of_json(cls, stated: Mapping[str, Any]) -> "Measure":
        """The figure of which `as_json` made `stated`; of an empty dictionary one without a value."""
        low, high = stated.get("interval") or (None, None)
        reason = stated.get("interval_reason", "")
        interval = Interval(low, high, reason) if low is not None or reason else None
        return cls(stated.get("value"), stated.get("n", 0), stated.get("reason", ""), interval)


def figures_json(figures: Mapping[str, Measure]) -> dict[str, Any]:
    """Measures by the name of their figure, as JSON."""
    return {name: measure.as_json() for name, measure in figures.items()}


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
