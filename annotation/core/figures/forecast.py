"""Prediction intervals (95 %) for sums of future observations.

With the mean x̄ and the variance s² of n observations, the sum of m more of the same lies within
m x̄ ± t s √(m + m²/n), t being Student's quantile with n − 1 degrees of freedom (G. J. Hahn and W. Q. Meeker,
Statistical Intervals, 1991, ch. 4). Turned round, it says after how many observations a sum is reached.

The observations of work are whole weeks: days at work and days of rest make one of them, and busy and idle
days come in runs, for which days would claim to know two to four times as much as they do (on simulated runs
of days their intervals held 63 to 74 % of the ends, those of weeks 85 to 92 %). Neither knows of somebody who
joins or leaves; days away that are planned are put between (`with_days_away`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np
import scipy

from annotation.core.i18n import translatable

UPPER: Final = 0.975
WEEK: Final = 7
MOST_WEEKS: Final = 8
"""The pace is that of so many weeks, the latest."""
FEWEST_WEEKS: Final = 4
FEWEST_DAYS: Final = 7
FEWEST_DONE: Final = 20
FARTHEST: Final = 36_500.0
"""Days; what is farther away is no date that anybody plans with."""

TOO_SOON: Final = translatable("no estimate before 7 days and 20 submissions of the last 8 weeks")
FEW_WEEKS: Final = translatable("an interval needs four weeks of work")
NO_LATEST: Final = translatable("the pace varies too much to say a latest date")
TOO_FEW_TIMED: Final = translatable("no estimate before 20 submissions whose time was measured")


@dataclass(frozen=True, slots=True)
class Forecast:
    """An expected value with the ends of its 95 % interval. Without a value `reason` says why; where an end
    is missing, `interval_reason`."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    interval_reason: str = ""

    def scaled(self, factor: float, offset: float = 0.0) -> Forecast:
        """offset + factor × all of it."""

        def at(value: float | None) -> float | None:
            return None if value is None else offset + factor * value

        return Forecast(at(self.value), at(self.low), at(self.high), self.reason, self.interval_reason)


def days_until_done(daily: Sequence[int], left: int) -> Forecast:
    """The days until `left` more are done, from the numbers done on whole days, the oldest first, up to
    yesterday. No value without `FEWEST_DAYS` days and `FEWEST_DONE` done in the last `MOST_WEEKS` weeks, no
    interval below `FEWEST_WEEKS` weeks."""
    if not left:
        return Forecast(0.0, 0.0, 0.0)
    recent = np.asarray(daily[-MOST_WEEKS * WEEK :], dtype=float)
    if len(recent) < FEWEST_DAYS or recent.sum() < FEWEST_DONE:
        return Forecast(None, reason=TOO_SOON)
    weeks = len(recent) // WEEK
    if weeks < FEWEST_WEEKS:
        return Forecast(min(left / recent.mean(), FARTHEST), interval_reason=FEW_WEEKS)
    sums = recent[len(recent) - weeks * WEEK :].reshape(weeks, WEEK).sum(axis=1)
    mean = float(sums.mean())
    if not mean:  # the few days that do not make a week had it all
        return Forecast(None, reason=TOO_SOON)
    # people who work evenly still submit whole trajectories: no less than the variance of chance
    variance = max(float(sums.var(ddof=1)), mean)
    spread = float(scipy.stats.t.ppf(UPPER, weeks - 1)) ** 2 * variance
    # m with (left − m x̄)² = t² s² (m + m²/n): the smaller is the earliest end, the larger the latest
    a, b, c = mean**2 - spread / weeks, -(2 * left * mean + spread), float(left**2)
    root = math.sqrt(b * b - 4 * a * c)
    low = 2 * c / (-b + root)
    high = None if a <= 0 else (-b + root) / (2 * a)
    days = [None if one is None else WEEK * one for one in (left / mean, low, high)]
    if days[2] is None or days[2] > FARTHEST:
        days[2] = None
    return Forecast(
        min(days[0] or 0.0, FARTHEST), days[1], days[2], interval_reason=NO_LATEST if days[2] is None else ""
    )


@dataclass(frozen=True, slots=True)
class Absence:
    """From when until when somebody is away, in days from now."""

    person: int
    begins: float
    ends: float


def with_days_away(forecast: Forecast, shares: Mapping[int, float], away: Collection[Absence]) -> Forecast:
    """A forecast in days, when people with these shares of the pace are away in the meantime: a day then
    counts for the share of those who are there."""
    edges = sorted({0.0, *(max(one, 0.0) for each in away for one in (each.begins, each.ends))})
    spans = [
        (begins, ends, {one.person for one in away if one.begins <= begins and ends <= one.ends})
        for begins, ends in pairwise(edges)
    ]

    def at(days: float | None) -> float | None:
        if days is None:
            return None
        for begins, ends, gone in spans:
            there = max(1.0 - sum(shares.get(person, 0.0) for person in gone), 0.0)
            if days <= there * (ends - begins):
                return begins + (days / there if days else 0.0)
            days -= there * (ends - begins)
        return edges[-1] + days

    return replace(forecast, value=at(forecast.value), low=at(forecast.low), high=at(forecast.high))


def sum_to_come(n: int, mean: float, variance: float, more: int) -> Forecast:
    """The sum of `more` observations, from the mean and the variance of `n`; no value below `FEWEST_DONE`."""
    if not more:
        return Forecast(0.0, 0.0, 0.0)
    if n < FEWEST_DONE:
        return Forecast(None, reason=TOO_FEW_TIMED)
    half = float(scipy.stats.t.ppf(UPPER, n - 1)) * math.sqrt(variance * (more + more**2 / n))
    return Forecast(more * mean, max(more * mean - half, 0.0), more * mean + half)
