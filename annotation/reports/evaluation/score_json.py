"""Leaderboards, scores and selections as JSON: unrounded numbers, null with a reason where undefined."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from annotation.core.figures.measure import Measure
from annotation.core.scoring import Scores
from annotation.core.scoring.best_of_n import BestOfN
from annotation.core.scoring.ranks import Change
from annotation.models import PredictionSet, Release

from .leaderboard import Cell, Leaderboard, Recalibrated, RecalibratedCell, Row, Selections


def leaderboard_json(board: Leaderboard) -> dict[str, Any]:
    """The leaderboard as JSON: unrounded numbers, null with a reason where undefined."""
    return {
        "project": board.release.project.slug,
        "version": board.release.version,
        "digest": board.release.digest,
        "models": [
            {**_row_json(row), "seen_by_annotators": row.row is not None and row.row.pk in board.seen}
            for row in board.models
        ],
        "stacked": None if board.stacked is None else _row_json(board.stacked),
        "baselines": [_row_json(row) for row in board.baselines],
        "blind_human": None
        if board.human is None
        else {**_row_json(board.human), "labellings": board.labellings},
        "pending": board.pending,
        "pairs": [
            {
                "models": [pair.better, pair.worse],
                "difference": pair.difference,
                "interval": [pair.low, pair.high],
                "p": pair.p,
                "tolerated_label_error": pair.tolerated,
            }
            for pair in board.pairs
        ],
    }


def _row_json(row: Row) -> dict[str, Any]:
    return {
        "model": row.name,
        **({} if row.row is None else _set_json(row.row)),
        "all_subsets": row.all_subsets,
        "overall": cell_json(row.overall),
        "subsets": {name: cell_json(cell) for name, cell in row.subsets.items()},
        **({} if row.row is None else {"recalibrated": recalibrated_json(row.recalibrated)}),
    }


def recalibrated_json(found: Recalibrated | None) -> dict[str, Any] | None:
    """Scores after recalibration and how they change; None as long as there are none."""
    if found is None:
        return None
    return {
        "overall": recalibrated_cell_json(found.overall),
        "subsets": {name: recalibrated_cell_json(cell) for name, cell in found.subsets.items()},
    }


def recalibrated_cell_json(cell: RecalibratedCell) -> dict[str, Any]:
    """Scores of a model after recalibration, and how they change."""
    return {**scores_json(cell.scores), "changes": changes_json(cell.changes)}


def changes_json(changes: dict[str, Change | None]) -> dict[str, Any]:
    """Changes of figures, each with its interval; null where one is undefined."""
    return {
        name: None
        if one is None
        else {
            "value": one.value,
            "interval": None if one.half is None else [one.low, one.high],
        }
        for name, one in changes.items()
    }


def _set_json(row: PredictionSet) -> dict[str, Any]:
    return {
        "prompt_version": row.prompt_version,
        "judged_on": None if row.judged_on is None else row.judged_on.isoformat(),
        "cost": None if row.cost is None else float(row.cost),
        "judge": row.judge_id,
    }


def cell_json(cell: Cell) -> dict[str, Any]:
    """Scores and ranks."""
    return {
        **scores_json(cell.scores),
        "ranks": {
            name: None
            if rank is None
            else {"pairwise": list(rank.alone), "simultaneous": list(rank.together)}
            for name, rank in cell.ranks.items()
        },
    }


def scores_json(scores: Scores) -> dict[str, Any]:
    """Each figure as a fraction under its name; beside them their n, intervals and reasons."""
    figures = scores.figures
    return {
        **{name: measure.value for name, measure in figures.items()},
        "n": {name: measure.n for name, measure in figures.items()},
        "intervals": {name: _ends(measure) for name, measure in figures.items()},
        "reasons": {name: reason for name, measure in figures.items() if (reason := _reason(measure))},
        "records": scores.records,
        "steps": scores.steps,
        "tasks": scores.tasks,
        "absent": scores.absent,
        "failed": scores.failed,
        "missing": scores.missing,
        "design_effect": scores.design_effect,
        "effective_steps": scores.effective_steps,
    }


def _ends(measure: Measure) -> list[float] | None:
    found = measure.interval
    return None if found is None or found.low is None or found.high is None else [found.low, found.high]


def _reason(measure: Measure) -> str:
    return measure.reason or (measure.interval.reason if measure.interval is not None else "")


def selections_json(release: Release, found: Iterable[Selections]) -> dict[str, Any]:
    """Best-of-N as JSON, in the shape of the leaderboard."""
    return {
        "project": release.project.slug,
        "version": release.version,
        "digest": release.digest,
        "models": [
            {
                "model": one.name,
                "overall": _selected_json(one.overall),
                "subsets": {name: _selected_json(part) for name, part in one.subsets.items()},
            }
            for one in found
        ],
    }


def _selected_json(found: BestOfN) -> dict[str, Any]:
    return {
        "tasks": found.tasks,
        "runs": found.runs,
        "random": found.random,
        "oracle": found.oracle,
        **{rule: {"averaged": one.averaged, "lowest_index": one.lowest} for rule, one in found.rules.items()},
    }
