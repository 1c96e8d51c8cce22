"""The certificate of labels: draws, bounds against known quantiles and hand calculations, planning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import log

import numpy as np
import pytest
from scipy import stats

from annotation.core.audits.certificate import (
    NOTHING,
    Draw,
    DrawCounts,
    anytime_bound,
    certificate,
    fixed_bound,
)
from annotation.core.audits.drawing import chances, draw, heaviest
from annotation.core.audits.planning import draws_needed


def drawn(wrong: Sequence[int | None], steps: int = 10, trajectories: int = 1000) -> list[Draw]:
    """Draws by steps alone of trajectories of equal length, of which so many steps each were wrong."""
    chance = 1 / trajectories
    return [Draw(at, "a" if at % 2 else "b", chance, steps, one) for at, one in enumerate(wrong)]


# ── drawing ───────────────────────────────
def test_chances_are_by_steps_and_a_tenth_by_what_judges_expect_to_be_wrong() -> None:
    assert chances({1: 2, 2: 6, 3: 0}, None) == {1: 0.25, 2: 0.75}
    assert chances({1: 2, 2: 6}, {1: 0.0}) == {1: 0.25, 2: 0.75}
    mixed = chances({1: 2, 2: 6}, {1: 0.3, 2: 0.1})
    assert mixed == {1: pytest.approx(0.225 + 0.075), 2: pytest.approx(0.675 + 0.025)}
    assert heaviest({1: 2, 2: 6}, mixed) == pytest.approx(0.75 / 0.7)
    assert heaviest({1: 2, 2: 6}, chances({1: 2, 2: 6}, None)) == 1.0


def test_draws_continue_the_sequence_of_their_seed_whatever_order_trajectories_come_in() -> None:
    q = {9: 0.5, 4: 0.3, 7: 0.2}
    whole = draw(11, q, 40)
    assert draw(11, q, 15) + draw(11, {7: 0.2, 9: 0.5, 4: 0.3}, 25, start=15) == whole
    assert draw(12, q, 40) != whole


def test_draws_come_with_their_chances() -> None:
    q = chances({1: 10, 2: 30, 3: 60}, {1: 2.0, 2: 0.0, 3: 1.0})
    counts = Counter(draw(5, q, 4000))
    assert stats.chisquare([counts[at] for at in q], [4000 * chance for chance in q.values()]).pvalue > 0.01


# ── bounds ────────────────────────────────
@pytest.mark.parametrize(
    ("tolerable", "sample"), [(0.02, 149), (0.03, 99), (0.04, 74), (0.05, 59), (0.07, 42), (0.1, 29)]
)
def test_fixed_bound_without_a_difference_is_auditors_table(tolerable: float, sample: int) -> None:
    """AICPA, Audit Guide: Audit Sampling, table A-1: 5 % risk of overreliance, no deviation expected."""
    assert fixed_bound(np.zeros(sample), 0.05) <= tolerable < fixed_bound(np.zeros(sample - 1), 0.05)


@pytest.mark.parametrize(("n", "found"), [(20, 1), (100, 3), (300, 4), (500, 15)])
def test_fixed_bound_of_whole_trajectories_is_near_clopper_and_pearsons_and_above(n: int, found: int) -> None:
    z = np.zeros(n)
    z[:found] = 1
    exact = stats.binomtest(found, n).proportion_ci(confidence_level=0.9, method="exact").high
    assert exact <= fixed_bound(z, 0.05) <= 2 * exact


def test_fixed_bound_is_the_beta_quantile_at_the_effective_number_of_draws() -> None:
    z = np.array([1.0] * 4 + [0.5] * 4 + [0.0] * 92)
    mean, apart = 0.06, z - 0.06
    # Σd² = 4 · .94² + 4 · .44² + 92 · .06² = 4.64, Σd⁴ = 4 · .94⁴ + 4 · .44⁴ + 92 · .06⁴
    assert float((apart**2).sum()) == pytest.approx(4.64)
    freedom = 2 * 4.64**2 / (4 * 0.94**4 + 4 * 0.44**4 + 92 * 0.06**4)
    n = 0.06 * 0.94 / (4.64 / 99 / 100) * (stats.norm.ppf(0.95) / stats.t.ppf(0.95, freedom)) ** 2
    assert fixed_bound(z, 0.05) == pytest.approx(stats.beta.ppf(0.95, mean * n + 1, n - mean * n))


def test_small_differences_prove_no_more_than_none() -> None:
    none = 1 - 0.05 ** (1 / 100)
    assert fixed_bound(np.zeros(100), 0.05) == pytest.approx(none)
    assert fixed_bound(np.array([1e-4] * 3 + [0.0] * 97), 0.05) >= none
    assert fixed_bound(np.full(100, 0.01), 0.05) >= none
    assert fixed_bound(np.ones(5), 0.05) == fixed_bound(np.zeros(0), 0.05) == 1.0


def test_anytime_bound_without_a_difference_is_what_the_bets_won() -> None:
    # four fifths of the capital are multiplied by 1 / (1 − m) at each draw, and the rest helps
    bound = anytime_bound(np.zeros(300), 0.05)
    assert 1 - 0.05 ** (1 / 300) < bound < 1 - (0.05 * 0.8) ** (1 / 300) < log(25) / 300


def test_anytime_bound_by_hand() -> None:
    """Against m = ½, draws of 0 and 1 multiply the capital of a bet c by 1 + c and 1 − c."""
    z = np.array([0.0] * 9 + [1.0])
    bets, stakes = [1, 0.75, 0.5, 0.25], [0.8, 0.1, 0.05, 0.05]
    most = sum(stake * (1 + bet) ** 9 for bet, stake in zip(bets, stakes, strict=True))
    assert anytime_bound(z, 1 / most) == pytest.approx(0.5), (
        "the difference after nine draws takes nothing back"
    )


def test_anytime_bound_never_rises_as_draws_come_and_never_falls_when_one_is_worse() -> None:
    rng = np.random.default_rng(3)
    z = np.where(rng.random(200) < 0.1, rng.random(200), 0.0)
    bounds = [anytime_bound(z[:n], 0.05) for n in range(1, 201)]
    assert all(after <= before + 1e-12 for before, after in pairwise(bounds))
    worse = z.copy()
    worse[50] = 1.0
    assert anytime_bound(worse, 0.05) >= bounds[-1]


def test_anytime_bound_holds_at_every_look() -> None:
    rng, missed = np.random.default_rng(4), 0
    for _ in range(300):
        z = (rng.random(200) < 0.03).astype(float)
        missed += anytime_bound(z, 0.05) < 0.03  # the least of all looks so far
    assert missed / 300 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)


# ── certificate ───────────────────────────
def test_certificate_estimates_the_share_of_wrong_steps_from_their_chances() -> None:
    draws = [Draw(1, "", 0.5, 2, 1), Draw(2, "", 0.25, 2, 0), Draw(1, "", 0.5, 2, 1), Draw(3, "", 0.25, 4, 2)]
    found = certificate(draws, steps=8, corrected=3, audited_steps=8, heaviest=2.0)
    # (1/(8·½) + 0 + 1/(8·½) + 2/(8·¼)) / 4
    assert (found.error.value, found.error.n) == (pytest.approx((0.25 + 0.25 + 1) / 4), 4)


def test_certificate_counts_what_has_not_come_back_as_wholly_wrong_and_says_it_by_stratum() -> None:
    back = drawn([0, 0, 1] * 40)
    lost = drawn([0, None, 1] * 40)
    wholly = drawn([0, 10, 1] * 40)
    found, worst, whole = (
        certificate(draws, steps=10_000, corrected=0, audited_steps=0) for draws in (lost, wholly, back)
    )
    assert (found.bound, found.fixed, found.anytime) == (worst.bound, worst.fixed, worst.anytime)
    assert found.bound > whole.bound
    assert found.error.value == pytest.approx(0.05) and found.error.n == 80
    assert found.counts == DrawCounts(120, 80) and found.counts.missing == 40
    assert found.strata == {"a": DrawCounts(60, 40), "b": DrawCounts(60, 40)}


def test_certificate_of_a_census_is_exact() -> None:
    draws = drawn([0] * 100, trajectories=100)
    half = certificate(draws, steps=1000, corrected=5, audited_steps=985)
    whole = certificate(draws, steps=1000, corrected=5, audited_steps=1000)
    assert half.after == pytest.approx(0.015) and whole.after == 0.0 and whole.proves(0.0)


def test_certificate_takes_off_what_is_corrected() -> None:
    draws = drawn([0] * 99 + [2])
    before = certificate(draws, steps=10_000, corrected=0, audited_steps=0)
    after = certificate(draws, steps=10_000, corrected=2, audited_steps=1000)
    assert after.bound == before.bound and after.after == pytest.approx(before.bound - 0.0002)


def test_certificate_without_a_draw_proves_nothing() -> None:
    found = certificate([], steps=100, corrected=0, audited_steps=0, heaviest=2.0)
    assert (found.bound, found.error.value, found.error.reason) == (1.0, None, NOTHING)
    assert not found.proves(0.5)
    waiting = certificate(drawn([None] * 9), steps=10_000, corrected=0, audited_steps=0)
    assert (waiting.bound, waiting.error.reason) == (1.0, NOTHING)


def test_certificate_refuses_chances_that_its_draws_did_not_have() -> None:
    draws = [Draw(1, "", 0.05, 10, 0)]
    assert certificate(draws, steps=100, corrected=0, audited_steps=0, heaviest=2.0).counts.drawn == 1
    with pytest.raises(ValueError, match="chance"):
        certificate(draws, steps=100, corrected=0, audited_steps=0)


# ── planning ──────────────────────────────
def test_draws_needed_are_the_fewest_that_prove_it() -> None:
    draws = draws_needed(0.01)
    assert draws is not None
    assert anytime_bound(np.zeros(draws), 0.05) <= 0.01 < anytime_bound(np.zeros(draws - 1), 0.05)
    assert draws_needed(0.01, heaviest=2.0) == draws_needed(0.005)
    assert draws_needed(0.01, error=0.01) is None


def test_draws_needed_prove_it_in_four_of_five_audits() -> None:
    draws = draws_needed(0.03, error=0.005)
    assert draws is not None
    rng = np.random.default_rng(6)
    proved = [anytime_bound(np.where(rng.random(draws) < 0.01, 0.5, 0.0), 0.05) <= 0.03 for _ in range(400)]
    assert np.mean(proved) >= 0.8 - 0.04
