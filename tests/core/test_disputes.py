"""Differences of two or three annotators, on tables worked out by hand."""

from __future__ import annotations

import pytest

from annotation.core.disputes import TrajectoryDifferences, differences


@pytest.mark.parametrize(
    ("steps", "outcomes", "expected"),
    [
        # one step +1 against −1: the error is found by one of them only
        ([(1, 1), (1, -1)], (1, 1), TrajectoryDifferences(1, 0, True, False)),
        # 0 against +1: no error anywhere
        ([(0, 1), (1, 1)], (1, 1), TrajectoryDifferences(0, 1, False, False)),
        # 0 against −1, but both find their first error at the first step
        ([(-1, -1), (0, -1)], (-1, -1), TrajectoryDifferences(0, 1, False, False)),
        # the same errors, one step apart
        ([(-1, 1), (-1, -1)], (-1, -1), TrajectoryDifferences(1, 0, True, False)),
        ([(1, 1)], (1, 0), TrajectoryDifferences(0, 0, False, True)),
        ([(1, 1)], (0, 0), TrajectoryDifferences(0, 0, False, False)),
        # of three, two opposite ones make a sign flip whatever the third says
        ([(1, 0, -1), (0, 0, 1)], (1, 1, -1), TrajectoryDifferences(1, 1, True, True)),
        ([(-1, -1, -1), (1, -1, 1)], (1, 1, 1), TrajectoryDifferences(1, 0, False, False)),
    ],
)
def test_differences_are_counted_by_kind(steps, outcomes, expected):
    assert differences(steps, outcomes) == expected


def test_differences_do_not_depend_on_who_is_first():
    steps, outcomes = [(1, -1, 0), (0, 0, 1), (-1, 1, 1)], (1, 0, 0)

    turned = differences([row[::-1] for row in steps], outcomes[::-1])

    assert turned == differences(steps, outcomes)
