"""Data of the pictures of agreement: one figure by the parts of a cut and by week, differences by position,
and each annotator's distribution of labels.

Every number is of pairs of labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotation.core.agreement.counts import OUTCOME_COLUMNS, TABLE, Counts, count_step_pairs
from annotation.core.agreement.pair_table import PLACES, STEP_CUTS
from annotation.core.agreement.summary import figure_of
from annotation.core.figures.confusion import SIZE
from annotation.core.figures.grouping import distinct
from annotation.core.figures.measure import IntArray, Measure

from .beside import SelectedCounts
from .cuts import ALONE, CutPart, LabelView, codes


@dataclass(frozen=True, slots=True)
class CutFigure:
    """The figure of one part of a cut; `n` counts its pairs of labels."""

    part: CutPart
    n: int
    measure: Measure


@dataclass(frozen=True, slots=True)
class PlaceCounts:
    """The steps at one place in their trajectories (the last of `PLACES`: there and beyond) of one subset:
    how many pairs of labels, and how many of them differ."""

    place: int
    n: int
    differ: int


@dataclass(frozen=True, slots=True)
class Pictures:
    """`figure` is what groups and weeks show, by its name. Without the right to know people, `weeks` and
    `annotators` are empty. `annotators` gives the labels of each by value (−1, 0, +1), once for each pair
    that they are in."""

    figure: str
    cut: str
    groups: tuple[CutFigure, ...]
    weeks: tuple[CutFigure, ...]
    places: tuple[tuple[str, tuple[PlaceCounts, ...]], ...]
    annotators: tuple[tuple[int, tuple[int, ...]], ...]


def pictures(view: LabelView, labels: SelectedCounts, cut: str, figure: str) -> Pictures:
    """Work out what the pictures show, cut by `cut`."""
    weeks = _groups(view, labels, "week", figure) if view.with_people else ()
    return Pictures(
        figure=figure,
        cut=cut,
        groups=weeks if cut == "week" and weeks else _groups(view, labels, cut, figure),
        weeks=weeks,
        places=_places(view, labels),
        annotators=_annotators(labels.steps) if view.with_people else (),
    )


def _groups(view: LabelView, labels: SelectedCounts, cut: str, figure: str) -> tuple[CutFigure, ...]:
    count = _steps_of(labels, cut) if cut in STEP_CUTS else _rows_of(view, labels, cut)
    counted = [(part, count(part)) for part in view.parts(cut)]
    return tuple(
        CutFigure(part, int(counts.sums[:, TABLE].sum()), figure_of(counts, figure))
        for part, counts in counted
        if len(counts)
    )


def _rows_of(view: LabelView, labels: SelectedCounts, cut: str) -> Callable[[CutPart], Counts]:
    """The counts of the rows in one part of a cut of trajectories: the columns that outcomes have too, which
    are all that headlines read."""
    every = replace(labels.steps, sums=labels.steps.sums[:, : len(OUTCOME_COLUMNS)])
    code = codes(labels.counted.rows, cut, view.arms)[labels.step_rows]
    order = np.argsort(code, kind="stable")
    ordered = code[order]

    def of(part: CutPart) -> Counts:
        begin, end = np.searchsorted(ordered, [part.number, part.number + 1])
        counts = every if end - begin == len(order) else every.where(order[begin:end])
        return counts.as_only_pairs() if cut in ALONE else counts

    return of


def _steps_of(labels: SelectedCounts, cut: str) -> Callable[[CutPart], Counts]:
    """The counts of the steps in one part of a cut of steps: counted anew."""
    rows = labels.rows
    number, alone = rows.step_cut(cut), labels.alone or cut in ALONE

    def of(part: CutPart) -> Counts:
        here = number == part.number
        return count_step_pairs(rows.pairs(here if labels.keep is None else here & labels.keep, alone=alone))

    return of


def _places(view: LabelView, labels: SelectedCounts) -> tuple[tuple[str, tuple[PlaceCounts, ...]], ...]:
    subset, places = labels.counted.rows.subset, labels.counted.places.T
    groups = []
    for pk, name in view.subsets.items():
        here = subset == pk if labels.chosen is None else (subset == pk) & labels.chosen
        sums = places.compress(here, axis=1).sum(axis=1, dtype=np.int64).tolist()
        if any(sums):
            row = [PlaceCounts(place + 1, sums[place], sums[PLACES + place]) for place in range(PLACES)]
            groups.append((name, tuple(row)))
    return tuple(groups)


def _annotators(counts: Counts) -> tuple[tuple[int, tuple[int, ...]], ...]:
    of_pair, pair = distinct(counts.first, counts.second)
    shape = (SIZE, SIZE, len(of_pair))
    cells = [np.bincount(pair, weights=column, minlength=len(of_pair)) for column in counts.sums.T[TABLE]]
    tables = np.array(cells).reshape(shape).astype(np.int64)
    labels: dict[int, IntArray] = {}
    for people, of_values in ((counts.first, tables.sum(axis=1)), (counts.second, tables.sum(axis=0))):
        for who, values in zip(people[of_pair].tolist(), of_values.T, strict=True):
            labels[who] = labels.get(who, 0) + values
    return tuple((who, tuple(labels[who].tolist())) for who in sorted(labels))


def pictures_json(shown: Pictures, people: Mapping[int, str]) -> dict[str, Any]:
    """The pictures as JSON."""
    return {
        "cut": {"by": shown.cut, "figure": shown.figure, "parts": [_group_json(one) for one in shown.groups]},
        "weeks": [_group_json(one) for one in shown.weeks],
        "places": {
            name: [{"place": one.place, "n": one.n, "differ": one.differ} for one in places]
            for name, places in shown.places
        },
        "annotators": [
            {"name": people.get(pk, "?"), "labels": list(counts)} for pk, counts in shown.annotators
        ],
    }


def _group_json(group: CutFigure) -> dict[str, Any]:
    title = {"title": group.part.title} if group.part.title else {}
    return {"key": group.part.key, **title, "n": group.n, "figure": group.measure.as_json()}
