"""Pairs that meet evenly: places dealt beforehand, and a queue of people of different speed."""

from __future__ import annotations

import heapq
import random
from bisect import bisect_left
from collections import Counter
from itertools import combinations

import pytest

from annotation.core.even_shares import EvenShares, by_preference

PEOPLE, TRAJECTORIES, NEXT = 6, 1_000, 128
PAIRS = list(combinations(range(PEOPLE), 2))
MEAN = TRAJECTORIES / len(PAIRS)


def test_places_dealt_beforehand_make_all_pairs_equal() -> None:
    shares = EvenShares(range(PEOPLE), [], seed=3)
    for trajectory in range(TRAJECTORIES):
        assert len(shares.deal(trajectory, places=2, holders=(), barred=())) == 2
    assert {*shares.load.values()} == {333, 334}
    assert {shares.met[one][other] for one, other in PAIRS} == {66, 67}


def test_dealing_goes_on_from_what_people_have_and_leaves_out_who_is_barred() -> None:
    shares = EvenShares([1, 2, 3], [[1, 2], [1, 2], [1]], seed=3)
    assert shares.deal(7, places=2, holders=[1], barred=()) == [3, 2]
    assert shares.deal(8, places=2, holders=(), barred=[1, 3]) == [2]
    assert shares.deal(9, places=1, holders=[1, 2], barred=[3]) == []


def worked_off(speeds: list[float], *, even: bool, quota: int = TRAJECTORIES) -> tuple[list[int], list[int]]:
    """A queue of places for two, claimed by people of these speeds until nobody can have more, as
    services.assign.claiming does it: what each pair has in common, and how many places are left."""
    rng = random.Random(1)
    holders: list[list[int]] = [[] for _ in range(TRAJECTORIES)]
    met: list[Counter[int]] = [Counter() for _ in speeds]
    done, cursor = [0] * PEOPLE, [0] * PEOPLE
    free = list(range(TRAJECTORIES))
    turns = [(rng.uniform(0.5, 1.5) / speed, person) for person, speed in enumerate(speeds)]
    heapq.heapify(turns)
    while turns:
        now, person = heapq.heappop(turns)
        following = free[bisect_left(free, cursor[person]) :][:NEXT]
        waiting = [(pk, holders[pk]) for pk in following if person not in holders[pk]]
        waiting = waiting or [(pk, holders[pk]) for pk in free if person not in holders[pk]][:1]
        if not waiting or done[person] == quota:
            continue
        taken = by_preference(waiting, met[person])[0] if even else waiting[0][0]
        cursor[person] = max(cursor[person], waiting[0][0])
        for other in holders[taken]:
            met[person][other] += 1
            met[other][person] += 1
        holders[taken].append(person)
        done[person] += 1
        if len(holders[taken]) == 2:
            free.remove(taken)
        heapq.heappush(turns, (now + rng.uniform(0.5, 1.5) / speeds[person], person))
    return [met[one][other] for one, other in PAIRS], [2 - len(people) for people in holders]


@pytest.mark.parametrize(
    ("speeds", "quota"),
    [([1.0] * PEOPLE, TRAJECTORIES), ([3.0, 1, 1, 1, 1, 1], 337), ([1.2, 1.2, 1, 1, 1, 1], 337)],
    ids=["alike", "one three times as fast, with a quota", "two faster, with a quota"],
)
def test_every_pair_of_a_queue_is_within_a_fifth_of_the_mean_and_the_queue_ends(
    speeds: list[float], quota: int
) -> None:
    pairs, left = worked_off(speeds, even=True, quota=quota)
    assert sum(left) <= 10 and min(pairs) >= 0.8 * MEAN and max(pairs) <= 1.2 * MEAN, (pairs, sum(left))
    before, _left = worked_off(speeds, even=False, quota=quota)
    assert max(before) - min(before) > max(pairs) - min(pairs)


def test_the_queue_ends_for_people_of_any_speed() -> None:
    _pairs, left = worked_off([5.0, 2, 1, 1, 0.5, 0.2], even=True)
    assert sum(left) == 0


def test_a_place_is_left_to_somebody_else_only_for_a_while() -> None:
    met = {2: 9, 3: 1, 4: 1}
    assert by_preference([(10, [2]), (11, []), (12, [3])], met) == [12, 10, 11]
    assert by_preference([(10, [2]), (11, [])], met) == [11, 10]
    assert by_preference([(10, [2]), (11, []), (12, [2]), (13, [2])], met) == [10, 12, 13, 11]
    assert by_preference([(10, [2, 3]), (11, [3, 4])], met) == [11, 10]
    assert by_preference([(10, []), (11, [])], {}) == [10, 11]
