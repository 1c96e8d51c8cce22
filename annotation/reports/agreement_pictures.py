"""What the pictures of agreement show: one figure by the parts of a cut and by week, where steps differ, and
how each annotator's labels are distributed.

Every number is of pairs of labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.core.agreement import packed
from annotation.core.agreement.counts import TABLE, Counts, count_step_pairs
from annotation.core.agreement.measure import IntArray, Measure
from annotation.core.agreement.paired_rows import PLACES, STEP_CUTS, PairedRows
from annotation.core.agreement.pairs import BoolArray
from annotation.core.agreement.summary import figure_of
from annotation.core.vocabulary import VALUES

from .agreement_cuts import ALONE, Part, View


@dataclass(frozen=True, slots=True)
class Group:
    """The figure of one part of a cut; `n` counts its pairs of labels."""

    part: Part
    n: int
    measure: Measure


@dataclass(frozen=True, slots=True)
class Place:
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
    groups: tuple[Group, ...]
    weeks: tuple[Group, ...]
    places: tuple[tuple[str, tuple[Place, ...]], ...]
    annotators: tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """The labels that pictures show: rows, which of their steps, their counts, and whether each pair of
    annotators counts as if it were alone."""

    rows: PairedRows
    keep: BoolArray | None
    counts: Counts
    alone: bool

    @property
    def steps(self) -> BoolArray:
        """Which steps count."""
        both = packed.paired(self.rows.steps)
        return both if self.keep is None else both & self.keep


def pictures(view: View, drawn: Drawn, cut: str, figure: str) -> Pictures:
    """Work out what the pictures show, cut by `cut`."""
    weeks = _groups(view, drawn, "week", figure) if view.with_people else ()
    return Pictures(
        figure=figure,
        cut=cut,
        groups=weeks if cut == "week" else _groups(view, drawn, cut, figure),
        weeks=weeks,
        places=_places(view, drawn),
        annotators=_annotators(drawn) if view.with_people else (),
    )


def _groups(view: View, drawn: Drawn, cut: str, figure: str) -> tuple[Group, ...]:
    found = [
        (part, _part_counts(drawn, cut, part, codes))
        for codes in [_codes(view, drawn, cut)]
        for part in view.parts(cut)
    ]
    return tuple(
        Group(part, int(counts.sums[:, TABLE].sum()), figure_of(counts, figure))
        for part, counts in found
        if len(counts)
    )


def _codes(view: View, drawn: Drawn, cut: str) -> IntArray:
    """The part of the cut that each row of the counts is in; of a cut of steps, that each step is in."""
    if cut in STEP_CUTS:
        return drawn.rows.step_cut(cut)
    return view.codes(drawn.rows, cut)[np.unique(drawn.rows.row_of_step[drawn.steps])]


def _part_counts(drawn: Drawn, cut: str, part: Part, codes: IntArray) -> Counts:
    if cut not in STEP_CUTS:
        counts = drawn.counts.where(codes == part.number)
        return counts.as_only_pairs() if cut in ALONE else counts
    alone = drawn.alone or cut in ALONE
    return count_step_pairs(drawn.rows.pairs(drawn.steps & (codes == part.number), alone=alone))


def _places(view: View, drawn: Drawn) -> tuple[tuple[str, tuple[Place, ...]], ...]:
    rows, chosen = drawn.rows, np.flatnonzero(drawn.steps)
    subsets = {pk: number for number, pk in enumerate(view.subsets)}
    of_row = np.array([subsets[pk] for pk in rows.subset.tolist()], dtype=np.int64)
    cell = of_row[rows.row_of_step[chosen]] * PLACES + np.minimum(rows.ordinal[chosen], PLACES - 1)
    first, second = packed.values(rows.steps[chosen])
    shape = (len(subsets), PLACES)
    n = np.bincount(cell, minlength=len(subsets) * PLACES).reshape(shape)
    differ = np.bincount(cell[first != second], minlength=len(subsets) * PLACES).reshape(shape)
    return tuple(
        (
            name,
            tuple(Place(place + 1, int(n[row, place]), int(differ[row, place])) for place in range(PLACES)),
        )
        for row, name in enumerate(view.subsets.values())
        if n[row].any()
    )


def _annotators(drawn: Drawn) -> tuple[tuple[int, tuple[int, ...]], ...]:
    rows, chosen = drawn.rows, np.flatnonzero(drawn.steps)
    of_row = rows.row_of_step[chosen]
    people = np.concatenate([rows.first[of_row], rows.second[of_row]])
    values = np.concatenate(packed.values(rows.steps[chosen])).astype(np.int64)
    ids, person = np.unique(people, return_inverse=True)
    counts = np.bincount(person.reshape(-1) * len(VALUES) + values, minlength=len(ids) * len(VALUES))
    table = counts.reshape(len(ids), len(VALUES)).tolist()
    return tuple((int(pk), tuple(row)) for pk, row in zip(ids.tolist(), table, strict=True))


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


def _group_json(group: Group) -> dict[str, Any]:
    title = {"title": group.part.title} if group.part.title else {}
    return {"key": group.part.key, **title, "n": group.n, "figure": measure_json(group.measure)}


def measure_json(measure: Measure) -> dict[str, Any]:
    """One figure: {"value", "n", "reason", "interval": [low, high] or null, "interval_reason"}."""
    interval = measure.interval
    known = interval is not None and interval.low is not None
    return {
        "value": measure.value,
        "n": measure.n,
        "reason": measure.reason,
        "interval": [interval.low, interval.high] if interval is not None and known else None,
        "interval_reason": interval.reason if interval is not None else "",
    }
