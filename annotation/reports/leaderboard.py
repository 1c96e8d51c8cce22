"""The models that were scored on a release, beside each other; and what each selects among several runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final

import numpy as np

from annotation.core.agreement.measure import FloatArray
from annotation.core.i18n import Translatable, translatable
from annotation.core.scoring import Predictions, ReleasedLabels, Scores
from annotation.core.scoring.best_of_n import BestOfN, best_of_n
from annotation.core.scoring.counts import task_sums
from annotation.core.scoring.figures import RANKED
from annotation.core.scoring.labels import BoolArray, always_plus, majority
from annotation.core.scoring.ranks import Rank, differences, movable, ranks, tolerated
from annotation.core.scoring.scores import compared, of_sums
from annotation.models import PredictionSet, Release
from annotation.policies import Actor, require

from .release_labels import predictions, released_labels

BASELINES: Final[dict[str, Translatable]] = {
    "always_plus_one": translatable("Always +1"),
    "majority": translatable("The commonest label"),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One model on one part of a release; `ranks` by figure, None where it is not ranked."""

    scores: Scores
    ranks: dict[str, Rank | None]


@dataclass(frozen=True, slots=True)
class Row:
    """A model, or a baseline (`row` None). `subsets` are those that it predicts anything of; `overall` takes
    these together, and is ranked if they are `all_subsets` of the release."""

    name: str
    row: PredictionSet | None
    overall: Cell
    subsets: dict[str, Cell]
    all_subsets: bool


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models by name, the better one first: the difference of their StepAcc on the release, half the
    width of its interval, its p-value, and up to which share of wrong labels it holds (None: with none)."""

    better: str
    worse: str
    difference: float
    half: float
    p: float
    tolerated: float | None


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """`models` by StepAcc, the best first; `baselines` in the order of BASELINES; `pairs` of the models that
    predict something of every subset, from 20 tasks on."""

    release: Release
    subsets: tuple[str, ...]
    models: tuple[Row, ...]
    baselines: tuple[Row, ...]
    pairs: tuple[Pair, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """All of them."""
        return (*self.models, *self.baselines)


@dataclass(frozen=True, slots=True)
class Selections:
    """What one model selects among the runs of each task, over the subsets that it predicts anything of."""

    name: str
    overall: BestOfN
    subsets: dict[str, BestOfN]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A model or a baseline with its predictions, and the subsets (by place) that these are of."""

    name: str
    row: PredictionSet | None
    said: Predictions
    covered: frozenset[int]


def leaderboard(*, actor: Actor, release: Release) -> Leaderboard:
    """Score every model that has predictions of a release, and the baselines. Two queries and those of the
    permission, as soon as the release has predictions."""
    require(actor, "release.view", release)
    released = released_labels(release)
    entries = _entries(release, released)
    for name, made in (("always_plus_one", always_plus), ("majority", majority)):
        entries.append(_Entry(name, None, made(released), frozenset(range(len(released.subsets)))))
    sums = np.stack([task_sums(released, one.said) for one in entries])
    parts = {place: _part(released, entries, sums, place) for place in range(len(released.subsets))}
    # with one subset, everything is that subset
    overall = parts[0] if len(parts) == 1 else _overall(released, entries, sums)
    rows = [
        Row(
            one.name,
            one.row,
            overall[at],
            {released.subsets[place]: parts[place][at] for place in sorted(one.covered)},
            len(one.covered) == len(released.subsets),
        )
        for at, one in enumerate(entries)
    ]
    models = sorted((row for row in rows if row.row is not None), key=_best_first)
    baselines = tuple(row for row in rows if row.row is None)
    pairs = _pairs(released, entries, sums)
    return Leaderboard(release, released.subsets, tuple(models), baselines, pairs)


def selections(*, actor: Actor, release: Release) -> list[Selections]:
    """Best-of-N of every model that has predictions of a release, by name. As many queries."""
    require(actor, "release.view", release)
    released = released_labels(release)
    found = []
    for one in _entries(release, released):
        by_subset = {
            released.subsets[place]: _selected(released, one.said, [place]) for place in sorted(one.covered)
        }
        found.append(Selections(one.name, _selected(released, one.said, one.covered), by_subset))
    return found


