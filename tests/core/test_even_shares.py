"""Pairs that meet evenly: places dealt beforehand, and a queue of people of different speed."""

from __future__ import annotations

import heapq
import random
from bisect import bisect_left
from collections import Counter
from itertools import combinations

import pytest

from annotation.core.sharing.even_shares import EvenShares, by_preference

PEOPLE, TRAJECTORIES, NEXT, TRIED = 6, 1_000, 128, 8
QUOTA, LEFT_LYING = 337, 0.02
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


class Queue:
    """Places for two, claimed by people of these speeds as services.assign.claiming does it; of a few claims
    nothing comes until they expire."""

    def __init__(self, speeds: list[float], *, even: bool) -> None:
        self.rng, self.speeds, self.even = random.Random(1), speeds, even
        self.holders: list[list[int]] = [[] for _ in range(TRAJECTORIES)]
        self.had: list[set[int]] = [set() for _ in range(TRAJECTORIES)]
        self.has, self.met = Counter[int](), [Counter[int]() for _ in speeds]
        self.free, self.cursor = list(range(TRAJECTORIES)), [0] * PEOPLE
        self.left_lying: list[tuple[int, int]] = []

    def work_off(self, quota: int | None) -> None:
        """Claim until nobody can have more."""
        turns = [(self.rng.uniform(0.5, 1.5) / speed, person) for person, speed in enumerate(self.speeds)]
        heapq.heapify(turns)
        while turns:
            now, person = heapq.heappop(turns)
            claimed = self.claim(person, quota)
            if claimed is None:
                continue
            if self.rng.random() < LEFT_LYING:
                self.left_lying.append((person, claimed))
            heapq.heappush(turns, (now + self.rng.uniform(0.5, 1.5) / self.speeds[person], person))

    def claim(self, person: int, quota: int | None) -> int | None:
        if quota is not None and self.has[person] >= quota:
            return None
        ahead = self.free[bisect_left(self.free, self.cursor[person]) :]
        rows = ahead[:NEXT]
        if quota is not None:
            rows += [pk for pk in ahead[NEXT:] if not self.holders[pk]][:TRIED]
        waiting = [(pk, self.holders[pk]) for pk in rows if person not in self.had[pk]]
        waiting = waiting or [(pk, self.holders[pk]) for pk in self.free if person not in self.had[pk]][:1]
        if not waiting:
            return None
        share = None if quota is None else quota / (PEOPLE - 1)
        order = by_preference(waiting, self.met[person], share=share)
        taken = order[0] if self.even else waiting[0][0]
        self.cursor[person] = max(self.cursor[person], waiting[0][0])
        self._meet(person, taken, 1)
        self.holders[taken].append(person)
        self.had[taken].add(person)
        self.has[person] += 1
        if len(self.holders[taken]) == 2:
            self.free.remove(taken)
        return taken

    def expire(self) -> None:
        """What was left lying is free again, for others."""
        for person, pk in self.left_lying:
            self.holders[pk].remove(person)
            self.has[person] -= 1
            self._meet(person, pk, -1)
        self.free = [pk for pk, people in enumerate(self.holders) if len(people) < 2]
        self.left_lying, self.cursor = [], [0] * PEOPLE

    def _meet(self, person: int, pk: int, times: int) -> None:
        for other in self.holders[pk]:
            self.met[person][other] += times
            self.met[other][person] += times


def off(speeds: list[float], *, quota: int | None = None, even: bool = True) -> float:
    """How far the pairs are off their mean at most, once all places are taken."""
    queue = Queue(speeds, even=even)
    queue.work_off(quota)
    while queue.left_lying:
        queue.expire()
        queue.work_off(quota)
    # an admin lifts it for the last few
    queue.work_off(None)
    while queue.left_lying:
        queue.expire()
        queue.work_off(None)
    assert [len({*people}) for people in queue.holders] == [2] * TRAJECTORIES
    return max(abs(queue.met[one][other] - MEAN) for one, other in PAIRS) / MEAN


@pytest.mark.parametrize(
    ("speeds", "quota"),
    [
        ([1.0] * PEOPLE, None),
        ([1.2, 1.2, 1, 1, 1, 1], QUOTA),
        ([1, 1, 1, 1, 1, 0.7], QUOTA),
        ([1, 0.85, 0.93, 0.97, 0.55, 0.54], QUOTA),
        ([5, 2, 1, 1, 0.5, 0.2], QUOTA),
    ],
    ids=["alike", "two faster", "one slower", "two as slow", "each another"],
)
def test_every_pair_of_a_queue_is_well_within_a_fifth_of_the_mean_and_nothing_is_left(
    speeds: list[float], quota: int | None
) -> None:
    """People of any speed, where each may have 1 % more than an even share; without quotas, of one speed."""
    assert off(speeds, quota=quota) < min(0.16, off(speeds, quota=quota, even=False))


def test_without_quotas_a_queue_ends_for_people_of_any_speed() -> None:
    assert off([5, 2, 1, 1, 0.5, 0.2]) > 1


def test_a_place_is_left_to_somebody_else_only_for_a_while() -> None:
    met = {2: 9, 3: 1, 4: 1}
    assert by_preference([(10, [2]), (11, []), (12, [3])], met) == [12, 11, 10]
    assert by_preference([(10, [2]), (11, [])], met) == [11, 10]
    assert by_preference([(10, [2]), (11, []), (12, [2]), (13, [2])], met) == [10, 12, 13, 11]
    assert by_preference([(10, [2, 3]), (11, [3, 4])], met) == [11, 10]
    assert by_preference([(10, []), (11, [])], {}) == [10, 11]


def test_who_has_met_the_others_their_whole_share_begins_trajectories_for_who_has_not() -> None:
    waiting = [(10, [2]), (11, []), (12, [2]), (13, [2]), (14, [])]
    assert by_preference(waiting, {2: 5, 3: 5}, share=5.2) == [10, 12, 13, 11, 14]
    assert by_preference(waiting, {2: 6, 3: 6}, share=5.2) == [11, 14, 10, 12, 13]
    assert by_preference([*waiting, (15, [3])], {2: 6, 3: 5}, share=5.2) == [15, 11, 14, 10, 12, 13]
