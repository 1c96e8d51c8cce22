"""The models that were scored on a release, beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Final

import numpy as np

from annotation.core.figures.figure import Figure
from annotation.core.figures.intervals import Estimates
from annotation.core.figures.measure import FloatArray
from annotation.core.kinds import Feature, available
from annotation.core.releases.statistics import ModelSuccess, model_successes
from annotation.core.scoring import Predictions, ReleasedLabels, Scores
from annotation.core.scoring.blind import BlindLabellings, human_scores
from annotation.core.scoring.labels import BoolArray
from annotation.core.scoring.question_figures import question_facts
from annotation.core.scoring.ranks import FigureChange, Rank, changes, differences, movable, ranks, tolerated
from annotation.core.scoring.scheme import BY_QUESTIONS, Scheme, scheme_of
from annotation.core.scoring.scores import estimated, of_sums, sums_of
from annotation.core.scoring.without_reading import KeyPositions, key_positions
from annotation.models import PredictionSet, Release
from annotation.policies import Actor, require

from .leaderboard_entries import BY_OTHERS, HUMAN, STACKED, LeaderboardEntry, entries
from .outside_numbers import (
    OutsideCorrelation,
    OutsideNumbers,
    correlations,
    outside_numbers,
    policy_figures,
)
from .powered_board import PoweredBoard, powered_board
from .seen_judges import seen_sets

CATEGORY: Final = "category"
CUTS: Final = {CATEGORY: "categories", "ability": "abilities", "language": "languages", "length": "lengths"}
"""The parts that figures of decisions are cut by beside subsets, with their names in JSON."""

Cells = dict[str, dict[str, "LeaderboardCell"]]


@dataclass(frozen=True, slots=True)
class LeaderboardCell:
    """One model on one part of a release; `ranks` by figure, None where it is not ranked."""

    scores: Scores
    ranks: dict[str, Rank | None]

    def as_json(self) -> dict[str, Any]:
        """Scores and ranks."""
        ranks = {name: None if rank is None else rank.as_json() for name, rank in self.ranks.items()}
        return {**self.scores.as_json(), "ranks": ranks}


@dataclass(frozen=True, slots=True)
class RecalibratedCell:
    """One model after recalibration, which is never ranked; `changes` by figure, against the model as it is,
    None where a figure is undefined."""

    scores: Scores
    changes: dict[str, FigureChange | None]

    def as_json(self) -> dict[str, Any]:
        """Scores, and how they change."""
        changes = {name: None if one is None else one.as_json() for name, one in self.changes.items()}
        return {**self.scores.as_json(), "changes": changes}


@dataclass(frozen=True, slots=True)
class Recalibrated:
    """A model after recalibration, on the parts of its row."""

    overall: RecalibratedCell
    subsets: dict[str, RecalibratedCell]

    def as_json(self) -> dict[str, Any]:
        """The parts."""
        return _parts_json(self.overall, self.subsets)


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """A model, or what is none (`row` None). `subsets` are those that it predicts anything of; `overall`
    takes these together, and is ranked if they are `all_subsets` of the release. `recalibrated` is None until
    it is worked out, and for what is no model. `cuts`: the parts of decisions by CUTS, as far as these
    subsets have them."""

    name: str
    row: PredictionSet | None
    overall: LeaderboardCell
    subsets: dict[str, LeaderboardCell]
    all_subsets: bool
    recalibrated: Recalibrated | None
    cuts: Cells

    def as_json(self) -> dict[str, Any]:
        """Of a model also who brought it, and its figures after recalibration."""
        row, after = self.row, self.recalibrated
        about: dict[str, Any] = {}
        if row is not None:
            about = {
                "prompt_version": row.prompt_version,
                "judged_on": None if row.judged_on is None else row.judged_on.isoformat(),
                "cost": None if row.cost is None else float(row.cost),
                "judge": row.judge_id,
            }
        return {
            "model": self.name,
            **about,
            "all_subsets": self.all_subsets,
            **_parts_json(self.overall, self.subsets),
            **cuts_json(self.cuts),
            **({} if row is None else {"recalibrated": None if after is None else after.as_json()}),
        }


@dataclass(frozen=True, slots=True)
class ModelPair:
    """Two models by name, the better one first: the difference of their main figure on the release, half the
    width of its interval, its p-value, and up to which share of wrong labels a difference of StepAcc holds
    (None: with none)."""

    better: str
    worse: str
    difference: float
    half: float
    p: float
    tolerated: float | None

    def as_json(self) -> dict[str, Any]:
        """The difference with its interval."""
        return {
            "models": [self.better, self.worse],
            "difference": self.difference,
            "interval": [self.low, self.high],
            "p": self.p,
            "tolerated_label_error": self.tolerated,
        }

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return max(self.difference - self.half, -1.0)

    @property
    def high(self) -> float:
        """The upper end."""
        return min(self.difference + self.half, 1.0)


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """`models` by the main figure, the best first; `stacked`, the judge made of all of them; `human`, made of
    so many blind `labellings`, where two people labelled blind, and `by_others`, the same by others' labels
    alone, where an adjudicator decided any (core.scoring.blind); `baselines` in the order of BASELINES, of
    decisions the shallow cues, of questions chance and what else needs no reading; `seen`: the prediction
    sets of judges whose suggestions annotators had seen, by pk; `pairs` of the models that predict something
    of every subset, from 20 tasks on. `pending`: something that is fitted is not there yet. `human_known`: it
    has been looked up whether two people labelled blind. `outside`: numbers of models that come from
    elsewhere; `policy_models`: those whose trajectories the release holds; `powered`: the models'
    prediction-powered figures. `scheme`: the way in which models are scored; `cuts`: the parts of decisions
    by CUTS. Of questions also where their keys stand (`positions`); `switches`: the release holds questions
    and pairs, and can be scored by either."""

    release: Release
    subsets: tuple[str, ...]
    models: tuple[LeaderboardRow, ...]
    stacked: LeaderboardRow | None
    human: LeaderboardRow | None
    by_others: LeaderboardRow | None
    labellings: int
    baselines: tuple[LeaderboardRow, ...]
    pairs: tuple[ModelPair, ...]
    seen: frozenset[int]
    pending: bool
    human_known: bool
    outside: tuple[OutsideNumbers, ...]
    policy_models: tuple[ModelSuccess, ...]
    powered: PoweredBoard
    scheme: Scheme
    cuts: dict[str, tuple[str, ...]]
    positions: KeyPositions | None
    switches: bool

    def values(self, name: str, subset: str = "") -> dict[str, float]:
        """A figure of every model that has it on a subset (all: "")."""
        cells = {row.name: row.subsets.get(subset) if subset else row.overall for row in self.models}
        measures = {model: cell.scores.figures[name] for model, cell in cells.items() if cell is not None}
        return {model: one.value for model, one in measures.items() if one.value is not None}

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures that releases of this kind have."""
        return available(self.release.project.of_kind, self.scheme.figures)

    @property
    def of_questions(self) -> bool:
        """Whether models are scored by questions."""
        return self.scheme is BY_QUESTIONS

    def correlations(
        self, numbers: Mapping[str, float], figures: Iterable[str], subset: str = ""
    ) -> list[OutsideCorrelation]:
        """Correlations of numbers from elsewhere with figures of the models, and with the success of the
        policy models of the release."""
        values = {name: self.values(name, subset) for name in figures}
        return correlations(numbers, {**values, **policy_figures(self.policy_models)})

    @property
    def rows(self) -> tuple[LeaderboardRow, ...]:
        """All of them."""
        between = [row for row in (self.stacked, self.human, self.by_others) if row is not None]
        return (*self.models, *between, *self.baselines)


