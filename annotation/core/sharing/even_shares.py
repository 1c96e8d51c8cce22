"""Share places out, so that all people get as many, and every two of them meet as often: beforehand
(`EvenShares`), or as far as a queue leaves a choice (`by_preference`)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from math import inf

from annotation.core.rechecks import sampling

AHEAD = 1
"""So much oftener than with others on average two may have met before they leave a place to somebody else."""


class EvenShares:
    """The shares of people, with whom they share them, and their next places.

    Greedy: of those who may, the person who has met the people of a trajectory least often (summed over
    them), of several such the one with the fewest trajectories, of several such chance by the seed. The same
    input gives the same answer.
    """

    def __init__(self, people: Collection[int], held: Iterable[Collection[int]], *, seed: int) -> None:
        """`held`: of each trajectory the people that have it."""
        self.people = sorted(people)
        self.seed = seed
        self.load: Counter[int] = Counter()
        self.met: dict[int, Counter[int]] = defaultdict(Counter)
        for holders in held:
            self._count(holders)

    def _count(self, holders: Collection[int]) -> None:
        self.load.update(holders)
        for one, other in combinations(holders, 2):
            self._meet(one, other)

    def _meet(self, one: int, other: int) -> None:
        self.met[one][other] += 1
        self.met[other][one] += 1

    def deal(
        self, trajectory: int, *, places: int, holders: Collection[int], barred: Collection[int]
    ) -> list[int]:
        """The people who get the places of a trajectory that `holders` have already; fewer where all others
        are barred."""
        there, dealt = list(holders), list[int]()
        for _ in range(places):
            may = [person for person in self.people if person not in barred and person not in there]
            if not may:
                break
            person = min(may, key=lambda person: self._rank(trajectory, person, there))
            for other in there:
                self._meet(person, other)
            self.load[person] += 1
            there.append(person)
            dealt.append(person)
        return dealt

    def _rank(self, trajectory: int, person: int, there: Collection[int]) -> tuple[int, int, float]:
        met = sum(self.met[person][other] for other in there)
        chance = sampling.rank(seed=self.seed, trajectory=trajectory, person=person, turn=0)
        return met, self.load[person], chance


def by_preference(
    waiting: Sequence[tuple[int, Collection[int]]], met: Mapping[int, int], *, share: float | None = None
) -> list[int]:
    """The order in which somebody should take what they may claim.

    `waiting`: trajectories in the order of the queue, each with the people who have it already; `met`: how
    often they have met each other person; `share`: how often they will have met each of them at the end,
    where quotas say how much everybody gets. Of the begun ones those come first whose people they have met
    least (on average, if several have it), of several such the one that has waited longest. The unbegun ones
    come before some of them. Those whose people they have met a whole share: whoever is slower has not, and
    finds their trajectories waiting, however many these are. And those whose people they have met AHEAD times
    oftener than all on average: somebody else can take the place; but no more begun ones are left so than
    there are people, so that trajectories end soon.
    """
    begun = [(sum(met.get(person, 0) for person in held) / len(held), pk) for pk, held in waiting if held]
    unbegun = [pk for pk, held in waiting if not held]
    if not begun:
        return unbegun
    begun.sort(key=lambda one: one[0])
    people = {*met, *(person for _pk, held in waiting for person in held)}
    most = inf if len(begun) >= len(people) else sum(met.values()) / len(people) + AHEAD
    wanted = [pk for times, pk in begun if times <= most and (share is None or times < share)]
    return wanted + unbegun + [pk for _times, pk in begun[len(wanted) :]]
