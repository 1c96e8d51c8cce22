"""Influence: figures against sklearn and plain numpy, coverage against judges who move labels as we say."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import norm, sem, t
from sklearn.metrics import cohen_kappa_score

from annotation.core.agreement import LabelTable, count_steps, summarise
from annotation.core.figures.measure import FEW_DIFFER, FEW_TASKS, MIN_TASKS, NO_PAIRS, NO_SPREAD, ONE_LABEL
from annotation.core.influence.arm_figures import ArmMeasure, LabelPairTables, difference, estimates
from annotation.core.influence.label_changes import NO_MAJORITY, changes, majority

Numbers = npt.NDArray[np.int64]


def labels(rng: np.random.Generator, tasks: int, *, same: float, stratum: int = 0) -> Numbers:
    """Rows (subset, task, stratum, a, b): six steps a task, equal with a probability that varies by task."""
    task = np.repeat(np.arange(tasks), 6)
    a = rng.choice([-1, 0, 1], size=len(task), p=[0.25, 0.1, 0.65])
    own = np.clip(same + rng.normal(0, 0.15, tasks), 0, 1)[task]
    b = np.where(rng.random(len(task)) < own, a, rng.choice([-1, 0, 1], size=len(task)))
    return np.column_stack([task % 2, task, np.full(len(task), stratum), a, b])


def figure(rows: Numbers) -> tuple[ArmMeasure, ArmMeasure]:
    return estimates(LabelPairTables.of(rows))


def test_agreement_and_kappa_are_those_of_sklearn() -> None:
    rows = labels(np.random.default_rng(3), 40, same=0.7)

    agreement, kappa = figure(rows)

    assert agreement.measure.value == pytest.approx(float((rows[:, 3] == rows[:, 4]).mean()))
    assert kappa.measure.value == pytest.approx(cohen_kappa_score(rows[:, 3], rows[:, 4]))
    assert agreement.measure.n == kappa.measure.n == 240


def test_strata_are_weighed_by_how_much_they_hold() -> None:
    rng = np.random.default_rng(4)
    one, other = labels(rng, 30, same=0.9), labels(rng, 10, same=0.4, stratum=1)

    _agreement, kappa = figure(np.concatenate([one, other]))

    mean = (
        cohen_kappa_score(one[:, 3], one[:, 4]) * len(one)
        + cohen_kappa_score(other[:, 3], other[:, 4]) * len(other)
    ) / (len(one) + len(other))
    assert kappa.measure.value == pytest.approx(mean)


def test_intervals_are_those_of_the_agreement_page_for_the_same_labels() -> None:
    """Three people, of whom any two may meet, label the steps of 30 tasks in two subsets."""
    rng = np.random.default_rng(12)
    given, pairs = [], []
    for task in range(30):
        who = sorted(rng.choice(3, size=2, replace=False).tolist())
        for step in range(5):
            values = [int(rng.choice([-1, 0, 1], p=[0.3, 0.2, 0.5])) for _ in who]
            values[1] = values[0] if rng.random() < 0.6 else values[1]
            given += [
                (task, step, one, value, task, task % 2, 5) for one, value in zip(who, values, strict=True)
            ]
            pairs.append((task % 2, task, who[0] * 3 + who[1], *values))

    of_agreement = summarise(count_steps(LabelTable.of(np.array(given)))).figures
    for name, found in zip(("percent_agreement", "kappa"), figure(np.array(pairs)), strict=True):
        expected = of_agreement[name]
        assert found.measure.value == pytest.approx(expected.value)
        assert found.measure.n == expected.n
        assert found.measure.ends == pytest.approx(expected.ends)


def linearised_se(rows: Numbers) -> float:
    """The textbook standard error of a ratio of sums over clusters, within strata (here: subsets)."""
    total = 0.0
    r = (rows[:, 3] == rows[:, 4]).mean()
    for subset in np.unique(rows[:, 0]):
        its = rows[rows[:, 0] == subset]
        tasks = np.unique(its[:, 1])
        left = np.array(
            [((own := its[its[:, 1] == task])[:, 3] == own[:, 4]).sum() - r * len(own) for task in tasks]
        )
        total += len(tasks) * left.var(ddof=0)
    return math.sqrt(total) / len(rows)


def test_standard_error_is_that_of_a_ratio_over_clusters() -> None:
    one = labels(np.random.default_rng(5), 120, same=0.8)
    other = labels(np.random.default_rng(6), 90, same=0.6)

    found = difference(figure(one)[0], figure(other)[0])

    expected = math.hypot(linearised_se(one), linearised_se(other))
    assert found.se == pytest.approx(expected, rel=0.04)  # m / (m − 1), with 45 tasks or more in a subset
    # nearly normal with 210 tasks
    assert found.mde == pytest.approx((norm.ppf(0.975) + norm.ppf(0.8)) * found.se, rel=0.02)


def test_difference_of_means_has_the_interval_of_plain_statistics() -> None:
    """Tasks of four steps in one subset: shares are means of their tasks' shares, and so is the difference;
    Student's interval with the standard errors of means by scipy, widened as a jackknife's are."""
    rng = np.random.default_rng(13)
    arms = [rng.integers(0, 5, size=size) for size in (24, 40)]

    def rows(hits: Numbers) -> Numbers:
        same = (np.arange(4) < hits[:, None]).ravel()
        task = np.repeat(np.arange(len(hits)), 4)
        zero = np.zeros_like(task)
        return np.column_stack([zero, task, zero, np.where(same, 1, -1), np.ones_like(task)])

    found = difference(*(figure(rows(hits))[0] for hits in arms))

    means = [hits / 4 for hits in arms]
    widened = [sem(one) * len(one) / (len(one) - 1) for one in means]
    parts = np.concatenate(
        [(one - one.mean()) * np.sqrt(len(one) / (len(one) - 1)) / (len(one) - 1) for one in means]
    )
    freedom = min(62, 2 * (parts**2).sum() ** 2 / (parts**4).sum())
    assert found.se == pytest.approx(math.hypot(*widened))
    value = means[0].mean() - means[1].mean()
    assert found.measure.value == pytest.approx(value)
    assert found.measure.ends == pytest.approx(t.interval(0.95, freedom, loc=value, scale=found.se))
    assert found.mde == pytest.approx((t.ppf(0.975, freedom) + t.ppf(0.8, freedom)) * found.se)


def test_difference_without_a_spread_or_carried_by_few_tasks_has_no_interval() -> None:
    def rows(right: list[bool]) -> Numbers:
        task = np.arange(len(right))
        zero = np.zeros_like(task)
        return np.column_stack([zero, task, zero, np.where(right, 1, -1), np.ones_like(task)])

    alike = figure(rows([True] * 30))[0]
    one_apart = figure(rows([False] + [True] * 29))[0]

    for other, why in ((alike, NO_SPREAD), (one_apart, FEW_DIFFER)):
        found = difference(other, alike)
        assert found.measure.interval is not None
        assert (found.measure.interval.reason, found.mde_reason) == (why, why)
        assert (found.se, found.mde) == (None, None)


def test_detectable_effect_shrinks_with_the_square_root_of_the_tasks() -> None:
    def mde(tasks: int) -> float:
        one = figure(labels(np.random.default_rng(7), tasks, same=0.8))[0]
        other = figure(labels(np.random.default_rng(8), tasks, same=0.6))[0]
        found = difference(one, other).mde
        assert found is not None
        return found

    assert mde(1_600) == pytest.approx(mde(100) / 4, rel=0.2)


# ── A world in which judges move people as we say ──


def world(rng: np.random.Generator, tasks: int, *, moved: float) -> tuple[Numbers, Numbers]:
    """Two people label, then each label that differs from the judge's is given up for it with probability
    `moved`. Rows of the pair of people, and rows (subset, task, blind, final, judge) of the first one."""
    task = np.repeat(np.arange(tasks), 5)
    truth = rng.choice([-1, 0, 1], size=len(task), p=[0.3, 0.1, 0.6])

    def sees(right: float) -> Numbers:
        guess = rng.choice([-1, 0, 1], size=len(task))
        found: Numbers = np.where(rng.random(len(task)) < right, truth, guess)
        return found

    judge, first, second = sees(0.6), sees(0.75), sees(0.75)
    final = [np.where(rng.random(len(task)) < moved, judge, own) for own in (first, second)]
    subset = task % 2
    people = np.column_stack([subset, task, np.zeros_like(task), *final])
    return people, np.column_stack([subset, task, first, final[0], judge])


def test_interval_covers_the_influence_that_was_put_in() -> None:
    rng = np.random.default_rng(9)
    people = [world(rng, 10_000, moved=moved)[0] for moved in (0.4, 0.0)]
    truth = np.diff([(rows[:, 3] == rows[:, 4]).mean() for rows in people[::-1]])[0]
    covered = followed = 0
    repeats = 40
    for _ in range(repeats):
        exposed, looks = world(rng, 60, moved=0.4)
        sealed, _looks = world(rng, 60, moved=0.0)
        found = difference(figure(exposed)[0], figure(sealed)[0]).measure.interval
        assert found is not None and found.low is not None and found.high is not None
        covered += found.low <= truth <= found.high
        share = changes(looks).followed.interval
        assert share is not None and share.low is not None and share.high is not None
        followed += share.low <= 0.4 <= share.high

    # 95 % of 40 is 38; fewer than 33 would happen to an honest interval once in 1,000 times
    assert covered >= 33 and followed >= 33


def test_effects_are_found_as_often_as_the_detectable_one_promises() -> None:
    found, mdes, repeats = 0, [], 40
    rng = np.random.default_rng(10)
    for _ in range(repeats):
        one, other = (labels(rng, 50, same=same) for same in (0.72, 0.6))
        result = difference(figure(one)[0], figure(other)[0])
        bounds = result.measure.interval
        assert bounds is not None and bounds.low is not None and result.mde is not None
        found += bounds.low > 0
        mdes.append(result.mde)

    truth = (0.72 - 0.6) * 2 / 3  # whoever does not copy is right by chance in one case of three
    power = norm.cdf(truth / (np.mean(mdes) / (norm.ppf(0.975) + norm.ppf(0.8))) - norm.ppf(0.975))
    assert found / repeats == pytest.approx(power, abs=0.22)


# ── Undefined, with words ─────────────────


def test_influence_with_nothing_to_compare_says_so() -> None:
    agreement, kappa = figure(np.zeros((0, 5), dtype=np.int64))

    assert (agreement.measure.value, agreement.measure.reason) == (None, NO_PAIRS)
    apart = difference(kappa, figure(labels(np.random.default_rng(1), 30, same=0.5))[1])
    assert (apart.measure.value, apart.measure.reason, apart.se, apart.mde) == (None, NO_PAIRS, None, None)
    assert apart.mde_reason == NO_PAIRS


def test_kappa_of_one_label_only_is_undefined() -> None:
    rows = np.array([(0, task, 0, 1, 1) for task in range(25)])

    agreement, kappa = figure(rows)

    assert agreement.measure.value == 1
    assert (kappa.measure.value, kappa.measure.reason) == (None, ONE_LABEL)


def test_interval_and_detectable_effect_need_20_tasks() -> None:
    few = figure(labels(np.random.default_rng(1), MIN_TASKS - 1, same=0.7))[0]
    enough = figure(labels(np.random.default_rng(2), MIN_TASKS, same=0.7))[0]

    assert few.measure.interval is not None and few.measure.interval.reason == FEW_TASKS
    assert enough.measure.interval is not None and enough.measure.interval.low is not None
    for pair in ((few, enough), (enough, few)):
        found = difference(*pair)
        assert found.measure.value is not None and found.measure.interval is not None
        assert (found.measure.interval.low, found.se, found.mde) == (None, None, None)
        assert found.mde_reason == "fewer than 20 tasks"


def test_task_without_units_is_none_of_a_shares_tasks() -> None:
    """Nobody follows what they have said already: 19 tasks with a difference are too few."""
    apart = [(0, task, 1, final, -1) for task in range(19) for final in (1, -1)]
    agreed = [(0, task, 1, 1, 1) for task in range(19, 28)]

    found = changes(apart + agreed)

    assert (found.followed.value, found.followed.n) == (0.5, 38)
    assert found.followed.interval is not None and found.followed.interval.reason == FEW_TASKS
    assert found.changed.interval is not None and found.changed.interval.low is not None


# ── Which way labels moved ────────────────


def test_majority_is_what_more_judges_said_than_anything_else() -> None:
    assert majority([1, 1, -1]) == 1
    assert majority([-1]) == -1
    assert majority([None, 0, None]) == 0
    assert majority([1, -1]) == NO_MAJORITY
    assert majority([1, 1, 0, 0, -1]) == NO_MAJORITY
    assert majority([None]) == majority([]) == NO_MAJORITY


@pytest.mark.parametrize(
    ("blind", "final", "suggested", "way"),
    [
        (1, 1, -1, "kept"),
        (1, -1, -1, "towards"),
        (1, 0, -1, "towards"),
        (-1, 1, 1, "towards"),
        (0, 1, -1, "away"),
        (1, 0, 1, "away"),
        (-1, 1, 0, "neither"),
        (1, -1, NO_MAJORITY, "neither"),
    ],
)
def test_label_change_is_towards_away_or_neither(blind: int, final: int, suggested: int, way: str) -> None:
    found = changes([(0, 1, blind, final, suggested)])

    shares = {name: getattr(found, name).value for name in ("towards", "away", "neither")}
    assert shares == {name: float(name == way) for name in shares}
    assert found.changed.value == float(way != "kept")


def test_label_change_that_followed_is_counted_among_those_who_differed() -> None:
    found = changes([(0, 1, 1, 1, 1), (0, 1, 1, -1, -1), (0, 2, 1, 1, -1), (0, 2, 0, 0, NO_MAJORITY)])

    assert (found.followed.value, found.followed.n, found.towards.value) == (0.5, 2, 0.25)


def test_label_change_without_a_look_says_nothing() -> None:
    found = changes([])

    assert found.labels == 0
    assert (found.changed.value, str(found.changed.reason)) == (
        None,
        "no label was given before its suggestions were seen",
    )
    agreed = changes([(0, 1, 1, 1, 1)]).followed
    assert (agreed.value, str(agreed.reason)) == (
        None,
        "no label differed from the suggestions when they were seen",
    )