@dataclass(frozen=True, slots=True)
class _Scored:
    """The scores of an entry on one part of the release."""

    cell: LeaderboardCell
    recalibrated: RecalibratedCell | None


@dataclass(frozen=True, slots=True)
class _Counted:
    """Entries with their counts by task, (E, T, columns), and those of the recalibrated ones among them."""

    entries: Sequence[LeaderboardEntry]
    sums: FloatArray
    again: dict[int, FloatArray]


def leaderboard(*, actor: Actor, release: Release, by_pairs: bool = False) -> Leaderboard:
    """Score every model that has predictions of a release, as it is and recalibrated, and the baselines; of
    one that holds questions and pairs the questions, or `by_pairs`. Three queries, up to three about judges
    that annotators saw, and those of the permission, as soon as the release has predictions."""
    require(actor, "release.view", release)
    listed = entries(release, by_pairs=by_pairs)
    released, everybody = listed.released, [*listed.models, *listed.others]
    counted = _Counted(
        everybody,
        _stacked(released, [one.predicted for one in everybody]),
        {
            at: sums_of(released, one.recalibrated)
            for at, one in enumerate(everybody)
            if one.recalibrated is not None
        },
    )
    parts = {place: _part(released, counted, place) for place in range(len(released.subsets))}
    # with one subset, everything is that subset
    overall = parts[0] if len(parts) == 1 else _overall(released, counted)
    cuts = {cut: _cut(released, counted, cut, named) for cut, named in cuts_of(released).items()}
    rows = [_row(released, at, one, overall[at], parts, cuts) for at, one in enumerate(everybody)]
    scheme = scheme_of(released)
    models = sorted(
        (row for row in rows if row.row is not None), key=lambda row: _best_first(row, scheme.main)
    )
    predicted = {one.name: one.predicted for one in listed.models}
    return Leaderboard(
        release,
        released.subsets,
        tuple(models),
        next((row for row in rows if row.row is None and row.name == STACKED), None),
        *_human(released, listed.blind),
        tuple(row for row in rows if row.row is None and row.name != STACKED),
        _pairs(released, listed.models, counted.sums),
        seen_sets(release, [row.row for row in models if row.row is not None]),
        listed.pending,
        listed.blind is not None,
        outside_numbers(release),
        model_successes(released) if released.kind.has(Feature.RUNS) else (),
        powered_board(
            release,
            released,
            listed.unlabelled,
            [(row.row, predicted[row.name]) for row in models if row.row is not None],
        ),
        scheme,
        {cut: tuple(named) for cut, named in cuts.items()},
        key_positions(released, question_facts(released)) if scheme is BY_QUESTIONS else None,
        listed.switches,
    )


