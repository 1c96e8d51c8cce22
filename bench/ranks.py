"""The topic `ranks`: how often models that are all equally good are told apart by a board.

Boards are simulated again and again, with labels and readers as in bench/intervals.py. Fifteen models
read the same trajectories with the same chances of error, so that a board that tells two of them apart
errs. When all pairs are asked together, that may happen on 5 % of the boards (docs/scoring.md,
"Intervals and ranks", has the table).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from annotation.core.scoring import Predictions, ReleasedLabels
from annotation.core.scoring.counts import task_sums
from annotation.core.scoring.figures import FIGURES, RANKED
from annotation.core.scoring.ranks import ranks
from annotation.core.scoring.scores import estimated
from bench.installations import Stock
from bench.intervals import Study
from bench.report import Limit, Report, Say, table

MODELS: Final = 15
BOARDS, QUICK_BOARDS = 400, 3
TASKS: Final = ((4, 50), (1, 200), (1, 50), (1, 20))
"""Subsets, and tasks in each; below 20 there are no ranks."""
MOST: Final = 0.06
"""5 %, and a standard error of simulation of about 1 %."""


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Simulate, print, compare with what is promised. No database takes part."""
    rows = []
    for subsets, tasks in TASKS:
        shares = separated(subsets, tasks, QUICK_BOARDS if quick else BOARDS)
        size = f"{subsets} × {tasks} tasks"
        say(f"ranks: boards of {size} simulated")
        report.line("ranks", subsets=subsets, tasks=tasks, separated=shares)
        rows.append((size, *(f"{shares[name]:.1%}" for name in RANKED)))
        report.limit(Limit(f"boards of equal models told apart, {size}", max(shares.values()), MOST))
    table(
        f"Boards of {MODELS} equal models on which some pair is told apart",
        ("", *(FIGURES[name].title for name in RANKED)),
        rows,
    )


def separated(subsets: int, tasks: int, boards: int) -> dict[str, float]:
    """By ranked figure, the share of boards that tell some pair of equal models apart."""
    rng = np.random.default_rng([subsets, tasks])
    apart = dict.fromkeys(RANKED, 0)
    for _ in range(boards):
        released, models = board(rng, subsets, tasks)
        sums = np.stack([task_sums(released, model) for model in models])
        for name, found in estimated(released, sums, RANKED).items():
            apart[name] += any(rank is not None and rank.together != (1, MODELS) for rank in ranks(found))
    return {name: count / boards for name, count in apart.items()}


def board(rng: np.random.Generator, subsets: int, tasks: int) -> tuple[ReleasedLabels, list[Predictions]]:
    """A release of simulated labels, and what equal models predict of it."""
    study = Study.drawn(rng, subsets, tasks)
    record, _position = np.nonzero(study.inside)
    released = ReleasedLabels.of_steps(
        study.subset[record], study.task[record], record, study.truth[study.inside]
    )
    read = (study.read(rng)[study.inside] for _ in range(MODELS))
    return released, [Predictions.constant(steps, released.outcome) for steps in read]
