"""All figures of agreement of a set of counts at once: as headlines, and for every pair of annotators."""

from dataclasses import dataclass, replace

import numpy as np

from annotation.core.agreement.counts import FIRST_ERRORS, Counts, as_only_pairs
from annotation.core.agreement.figures import FIGURES, OUTCOME_FIGURES, tables
from annotation.core.agreement.pair_sums import PairSums, headline, intervals
from annotation.core.figures import grouping
from annotation.core.figures.figure import Figure
from annotation.core.figures.first_errors import FirstErrors, Offsets
from annotation.core.figures.measure import (
    NO_PAIR_DEFINED,
    NOT_RESAMPLED,
    FloatArray,
    IntArray,
    Interval,
    Measure,
)
from annotation.core.kinds import STEPS, Feature, ProjectKind, available

Figures = dict[str, Measure]
"""Measures by the name of their figure, in the order of `figures.FIGURES`."""


def headline_of(n_annotators: int) -> str:
    """The name of the figure to go by: α with more than two annotators, because the mean of their pairs' κ
    falls with their number at equal quality and leaves out pairs for which κ is undefined."""
    return "alpha" if n_annotators > 2 else "kappa"


@dataclass(frozen=True, slots=True)
class PairSummary:
    """One pair of annotators; `confusion` has annotator `first` in its rows, `second` in its columns.

    `first_errors`, of steps in a sequence only: where the second annotator's first error lies, seen from the
    first's.
    """

    first: int
    second: int
    n: int
    figures: Figures
    confusion: IntArray
    first_errors: FirstErrors | None


@dataclass(frozen=True, slots=True)
class Summary:
    """Agreement of a set of labels. `n` counts pairs of labels.

    `confusion` is symmetric: each pair of labels is counted in both orders, so that it does not matter who is
    "first". `offsets`, of steps in a sequence only: how far apart the first errors of two annotators lie.
    """

    n: int
    n_trajectories: int
    n_tasks: int
    n_annotators: int
    figures: Figures
    confusion: IntArray
    offsets: Offsets | None
    pairs: tuple[PairSummary, ...]

    @property
    def headline(self) -> str:
        """The name of the figure to go by."""
        return headline_of(self.n_annotators)

    @property
    def table(self) -> IntArray:
        """The confusion of the only pair, if there is one pair only and it is named; else symmetric."""
        return self.pairs[0].confusion if len(self.pairs) == 1 else self.confusion

    def without_people(self) -> "Summary":
        """The same figures with nothing of any one person."""
        return replace(self, pairs=())


def summarise(
    counts: Counts, *, with_intervals: bool = True, with_pairs: bool = True, kind: ProjectKind = STEPS
) -> Summary:
    """Every figure of agreement that projects of this kind have, of `counts`; without `with_pairs` none of
    several pairs, only a single one. Single pairs have no intervals, as each takes time."""
    figures = available(kind, FIGURES if counts.of_steps else OUTCOME_FIGURES)
    in_order = counts.of_steps and kind.has(Feature.SEQUENCE)
    sample = PairSums.of(counts)
    totals = sample.totals()
    total = totals.sum(axis=0)
    people = sample.people
    only = as_only_pairs(totals) if with_pairs or len(totals) == 1 else totals[:0]
    pairs = tuple(
        PairSummary(
            first=int(people[pair, 0]),
            second=int(people[pair, 1]),
            n=int(tables(sums).sum()),
            figures=pair_figures,
            confusion=tables(sums).astype(np.int64),
            first_errors=_first_errors(sums) if in_order else None,
        )
        for pair, (sums, pair_figures) in enumerate(zip(only, _of_pairs(figures, only), strict=True))
    )
    confusion = tables(total).astype(np.int64)
    return Summary(
        n=int(confusion.sum()),
        n_trajectories=len(grouping.ranks(counts.trajectory)[0]),
        n_tasks=sample.n_tasks,
        n_annotators=len(np.unique(people)),
        figures=_together(figures, totals, sample if with_intervals else None),
        confusion=confusion + confusion.T,
        offsets=Offsets.of(_first_errors(total)) if in_order else None,
        pairs=pairs,
    )


def figure_of(counts: Counts, name: str) -> Measure:
    """One figure of `counts`, with its interval."""
    figure = FIGURES[name]
    if figure.pooled:  # no matter which pair of annotators a row is of
        nobody = np.zeros_like(counts.first)
        counts = replace(counts, first=nobody, second=nobody)
    sample = PairSums.of(counts)
    totals = np.zeros((len(sample.people), counts.sums.shape[1]))
    totals[:, figure.reads] = sample.totals(figure.reads)
    return _together({name: figure}, totals, sample)[name]


def _first_errors(sums: FloatArray) -> FirstErrors:
    return FirstErrors(*(int(count) for count in sums[FIRST_ERRORS]))


def _of_pairs(figures: dict[str, Figure], only: FloatArray) -> list[Figures]:
    """The figures of every pair by itself, without intervals, from sums by pair: worked out together."""
    of_pairs: list[Figures] = [{} for _ in only]
    for name, figure in figures.items():
        values, sizes = headline(figure, only[:, None, :]), figure.n(only)
        for one, value, n in zip(of_pairs, values.tolist(), sizes.tolist(), strict=True):
            one[name] = _measure(figure, value, n)
    return of_pairs


def _together(figures: dict[str, Figure], totals: FloatArray, sample: PairSums | None) -> Figures:
    """Headlines of sums by pair, (pairs, columns), with intervals where there is a sample."""
    bounds = {} if sample is None else intervals(sample, figures)
    combined = {}
    for name, figure in figures.items():
        n = (figure.n(totals.sum(axis=0)) if figure.pooled else figure.n(totals)).sum()
        shown = figure if figure.pooled or len(totals) == 1 else replace(figure, reason=NO_PAIR_DEFINED)
        combined[name] = _measure(shown, float(headline(figure, totals)), n, bounds.get(name))
    return combined


def _measure(figure: Figure, value: float, n: float, interval: Interval | None = None) -> Measure:
    """The measure; where it has no interval, there is a reason too."""
    measure = figure.measure(value, n, interval)
    why = measure.reason if measure.value is None else NOT_RESAMPLED
    return measure if measure.interval else replace(measure, interval=Interval(None, None, why))
