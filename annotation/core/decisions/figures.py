"""Figures of a model on decisions: how often it puts the better of two options first.

Every figure is a share of sums over tasks, so that its interval is that of all figures of models
(core.figures.intervals): the jackknife over tasks. A pair counts with the mean of its verdicts over the
orders in which the model was asked. What cannot be read counts as wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..figures.figure import Figure
from ..figures.intervals import estimates, joined
from ..figures.measure import FloatArray, IntArray, Measure, divide
from ..i18n import Translatable, translatable
from .answers import NO_ANSWER, Answer, PairVerdict
from .items import ScoredItem

Answers = Mapping[tuple[str, str], Answer]
"""The answers of one model or judge, by subset and record id; a decision that is missing counts as
unreadable."""

PAIRS: Final = translatable("there are no pairs of a better and a worse option")
ORDERS: Final = translatable("no pair was asked about in two orders")
CHOICES: Final = translatable("there are no choices that can be read")

# columns of counts: of pairs, of items, of pairs asked about in several orders, of choices
_COLUMNS: Final = (
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
_CREDIT: Final = {PairVerdict.RIGHT: 1.0, PairVerdict.TIED: 0.5}


def _share(
    name: str, title: Translatable, convention: Translatable, of: str, n: str, empty: Translatable
) -> Figure:
    numerator, denominator = _COLUMNS.index(of), _COLUMNS.index(n)
    return Figure(
        name,
        title,
        convention,
        make=lambda sums: divide(sums[..., numerator], sums[..., denominator]),
        count=lambda sums: sums[..., denominator],
        empty=empty,
        percent=True,
    )


FIGURES: Final[tuple[Figure, ...]] = (
    _share(
        "pair_accuracy",
        translatable("Pair accuracy"),
        translatable("Share of pairs in which the better option is put first. A tie counts as half."),
        "half",
        "pairs",
        PAIRS,
    ),
    _share(
        "pair_accuracy_strict",
        translatable("Pair accuracy, ties wrong"),
        translatable("Share of pairs in which the better option is put first. A tie counts as wrong."),
        "strict",
        "pairs",
        PAIRS,
    ),
    _share(
        "item_accuracy",
        translatable("Pair accuracy over items"),
        translatable("Mean over items of the pair accuracy in each, however many pairs it has."),
        "item",
        "items",
        PAIRS,
    ),
    _share(
        "right_in_both",
        translatable("Right in both orders"),
        translatable(
            "Share of pairs, of those asked about in two orders or more, that are right in all of them."
        ),
        "both",
        "orders",
        ORDERS,
    ),
    _share(
        "first_chosen",
        translatable("First chosen"),
        translatable("Share of choices that fall on the option that stood first; half without a bias."),
        "first",
        "choices",
        CHOICES,
    ),
    _share(
        "unreadable",
        translatable("Unreadable"),
        translatable("Share of pairs about which nothing can be read; they count as wrong."),
        "unreadable",
        "pairs",
        PAIRS,
    ),
)


@dataclass(frozen=True, slots=True)
class DecisionScores:
    """The figures of one model: over all items, by subset, and by category; and the mean of the categories'
    pair accuracies (`by_category_mean`, None without categories)."""

    overall: Mapping[str, Measure]
    subsets: Mapping[str, Mapping[str, Measure]]
    categories: Mapping[str, Mapping[str, Measure]]
    by_category_mean: Measure | None

    def as_json(self) -> dict[str, object]:
        """JSON-ready, each figure as `Measure.as_json`."""

        def figures(found: Mapping[str, Measure]) -> dict[str, object]:
            return {name: measure.as_json() for name, measure in found.items()}

        mean = self.by_category_mean
        return {
            "overall": figures(self.overall),
            "subsets": {name: figures(found) for name, found in self.subsets.items()},
            "categories": {name: figures(found) for name, found in self.categories.items()},
            "category_mean": None if mean is None else mean.as_json(),
        }


def score(items: Sequence[ScoredItem], answers: Answers) -> DecisionScores:
    """The figures of one model's answers on these items."""
    categories = sorted({item.category for item in items} - {""})
    subsets = sorted({item.subset for item in items})
    return DecisionScores(
        overall=_figures(items, answers),
        subsets={name: _figures([one for one in items if one.subset == name], answers) for name in subsets},
        categories={
            name: _figures([one for one in items if one.category == name], answers) for name in categories
        },
        by_category_mean=_category_mean(items, answers, categories) if categories else None,
    )