def _entries(release: Release, released: ReleasedLabels) -> list[_Entry]:
    rows = list(PredictionSet.objects.filter(release=release).select_related("created_by").order_by("model"))
    return [
        _Entry(row.model, row, said, frozenset(released.subset[said.there].tolist()))
        for row, said in zip(rows, predictions(released, rows), strict=True)
    ]


def _best_first(row: Row) -> tuple[float, str]:
    value = row.overall.scores.figures["step_accuracy"].value
    return (-value if value is not None else 1.0, row.name)


def _pairs(released: ReleasedLabels, entries: list[_Entry], sums: FloatArray) -> tuple[Pair, ...]:
    """Every pair of models that predict something of every subset, the largest difference first."""
    every = len(released.subsets)
    whole = [at for at, one in enumerate(entries) if one.row is not None and len(one.covered) == every]
    if not whole:
        return ()
    found = differences(compared(released, sums[whole], "step_accuracy"))
    pairs = []
    for i, j in permutations(range(len(whole)), 2):
        value, half = float(found.value[i, j]), float(found.half[i, j])
        if value > 0 or (value == 0 and i < j):
            one, other = entries[whole[i]], entries[whole[j]]
            limit = tolerated(value, half, movable(released, one.said, other.said))
            pairs.append(Pair(one.name, other.name, value, half, float(found.p[i, j]), limit))
    return tuple(sorted(pairs, key=lambda pair: (-pair.difference, pair.better, pair.worse)))


def _selected(released: ReleasedLabels, said: Predictions, places: Iterable[int]) -> BestOfN:
    records = np.isin(released.subset, list(places))
    return best_of_n(released.only(records), said.only(released, records))


def _cells(
    part: ReleasedLabels, entries: Sequence[_Entry], said: list[Predictions], sums: FloatArray
) -> list[Cell]:
    """The cells of models and baselines on the same part; models are ranked against each other."""
    of_models = [at for at, one in enumerate(entries) if one.row is not None]
    by_figure: dict[str, dict[int, Rank | None]] = {}
    for name in RANKED:
        found = ranks(compared(part, sums[of_models], name)) if of_models else []
        by_figure[name] = dict(zip(of_models, found, strict=True))
    return [
        Cell(scores, {name: by_figure[name].get(at) for name in RANKED})
        for at, scores in enumerate(of_sums(part, said, sums))
    ]


def _part(released: ReleasedLabels, entries: list[_Entry], sums: FloatArray, place: int) -> dict[int, Cell]:
    """The cells of everybody who predicts anything of a subset, by place among the entries."""
    return _on(released, entries, sums, released.subset == place, {place})


def _overall(released: ReleasedLabels, entries: list[_Entry], sums: FloatArray) -> dict[int, Cell]:
    """The cells of everybody over the subsets that they predict anything of; ranked are those of all."""
    cells: dict[int, Cell] = {}
    for covered in {one.covered for one in entries}:
        same = [one if one.covered == covered else None for one in entries]
        found = _on(released, same, sums, np.isin(released.subset, list(covered)), covered)
        whole = len(covered) == len(released.subsets)
        for at, cell in found.items():
            cells[at] = cell if whole else Cell(cell.scores, dict.fromkeys(RANKED))
    return cells


def _on(
    released: ReleasedLabels,
    entries: Sequence[_Entry | None],
    sums: FloatArray,
    records: BoolArray,
    needed: Iterable[int],
) -> dict[int, Cell]:
    wanted = frozenset(needed)
    there = {at: one for at, one in enumerate(entries) if one is not None and wanted <= one.covered}
    if not there:
        return {}
    part = released.only(records)
    tasks = np.unique(released.task[records])
    said = [one.said.only(released, records) for one in there.values()]
    cells = _cells(part, list(there.values()), said, sums[list(there)][:, tasks])
    return dict(zip(there, cells, strict=True))