def _stacked(released: ReleasedLabels, predicted: Sequence[Predictions]) -> FloatArray:
    """The counts of each by task, (E, T, columns). Questions that ask for a text have no baseline, so that
    there may be nobody."""
    if not predicted:
        return np.zeros((0, *sums_of(released, Predictions.none(released)).shape))
    return np.stack([sums_of(released, one) for one in predicted])


def _row(
    released: ReleasedLabels,
    at: int,
    one: LeaderboardEntry,
    overall: _Scored,
    parts: dict[int, dict[int, _Scored]],
    cuts: dict[str, dict[str, dict[int, _Scored]]],
) -> LeaderboardRow:
    by_subset = {released.subsets[place]: parts[place][at] for place in sorted(one.covered)}
    return LeaderboardRow(
        one.name,
        one.row,
        overall.cell,
        {name: scored.cell for name, scored in by_subset.items()},
        len(one.covered) == len(released.subsets),
        None
        if overall.recalibrated is None
        else Recalibrated(
            overall.recalibrated,
            {name: scored.recalibrated for name, scored in by_subset.items() if scored.recalibrated},
        ),
        {
            cut: {name: scored[at].cell for name, scored in named.items() if at in scored}
            for cut, named in cuts.items()
        },
    )


def cuts_of(released: ReleasedLabels) -> dict[str, dict[str, BoolArray]]:
    """The records (R,) of every part that decisions are cut into, by CUTS."""
    facts = released.decisions
    if facts is None:
        return {}
    parts = {CATEGORY: {name: facts.category == place for place, name in enumerate(facts.categories)}}
    if scheme_of(released) is BY_QUESTIONS:
        parts |= question_facts(released).cuts()
    return {cut: named for cut, named in parts.items() if named}


def _cut(
    released: ReleasedLabels, counted: _Counted, cut: str, named: Mapping[str, BoolArray]
) -> dict[str, dict[int, _Scored]]:
    """The cells of everybody by part. Of a category those who predict anything of every subset that has it;
    other parts go through all subsets: there everybody is scored on their own, and ranked on all."""
    by_part: dict[str, dict[int, _Scored]] = {}
    for name, records in named.items():
        here = frozenset(released.subset[records].tolist())
        there = [at for at, one in enumerate(counted.entries) if here <= one.covered]
        by_part[name] = _on(released, counted, records, there)
        for own in {one.covered & here for one in counted.entries} - {here, frozenset()}:
            same = [at for at, one in enumerate(counted.entries) if one.covered & here == own]
            if cut != CATEGORY:
                part = records & np.isin(released.subset, list(own))
                by_part[name] |= _unranked(_on(released, counted, part, same))
    return by_part


