"""Choose the items of a test: from a pool those of one attempt, and from all keyed trajectories a pool.

What is chosen is ours (docs/training.md, "Proficiency tests"): the reference work says that there was a test,
not what was in it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from .marks import Labels

FEWEST: Final = 10
"""So many items a test has at least."""
CONTESTED: Final = 1 / 3
"""The majority of judges is wrong on so large a share of the steps of a contested item."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A keyed trajectory: its key, and what each judge says of it, by the judge's name."""

    trajectory: int
    key: Labels
    judges: Mapping[str, Labels] = field(default_factory=dict)

    @property
    def error_share(self) -> float:
        """The share of its steps whose key is −1."""
        steps = [value for index, value in self.key.items() if index is not None]
        return sum(value == -1 for value in steps) / len(steps) if steps else 0.0

    @property
    def misled(self) -> float:
        """The share of its steps of which more judges say something else than say what the key does. Ties
        mislead nobody; 0 without judges."""
        steps = [index for index in self.key if index is not None]
        return sum(self._wrong(index) for index in steps) / len(steps) if steps else 0.0

    def _wrong(self, index: int) -> bool:
        values = Counter(labels[index] for labels in self.judges.values() if index in labels)
        value, count = max(values.items(), key=lambda one: one[1], default=(0, 0))
        return count > values[self.key[index]] and value != self.key[index]

    @property
    def contested(self) -> bool:
        """Whether the majority of judges is wrong on a third of its steps."""
        return self.misled >= CONTESTED


def propose(candidates: Sequence[Candidate], size: int = FEWEST, *, seed: int = 0) -> list[int]:
    """The trajectories (at most `size`) to take for a test, one half with errors in the key and one without,
    as far as there are such.

    Where judges have said something, those come first that mislead whoever copies them: the contested ones,
    by how many steps the majority has wrong, and with errors by their share. Otherwise chance decides, the
    same for the same seed.
    """
    chance = random.Random(seed)
    rank = {one.trajectory: chance.random() for one in sorted(candidates, key=lambda one: one.trajectory)}

    def order(one: Candidate) -> tuple[float, ...]:
        first = (not one.contested, -one.misled, -one.error_share) if one.judges else (True, 0.0, 0.0)
        return (*first, rank[one.trajectory])

    ranked = sorted(candidates, key=order)
    rich = [one.trajectory for one in ranked if one.error_share > 0]
    free = [one.trajectory for one in ranked if one.error_share == 0]
    with_errors = min(len(rich), max(size - size // 2, size - len(free)))
    taken = rich[:with_errors] + free[: size - with_errors]
    return sorted(taken, key=lambda pk: rank[pk])


def draw(
    pool: Sequence[tuple[T, bool]], size: int, *, met: Mapping[T, int], chance: random.Random
) -> list[T]:
    """The items of one attempt, in an order of chance: of `pool` (item, whether its key has an error) `size`,
    with and without errors as in the pool, first what was met least often in earlier attempts."""
    rich = [item for item, has_error in pool if has_error]
    free = [item for item, has_error in pool if not has_error]
    taken: list[T] = []
    for items, count in zip((rich, free), split(len(rich), len(free), size), strict=True):
        shuffled = chance.sample(items, len(items))
        taken += sorted(shuffled, key=lambda item: met.get(item, 0))[:count]
    return chance.sample(taken, len(taken))


def split(rich: int, free: int, size: int) -> tuple[int, int]:
    """The numbers of items, of `size`, with an error in their key and without: in proportion to the pool, and
    at least one of each kind that it has."""
    size = min(size, rich + free)
    if not rich or not free or size < 2:
        return min(rich, size), min(free, size - min(rich, size))
    wanted = round(size * rich / (rich + free))
    with_errors = min(rich, max(1, size - free, min(wanted, size - 1)))
    return with_errors, size - with_errors
