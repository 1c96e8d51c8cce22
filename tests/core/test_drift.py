"""The cumulative sum over rechecks: its score, its false alarms, and how soon it finds a change."""

from __future__ import annotations

import random
from itertools import count
from math import exp, log

import pytest

from annotation.core.rechecks.drift import LIMIT, CheckedTrajectory, UsualRate, cusum, usual


def test_sum_is_the_log_of_how_much_better_twice_the_odds_explain_what_was_found() -> None:
    rules = {"third": UsualRate(0.2, 1.0)}
    # odds 1/4 → 1/2: a wrong step is 1/3 instead of 1/5, a right one 2/3 instead of 4/5
    wrong, right = log(1 / 3 / (1 / 5)), log(2 / 3 / (4 / 5))
    found = cusum(
        [
            CheckedTrajectory("third", 5, 0),
            CheckedTrajectory("third", 4, 3),
            CheckedTrajectory("third", 1, 0),
        ],
        rules,
    )
    assert found == pytest.approx([0.0, 3 * wrong + right, 3 * wrong + 2 * right])
    halved = cusum([CheckedTrajectory("third", 4, 3)], {"third": UsualRate(0.2, 2.0)})
    assert halved == pytest.approx([(3 * wrong + right) / 2])


def test_what_is_usual_is_known_by_kind_and_errors_that_come_together_count_for_less() -> None:
    alike = [CheckedTrajectory("third", 10, 1)] * 8
    together = [CheckedTrajectory("retest", 10, 8), *[CheckedTrajectory("retest", 10, 0)] * 7]
    rules = usual([*alike, *together])
    assert rules["third"] == UsualRate(0.1, 1.0), "never below 1"
    assert rules["retest"].rate == pytest.approx(0.1)
    # Pearson's X² = (7² + 7 · 1²) / 0.9, over 7 degrees of freedom
    assert rules["retest"].dispersion == pytest.approx(56 / 0.9 / 7)
    assert usual([CheckedTrajectory("third", 3, 0)]) == {"third": UsualRate(0.0, 1.0)}
    assert cusum([CheckedTrajectory("third", 3, 0)] * 3, {"third": UsualRate(0.0, 1.0)}) == [0.0] * 3


def run_length(chance: random.Random, rate: float, rule: UsualRate) -> int:
    """After how many trajectories of eight steps the sum is at its limit."""
    value = 0.0
    for number in count(1):
        wrong = sum(chance.random() < rate for _ in range(8))
        step = CheckedTrajectory("third", 8, wrong)
        value += wrong * log(2.0) - step.steps * log(1 + rule.rate)
        value = max(0.0, value)
        if value >= LIMIT or number > 5_000:
            return number
    raise AssertionError


def test_false_alarms_are_as_rare_as_lorden_says_and_a_change_is_found_soon() -> None:
    chance = random.Random(11)
    rule = UsualRate(0.1, 1.0)
    quiet = [run_length(chance, 0.1, rule) for _ in range(40)]
    changed = [run_length(chance, 2 / 11, rule) for _ in range(100)]  # twice the odds
    assert sum(quiet) / len(quiet) > exp(LIMIT)
    assert sum(changed) / len(changed) < 30
    steps = [CheckedTrajectory("third", 8, wrong) for wrong in (0, 3, 1, 4)]
    by_hand, value = [], 0.0
    for step in steps:
        value = max(0.0, value + step.wrong * log(2.0) - step.steps * log(1.1))
        by_hand.append(value)
    assert cusum(steps, {"third": rule}) == pytest.approx(by_hand), "what the simulation adds up"