def _unranked(scored: dict[int, _Scored]) -> dict[int, _Scored]:
    return {
        at: _Scored(LeaderboardCell(one.cell.scores, dict.fromkeys(one.cell.ranks)), one.recalibrated)
        for at, one in scored.items()
    }


def _human(
    released: ReleasedLabels, blind: BlindLabellings | None
) -> tuple[LeaderboardRow | None, LeaderboardRow | None, int]:
    """The rows of the blind human, which are never ranked: with decisions, and by others' labels alone, where
    that is not the same; and of how many labellings they are made."""
    if blind is None:
        return None, None, 0
    decided = blind.decided.steps.any() or blind.decided.outcome.any()
    row, labellings = _human_row(released, blind, HUMAN, decisions=True)
    alone = _human_row(released, blind, BY_OTHERS, decisions=False)[0] if decided else None
    return row, alone, labellings


def _human_row(
    released: ReleasedLabels, blind: BlindLabellings, name: str, *, decisions: bool
) -> tuple[LeaderboardRow | None, int]:
    everywhere = np.ones(released.n_records, dtype=bool)
    whole = human_scores(released, blind, everywhere, decisions=decisions)
    if whole is None:
        return None, 0
    cells = {}
    for place, subset in enumerate(released.subsets):
        part = human_scores(released, blind, released.subset == place, decisions=decisions)
        if part is not None:
            cells[subset] = LeaderboardCell(part[0], {})
    all_subsets = len(cells) == len(released.subsets)
    return LeaderboardRow(name, None, LeaderboardCell(whole[0], {}), cells, all_subsets, None, {}), whole[1]


def _best_first(row: LeaderboardRow, main: str) -> tuple[float, str]:
    value = row.overall.scores.figures[main].value
    return (-value if value is not None else 1.0, row.name)


def _pairs(
    released: ReleasedLabels, models: list[LeaderboardEntry], sums: FloatArray
) -> tuple[ModelPair, ...]:
    """Every pair of models that predict something of every subset, the largest difference first."""
    every = len(released.subsets)
    whole = [at for at, one in enumerate(models) if len(one.covered) == every]
    if not whole:
        return ()
    main, by_steps = scheme_of(released).main, released.kind.has(Feature.STEP_SCORES)
    compared = differences(estimated(released, sums[whole], [main])[main])
    pairs = []
    for i, j in permutations(range(len(whole)), 2):
        value, half = float(compared.value[i, j]), float(compared.half[i, j])
        if value > 0 or (value == 0 and i < j):
            one, other = models[whole[i]], models[whole[j]]
            limit = (
                tolerated(value, half, movable(released, one.predicted, other.predicted))
                if by_steps
                else None
            )
            pairs.append(ModelPair(one.name, other.name, value, half, float(compared.p[i, j]), limit))
    return tuple(sorted(pairs, key=lambda pair: (-pair.difference, pair.better, pair.worse)))


def _part(released: ReleasedLabels, counted: _Counted, place: int) -> dict[int, _Scored]:
    """The cells of everybody who predicts anything of a subset, by place among the entries."""
    there = [at for at, one in enumerate(counted.entries) if place in one.covered]
    return _on(released, counted, released.subset == place, there)


def _overall(released: ReleasedLabels, counted: _Counted) -> dict[int, _Scored]:
    """The cells of everybody over the subsets that they predict anything of; ranked are those of all."""
    cells: dict[int, _Scored] = {}
    for covered in {one.covered for one in counted.entries}:
        same = [at for at, one in enumerate(counted.entries) if one.covered == covered]
        scored = _on(released, counted, np.isin(released.subset, list(covered)), same)
        whole = len(covered) == len(released.subsets)
        cells |= scored if whole else _unranked(scored)
    return cells


