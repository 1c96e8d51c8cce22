"""Agreement figures: against scikit-learn, statsmodels, textbook examples and the published predictions."""

import json
import time
import warnings
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, confusion_matrix
from statsmodels.stats.inter_rater import cohens_kappa

from annotation.core.agreement import LabelTable, Measure, pair_up, summarise
from annotation.core.agreement.alpha import nominal_alpha
from annotation.core.agreement.bootstrap import interval, task_weights
from annotation.core.agreement.confusion import confusion, confusion_by, error_tables
from annotation.core.agreement.firsterror import compare_first_errors, first_positions
from annotation.core.agreement.kappa import WEIGHTS, cohen_kappa, kappa_values, percent_agreement
from annotation.core.agreement.summary import Figures
from annotation.core.agreement.transition import transition_kappa, transition_tables
from annotation.core.workflow import settle

DATA = Path(__file__).parents[3] / "shared" / "data" / "agentprocessbench"
PREDICTIONS = {
    "GPT-5.2": "GPT-5.2/hotpotqa__blind_gpt-5.2.jsonl",
    "DeepSeek-V3.2": "DeepSeek-V3.2/hotpotqa__blind_deepseek-chat.jsonl",
}

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
    for weights in WEIGHTS:
        mine = cohen_kappa(table, weights)
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
    a, b = sides(pairs)
    if len({*a, *b}) == 1:
        return
    table = confusion(a, b)
    assert cohen_kappa(table).value == pytest.approx(cohens_kappa(table, return_results=False))
    linear = cohens_kappa(table, wt="linear", return_results=False)
    assert cohen_kappa(table, "linear").value == pytest.approx(linear)
    quadratic = cohens_kappa(table, wt="quadratic", return_results=False)
    assert cohen_kappa(table, "quadratic").value == pytest.approx(quadratic)


def test_kappa_of_a_textbook_table() -> None:
    # 50 grant proposals, two readers: p_o = .7, p_e = .5, κ = .4
    assert cohen_kappa([[20, 5], [10, 15]]).value == pytest.approx(0.4)


def test_annotators_who_never_agree_have_a_defined_kappa() -> None:
    assert cohen_kappa(confusion([1, 1], [-1, -1])).value == pytest.approx(0.0)
    assert cohen_kappa(confusion([1, -1], [-1, 1])).value == pytest.approx(-1.0)


def test_nothing_to_compare_is_undefined_and_says_so() -> None:
    empty = confusion([], [])
    reason = "there are no steps that two annotators labelled"
    assert percent_agreement(empty) == Measure(None, 0, reason)
    assert cohen_kappa(empty) == Measure(None, 0, reason)


def test_percent_agreement_is_the_share_of_equal_labels() -> None:
    assert percent_agreement(confusion([1, 0, -1, 1], [1, 1, -1, 1])).value == 0.75


@pytest.mark.parametrize("bad", [[2], [-2], [0.5], [True], ["1"]])
def test_what_is_no_label_is_refused(bad) -> None:
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
def test_folding_to_errors_is_relabelling(pairs) -> None:
    a, b = sides(pairs)
    folded = error_tables(confusion(a, b))
    assert (
        folded == confusion_matrix([x != -1 for x in a], [x != -1 for x in b], labels=[False, True])
    ).all()


# --- Krippendorff's α ------------------------------------------------------------------------------------


def counts(units: list[list[int | None]]) -> np.ndarray:
    """Label counts of units given as lists of labels, None for missing."""
    labels = sorted({x for unit in units for x in unit if x is not None})
    return np.array([[unit.count(x) for x in labels] for unit in units])


def test_alpha_of_krippendorffs_example_with_missing_labels() -> None:
    # Krippendorff (2011), section D: four observers, twelve units, nominal data with missing ones: α = .743
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    alpha = nominal_alpha(counts([list(unit) for unit in zip(*observers, strict=True)]))
    assert alpha.value == pytest.approx(0.743, abs=5e-4)
    assert alpha.n == 11  # the last unit has one label only


