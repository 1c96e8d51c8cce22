"""Prediction intervals: a worked example, how often they hold, and when there are none."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.core.figures.forecast import (
    FEW_WEEKS,
    NO_LATEST,
    TOO_FEW_TIMED,
    TOO_SOON,
    Absence,
    Forecast,
    days_until_done,
    sum_to_come,
    with_days_away,
)


def test_sum_to_come_is_that_of_the_book() -> None:
    # n = 25, x̄ = 50, s = 5, m = 4: t(0.975; 24) = 2.0639, half = 2.0639 · 5 · √(4 + 16/25) = 22.229
    found = sum_to_come(25, 50.0, 25.0, 4)
    assert found.value == 200.0
    assert (found.low, found.high) == (pytest.approx(177.771, abs=1e-3), pytest.approx(222.229, abs=1e-3))
    assert sum_to_come(19, 50.0, 25.0, 4).reason == TOO_FEW_TIMED
    assert sum_to_come(0, 0.0, 0.0, 0).value == 0.0


def test_end_is_where_the_bounds_of_the_sum_reach_what_is_left() -> None:
    weeks = [10, 14, 12, 8, 16, 12, 9, 15]
    daily = [count for week in weeks for count in (week, 0, 0, 0, 0, 0, 0)]
    found = days_until_done(daily, 60)
    assert found.value == pytest.approx(35.0)
    mean, variance, n = np.mean(weeks), max(np.var(weeks, ddof=1), np.mean(weeks)), len(weeks)
    for days, sign in ((found.low, 1), (found.high, -1)):
        assert days is not None
        m = days / 7
        assert m * mean + sign * 2.36462 * np.sqrt(variance * (m + m**2 / n)) == pytest.approx(60, abs=1e-3)


def _days(kind: str, rng: np.random.Generator, n: int) -> np.ndarray:
    if kind == "even":
        return rng.poisson(10, n)
    if kind == "uneven":
        return rng.negative_binomial(1, 1 / 11, n)
    if kind == "working days":
        mean = np.where((np.arange(n) + rng.integers(7)) % 7 < 5, 14.0, 1e-9)
        return rng.negative_binomial(2, 2 / (2 + mean))
    busy = np.zeros(n)
    noise = rng.normal(0, 0.7, n)
    for day in range(1, n):
        busy[day] = 0.7 * busy[day - 1] + noise[day]
    return rng.poisson(10 * np.exp(0.7 * busy - 0.25))


@pytest.mark.parametrize(
    ("kind", "least"), [("even", 0.93), ("uneven", 0.92), ("working days", 0.92), ("runs", 0.84)]
)
@pytest.mark.parametrize("known", [28, 56])
def test_interval_holds_the_end_as_often_as_it_says(kind: str, least: float, known: int) -> None:
    rng = np.random.default_rng(11)
    held, tries, left = 0, 300, 300
    for _ in range(tries):
        days = _days(kind, rng, known + 700)
        end = int(np.searchsorted(np.cumsum(days[known:]), left)) + 1
        found = days_until_done(days[:known].tolist(), left)
        assert found.low is not None
        held += found.low <= end and (found.high is None or end - 1 <= found.high)
    assert held / tries >= least


def test_days_away_count_for_the_share_of_those_who_are_there() -> None:
    found = Forecast(10.0, 4.0, None, interval_reason=NO_LATEST)
    shares = {1: 0.75, 2: 0.25}
    # two days of all, then four at a quarter of the pace, of which two periods of one person are one: 2 + 1
    away = [Absence(1, 2.0, 5.0), Absence(1, 3.0, 6.0), Absence(9, 0.0, 90.0)]
    # 10 = 2 + 4 · 0.25 + 7 and 4 = 2 + 1 + 1
    assert with_days_away(found, shares, away) == Forecast(13.0, 7.0, None, interval_reason=NO_LATEST)
    # one of them has been away for days and is for three more, of which two without the other
    away = [Absence(1, -4.0, 3.0), Absence(2, 1.0, 3.0)]
    assert with_days_away(found, shares, away).value == 3.0 + (10.0 - 0.25)
    assert with_days_away(found, shares, []) == found


@pytest.mark.parametrize("left", [100, 300])
def test_interval_holds_the_end_as_often_when_people_are_away(left: int) -> None:
    rng = np.random.default_rng(5)
    held, unaware, tries, known = 0, 0, 300, 56
    for _ in range(tries):
        paces = 10 * rng.dirichlet([3.0] * 4)
        done = np.stack([rng.poisson(pace, known + 300) for pace in paces])
        away = []
        for person in rng.choice(4, 2, replace=False):
            first, days = int(rng.integers(left // 5)), int(rng.integers(5, 22))
            away.append(Absence(int(person), first, first + days))
            done[person, known + first : known + first + days] = 0
        past = done[:, :known].sum(axis=1)
        end = int(np.searchsorted(np.cumsum(done[:, known:].sum(axis=0)), left)) + 1
        plain = days_until_done(done[:, :known].sum(axis=0).tolist(), left)
        found = with_days_away(plain, dict(enumerate(past / past.sum())), away)
        for forecast in (plain, found):
            assert forecast.low is not None and forecast.high is not None
        held += found.low <= end <= found.high + 1
        unaware += plain.low <= end <= plain.high + 1
    assert held / tries >= 0.93
    assert unaware < held


def test_there_is_no_estimate_and_no_interval_from_too_little() -> None:
    assert days_until_done([9] * 6, 5).reason == TOO_SOON
    assert days_until_done([1] * 19, 5).reason == TOO_SOON
    assert days_until_done([9] * 30 + [0] * 56, 5).reason == TOO_SOON
    early = days_until_done([9] * 27, 18)
    assert (early.value, early.low, early.interval_reason) == (2.0, None, FEW_WEEKS)
    wild = days_until_done([0] * 7 * 7 + [0, 0, 0, 0, 0, 0, 80], 400)
    assert wild.low is not None and wild.high is None and wild.interval_reason == NO_LATEST
    assert days_until_done([], 0).value == 0.0
