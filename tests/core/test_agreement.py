"""Agreement figures of one table: against scikit-learn, statsmodels and textbook examples."""

import warnings
from dataclasses import replace
from typing import get_args

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, confusion_matrix
from statsmodels.stats.inter_rater import cohens_kappa

from annotation.core.agreement import LabelTable, Measure, summarise
from annotation.core.agreement.alpha import alpha_sums, alpha_values
from annotation.core.agreement.confusion import confusion, confusion_by, error_tables
from annotation.core.agreement.firsterror import compare_first_errors, first_positions
from annotation.core.agreement.kappa import Weights, agreement_values, kappa_values
from annotation.core.agreement.measure import ONE_LABEL, measured
from annotation.core.agreement.transition import NO_UNIT, STRATA, strata

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
    for weights in get_args(Weights):
        mine = measured(float(kappa_values(table, weights)), len(pairs), ONE_LABEL)
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
    nothing = summarise(LabelTable.of([])).figures
    for measure in (nothing.agreement, nothing.kappa):
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


def two_annotators(runs: list[list[tuple[int, int]]]) -> LabelTable:
    """The labels of annotators 1 and 2: one trajectory a run, one task a trajectory."""
    rows = [
        (run, position, annotator, value, run, 0)
        for run, steps in enumerate(runs)
        for position, pair in enumerate(steps)
        for annotator, value in enumerate(pair, 1)
    ]
    return LabelTable.of(rows)


# --- Krippendorff's α ------------------------------------------------------------------------------------


def counts(units: list[list[int | None]]) -> np.ndarray:
    """Label counts of units given as lists of labels, None for missing."""
    labels = sorted({x for unit in units for x in unit if x is not None})
    return np.array([[unit.count(x) for x in labels] for unit in units])


def alpha_of(units: npt.ArrayLike) -> float:
    """α of label counts per unit."""
    return float(alpha_values(alpha_sums(units)[0].sum(axis=0)))


def test_alpha_of_krippendorffs_example_with_missing_labels() -> None:
    # Krippendorff (2011), section D: four observers, twelve units, nominal data with missing ones: α = .743
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    units = counts([list(unit) for unit in zip(*observers, strict=True)])
    assert alpha_of(units) == pytest.approx(0.743, abs=5e-4)
    assert alpha_sums(units)[1].sum() == 11  # the last unit has one label only


def test_alpha_of_krippendorffs_binary_example() -> None:
    # Krippendorff (2011), section A: two observers, ten units: α = .095
    a = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    b = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert alpha_of(counts([list(unit) for unit in zip(a, b, strict=True)])) == pytest.approx(0.095, abs=5e-4)


def test_alpha_of_krippendorffs_nominal_example() -> None:
    # Krippendorff (2011), section B: two observers, twelve units, five categories: α = .692
    meg = ["a", "a", "b", "b", "d", "c", "c", "c", "e", "d", "d", "a"]
    owen = ["b", "a", "b", "b", "b", "c", "c", "c", "e", "d", "d", "d"]
    units = counts([list(unit) for unit in zip(meg, owen, strict=True)])
    assert alpha_of(units) == pytest.approx(0.692, abs=5e-4)


def test_alpha_is_undefined_with_one_label_and_without_pairs() -> None:
    assert np.isnan(alpha_of([[2, 0, 0], [2, 0, 0]])) and np.isnan(alpha_of([[1, 0, 0], [0, 1, 0]]))
    alike = two_annotators([[(-1, -1), (-1, -1)]])
    assert summarise(alike).alpha.reason == "both annotators used one label only"
    apart = LabelTable.of([[0, 0, 1, -1, 0, 0], [0, 1, 2, 0, 0, 0]])
    alpha = summarise(apart).alpha
    assert replace(alpha, interval=None) == Measure(
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
    alpha = alpha_of(units)
    if np.isnan(alpha):
        assert np.isnan(pi)
    else:
        n = len(pairs)
        assert alpha == pytest.approx(1 - (1 - pi) * (2 * n - 1) / (2 * n))


# --- first errors and transitions ------------------------------------------------------------------------


def test_first_errors_by_trajectory() -> None:
    values = [1, -1, -1, 1, 1, -1]
    groups = [0, 0, 0, 1, 1, 2]
    assert first_positions(values, groups, [0, 1, 2, 0, 1, 0], 3).tolist() == [1, -1, 0]


def test_first_errors_are_compared() -> None:
    a = [1, -1, 1, 1, -1, 1]
    b = [1, -1, 1, -1, 1, 1]
    cell, same = compare_first_errors(a, b, [0, 0, 1, 1, 2, 3], [0, 1, 0, 1, 0, 0], 4)
    assert cell.tolist() == [0, 2, 1, 3]
    assert same.tolist() == [True, False, False, False]


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


@given(st.lists(st.lists(st.tuples(label, label), min_size=1, max_size=8), min_size=1, max_size=12))
def test_transition_kappa_is_its_definition(runs) -> None:
    measure = summarise(two_annotators(runs)).figures.transition
    value, n = slow_transition_kappa(runs)
    assert measure.n == n
    if value is None:
        assert measure.value is None and measure.reason
    else:
        assert measure.value == pytest.approx(value)


def test_step_without_its_previous_step_is_no_unit() -> None:
    assert strata([1, 1], [1, 1], [0, 0], [0, 2]).tolist() == [STRATA - 1, NO_UNIT]