def test_alpha_of_krippendorffs_binary_example() -> None:
    # Krippendorff (2011), section A: two observers, ten units: α = .095
    a = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    b = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    alpha = nominal_alpha(counts([list(unit) for unit in zip(a, b, strict=True)]))
    assert alpha.value == pytest.approx(0.095, abs=5e-4)


def test_alpha_of_krippendorffs_nominal_example() -> None:
    # Krippendorff (2011), section B: two observers, twelve units, five categories: α = .692
    meg = ["a", "a", "b", "b", "d", "c", "c", "c", "e", "d", "d", "a"]
    owen = ["b", "a", "b", "b", "b", "c", "c", "c", "e", "d", "d", "d"]
    alpha = nominal_alpha(counts([list(unit) for unit in zip(meg, owen, strict=True)]))
    assert alpha.value == pytest.approx(0.692, abs=5e-4)


def test_alpha_is_undefined_with_one_label_and_without_pairs() -> None:
    assert nominal_alpha([[2, 0, 0], [2, 0, 0]]).reason == "both annotators used one label only"
    assert nominal_alpha([[1, 0, 0], [0, 1, 0]]) == Measure(
        None, 0, "there are no steps that two annotators labelled"
    )


@given(st.lists(st.tuples(label, label), min_size=150, max_size=200))
@settings(max_examples=20)
def test_alpha_of_two_annotators_is_close_to_kappa_of_their_pooled_marginals(pairs) -> None:
    a, b = sides(pairs)
    table = np.array(confusion(a, b))
    symmetric = table + table.T  # Scott's π: the limit of α for many units
    pi = float(kappa_values(symmetric))
    units = np.array([[unit.count(v) for v in (-1, 0, 1)] for unit in pairs])
    alpha = nominal_alpha(units).value
    if alpha is None:
        assert np.isnan(pi)
    else:
        n = len(pairs)
        assert alpha == pytest.approx(1 - (1 - pi) * (2 * n - 1) / (2 * n))


# --- first errors and transitions ------------------------------------------------------------------------


def test_first_errors_by_trajectory() -> None:
    values = [1, -1, -1, 1, 1, -1]
    groups = [0, 0, 0, 1, 1, 2]
    assert first_positions(values, groups, [0, 1, 2, 0, 1, 0], 3).tolist() == [1, -1, 0]


def test_comparing_first_errors() -> None:
    a = [1, -1, 1, 1, -1, 1]
    b = [1, -1, 1, -1, 1, 1]
    cell, same = compare_first_errors(a, b, [0, 0, 1, 1, 2, 3], [0, 1, 0, 1, 0, 0], 4)
    assert cell.tolist() == [0, 2, 1, 3]
    assert same.tolist() == [True, False, False, False]


def slow_transition_kappa(runs: list[list[tuple[int, int]]]) -> tuple[float | None, int]:
    """DESIGN §9, word for word."""
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


@given(st.lists(st.lists(st.tuples(label, label), min_size=1, max_size=8), min_size=1, max_size=12))
def test_transition_kappa_is_its_definition(runs) -> None:
    a, b = sides([pair for run in runs for pair in run])
    trajectory = [i for i, run in enumerate(runs) for _ in run]
    position = [p for run in runs for p in range(len(run))]
    measure = transition_kappa(transition_tables(a, b, trajectory, position))
    value, n = slow_transition_kappa(runs)
    assert measure.n == n
    if value is None:
        assert measure.value is None and measure.reason
    else:
        assert measure.value == pytest.approx(value)


def test_a_step_without_its_previous_step_is_no_unit() -> None:
    tables = transition_tables([1, 1], [1, 1], [0, 0], [0, 2])
    assert tables.sum() == 1 and tables[3, 2, 2] == 1


# --- pairs and summaries ---------------------------------------------------------------------------------


def table(*rows: tuple[int, int, int, int]) -> LabelTable:
    """Rows (trajectory, position, annotator, value); every trajectory is a task of its own, one subset."""
    return LabelTable.of([(t, p, who, value, t, 0) for t, p, who, value in rows])


