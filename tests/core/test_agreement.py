"""Agreement: figures against other libraries and textbooks, summaries, intervals and sequences of labels."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from annotation.core.agreement import (
    LabelTable,
    Measure,
    Summary,
    at_least,
    count_outcomes,
    count_steps,
    pair_up,
    summarise,
)
from annotation.core.agreement.alpha import Scale, alpha_values
from annotation.core.agreement.figures import FIGURES, OUTCOME_FIGURES, tables
from annotation.core.agreement.pair_sums import PairSums, intervals
from annotation.core.agreement.transition import NO_UNIT, STRATA, strata
from annotation.core.figures.confusion import confusion, confusion_by, error_tables
from annotation.core.figures.first_errors import FirstErrors, Offsets, first_positions
from annotation.core.figures.intervals import ends
from annotation.core.figures.kappa import Weights, ac1_values, agreement_values, kappa_values
from annotation.services.consensus import SubmittedLabels

label = st.integers(-1, 1)
pairs_of_labels = st.lists(st.tuples(label, label), min_size=1, max_size=60)


def sides(pairs: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [a for a, _ in pairs], [b for _, b in pairs]


# --- percent agreement, confusion, Cohen's κ -------------------------------------------------------------


@given(pairs_of_labels)
def test_kappa_is_scikit_learns(pairs) -> None:
    a, b = sides(pairs)
    table = confusion(a, b)
    assert (table == confusion_matrix(a, b, labels=[-1, 0, 1])).all()
    for weights, name in (("plain", "kappa"), ("linear", "linear_kappa"), ("quadratic", "quadratic_kappa")):
        figure = FIGURES[name]
        mine = figure.measure(float(figure.values(table.ravel())), len(pairs))
        if len({*a, *b}) == 1:
            assert mine == Measure(None, len(pairs), "both annotators used one label only")
            continue
        sklearn_name = None if weights == "plain" else weights
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = cohen_kappa_score(a, b, labels=[-1, 0, 1], weights=sklearn_name)
        assert mine.value == pytest.approx(theirs, abs=1e-12)


@given(pairs_of_labels)
def test_kappa_is_statsmodels(pairs) -> None:
    from statsmodels.stats.inter_rater import cohens_kappa  # loads pandas, for a second

    a, b = sides(pairs)
    if len({*a, *b}) == 1:
        return
    table = confusion(a, b)
    assert kappa_values(table) == pytest.approx(cohens_kappa(table, return_results=False))
    linear = cohens_kappa(table, wt="linear", return_results=False)
    assert kappa_values(table, "linear") == pytest.approx(linear)
    quadratic = cohens_kappa(table, wt="quadratic", return_results=False)
    assert kappa_values(table, "quadratic") == pytest.approx(quadratic)


def test_kappa_of_a_textbook_table() -> None:
    # 50 grant proposals, two readers: p_o = .7, p_e = .5, κ = .4
    assert kappa_values([[20, 5], [10, 15]]) == pytest.approx(0.4)


def test_annotators_who_never_agree_have_a_defined_kappa() -> None:
    assert kappa_values(confusion([1, 1], [-1, -1])) == pytest.approx(0.0)
    assert kappa_values(confusion([1, -1], [-1, 1])) == pytest.approx(-1.0)


def test_kappa_of_nothing_to_compare_is_undefined_and_says_so() -> None:
    empty = confusion([], [])
    reason = "there are no steps that two annotators labelled"
    assert np.isnan(agreement_values(empty)) and np.isnan(kappa_values(empty))
    nothing = summarise(count_steps(LabelTable.of([]))).figures
    for measure in (nothing["percent_agreement"], nothing["kappa"]):
        assert replace(measure, interval=None) == Measure(None, 0, reason)


def test_percent_agreement_is_the_share_of_equal_labels() -> None:
    assert agreement_values(confusion([1, 0, -1, 1], [1, 1, -1, 1])) == 0.75


@pytest.mark.parametrize("bad", [[2], [-2], [0.5], [True], ["1"]])
def test_agreement_refuses_what_is_no_label(bad) -> None:
    with pytest.raises(ValueError, match="labels are the integers"):
        confusion(bad, [1])


def test_annotators_with_different_numbers_of_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="same number"):
        confusion([1, 1], [1])


@given(pairs_of_labels)
def test_tables_by_group_add_up(pairs) -> None:
    a, b = sides(pairs)
    groups = np.arange(len(pairs)) % 4
    assert (confusion_by(a, b, groups, 4).sum(axis=0) == confusion(a, b)).all()


@given(pairs_of_labels)
def test_agreement_on_errors_is_that_after_relabelling(pairs) -> None:
    a, b = sides(pairs)
    folded = error_tables(confusion(a, b))
    assert (
        folded == confusion_matrix([x != -1 for x in a], [x != -1 for x in b], labels=[False, True])
    ).all()


# --- Gwet's AC1 ------------------------------------------------------------------------------------------


def test_ac1_is_what_gwet_publishes_for_100_pregnancies() -> None:
    # K. L. Gwet, irrCAC 1.0 (CRAN, 2019), vignette "Calculating Chance-corrected Agreement Coefficients
    # (CAC)": cont3x3abstractors, from his Handbook of Inter-Rater Reliability (4th ed. 2014), in three
    # categories as here: kappa2.table 0.7964094, gwet.ac1.table 0.8493305
    table = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
    assert kappa_values(table) == pytest.approx(0.7964094, abs=5e-8)
    assert ac1_values(table) == pytest.approx(0.8493305, abs=1e-7)


def test_ac1_stays_high_where_kappa_breaks_down() -> None:
    table = [[118, 5], [2, 0]]  # 118 of 125 alike, all in one category
    assert kappa_values(table) < 0 < 0.94 < ac1_values(table)


@given(pairs_of_labels)
def test_ac1_is_its_definition(pairs) -> None:
    a, b = sides(pairs)
    n = len(pairs)
    observed = sum(x == y for x, y in pairs) / n
    shares = [(a.count(v) + b.count(v)) / (2 * n) for v in (-1, 0, 1)]
    chance = sum(share * (1 - share) for share in shares) / 2
    assert ac1_values(confusion(a, b)) == pytest.approx((observed - chance) / (1 - chance))


# --- Krippendorff's α ------------------------------------------------------------------------------------

Units = list[list[int | None]]


def coincidences(units: Units) -> np.ndarray:
    """Coincidences of units given as lists of labels, None for missing: Krippendorff (2011), section C."""
    labels = sorted({x for unit in units for x in unit if x is not None})
    table = np.zeros((len(labels), len(labels)))
    for unit in units:
        given = [labels.index(x) for x in unit if x is not None]
        for i, j in permutations(range(len(given)), 2):
            table[given[i], given[j]] += 1 / (len(given) - 1)
    return table


def slow_alpha(units: Units, scale: Scale = "nominal") -> float | None:
    """The definition, word for word: mean squared difference within units over that of all labels."""
    paired = [[x for x in unit if x is not None] for unit in units]
    paired = [unit for unit in paired if len(unit) >= 2]
    everything = [x for unit in paired for x in unit]

    def squared(c: int, k: int) -> float:
        if scale == "nominal":
            return float(c != k)
        low, high = sorted((c, k))
        between = sum(low <= x <= high for x in everything)
        return (between - (everything.count(c) + everything.count(k)) / 2) ** 2

    n = len(everything)
    observed = sum(squared(*two) / (len(unit) - 1) for unit in paired for two in permutations(unit, 2)) / n
    expected = sum(squared(*two) for two in permutations(everything, 2)) / (n * (n - 1))
    return None if expected == 0 else 1 - observed / expected


OBSERVERS: list[list[int | None]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


@pytest.mark.parametrize(("scale", "published"), [("nominal", 0.743), ("ordinal", 0.815)])
def test_alpha_of_krippendorffs_example_with_missing_labels(scale, published) -> None:
    # Krippendorff (2011), sections C and E: four observers, twelve units
    units = [list(unit) for unit in zip(*OBSERVERS, strict=True)]
    assert alpha_values(coincidences(units), scale) == pytest.approx(published, abs=5e-4)
    assert slow_alpha(units, scale) == pytest.approx(published, abs=5e-4)


def test_alpha_of_krippendorffs_binary_example() -> None:
    # Krippendorff (2011), section A: two observers, ten units: α = .095
    a = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    b = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    units = [list(unit) for unit in zip(a, b, strict=True)]
    assert alpha_values(coincidences(units)) == pytest.approx(0.095, abs=5e-4)


def test_alpha_of_krippendorffs_nominal_example() -> None:
    # Krippendorff (2011), section B: two observers, twelve units, five categories: α = .692
    meg = ["a", "a", "b", "b", "d", "c", "c", "c", "e", "d", "d", "a"]
    owen = ["b", "a", "b", "b", "b", "c", "c", "c", "e", "d", "d", "d"]
    units = [["abcde".index(x) for x in unit] for unit in zip(meg, owen, strict=True)]
    assert alpha_values(coincidences(units)) == pytest.approx(0.692, abs=5e-4)


def test_alpha_is_undefined_with_one_label_and_without_pairs() -> None:
    alike = LabelTable.of([[0, position, who, -1, 0, 0, 2] for position in (0, 1) for who in (1, 2)])
    assert summarise(count_steps(alike)).figures["alpha"].reason == "both annotators used one label only"
    apart = LabelTable.of([[0, 0, 1, -1, 0, 0, 2], [0, 1, 2, 0, 0, 0, 2]])
    alpha = summarise(count_steps(apart)).figures["alpha"]
    assert replace(alpha, interval=None) == Measure(
        None, 0, "there are no steps that two annotators labelled"
    )


@given(st.lists(st.lists(st.none() | label, min_size=2, max_size=6), min_size=1, max_size=20))
def test_alpha_from_counts_of_pairs_is_its_definition(units) -> None:
    # the units are steps of trajectories of three, so that counts of several steps add up
    rows = [
        (unit // 3, unit % 3, who, value, unit // 3, 0, 3)
        for unit, labels in enumerate(units)
        for who, value in enumerate(labels)
        if value is not None
    ]
    figures = summarise(count_steps(LabelTable.of(rows))).figures
    paired = [unit for unit in units if len([x for x in unit if x is not None]) >= 2]
    for scale, name in (("nominal", "alpha"), ("ordinal", "ordinal_alpha")):
        assert figures[name].n == len(paired)
        slow = slow_alpha(units, scale) if paired else None
        assert figures[name].value == (None if slow is None else pytest.approx(slow))
        assert (slow is None) == bool(figures[name].reason)


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


@pytest.mark.parametrize("sizes", [[24], [10, 15], [60]])
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


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_interval_of_a_share_of_all_or_none_is_the_share_however_rounding_spreads_it(value: float) -> None:
    influence = np.array([[1e-17, -1e-17, 1e-17]])
    low, high = ends(np.array([value]), influence, np.zeros(3, dtype=np.int64), share=True)
    assert (low, high) == (value, value)


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


def test_interval_is_not_drawn_when_one_task_carries_the_spread() -> None:
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
    assert other.interval.low is not None
    assert (agreement.interval.low, agreement.interval.reason) == (
        None,
        "too few of the tasks differ for an interval",
    )


def test_subset_of_one_task_is_joined_with_the_smallest_other() -> None:
    sample = PairSums.of(count_steps(LabelTable.of(labels([30, 1, 25, 1]))))
    assert sorted(np.bincount(sample.stratum).tolist()) == [27, 30]
    alone = PairSums.of(count_steps(LabelTable.of(labels([1] * 22))))
    assert (alone.stratum == 0).all()
    bounds = intervals(alone, {"kappa": FIGURES["kappa"]})["kappa"]
    assert bounds.low is not None


def test_single_pairs_have_no_intervals() -> None:
    counts = count_steps(LabelTable.of(labels([25], annotators=3)))
    assert summarise(counts).pairs[0].figures["kappa"].interval.reason == "no interval was asked for"


DATA = Path(__file__).parents[3] / "shared" / "data" / "agentprocessbench"
PREDICTIONS = {
    "GPT-5.2": "GPT-5.2/hotpotqa__blind_gpt-5.2.jsonl",
    "DeepSeek-V3.2": "DeepSeek-V3.2/hotpotqa__blind_deepseek-chat.jsonl",
}

# --- pairs and summaries ---------------------------------------------------------------------------------


def table(*rows: tuple[int, int, int, int]) -> LabelTable:
    """Rows (trajectory, position, annotator, value); every trajectory is a task of its own, one subset."""
    return LabelTable.of([(t, p, who, value, t, 0, 1 + t % 4) for t, p, who, value in rows])


def test_summary_of_three_annotators_has_three_pairs() -> None:
    pairs = pair_up(table((7, 0, 30, 1), (7, 0, 10, -1), (7, 0, 20, 0)))
    rows = sorted(zip(map(tuple, pairs.pair_ids[pairs.pair].tolist()), pairs.a, pairs.b, strict=True))
    assert rows == [((10, 20), -1, 0), ((10, 30), -1, 1), ((20, 30), 0, 1)]


def test_step_that_one_person_labelled_makes_no_pair() -> None:
    pairs = pair_up(table((1, 0, 10, 1), (1, 1, 20, 1), (2, 0, 10, 1)))
    assert len(pairs) == len(pairs.pair_ids) == len(pairs.task_ids) == len(pairs.trajectory_ids) == 0


def test_summary_refuses_two_labels_of_one_person_for_one_step() -> None:
    with pytest.raises(ValueError, match="two labels for one step"):
        pair_up(table((1, 0, 10, 1), (1, 0, 10, 0)))


def test_headline_is_the_mean_over_pairs_weighted_by_n() -> None:
    rng = np.random.default_rng(5)
    rows = []
    for t in range(40):
        for who in ((1, 2), (2, 3), (1, 3))[t % 3]:
            rows += [(t, p, who, int(rng.integers(-1, 2))) for p in range(1 + t % 4)]
    summary = summarise(count_steps(table(*rows)))
    assert [(p.first, p.second) for p in summary.pairs] == [(1, 2), (1, 3), (2, 3)]
    for name, figure in FIGURES.items():
        if figure.pooled:
            continue
        measures = [pair.figures[name] for pair in summary.pairs]
        mean = sum(x.value * x.n for x in measures) / sum(x.n for x in measures)
        assert summary.figures[name].value == pytest.approx(mean)
    of_pairs = sum(pair.confusion for pair in summary.pairs)
    assert (summary.confusion == of_pairs + of_pairs.T).all()
    assert summary.n == sum(pair.n for pair in summary.pairs) == of_pairs.sum()


def test_headline_is_kappa_for_two_annotators_and_alpha_for_more() -> None:
    two, three = table((1, 0, 1, 1), (1, 0, 2, 0)), table((1, 0, 1, 1), (1, 0, 2, 0), (1, 0, 3, 0))
    assert summarise(count_steps(two)).headline == "kappa"
    assert summarise(count_steps(three)).headline == "alpha"
    apart = table((1, 0, 1, 1), (1, 0, 2, 0), (2, 0, 2, 1), (2, 0, 3, 0))
    assert summarise(count_steps(apart)).headline == "alpha"


def test_summary_counts_trajectories_and_units_once_however_many_annotators_they_have() -> None:
    rows = [(t, p, who, 1 if who else p - 1) for t in range(3) for p in range(1 + t) for who in range(2 + t)]
    summary = summarise(count_steps(table(*rows)))
    assert (summary.n_trajectories, summary.figures["alpha"].n, summary.n) == (3, 6, 1 + 2 * 3 + 3 * 6)


def test_outcomes_have_the_figures_that_need_no_sequence_of_steps() -> None:
    rows = [(t, 0, who, (-1, 1, 1)[(t + who) % 3], t, 0, 1) for t in range(6) for who in (1, 2, 3)]
    summary = summarise(count_outcomes(LabelTable.of(rows)))
    assert set(summary.figures) == set(OUTCOME_FIGURES) and summary.offsets is None
    assert not [name for name in summary.figures if "first" in name or "onset" in name or "trans" in name]
    of_steps = summarise(count_steps(LabelTable.of(rows))).figures
    assert summary.figures == {name: of_steps[name] for name in OUTCOME_FIGURES}
    assert (summary.n_trajectories, summary.n) == (6, 18)


def test_figures_without_people_have_no_pairs() -> None:
    summary = summarise(count_steps(many(30)))
    bare = summary.without_people()
    assert bare.pairs == () and (bare.confusion == bare.confusion.T).all()
    assert bare.confusion.sum() == 2 * summary.n and bare.figures == summary.figures


def test_pair_of_three_annotators_has_the_figures_of_a_project_of_two() -> None:
    rows = [
        (t, p, who, (t * p + who * t) % 3 - 1)
        for t in range(8)
        for p in range(1 + t % 4)
        for who in (1, 2, 3)
    ]
    pair = summarise(count_steps(table(*rows))).pairs[0]
    assert (pair.first, pair.second) == (1, 2)
    alone = summarise(count_steps(table(*(row for row in rows if row[2] != 3))), with_intervals=False)
    assert pair.figures == alone.pairs[0].figures and pair.figures["alpha"] == alone.figures["alpha"]


def test_at_least_leaves_out_pairs_that_share_too_few_until_none_is_left_over() -> None:
    def shared(who: tuple[int, ...], how_many: int, start: int, subset: int) -> list[tuple[int, ...]]:
        return [(start + t, 0, one, 1, start + t, subset, 1) for t in range(how_many) for one in who]

    kept = shared((1, 2), 5, 0, 0)
    few = [*shared((1, 2), 4, 10, 1), *shared((1, 3), 4, 20, 0), *shared((4,), 9, 30, 0)]
    # 1, 5 and 6 share five, but one of them only with 2, who shares that one alone with 5 and 6
    chain = [*shared((1, 5, 6), 4, 40, 0), *shared((1, 2, 5, 6), 1, 50, 0)]
    left = at_least(LabelTable.of([*few, *kept, *chain]), 5)
    assert set(left.trajectory.tolist()) == set(range(5)) and set(left.annotator.tolist()) == {1, 2}
    assert len(at_least(LabelTable.of([]), 5)) == len(at_least(LabelTable.of(few), 5)) == 0


def test_pair_without_the_figure_is_left_out_of_the_mean() -> None:
    rows = [(0, p, who, 1) for p in range(3) for who in (1, 2)]  # κ of 1 and 2 is undefined
    rows += [(1, 0, 1, 1), (1, 0, 3, 1), (1, 1, 1, -1), (1, 1, 3, -1)]
    summary = summarise(count_steps(table(*rows)))
    assert summary.pairs[0].figures["kappa"].reason == "both annotators used one label only"
    assert summary.figures["kappa"].value == pytest.approx(1.0)


@pytest.mark.parametrize("count", [count_steps, count_outcomes])
def test_summary_of_no_labels_has_no_figures(count) -> None:
    summary = summarise(count(LabelTable.of([])))
    assert summary.n == summary.n_tasks == summary.n_annotators == 0 and summary.pairs == ()
    for measure in summary.figures.values():
        assert measure.value is None and measure.reason.startswith("there ") and measure.n == 0
        assert measure.interval is not None and measure.interval.low is None
    assert (summary.confusion == 0).all()


def many(n_tasks: int, n_subsets: int = 2, seed: int = 3) -> LabelTable:
    rng = np.random.default_rng(seed)
    rows = []
    for t in range(n_tasks):
        for p in range(5):
            truth = int(rng.integers(-1, 2))
            for who in (1, 2):
                value = truth if rng.random() < 0.8 else int(rng.integers(-1, 2))
                rows.append((t, p, who, value, t, t % n_subsets, 5))
    return LabelTable.of(rows)


def test_kappas_of_pairs_are_scikit_learns_on_random_tables_with_missing_labels() -> None:
    rng = np.random.default_rng(12)
    for _ in range(120):
        annotators, n_tasks = int(rng.integers(2, 26)), int(rng.integers(1, 12))
        labels = rng.choice([-1, 0, 1], p=rng.dirichlet([1, 1, 1]), size=(n_tasks * 3, annotators))
        there = rng.random(labels.shape) < rng.uniform(0.2, 1)
        step, who = np.nonzero(there)
        columns = [step // 3, step % 3, who, labels[there], step // 3, step // 3 % 2, np.full(len(step), 3)]
        counts = count_steps(LabelTable.of(np.column_stack(columns)))
        found = tables(PairSums.of(counts).totals())
        pairs = sorted(set(zip(counts.first.tolist(), counts.second.tolist(), strict=True)))
        for pair, (first, second) in enumerate(pairs[:3]):
            both = there[:, first] & there[:, second]
            a, b = labels[both, first], labels[both, second]
            assert found[pair].sum() == both.sum()
            for weights in get_args(Weights):
                mine = kappa_values(found[pair], weights)
                if len({*a, *b}) == 1:
                    assert np.isnan(mine)
                    continue
                name = None if weights == "plain" else weights
                theirs = cohen_kappa_score(a, b, labels=[-1, 0, 1], weights=name)
                assert mine == pytest.approx(theirs, abs=1e-9)


# --- the published predictions ---------------------------------------------------------------------------


def published() -> tuple[list[list[int]], list[list[dict[int, int]]], list[list[int]]]:
    """Rows of GPT-5.2 (1) and DeepSeek-V3.2 (2) on HotpotQA; by trajectory, the labels and outcomes."""
    records = [json.loads(line) for line in (DATA / "hotpotqa.jsonl").read_text("utf-8").splitlines()]
    rows: list[list[int]] = []
    labels: list[list[dict[int, int]]] = [[] for _ in records]
    outcomes: list[list[int]] = [[] for _ in records]
    for who, name in enumerate(PREDICTIONS.values(), start=1):
        newest: dict[str, dict] = {}
        for line in (DATA / "predictions" / name).read_text("utf-8").splitlines():
            judged = json.loads(line)
            known = newest.get(judged["record_id"])
            if known is None or judged["updated_at"] >= known["updated_at"]:
                newest[judged["record_id"]] = judged
        for number, record in enumerate(records):
            key = f"{record['data_source']}:{record['query_index']}:{record['sample_index']}"
            given = {int(i): v for i, v in newest[key]["step_labels"].items()}
            labels[number].append(given)
            outcomes[number].append(newest[key]["final_label"])
            for position, index in enumerate(sorted(given)):
                rows.append([number, position, who, given[index], record["query_index"], 0, len(given)])
    return rows, labels, outcomes


@pytest.mark.published
def test_summary_has_the_published_figures() -> None:
    rows, labels, outcomes = published()
    summary = summarise(count_steps(LabelTable.of(rows)))
    figures = summary.figures
    assert (summary.n, summary.n_trajectories, summary.n_tasks) == (734, 250, 50)
    assert round(figures["percent_agreement"].value, 4) == 0.7670
    assert round(figures["kappa"].value, 4) == 0.4964
    assert round(figures["linear_kappa"].value, 4) == 0.5432
    assert round(figures["quadratic_kappa"].value, 4) == 0.5869
    assert (round(figures["transition_kappa"].value, 4), figures["transition_kappa"].n) == (0.5425, 616)
    assert figures["kappa"].interval.low < 0.4964 < figures["kappa"].interval.high

    a = [r[3] for r in rows if r[2] == 1]
    b = [r[3] for r in rows if r[2] == 2]
    assert figures["kappa"].value == pytest.approx(cohen_kappa_score(a, b))
    errors = cohen_kappa_score([x == -1 for x in a], [x == -1 for x in b])
    assert figures["error_kappa"].value == pytest.approx(errors)
    found = [[min((i for i, v in given.items() if v == -1), default=None) for given in two] for two in labels]
    presence = cohen_kappa_score([f[0] is not None for f in found], [f[1] is not None for f in found])
    assert figures["error_presence_kappa"].value == pytest.approx(presence)
    both = [f for f in found if None not in f]
    assert figures["first_error_agreement"].n == len(both)
    assert figures["first_error_agreement"].value == pytest.approx(sum(x == y for x, y in both) / len(both))

    submitted = [
        SubmittedLabels({step: (two[0][step], two[1][step]) for step in two[0]}, tuple(finals))
        for two, finals in zip(labels, outcomes, strict=True)
    ]
    assert [one.unanimous for one in submitted].count(True) == 158


runs_of_labels = st.lists(st.lists(st.tuples(label, label), min_size=1, max_size=8), min_size=1, max_size=12)


def two_annotators(runs: list[list[tuple[int, int]]]) -> Summary:
    """The summary of the labels of annotators 1 and 2: one trajectory a run, one task a trajectory."""
    rows = [
        (run, position, annotator, value, run, 0, len(steps))
        for run, steps in enumerate(runs)
        for position, pair in enumerate(steps)
        for annotator, value in enumerate(pair, 1)
    ]
    return summarise(count_steps(LabelTable.of(rows)))


def test_first_errors_by_trajectory() -> None:
    values = [1, -1, -1, 1, 1, -1]
    groups = [0, 0, 0, 1, 1, 2]
    assert first_positions(values, groups, [0, 1, 2, 0, 1, 0], 3).tolist() == [1, -1, 0]


def test_first_errors_fall_into_classes_seen_from_the_first_annotator() -> None:
    good, bad = 1, -1
    a_first = [(good, good), (bad, good), (good, bad)]
    summary = two_annotators(
        [
            [(good, bad), (good, good), (bad, good)],  # the second annotator's: two before
            a_first,
            [(bad, bad), (bad, good)],
            [(bad, good), (good, good), (good, good), (good, bad)],
            [(good, good), (bad, 0)],
            [(0, bad)],
            [(good, 0)],
            [(good, good)],
        ]
    )
    assert summary.pairs[0].first_errors == FirstErrors(1, 0, 1, 1, 1, 1, 1, 2)
    assert summary.offsets == Offsets(exact=1, one_step_off=1, farther_off=2, one_only=2, neither=2)
    assert (summary.figures["first_error_agreement"].value, summary.offsets.n) == (0.25, 8)


def slow_onset_kappa(runs: list[list[tuple[int, int]]]) -> tuple[float | None, int]:
    """κ, by scikit-learn, of "is the first error" over the steps up to the first that either found."""
    units: list[tuple[bool, bool]] = []
    for run in runs:
        firsts = [next((k for k, pair in enumerate(run) if pair[who] == -1), len(run)) for who in (0, 1)]
        units += [(k == firsts[0], k == firsts[1]) for k in range(len(run)) if k <= min(firsts)]
    a, b = [one for one, _ in units], [two for _, two in units]
    return (cohen_kappa_score(a, b) if len({*a, *b}) == 2 else None), len(units)


@given(runs_of_labels)
def test_onset_kappa_is_its_definition(runs) -> None:
    measure = two_annotators(runs).figures["onset_kappa"]
    value, n = slow_onset_kappa(runs)
    assert measure.n == n
    assert measure.value == (None if value is None else pytest.approx(value))
    assert (value is None) == bool(measure.reason)


@given(runs_of_labels)
def test_onset_kappa_is_the_same_when_errors_are_filled_to_the_end(runs) -> None:
    filled = []
    for run in runs:
        seen = [False, False]
        steps = []
        for pair in run:
            seen = [was or value == -1 for was, value in zip(seen, pair, strict=True)]
            steps.append(tuple(-1 if was else value for was, value in zip(seen, pair, strict=True)))
        filled.append(steps)
    assert two_annotators(filled).figures["onset_kappa"] == two_annotators(runs).figures["onset_kappa"]


def test_trajectory_of_which_a_label_is_missing_counts_for_no_figure_of_whole_trajectories() -> None:
    rows = [(0, position, who, -1, 0, 0, 3) for position in (0, 1) for who in (1, 2)]
    figures = summarise(count_steps(LabelTable.of(rows))).figures
    assert figures["percent_agreement"].n == 2
    for name in ("error_presence_kappa", "onset_kappa"):
        assert figures[name].reason == "there are no trajectories that two annotators labelled completely"
    assert figures["first_error_agreement"].n == 0


def slow_transition_kappa(runs: list[list[tuple[int, int]]]) -> tuple[float | None, int]:
    """The definition of docs/design.md, "Statistics", word for word."""
    strata: dict[object, list[tuple[int, int]]] = {}
    for run in runs:
        for i, pair in enumerate(run):
            if i == 0:
                strata.setdefault("start", []).append(pair)
            elif run[i - 1][0] == run[i - 1][1]:
                strata.setdefault(run[i - 1][0], []).append(pair)
    above = possible = 0.0
    for units in strata.values():
        n = len(units)
        agreed = sum(a == b for a, b in units) / n
        chance = sum(
            sum(a == v for a, _ in units) / n * sum(b == v for _, b in units) / n for v in (-1, 0, 1)
        )
        above += n * (agreed - chance)
        possible += n * (1 - chance)
    n = sum(map(len, strata.values()))
    return (above / possible if possible > 1e-9 else None), n


@given(runs_of_labels)
def test_transition_kappa_is_its_definition(runs) -> None:
    measure = two_annotators(runs).figures["transition_kappa"]
    value, n = slow_transition_kappa(runs)
    assert measure.n == n
    if value is None:
        assert measure.value is None and measure.reason
    else:
        assert measure.value == pytest.approx(value)


def test_step_without_its_previous_step_is_no_unit() -> None:
    assert strata([1, 1], [1, 1], [0, 0], [0, 2]).tolist() == [STRATA - 1, NO_UNIT]
