"""Agreement figures of one table: against scikit-learn, statsmodels and textbook examples."""

import warnings
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from annotation.core.agreement import LabelTable, Measure, count_steps, summarise
from annotation.core.agreement.alpha import Scale, alpha_values
from annotation.core.agreement.figures import FIGURES
from annotation.core.figures.confusion import confusion, confusion_by, error_tables
from annotation.core.figures.kappa import ac1_values, agreement_values, kappa_values

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