def test_three_annotators_make_three_pairs() -> None:
    pairs = pair_up(table((7, 0, 30, 1), (7, 0, 10, -1), (7, 0, 20, 0)))
    rows = sorted(zip(map(tuple, pairs.pair_ids[pairs.pair].tolist()), pairs.a, pairs.b, strict=True))
    assert rows == [((10, 20), -1, 0), ((10, 30), -1, 1), ((20, 30), 0, 1)]


def test_a_step_that_one_person_labelled_makes_no_pair() -> None:
    pairs = pair_up(table((1, 0, 10, 1), (1, 1, 20, 1), (2, 0, 10, 1)))
    assert len(pairs) == pairs.n_pairs == pairs.n_tasks == pairs.n_trajectories == 0


def test_two_labels_of_one_person_for_one_step_are_refused() -> None:
    with pytest.raises(ValueError, match="two labels for one step"):
        pair_up(table((1, 0, 10, 1), (1, 0, 10, 0)))


def test_the_headline_is_the_mean_over_pairs_weighted_by_n() -> None:
    rng = np.random.default_rng(5)
    rows = []
    for t in range(40):
        for who in ((1, 2), (2, 3), (1, 3))[t % 3]:
            rows += [(t, p, who, int(rng.integers(-1, 2))) for p in range(1 + t % 4)]
    summary = summarise(table(*rows))
    assert [(p.first, p.second) for p in summary.pairs] == [(1, 2), (1, 3), (2, 3)]
    for name in ("kappa", "kappa_linear", "kappa_error", "transition", "agreement", "error_presence"):
        measures = [getattr(pair.figures, name) for pair in summary.pairs]
        mean = sum(x.value * x.n for x in measures) / sum(x.n for x in measures)
        assert getattr(summary.figures, name).value == pytest.approx(mean)
    assert (summary.confusion == sum(pair.confusion for pair in summary.pairs)).all()
    assert summary.n == sum(pair.n for pair in summary.pairs) == summary.confusion.sum()


def test_a_pair_without_the_figure_is_left_out_of_the_mean() -> None:
    rows = [(0, p, who, 1) for p in range(3) for who in (1, 2)]  # κ of 1 and 2 is undefined
    rows += [(1, 0, 1, 1), (1, 0, 3, 1), (1, 1, 1, -1), (1, 1, 3, -1)]
    summary = summarise(table(*rows))
    assert summary.pairs[0].figures.kappa.reason == "both annotators used one label only"
    assert summary.figures.kappa.value == pytest.approx(1.0)


def test_no_labels_make_a_summary_without_figures() -> None:
    summary = summarise(LabelTable.of([]), rng=np.random.default_rng(0))
    assert summary.n == summary.n_tasks == 0 and summary.pairs == ()
    for field in fields(Figures):
        measure = getattr(summary.figures, field.name)
        assert measure.value is None and measure.reason and measure.n == 0
        assert measure.interval is not None and measure.interval.low is None
    assert summary.alpha.value is None and (summary.confusion == 0).all()


def many(n_tasks: int, n_subsets: int = 2, seed: int = 3) -> LabelTable:
    rng = np.random.default_rng(seed)
    rows = []
    for t in range(n_tasks):
        for p in range(5):
            truth = int(rng.integers(-1, 2))
            for who in (1, 2):
                value = truth if rng.random() < 0.8 else int(rng.integers(-1, 2))
                rows.append((t, p, who, value, t, t % n_subsets))
    return LabelTable.of(rows)


def test_an_interval_holds_the_figure_and_repeats_with_its_seed() -> None:
    labels = many(40)
    one, two = (summarise(labels, rng=np.random.default_rng(1)) for _ in range(2))
    assert one.figures == two.figures and one.alpha == two.alpha
    for measure in (one.figures.kappa, one.figures.agreement, one.figures.transition, one.alpha):
        assert measure.interval.low < measure.value < measure.interval.high


def test_below_twenty_tasks_there_is_no_interval() -> None:
    kappa = summarise(many(19), rng=np.random.default_rng(1)).figures.kappa
    assert kappa.value is not None
    assert (kappa.interval.low, kappa.interval.reason) == (None, "an interval needs at least 20 tasks")
    assert summarise(many(20), rng=np.random.default_rng(1)).figures.kappa.interval.low is not None


