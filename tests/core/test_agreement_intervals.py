"""Intervals of agreement: over tasks within subsets, the same whatever people and rows are called."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from annotation.core.agreement import LabelTable, Measure, count_steps, summarise
from annotation.core.agreement.figures import FIGURES
from annotation.core.agreement.pair_sums import PairSums, intervals


def labels(sizes: list[int], annotators: int = 2, seed: int = 3, shared: float = 1.0) -> np.ndarray:
    """Rows of tasks in subsets of these sizes, two trajectories a task; each is labelled by two annotators or
    more, who err now and then."""
    rng = np.random.default_rng(seed)
    rows = []
    for task in range(sum(sizes)):
        subset = int(np.searchsorted(np.cumsum(sizes), task, side="right"))
        for sample in range(2):
            steps = int(rng.integers(1, 7))
            truth = rng.integers(-1, 2, steps)
            people = [who for who in range(annotators) if rng.random() < shared]
            for who in people if len(people) > 1 else (0, 1):
                said = np.where(rng.random(steps) < 0.7, truth, rng.integers(-1, 2, steps))
                for position in range(steps):
                    rows.append((2 * task + sample, position, who, said[position], task, subset, steps))
    return np.array(rows)


def figures_of(rows: np.ndarray) -> dict[str, Measure]:
    return summarise(count_steps(LabelTable.of(rows))).figures


def renamed(rows: np.ndarray, seed: int) -> np.ndarray:
    """The same labels with other ids of trajectories, people, tasks and subsets, in another order."""
    rng = np.random.default_rng(seed)
    other = rows.copy()
    for column in (0, 2, 4, 5):
        ids, place = np.unique(rows[:, column], return_inverse=True)
        other[:, column] = (rng.permutation(len(ids)) * 7 - 50)[place]
    return other[rng.permutation(len(other))]


def close(one: dict[str, Measure], other: dict[str, Measure]) -> bool:
    """Equal but for the last digits, in which sums of fractions differ by their order."""
    for name, mine in one.items():
        theirs = other[name]
        numbers = [(mine.value, theirs.value), (mine.interval.low, theirs.interval.low)]
        numbers.append((mine.interval.high, theirs.interval.high))
        if (mine.n, mine.reason, mine.interval.reason) != (theirs.n, theirs.reason, theirs.interval.reason):
            return False
        if any(a != (None if b is None else pytest.approx(b, abs=1e-9)) for a, b in numbers):
            return False
    return True


@given(
    st.integers(0, 10**6), st.sampled_from([2, 3, 5]), st.sampled_from([[20], [9, 12], [50, 51], [1, 21, 1]])
)
@settings(max_examples=25, deadline=None)
def test_figures_are_the_same_after_renaming_and_reordering(seed, annotators, sizes) -> None:
    rows = labels(sizes, annotators, seed, shared=0.7)
    assert close(figures_of(rows), figures_of(renamed(rows, seed)))


def test_figures_are_the_same_when_two_annotators_change_places() -> None:
    for sizes in ([25], [60]):
        rows = labels(sizes)
        other = rows.copy()
        other[:, 2] = 1 - rows[:, 2]
        one, two = (summarise(count_steps(LabelTable.of(each))) for each in (rows, other))
        assert close(one.figures, two.figures) and (one.confusion == two.confusion).all()
        assert one.offsets == two.offsets
        assert (one.pairs[0].confusion == two.pairs[0].confusion.T).all()


@pytest.mark.parametrize("sizes", [[20], [10, 15], [60]])
def test_interval_holds_the_figure(sizes) -> None:
    for measure in figures_of(labels(sizes)).values():
        assert -1 <= measure.interval.low < measure.value < measure.interval.high <= 1


def test_interval_needs_twenty_tasks() -> None:
    kappa = figures_of(labels([19]))["kappa"]
    assert kappa.value is not None
    assert (kappa.interval.low, kappa.interval.reason) == (None, "an interval needs at least 20 tasks")
    assert figures_of(labels([20]))["kappa"].interval.low is not None


def test_interval_of_figures_that_do_not_vary_is_none() -> None:
    rows = labels([25])
    rows[:, 3] = rows[:, 1] % 3 - 1
    for figure in ("percent_agreement", "kappa", "alpha"):
        measure = figures_of(rows)[figure]
        assert measure.value == 1
        assert (measure.interval.low, measure.interval.reason) == (None, "every task gives the same figure")


def test_interval_of_a_figure_that_one_task_defines_is_none() -> None:
    rows = labels([25])
    rows[rows[:, 4] > 0, 3] = 1
    rows[rows[:, 4] == 0, 3] = rows[rows[:, 4] == 0, 2]
    kappa = figures_of(rows)["kappa"]
    assert kappa.value is not None
    assert kappa.interval.reason == "without one of the tasks it would be undefined"


def test_interval_of_a_figure_at_the_end_of_its_range_stays_in_it() -> None:
    """Two people who always say the opposite: κ is −1, and less extreme without any of the tasks."""
    rows = [
        (task, step, who, 2 * ((task + who) % 2) - 1, task, 0, 3)
        for task in range(20)
        for step in range(1 + task // 2 % 3)
        for who in range(2)
    ]
    kappa = figures_of(np.array(rows))["kappa"]
    assert (kappa.value, kappa.interval.low) == (-1, -1) and -1 < kappa.interval.high < 0


def test_interval_is_the_jackknife_of_its_definition() -> None:
    rows = labels([20, 31], annotators=3, shared=0.8)
    figures = figures_of(rows)
    tasks = np.unique(rows[:, 4])
    subset = np.array([rows[rows[:, 4] == task, 5][0] for task in tasks])
    tables = [LabelTable.of(rows[rows[:, 4] != task]) for task in tasks]
    without = [summarise(count_steps(table), with_intervals=False).figures for table in tables]
    for name, figure in FIGURES.items():
        left = np.array([one[name].value for one in without])
        squares = []
        for h, m in ((0, 20), (1, 31)):
            squares += list(m / (m - 1) * (left[subset == h] - left[subset == h].mean()) ** 2)
        freedom = min(49, 2 * sum(squares) ** 2 / sum(one**2 for one in squares))
        half = student.ppf(0.975, freedom) * np.sqrt(sum(squares))
        value, bounds = figures[name].value, figures[name].interval
        if figure.percent:
            odds = value / (1 - value) * np.exp(np.array([-1, 1]) * half / value / (1 - value))
            expected = odds / (1 + odds)
        else:
            expected = np.tanh(np.arctanh(value) + np.array([-1, 1]) * half / (1 - value**2))
        assert (bounds.low, bounds.high) == (pytest.approx(expected[0]), pytest.approx(expected[1]))


def test_interval_is_wider_when_one_task_carries_the_spread() -> None:
    rows = labels([30])
    one = rows[:, 4] == 0
    rows[:, 3] = np.where(rows[:, 2] == 0, rows[:, 1] % 3 - 1, np.where(one, 0, rows[:, 1] % 3 - 1))
    spread = rows.copy()  # as many differences, each in a task of its own
    agreement = figures_of(rows)["percent_agreement"]
    wrong = round((1 - agreement.value) * agreement.n)
    spread[:, 3] = spread[:, 1] % 3 - 1
    last = np.flatnonzero((rows[:, 2] == 1) & (rows[:, 1] == 0) & (rows[:, 0] % 2 == 0))[:wrong]
    spread[last, 3] = 1
    other = figures_of(spread)["percent_agreement"]
    assert other.value == agreement.value
    assert other.interval.high - other.interval.low < (agreement.interval.high - agreement.interval.low) / 2


def test_subset_of_one_task_is_joined_with_the_smallest_other() -> None:
    sample = PairSums.of(count_steps(LabelTable.of(labels([30, 1, 25, 1]))))
    assert sorted(np.bincount(sample.stratum).tolist()) == [27, 30]
    alone = PairSums.of(count_steps(LabelTable.of(labels([1] * 22))))
    assert (alone.stratum == 0).all()
    bounds = intervals(alone, {"kappa": FIGURES["kappa"]})["kappa"]
    assert bounds.low is not None


def test_interval_of_single_pairs_is_asked_for() -> None:
    counts = count_steps(LabelTable.of(labels([25], annotators=3)))
    assert summarise(counts).pairs[0].figures["kappa"].interval.reason == "no interval was asked for"
    two = count_steps(LabelTable.of([row for row in labels([25], annotators=3) if row[2] < 2]))
    pair = summarise(counts, pair_intervals=True).pairs[0]
    assert close(pair.figures, summarise(two).figures)
