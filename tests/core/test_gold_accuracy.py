"""Accuracy on gold: an interval for all looks together, and how often it pauses whom it must not."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.core.training.accuracy import FALSE_PAUSE, GoldMark, accuracy, paused_at
from annotation.core.training.record_shapes import shape, unlike


def marks(*shares: float) -> list[GoldMark]:
    return [GoldMark(100, round(100 * share)) for share in shares]


def test_accuracy_of_nothing_says_nothing() -> None:
    found = accuracy([])
    assert (found.value, found.low, found.trajectories) == (None, 0.0, 0) and found.high == pytest.approx(1)


def test_accuracy_is_the_mean_of_shares_in_any_order_and_mirrors() -> None:
    one, other = accuracy(marks(0.5, 0.9, 1.0)), accuracy(marks(1.0, 0.5, 0.9))
    mirrored = accuracy(marks(0.5, 0.1, 0.0))
    assert one.value == pytest.approx(0.8) and one.labels == 300
    assert (one.low, one.high) == pytest.approx((other.low, other.high))
    assert (1 - one.high, 1 - one.low) == pytest.approx((mirrored.low, mirrored.high))


def test_accuracy_of_shares_that_are_all_alike_closes_in_on_them() -> None:
    widths = [(found := accuracy(marks(*[0.6] * n))).high - found.low for n in (5, 20, 80)]
    assert widths == sorted(widths, reverse=True) and widths[-1] < 0.2


def test_pause_comes_exactly_when_the_interval_is_below_the_bound() -> None:
    shares = np.random.default_rng(3).uniform(0.2, 0.7, 40)
    after = paused_at(shares, 0.7)
    assert after is not None
    assert accuracy([GoldMark(10**6, round(10**6 * one)) for one in shares[:after]]).below(0.7)
    assert not accuracy([GoldMark(10**6, round(10**6 * one)) for one in shares[: after - 1]]).below(0.7)


def test_pause_of_somebody_at_the_bound_is_as_rare_as_is_said_however_often_one_looks() -> None:
    rng, people = np.random.default_rng(1), 400
    for errors in ("of whole trajectories", "of some steps"):
        paused = 0
        for _ in range(people):
            mean = (rng.random(150) < 0.7) if errors == "of whole trajectories" else rng.beta(2.8, 1.2, 150)
            paused += paused_at(mean.astype(np.float64), 0.7) is not None
        assert paused <= people * FALSE_PAUSE + 3 * (people * FALSE_PAUSE) ** 0.5, errors


def test_pause_of_somebody_far_below_the_bound_comes() -> None:
    rng = np.random.default_rng(1)
    assert all(paused_at(rng.beta(2, 2, 60), 0.7) is not None for _ in range(50))


def test_record_ids_of_another_shape_or_length_are_named() -> None:
    assert shape("hotpotqa:12:3") == "a:9:9"
    beside = ["hotpotqa:1:0", "hotpotqa:120:3"]
    assert unlike(["hotpotqa:77:1", "gold-7", "hotpotqa:12345678:0"], beside) == [
        "gold-7",
        "hotpotqa:12345678:0",
    ]
    assert unlike(["gold-7"], []) == []