def _figures(items: Sequence[ScoredItem], answers: Answers) -> dict[str, Measure]:
    rows = np.array([_counts(item, answers.get((item.subset, item.record_id), NO_ANSWER)) for item in items])
    sums, stratum = _by_task(items, rows.reshape(len(items), len(_COLUMNS)))
    return _measures({figure.name: figure for figure in FIGURES}, sums, stratum)


def _category_mean(items: Sequence[ScoredItem], answers: Answers, categories: Sequence[str]) -> Measure:
    """The mean of the categories' pair accuracies; items without a category are left out."""
    place = {name: at for at, name in enumerate(categories)}
    own = [item for item in items if item.category]
    rows = np.zeros((len(own), 2, len(categories)))
    for at, item in enumerate(own):
        pairs, half, *_ = _counts(item, answers.get((item.subset, item.record_id), NO_ANSWER))
        rows[at, :, place[item.category]] = pairs, half
    size = len(categories)

    def mean(sums: FloatArray) -> FloatArray:
        found: FloatArray = divide(sums[..., size:], sums[..., :size]).mean(axis=-1)
        return found

    figure = Figure(
        "category_mean",
        translatable("Mean of the categories"),
        translatable("Mean of the pair accuracies of all categories, however many pairs each has."),
        make=mean,
        count=lambda sums: sums[..., :size].sum(axis=-1),
        empty=PAIRS,
        percent=True,
    )
    sums, stratum = _by_task(own, rows.reshape(len(own), 2 * size))
    return _measures({figure.name: figure}, sums, stratum)[figure.name]


def _measures(figures: Mapping[str, Figure], sums: FloatArray, stratum: IntArray) -> dict[str, Measure]:
    totals = sums.sum(axis=0)
    return {
        name: found.measures(np.atleast_1d(found.figure.n(totals)))[0]
        for name, found in estimates(figures, sums, stratum).items()
    }


def _by_task(items: Sequence[ScoredItem], rows: FloatArray) -> tuple[FloatArray, IntArray]:
    """Sums of the rows by task, and the stratum of each task."""
    places: dict[tuple[str, str], int] = {}
    task = np.array(
        [places.setdefault((item.subset, item.task), len(places)) for item in items], dtype=np.int64
    )
    sums = np.zeros((len(places), rows.shape[1]))
    np.add.at(sums, task, rows)
    names = sorted({subset for subset, _ in places})
    subset = np.array([names.index(subset) for subset, _ in places], dtype=np.int64)
    return sums, joined(subset) if len(subset) else subset


def _counts(item: ScoredItem, answer: Answer) -> list[float]:
    verdicts = [list(answer.verdicts(better, worse)) for better, worse in item.pairs]
    halves = [sum(_CREDIT.get(one, 0.0) for one in said) / len(said) for said in verdicts]
    several = [said for said in verdicts if len(said) > 1]
    firsts = [choice.first for choice in answer.choices if choice.first is not None]
    return [
        len(verdicts),
        sum(halves),
        sum(said.count(PairVerdict.RIGHT) / len(said) for said in verdicts),
        sum(said.count(PairVerdict.UNREADABLE) / len(said) for said in verdicts),
        1,
        sum(halves) / len(halves),
        len(several),
        sum(set(said) == {PairVerdict.RIGHT} for said in several),
        len(firsts),
        sum(firsts),
    ]


def difficulty(items: Iterable[ScoredItem], said: Sequence[Answers]) -> dict[tuple[str, str], float]:
    """The share of right verdicts on each item, over judges, pairs and orders: 1 is easy, 0 is hard.

    A judge that was not asked about an item does not count there; an item of which none was is left out.
    """
    found = {}
    for item in items:
        key = (item.subset, item.record_id)
        shares = []
        for answers in said:
            if key in answers:
                verdicts = [one for pair in item.pairs for one in answers[key].verdicts(*pair)]
                shares.append(verdicts.count(PairVerdict.RIGHT) / len(verdicts))
        if shares:
            found[key] = sum(shares) / len(shares)
    return found