def _on(
    released: ReleasedLabels, counted: _Counted, records: BoolArray, there: list[int]
) -> dict[int, _Scored]:
    """The scores of some of the entries on some of the records (R,)."""
    if not there:
        return {}
    part = released.only(records)
    tasks = np.unique(released.task[records])
    chosen = [counted.entries[at] for at in there]
    predicted = [one.predicted.only(released, records) for one in chosen]
    sums = counted.sums[there][:, tasks]
    if (~records & np.isin(released.task, tasks)).any():
        # a part that has not all of its tasks is counted by itself
        sums = _stacked(part, predicted)
    every = estimated(part, sums)
    ranked = _ranked(chosen, every, scheme_of(released).ranked)
    again = [at for at, one in enumerate(chosen) if one.recalibrated is not None]
    after = {}
    if again:
        made = [one.recalibrated.only(released, records) for one in chosen if one.recalibrated is not None]
        sums_after = np.stack([counted.again[there[at]][tasks] for at in again])
        before = {name: one.only(again) for name, one in every.items()}
        after = dict(zip(again, recalibrated_cells(part, made, sums_after, before), strict=True))
    return {
        there[at]: _Scored(
            LeaderboardCell(scores, {name: places.get(at) for name, places in ranked.items()}), after.get(at)
        )
        for at, scores in enumerate(of_sums(part, predicted, sums, every))
    }


def _ranked(
    chosen: list[LeaderboardEntry], every: dict[str, Estimates], names: Iterable[str]
) -> dict[str, dict[int, Rank | None]]:
    """By figure the ranks of models, which are ranked against each other, by place."""
    models = [at for at, one in enumerate(chosen) if one.row is not None]
    names = [name for name in names if name in every]
    if not models:
        return {name: {} for name in names}
    return {name: dict(zip(models, ranks(every[name].only(models)), strict=True)) for name in names}


def recalibrated_cells(
    part: ReleasedLabels, made: list[Predictions], sums: FloatArray, before: Mapping[str, Estimates]
) -> list[RecalibratedCell]:
    """The cells of models after recalibration, of which these are the counts by task, (M, T, columns), and
    how they differ from `before`."""
    after = estimated(part, sums)
    changed = {name: changes(before[name], one) for name, one in after.items()}
    return [
        RecalibratedCell(scores, {name: cells[at] for name, cells in changed.items()})
        for at, scores in enumerate(of_sums(part, made, sums, after))
    ]


def as_json(board: Leaderboard) -> dict[str, Any]:
    """The leaderboard as JSON: unrounded numbers, null with a reason where undefined."""
    human = board.human
    return {
        "project": board.release.project.slug,
        "version": board.release.version,
        "digest": board.release.digest,
        "models": [
            {**row.as_json(), "seen_by_annotators": row.row is not None and row.row.pk in board.seen}
            for row in board.models
        ],
        "stacked": None if board.stacked is None else board.stacked.as_json(),
        "baselines": [row.as_json() for row in board.baselines],
        "blind_human": None if human is None else {**human.as_json(), "labellings": board.labellings},
        "blind_human_by_others": None if board.by_others is None else board.by_others.as_json(),
        **_questions_json(board),
        "pending": board.pending,
        "pairs": [pair.as_json() for pair in board.pairs],
        "prediction_powered": board.powered.as_json(),
        "outside_numbers": [
            {
                "title": one.title,
                "numbers": one.numbers,
                "correlations": {
                    each.figure: each.as_json() for each in board.correlations(one.numbers, board.figures)
                },
            }
            for one in board.outside
        ],
    }


def _questions_json(board: Leaderboard) -> dict[str, Any]:
    """Of a release with questions, by what models are scored, and where the keys stand."""
    if not board.of_questions:
        return {"scored_by": "pairs"} if board.switches else {}
    positions = None if board.positions is None else board.positions.as_json()
    return {"scored_by": "questions", "key_positions": positions}


def cuts_json(cells: Cells) -> dict[str, Any]:
    """The parts of decisions by CUTS."""
    return {
        CUTS[cut]: {name: cell.as_json() for name, cell in named.items()}
        for cut, named in cells.items()
        if named
    }


def _parts_json(
    overall: LeaderboardCell | RecalibratedCell, subsets: Mapping[str, LeaderboardCell | RecalibratedCell]
) -> dict[str, Any]:
    return {"overall": overall.as_json(), "subsets": {name: cell.as_json() for name, cell in subsets.items()}}
