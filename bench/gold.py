"""The topic `gold`: how often and how soon annotators of known accuracy are paused.

Annotators err as models do on the published HotpotQA trajectories, whose human labels are the key.
Trajectories are drawn with weights that make the accuracy what is asked (exponential tilting), so that errors
of one trajectory stay together as they were. After each item of gold somebody looks (docs/training.md,
"Accuracy and pauses", has the table). Without the published labels they are made.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from annotation.core.figures.measure import FloatArray
from annotation.core.training.accuracy import FALSE_PAUSE, paused_at
from bench.installations import Stock
from bench.report import Limit, Report, Say, table
from bench.second_person import material
from tests.fixtures.published_labels import MODELS

BOUND: Final = 0.7
ACCURACIES: Final = (0.5, 0.55, 0.6, 0.65, BOUND, 0.75)
ITEMS: Final = 200
PEOPLE, QUICK_PEOPLE = 2_000, 300


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Simulate, print, compare with what is promised. No database takes part."""
    people = QUICK_PEOPLE if quick else PEOPLE
    rng = np.random.default_rng(28)
    rows = []
    for model, shares in zip(MODELS, right_shares(), strict=True):
        for accuracy in ACCURACIES:
            weights = tilted(shares, accuracy)
            drawn = rng.choice(shares, (people, ITEMS), p=weights)
            after = [item for item in (paused_at(own, BOUND) for own in drawn) if item is not None]
            paused = len(after) / people
            report.line("gold", model=model, accuracy=accuracy, paused=paused)
            if accuracy >= BOUND:
                # what chance alone adds to a share of so many people
                room = 3 * (FALSE_PAUSE * (1 - FALSE_PAUSE) / people) ** 0.5
                report.limit(Limit(f"paused at {accuracy:.0%}, {model}", paused, FALSE_PAUSE + room))
            median = f"{np.median(after):.0f}" if after else ""
            rows.append((model, f"{accuracy:.0%}", f"{paused:.1%}", median))
        say(f"gold: annotators who err as {model} simulated")
    table("Pauses by gold", ("errs as", "accuracy", "paused", "after (median)"), rows)


def right_shares() -> list[FloatArray]:
    """Of each model the share of labels as in the key, of each trajectory, outcome included."""
    known, judges = material(1)
    found = []
    for judge in judges:
        said = judge.predicted
        right = np.add.reduceat((said.steps == known.value).astype(np.float64), known.starts()[:-1])
        right += said.outcome == known.outcome
        found.append(right / (np.diff(known.starts()) + 1))
    return found


def tilted(shares: FloatArray, mean: float) -> FloatArray:
    """Weights, exponential in the shares, under which their mean is this."""
    low, high = -60.0, 60.0
    for _ in range(80):
        middle = (low + high) / 2
        weights = np.exp(middle * shares - (middle * shares).max())
        weights /= weights.sum()
        low, high = (middle, high) if weights @ shares < mean else (low, middle)
    return weights
