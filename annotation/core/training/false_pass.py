"""The chance that somebody passes a test who should not (docs/training.md, "The chance of a false pass").

Ours: an attempt is thought of as drawn from a larger stock of material like the test's own items, with as
many with and without errors. What is asked is in how many of such attempts labels that follow a rule (always
+1; whatever a judge says) reach the marks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .choosing import split
from .marks import Comparison, Labels, Marks, compare, marks

TOO_LIKELY: Final = 0.01
"""Above it a false pass is warned of."""
POOLS: Final = 500
ATTEMPTS: Final = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """The shares to reach; None: not asked."""

    agreement: float | None = None
    error_recall: float | None = None
    first_error: float | None = None

    def passed(self, reached: Marks) -> bool:
        """Whether all that is asked is reached; a share that cannot be reached is not."""
        return all(
            asked is None or (got is not None and got >= asked - 1e-9)
            for asked, got in (
                (self.agreement, reached.agreement),
                (self.error_recall, reached.error_recall),
                (self.first_error, reached.first_error),
            )
        )


@dataclass(frozen=True, slots=True)
class FalsePass:
    """`chance` is the share of attempts that pass, `low` to `high` its 95 % interval: what it would be with
    other items of the same kind. `as_they_are`: whether the rule passes on all of these very items."""

    chance: float
    low: float
    high: float
    as_they_are: bool

    @property
    def too_likely(self) -> bool:
        """Whether it is above 1 %, or happens on these very items."""
        return self.as_they_are or self.chance > TOO_LIKELY


def always_plus(key: Labels) -> dict[int | None, int]:
    """The labels of somebody who finds everything right."""
    return dict.fromkeys(key, 1)


def copied(key: Labels, judge: Labels) -> dict[int | None, int]:
    """The labels of somebody who says what a judge says, and +1 where that says nothing."""
    return {index: judge.get(index, 1) for index in key}


def false_pass(
    items: Sequence[tuple[Labels, Labels]], asked: Asked, *, size: int, certain: bool = False, seed: int = 0
) -> FalsePass:
    """The chance that these labels pass an attempt of `size` items. `items` are (key, labels) of all that the
    test can ask.

    The attempts are drawn with replacement from the items, apart for those with and without an error in the
    key. For the interval the items themselves are drawn 500 times before, and the chance taken for each: the
    middle 95 % of these. Ten items show little of what a judge does with others; so unless the rule is
    `certain` to do the same everywhere, one imaginary item that is all right and one that is all wrong stand
    among those of each kind that the interval is made of, as two successes and two failures do in the
    interval of Agresti and Coull (1998).
    """
    rows = [compare(labels, key) for key, labels in items]
    if not rows:
        return FalsePass(0.0, 0.0, 0.0, as_they_are=False)
    rng = np.random.default_rng(seed)
    table = np.array([_sums(row) for row in rows], dtype=np.int64)
    kinds = (np.flatnonzero(table[:, 2] > 0), np.flatnonzero(table[:, 2] == 0))
    counts = split(len(kinds[0]), len(kinds[1]), size)
    strata = [(pool, count) for pool, count in zip(kinds, counts, strict=True) if count]
    drawn = _attempts(rng, [(pool[None], count) for pool, count in strata])
    chance = float(_passing(drawn, table, asked).mean())
    pools = []
    for pool, count in strata:
        among = pool
        if not certain:
            among = np.append(pool, [len(table), len(table) + 1])
            table = np.vstack([table, *_imaginary(table[pool])])
        pools.append((rng.choice(among, (POOLS, len(pool))), count))
    shares = _passing(_attempts(rng, pools), table, asked).mean(axis=1)
    low, high = np.quantile(shares, (0.025, 0.975))
    return FalsePass(
        chance,
        min(float(low), chance),
        max(float(high), chance),
        as_they_are=asked.passed(marks(rows)),
    )


def _imaginary(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The sums of an item of the mean size of these that is wholly right, and of one wholly wrong."""
    mean = np.round(rows.mean(axis=0)).astype(np.int64)
    right, wrong = mean.copy(), mean.copy()
    right[[1, 3, 5]], wrong[[1, 3, 5]] = mean[[0, 2, 4]], 0
    return right, wrong


def _sums(row: Comparison) -> tuple[int, ...]:
    return row.labels, row.agreed, row.errors, row.found, row.first_error is not None, bool(row.first_error)


def _attempts(rng: np.random.Generator, pools: Sequence[tuple[NDArray[np.int64], int]]) -> NDArray[np.int64]:
    """Items of attempts, (pools, ATTEMPTS, items); for one pool twenty times as many."""
    parts = []
    for pool, count in pools:
        attempts = ATTEMPTS if len(pool) > 1 else ATTEMPTS * 20
        at = rng.integers(pool.shape[1], size=(len(pool), attempts * count))
        parts.append(np.take_along_axis(pool, at, axis=1).reshape(len(pool), attempts, count))
    return np.concatenate(parts, axis=2)


def _passing(drawn: NDArray[np.int64], table: NDArray[np.int64], asked: Asked) -> NDArray[np.bool_]:
    """Whether each attempt passes, (pools, attempts)."""
    labels, agreed, errors, found, first_asked, first = np.moveaxis(table[drawn].sum(axis=2), -1, 0)
    passing = np.ones(labels.shape, dtype=bool)
    for mark, reached, of in (
        (asked.agreement, agreed, labels),
        (asked.error_recall, found, errors),
        (asked.first_error, first, first_asked),
    ):
        if mark is not None:
            passing &= (of > 0) & (reached >= (mark - 1e-9) * of)
    return passing


def unreachable(keys: Sequence[Labels], asked: Asked) -> str:
    """The name of a mark that nobody can reach with these keys, empty where all can be reached."""
    best = marks([compare(key, key) for key in keys])
    for name in ("agreement", "error_recall", "first_error"):
        if getattr(asked, name) is not None and getattr(best, name) is None:
            return name
    return ""


Rules = Mapping[str, Sequence[tuple[Labels, Labels]]]
"""The items with the labels that a rule gives them, by the name of the rule."""
