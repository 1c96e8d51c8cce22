"""The sample of rechecks, their gaps, and the confusion of raters."""

from math import isclose

import numpy as np
import pytest
from scipy import stats

from annotation.core.rechecks.rater_confusion import rater_confusion
from annotation.core.rechecks.sampling import chosen, gap, origin_of, rank

# Dawid and Skene 1979, table 1: 45 patients, the first anaesthetist three times, the others once.
PATIENTS = (
    "1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 "
    "2322223 4444444 2223343 1111111 2223212 1211111 1112111 1111111 1111111 "
    "2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 "
    "1111111 1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343 "
    "2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111 2222222"
)


def anaesthetists() -> np.ndarray:
    counts = np.zeros((len(PATIENTS.split()), 5, 4), dtype=np.int64)
    for patient, answers in enumerate(PATIENTS.split()):
        for column, answer in enumerate(answers):
            counts[patient, max(0, column - 2), int(answer) - 1] += 1
    return counts


def test_confusion_of_raters_is_what_dawid_and_skene_published() -> None:
    found = rater_confusion(anaesthetists())

    assert found is not None
    assert found.marginals.round(2).tolist() == [0.40, 0.42, 0.11, 0.07]  # table 2
    assert found.rates[0].round(2).tolist() == [  # table 3, observer 1
        [0.89, 0.11, 0.00, 0.00],
        [0.07, 0.88, 0.05, 0.00],
        [0.00, 0.34, 0.66, 0.00],
        [0.00, 0.00, 0.56, 0.44],
    ]


def test_confusion_of_raters_does_not_depend_on_the_order_of_units_and_people() -> None:
    counts = anaesthetists()
    shuffled = np.random.default_rng(1).permutation(len(counts))

    there = rater_confusion(counts[shuffled][:, ::-1])

    here = rater_confusion(counts)
    assert here is not None and there is not None
    np.testing.assert_allclose(there.rates[::-1], here.rates, atol=1e-9)


def test_confusion_of_raters_without_an_answer_is_none() -> None:
    assert rater_confusion(np.zeros((3, 2, 3), dtype=np.int64)) is None


@pytest.mark.parametrize("percent", [1, 3, 5, 20, 50, 100])
def test_a_sample_has_the_share_of_every_stratum_that_was_asked_for(percent: int) -> None:
    for stratum in range(5):
        taken = [
            chosen(seed=7, stratum=stratum, series="third", number=i, percent=percent) for i in range(2000)
        ]

        assert abs(sum(taken) - 20 * percent) <= 2 + 0.02 * 20 * percent


def test_a_sample_of_five_percent_takes_one_of_each_twenty_anywhere_among_them() -> None:
    places = [
        [i % 20 for i in range(2000) if chosen(seed=seed, stratum=1, series="third", number=i, percent=5)]
        for seed in range(20)
    ]

    assert {len(place) for place in places} == {100}
    assert stats.chisquare(np.bincount(np.concatenate(places), minlength=20)).pvalue > 0.001


def test_a_sample_is_told_by_nothing_but_the_seed() -> None:
    def drawn(seed: int) -> list[bool]:
        return [chosen(seed=seed, stratum=1, series="third", number=i, percent=5) for i in range(400)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_a_sample_of_nothing_and_of_everything() -> None:
    assert not any(chosen(seed=1, stratum=1, series="x", number=i, percent=0) for i in range(200))
    assert all(chosen(seed=1, stratum=1, series="x", number=i, percent=100) for i in range(200))


def test_gaps_leave_room_for_twice_the_rechecks_that_arise() -> None:
    gaps = [gap(seed=1, recheck=pk, demand=0.075) for pk in range(3000)]

    assert min(gaps) == 0
    assert isclose(float(np.mean(gaps)), 1 / (2 * 0.075), rel_tol=0.05)
    assert {gap(seed=1, recheck=pk, demand=2.0) for pk in range(50)} == {0}


def test_ranks_of_people_are_drawn_anew_for_each_trajectory_and_turn() -> None:
    first = [
        min(range(5), key=lambda p, t=t: rank(seed=1, trajectory=t, person=p, turn=0)) for t in range(200)
    ]

    assert set(first) == set(range(5))
    assert rank(seed=1, trajectory=1, person=1, turn=0) != rank(seed=1, trajectory=1, person=1, turn=1)


@pytest.mark.parametrize(
    ("kinds", "origin"),
    [
        ({"unanimous"}, "unanimous"),
        ({"unanimous", "discussed"}, "discussed"),
        ({"unanimous", "discussed", "adjudicated"}, "adjudicated"),
    ],
)
def test_the_origin_of_a_trajectory_is_that_of_its_most_disputed_part(kinds: set[str], origin: str) -> None:
    assert origin_of(frozenset(kinds)) == origin
