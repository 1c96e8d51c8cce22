"""The part that readers, and models' own suggestions, have in a ranking.

- Reader: on the trajectories that one reader labelled blind, models are ranked by StepAcc against the
  consensus and against that reader's labels. Kendall's τ-b of the two (M. G. Kendall, "The treatment of ties
  in ranking problems", 1945) says how much of the order stays; a pair turns when one model is ahead by the
  consensus and the other by the reader.
- Own suggestions: a model some of whose suggestions annotators had seen before they submitted may earn more
  where they had. D = (a_seen − a_unseen) − (b_seen − b_unseen), with a its StepAcc and b the other models'
  together: what all models find easier falls out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import scipy

from annotation.core.figures.figure import Figure, by_name
from annotation.core.figures.intervals import estimates, joined
from annotation.core.figures.measure import MIN_TASKS, FloatArray, Measure, divide
from annotation.core.i18n import Translatable, translatable
from annotation.core.scoring.benchmark import FEW_MODELS, FEWEST, NO_VARIATION
from annotation.core.scoring.blind import MOST_READERS, Readers
from annotation.core.scoring.labels import MISSING, BoolArray, Predictions, ReleasedLabels

FEW_TASKS_READ: Final = translatable("fewer than 20 tasks")
NO_OTHER: Final = translatable("there is no other model")
ONE_SIDED: Final = translatable("fewer than 20 tasks have its suggestions seen, or not seen")


@dataclass(frozen=True, slots=True)
class ReaderRanking:
    """One reader, by the number of the pseudonym, on `records` of `tasks`: τ with the ranking by the
    consensus of the same trajectories, and the pairs of models (by place) that turn, the one ahead by the
    consensus first."""

    reader: int
    records: int
    tasks: int
    tau: Measure
    turned: tuple[tuple[int, int], ...]


def by_reader(
    released: ReleasedLabels,
    models: Sequence[Predictions],
    turns: Sequence[Predictions],
    readers: Sequence[Readers],
) -> list[ReaderRanking]:
    """Every reader's ranking, by number; of blind labellings and who gave them (core.scoring.blind)."""
    numbers = sorted({int(one) for of_turn in readers for one in np.unique(of_turn)} - {0, MOST_READERS + 1})
    return [_ranking(released, models, turns, readers, number) for number in numbers]


def _ranking(
    released: ReleasedLabels,
    models: Sequence[Predictions],
    turns: Sequence[Predictions],
    readers: Sequence[Readers],
    reader: int,
) -> ReaderRanking:
    own = np.full(released.n_steps, MISSING, dtype=np.int8)
    for predicted, of_turn in zip(turns, readers, strict=True):
        theirs = (of_turn == reader)[released.record]
        own[theirs] = predicted.steps[theirs]
    steps = own != MISSING
    records = np.unique(released.record[steps])
    tasks = len(np.unique(released.task[records]))

    def without(reason: str) -> ReaderRanking:
        return ReaderRanking(reader, len(records), tasks, Measure(None, len(models), reason), ())

    if len(models) < FEWEST:
        return without(FEW_MODELS)
    if tasks < MIN_TASKS:
        return without(FEW_TASKS_READ)
    # whole numbers, in which equal is equal
    by_consensus, by_own = (
        np.array([int((model.steps[steps] == truth[steps]).sum()) for model in models])
        for truth in (released.value, own)
    )
    if not np.ptp(by_consensus) or not np.ptp(by_own):
        return without(NO_VARIATION)
    tau = Measure(float(scipy.stats.kendalltau(by_consensus, by_own).statistic), len(models))
    ahead = np.sign(by_consensus[:, None] - by_consensus)
    turned = np.argwhere((ahead > 0) & (np.sign(by_own[:, None] - by_own) < 0))
    return ReaderRanking(
        reader, len(records), tasks, tau, tuple((int(one), int(other)) for one, other in turned)
    )


OWN_SEEN, SEEN, OWN_UNSEEN, UNSEEN, OTHERS_SEEN, OTHERS_UNSEEN = range(6)
"""The columns of counts by task: steps that are right, and all."""


def _shift(sums: FloatArray) -> FloatArray:
    seen, unseen = sums[..., SEEN], sums[..., UNSEEN]
    own = divide(sums[..., OWN_SEEN], seen) - divide(sums[..., OWN_UNSEEN], unseen)
    others: FloatArray = divide(sums[..., OTHERS_SEEN], seen) - divide(sums[..., OTHERS_UNSEEN], unseen)
    return own - others


SHIFT: Final = Figure(
    "shift",
    translatable("Shift by its own suggestions"),
    Translatable(),
    _shift,
    lambda sums: sums[..., SEEN],
    reason=ONE_SIDED,
    empty=ONE_SIDED,
)


def own_suggestions_shift(
    released: ReleasedLabels, models: Sequence[Predictions], place: int, seen: BoolArray
) -> Measure:
    """D of the model at a place, with its jackknife interval over tasks; `seen` (R,): the records for which
    an annotator had seen its suggestions. n counts their steps. Undefined below 20 tasks on either side, and
    without another model."""
    tasks = [len(np.unique(released.task[part])) for part in (seen, ~seen)]
    part = seen[released.record]
    if len(models) < 2 or min(tasks) < MIN_TASKS:
        return Measure(None, int(part.sum()), NO_OTHER if len(models) < 2 else ONE_SIDED)
    right = np.stack([model.steps == released.value for model in models]).astype(np.float64)
    others = np.delete(right, place, axis=0).mean(axis=0)
    every = np.ones(released.n_steps)
    columns: list[Any] = [
        right[place] * part,
        every * part,
        right[place] * ~part,
        every * ~part,
        others * part,
        others * ~part,
    ]
    task = released.task[released.record]
    sums: FloatArray = np.stack(
        [np.bincount(task, one, released.n_tasks) for one in columns], axis=-1, dtype=np.float64
    )
    shift = estimates(by_name(SHIFT), sums, joined(released.subset_of_task()))["shift"]
    return shift.measures(SHIFT.n(sums.sum(axis=0)))[0]
