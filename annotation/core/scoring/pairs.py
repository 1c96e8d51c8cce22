"""Scores of models on decisions: how often the better of two options is put first.

A pair is a better and a worse option, by the consensus, of a decision that is fit for use. It counts with the
mean of its verdicts over the orders in which the model was asked; labels and scores are one order. What
cannot be read counts as wrong. Counts are sums over tasks, so that every figure has the interval of all
figures of models (core.figures.intervals).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from annotation.core.figures.figure import Figure, by_name, share
from annotation.core.figures.measure import FloatArray, IntArray, divide
from annotation.core.i18n import translatable
from annotation.core.scoring.decisions.orders import (
    FIRST,
    LOWEST,
    NO_CHOICE,
    NOT_SHOWN,
    UNREADABLE,
    Codes,
    Orders,
)
from annotation.core.scoring.labels import MISSING, Labels, Predictions, ReleasedLabels

Numbers = FloatArray | IntArray

NO_PAIRS: Final = translatable("there are no pairs of a better and a worse option")
NO_ORDERS: Final = translatable("no pair was asked about in two orders")
NO_CHOICES: Final = translatable("there are no choices that can be read")
NO_CATEGORIES: Final = translatable("no decision has a category")

COLUMNS: Final = (
    "pairs",
    "half",
    "strict",
    "unreadable",
    "items",
    "item",
    "orders",
    "both",
    "choices",
    "first",
)
"""Counts of pairs, of decisions, of pairs asked about in several orders, and of choices; after them the pairs
of each category, and what was earned on those."""
CATEGORIES: Final = slice(len(COLUMNS), None)


_share: Final = partial(share, COLUMNS)


def _category_pairs(sums: FloatArray) -> FloatArray:
    return sums[..., : sums.shape[-1] // 2]


def _category_mean(sums: FloatArray) -> FloatArray:
    """The mean over the categories that have pairs."""
    pairs = _category_pairs(sums)
    shares = divide(sums[..., pairs.shape[-1] :], pairs)
    mean: FloatArray = divide(np.nansum(shares, axis=-1), (pairs > 0).sum(axis=-1))
    return mean


FIGURES: Final = by_name(
    _share(
        "pair_accuracy",
        translatable("Pair accuracy"),
        translatable("Share of pairs in which the better option is put first. A tie counts as half."),
        of="half",
        n="pairs",
        empty=NO_PAIRS,
    ),
    _share(
        "pair_accuracy_strict",
        translatable("Pair accuracy, ties wrong"),
        translatable("Share of pairs in which the better option is put first. A tie counts as wrong."),
        of="strict",
        n="pairs",
        empty=NO_PAIRS,
    ),
    _share(
        "item_accuracy",
        translatable("Pair accuracy over decisions"),
        translatable("Mean over decisions of the pair accuracy in each, however many pairs it has."),
        of="item",
        n="items",
        empty=NO_PAIRS,
    ),
    Figure(
        "category_mean",
        translatable("Mean of the categories"),
        translatable("Mean of the pair accuracies of all categories, however many pairs each has."),
        make=_category_mean,
        count=lambda sums: _category_pairs(sums).sum(axis=-1),
        empty=NO_CATEGORIES,
        reads=CATEGORIES,
        percent=True,
    ),
    _share(
        "right_in_both",
        translatable("Right in both orders"),
        translatable(
            "Share of pairs, of those asked about in two orders or more, that are right in all of them."
        ),
        of="both",
        n="orders",
        empty=NO_ORDERS,
    ),
    _share(
        "first_chosen",
        translatable("First chosen"),
        translatable("Share of choices that fall on the option that stood first; half without a bias."),
        of="first",
        n="choices",
        empty=NO_CHOICES,
    ),
    _share(
        "unreadable",
        translatable("Unreadable"),
        translatable("Share of pairs about which nothing can be read; they count as wrong."),
        of="unreadable",
        n="pairs",
        empty=NO_PAIRS,
    ),
)
MAIN: Final = "pair_accuracy"
RANKED: Final = (MAIN, "pair_accuracy_strict", "item_accuracy", "category_mean")
"""The figures by which models are compared and ranked."""


@dataclass(frozen=True, slots=True)
class PairCounts:
    """The pairs that a model wins, ties and loses, counted; parts of one that was asked about in several
    orders. What cannot be read is lost."""

    pairs: int
    won: float
    tied: float

    @classmethod
    def of(cls, totals: FloatArray) -> PairCounts:
        """From sums of counts, (COLUMNS + categories,)."""
        pairs, half, strict = totals[:3].tolist()
        return cls(int(pairs), strict, 2 * (half - strict))

    @property
    def lost(self) -> float:
        """The others."""
        return self.pairs - self.won - self.tied

    def as_json(self) -> dict[str, float]:
        """All of them."""
        return {"pairs": self.pairs, "won": self.won, "tied": self.tied, "lost": self.lost}


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of a release: the `record` of each, and the places of its `better` and `worse` option among
    the steps."""

    record: IntArray
    better: IntArray
    worse: IntArray

    @classmethod
    def of(cls, released: ReleasedLabels) -> Pairs:
        """Of the decisions that are fit for use, in order."""
        length, starts = released.lengths(), released.starts()
        one = np.flatnonzero(released.outcome[released.record] == 1)
        beside = length[released.record[one]]
        first = np.repeat(one, beside)
        within = np.arange(len(first)) - np.repeat(np.cumsum(beside) - beside, beside)
        second = np.repeat(starts[released.record[one]], beside) + within
        better = released.value[first] > released.value[second]
        return cls(released.record[first[better]], first[better], second[better])


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdicts of answers on pairs, each (P,): the number of orders in which the pair was asked about, at
    least one, and of those in which it is right, tied, or cannot be read."""

    asked: IntArray
    right: IntArray
    tied: IntArray
    unreadable: IntArray

    @classmethod
    def of(cls, released: ReleasedLabels, predicted: Predictions, pairs: Pairs) -> Verdicts:
        """Of one model. A choice of a third option leaves the two tied."""
        orders = _orders(released, predicted)
        better, worse = orders[:, pairs.better], orders[:, pairs.worse]
        shown = (better != NOT_SHOWN) & (worse != NOT_SHOWN)
        blank = shown & ((better == UNREADABLE) | (worse == UNREADABLE))
        read = shown & ~blank
        never = ~shown.any(axis=0)
        return cls(
            shown.sum(axis=0) + never,
            (read & (better > worse)).sum(axis=0),
            (read & (better == worse)).sum(axis=0),
            blank.sum(axis=0) + never,
        )


def _orders(released: ReleasedLabels, predicted: Predictions) -> Codes:
    """All answers as ranks in orders, (L, S): labels are the last of them."""
    labels = _ranked(predicted.steps)
    if predicted.orders is None:
        return labels[None]
    given = np.zeros(released.n_records, dtype=bool)
    given[released.record[predicted.orders.ranks.any(axis=0)]] = True
    return np.vstack([predicted.orders.ranks, np.where(given[released.record], NOT_SHOWN, labels)])


def _ranked(labels: Labels) -> Codes:
    return np.where(labels == MISSING, UNREADABLE, labels.astype(np.int64) + LOWEST + 1).astype(np.uint8)


def pair_sums(released: ReleasedLabels, predicted: Predictions) -> FloatArray:
    """The counts of every task, (T, columns): COLUMNS, and two of each category."""
    pairs = Pairs.of(released)
    verdicts = Verdicts.of(released, predicted, pairs)
    strict = verdicts.right / verdicts.asked
    half = strict + verdicts.tied / verdicts.asked / 2
    several = verdicts.asked > 1
    of_record = np.bincount(pairs.record, minlength=released.n_records)
    earned = np.bincount(pairs.record, weights=half, minlength=released.n_records)
    there = of_record > 0
    chosen = np.zeros((0, released.n_records)) if predicted.orders is None else predicted.orders.chosen
    task, n = released.task, released.n_tasks
    sums: dict[str, tuple[IntArray, Numbers]] = {
        "pairs": (pairs.record, np.ones(len(half))),
        "half": (pairs.record, half),
        "strict": (pairs.record, strict),
        "unreadable": (pairs.record, verdicts.unreadable / verdicts.asked),
        "items": (np.flatnonzero(there), np.ones(there.sum())),
        "item": (np.flatnonzero(there), (earned[there] / of_record[there])),
        "orders": (pairs.record, several.astype(float)),
        "both": (pairs.record, (several & (verdicts.right == verdicts.asked)).astype(float)),
        "choices": (np.flatnonzero(there), (chosen != NO_CHOICE).sum(axis=0)[there]),
        "first": (np.flatnonzero(there), (chosen == FIRST).sum(axis=0)[there]),
    }
    counted = [np.bincount(task[record], weights=weight, minlength=n) for record, weight in sums.values()]
    return np.column_stack([*counted, *_by_category(released, of_record, earned)])


def _by_category(released: ReleasedLabels, *counts: Numbers) -> list[Numbers]:
    """Counts of records (R,) by task: each of the first of each category, then of the second."""
    if released.decisions is None:
        return []
    numbers: list[Numbers] = []
    for weight in counts:
        for place in range(len(released.decisions.categories)):
            own = np.where(released.decisions.category == place, weight, 0)
            numbers.append(np.bincount(released.task, weights=own, minlength=released.n_tasks))
    return numbers


def wrong_pairs(released: ReleasedLabels, predicted: Predictions) -> tuple[IntArray, IntArray]:
    """The number of pairs of each decision, and of those that are not right in every order: (R,) both."""
    pairs = Pairs.of(released)
    verdicts = Verdicts.of(released, predicted, pairs)
    wrong = pairs.record[verdicts.right < verdicts.asked]
    every, missed = (np.bincount(one, minlength=released.n_records) for one in (pairs.record, wrong))
    return every, missed


def shallow(released: ReleasedLabels) -> dict[str, Predictions]:
    """The answers of a choice by shallow cues, by the name of the cue (DecisionFacts.cues): scores, and
    nothing of the outcome."""
    cues = {} if released.decisions is None else released.decisions.cues
    every = np.ones(released.n_records, dtype=bool)
    unsaid = np.full(released.n_records, MISSING, dtype=np.int8)
    steps = np.full(released.n_steps, MISSING, dtype=np.int8)
    nowhere = np.full((1, released.n_records), NO_CHOICE, dtype=np.uint8)
    return {
        name: Predictions(steps, unsaid, every, ~every, Orders(_within(released, values)[None], nowhere))
        for name, values in cues.items()
    }


def _within(released: ReleasedLabels, values: IntArray) -> Codes:
    """The ranks of values (S,) among those of the same decision."""
    order = np.lexsort((values, released.record))
    value, record = values[order], released.record[order]
    higher = np.zeros(len(order), dtype=np.int64)
    higher[1:] = (record[1:] == record[:-1]) & (value[1:] > value[:-1])
    climbed = np.cumsum(higher)
    ranks = np.empty(len(order), dtype=np.uint8)
    ranks[order] = LOWEST + climbed - climbed[released.starts()[record]]
    return ranks


def difficulty(released: ReleasedLabels, predicted: Sequence[Predictions]) -> FloatArray:
    """The share of right verdicts on each decision, (R,), over judges, pairs and orders: 1 is easy, 0 hard.

    A judge that was not asked about a decision does not count there. NaN where none was, or without a pair.
    """
    pairs = Pairs.of(released)
    n, shares = released.n_records, np.zeros(released.n_records)
    judges = np.zeros(n)
    for one in predicted:
        verdicts = Verdicts.of(released, one, pairs)
        right = np.bincount(pairs.record, weights=verdicts.right, minlength=n)
        asked = np.bincount(pairs.record, weights=verdicts.asked, minlength=n)
        counted = one.there & (asked > 0)
        shares += np.where(counted, divide(right, asked), 0)
        judges += counted
    return divide(shares, judges)