def test_without_chance_there_is_no_interval() -> None:
    assert summarise(many(30)).figures.kappa.interval.reason == "no interval was asked for"


def test_tasks_are_drawn_within_their_subset() -> None:
    subsets = np.array([1, 1, 1, 7, 7, 9])
    weights = np.concatenate(list(task_weights(subsets, np.random.default_rng(2), 250)))
    assert weights.shape == (250, 6)
    for subset, size in ((1, 3), (7, 2), (9, 1)):
        assert (weights[:, subsets == subset].sum(axis=1) == size).all()
    assert weights[:, 0].mean() == pytest.approx(1, abs=0.15)


def test_an_interval_that_rests_on_too_few_defined_resamples_is_none() -> None:
    assert interval([0.1, 0.2, np.nan, np.nan], 40).reason == "it is undefined in too many of the resamples"


def test_the_bootstrap_agrees_with_resampling_the_steps_themselves() -> None:
    labels = many(25, n_subsets=1)
    fast = summarise(labels, rng=np.random.default_rng(8)).figures.kappa.interval
    pairs = pair_up(labels)
    rng, values = np.random.default_rng(9), []
    for _ in range(1000):
        rows = np.concatenate([np.flatnonzero(pairs.task == t) for t in rng.integers(0, 25, 25)])
        values.append(float(kappa_values(confusion(pairs.a[rows], pairs.b[rows]))))
    low, high = np.quantile(values, [0.025, 0.975])
    assert (fast.low, fast.high) == (pytest.approx(low, abs=0.03), pytest.approx(high, abs=0.03))


def test_a_large_project_is_summarised_within_a_second() -> None:
    rng = np.random.default_rng(4)
    n = 8509
    trajectory = np.repeat(np.arange(1000), 9)[:n]
    position = np.concatenate([np.arange(9)] * 1000)[:n]
    rows = [
        np.column_stack([trajectory, position, np.full(n, who), rng.integers(-1, 2, n), trajectory // 5,
                         trajectory % 4])
        for who in (1, 2)
    ]  # fmt: skip
    labels = LabelTable.of(np.concatenate(rows))
    start = time.process_time()  # our own work: a busy machine is not a finding
    summarise(labels, rng=rng)
    assert time.process_time() - start < 1.0


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
                rows.append([number, position, who, given[index], record["query_index"], 0])
    return rows, labels, outcomes


@pytest.mark.published
def test_the_published_figures() -> None:
    rows, labels, outcomes = published()
    summary = summarise(LabelTable.of(rows), rng=np.random.default_rng(0))
    figures = summary.figures
    assert (summary.n, summary.n_trajectories, summary.n_tasks) == (734, 250, 50)
    assert round(figures.agreement.value, 4) == 0.7670
    assert round(figures.kappa.value, 4) == 0.4964
    assert round(figures.kappa_linear.value, 4) == 0.5432
    assert round(figures.kappa_quadratic.value, 4) == 0.5869
    assert (round(figures.transition.value, 4), figures.transition.n) == (0.5425, 616)
    assert figures.kappa.interval.low < 0.4964 < figures.kappa.interval.high

    a = [r[3] for r in rows if r[2] == 1]
    b = [r[3] for r in rows if r[2] == 2]
    assert figures.kappa.value == pytest.approx(cohen_kappa_score(a, b))
    errors = cohen_kappa_score([x == -1 for x in a], [x == -1 for x in b])
    assert figures.kappa_error.value == pytest.approx(errors)
    found = [[min((i for i, v in given.items() if v == -1), default=None) for given in two] for two in labels]
    presence = cohen_kappa_score([f[0] is not None for f in found], [f[1] is not None for f in found])
    assert figures.error_presence.value == pytest.approx(presence)
    both = [f for f in found if None not in f]
    assert figures.first_error.n == len(both)
    assert figures.first_error.value == pytest.approx(sum(x == y for x, y in both) / len(both))

    states = [settle(two, finals)[0].value for two, finals in zip(labels, outcomes, strict=True)]
    assert (states.count("disputed"), states.count("unanimous")) == (92, 158)
