"""Agreement on sequences of labels: first errors, where errors begin, and transitions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from annotation.core.agreement import LabelTable, Summary, count_steps, summarise
from annotation.core.agreement.transition import NO_UNIT, STRATA, strata
from annotation.core.figures.first_errors import FirstErrors, Offsets, first_positions

label = st.integers(-1, 1)
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
