"""The price of early looks, against published bounds."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.core.influence.interim_analysis import information, looks, spent_until

# D. M. Reboussin, D. L. DeMets, K. Kim and K. K. G. Lan, "Computations for group sequential boundaries using
# the Lan-DeMets spending function method", Controlled Clinical Trials 21 (2000): five equal looks, two-sided
FIVE = (4.8769, 3.3569, 2.6803, 2.2898, 2.0310)
SPENT = (0.0000, 0.0008, 0.0076, 0.0244, 0.0500)


def test_looks_have_the_published_bounds() -> None:
    found = looks([0.2, 0.4, 0.6, 0.8, 1.0])

    assert [one.bound for one in found] == pytest.approx(FIVE, abs=2e-4)
    assert [one.spent for one in found] == pytest.approx(SPENT, abs=6e-5)
    assert found[0].level < 2e-6 and found[-1].level == pytest.approx(0.0423, abs=1e-4)


def test_looks_one_at_the_end_costs_nothing() -> None:
    (only,) = looks([1.0])
    assert (only.bound, only.level) == pytest.approx((1.959964, 0.05), abs=1e-6)


def test_looks_at_every_hundredth_find_nothing_more_often_than_the_level_says() -> None:
    shares = [hundredth / 100 for hundredth in range(1, 101)]
    bounds = np.array([look.bound for look in looks(shares)])
    walks = np.random.default_rng(3).standard_normal((40_000, 100)).cumsum(axis=1)
    found = (np.abs(walks / np.sqrt(np.arange(1, 101))) > bounds).any(axis=1).mean()
    assert found == pytest.approx(0.05, abs=0.004)


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.5, 0.4], [0.0], [1.1]])
def test_looks_need_growing_shares(shares: list[float]) -> None:
    with pytest.raises(ValueError, match="more information"):
        looks(shares)


def test_information_is_counted_in_hundredths_and_never_more_than_all() -> None:
    assert [information(settled, 250) for settled in (0, 2, 3, 5, 249, 250, 300)] == [
        *(0.0, 0.0, 0.01, 0.02, 0.99, 1.0, 1.0)
    ]
    assert information(0, 0) == 0.0
    assert (spent_until(0.0), spent_until(1.0)) == (0.0, 0.05)
