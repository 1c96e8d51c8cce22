"""A model's figures with their intervals, on a release or a subset of it.

The design effect of StepAcc is its variance over tasks (`core.figures.intervals`) over that of as many
independent steps, p (1 − p) / n (L. Kish, Survey Sampling, 1965); n over it is how many independent steps
these are worth.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from annotation.core.figures.intervals import Estimates, estimates, joined
from annotation.core.figures.measure import MIN_TASKS, FloatArray, Measure, divide
from annotation.core.kinds import available
from annotation.core.scoring.counts import TABLE, task_sums
from annotation.core.scoring.figures import FIGURES
from annotation.core.scoring.labels import MISSING, Predictions, ReleasedLabels

STEP_ACCURACY: Final = "step_accuracy"


@dataclass(frozen=True, slots=True)
class Scores:
    """One model on one part of a release. `records`, `steps`, `tasks`: how many there are; `absent`: records
    that it was not asked about; `failed`: judgements that failed; `missing`: steps without a prediction.

    `effective_steps`: as how many independent steps these count for StepAcc, None without an interval.
    """

    records: int
    steps: int
    tasks: int
    absent: int
    failed: int
    missing: int
    figures: dict[str, Measure]
    design_effect: float | None
    effective_steps: float | None

    def as_json(self) -> dict[str, Any]:
        """Each figure as a fraction under its name; beside them their n, intervals and reasons."""
        figures = self.figures.items()
        reasons = {name: one.reason or (one.interval.reason if one.interval else "") for name, one in figures}
        counts = ("records", "steps", "tasks", "absent", "failed", "missing")
        return {
            **{name: one.value for name, one in figures},
            "n": {name: one.n for name, one in figures},
            "intervals": {name: one.ends for name, one in figures},
            "reasons": {name: reason for name, reason in reasons.items() if reason},
            **{name: getattr(self, name) for name in (*counts, "design_effect", "effective_steps")},
        }


def scores(released: ReleasedLabels, said: Sequence[Predictions]) -> list[Scores]:
    """The scores of each model, all figures with intervals."""
    if not said:
        return []
    return of_sums(released, said, np.stack([task_sums(released, one) for one in said]))


def of_sums(
    released: ReleasedLabels,
    said: Sequence[Predictions],
    sums: FloatArray,
    every: Mapping[str, Estimates] | None = None,
) -> list[Scores]:
    """The same from counts that are there already, (M, T, COLUMNS), and what `estimated` made of them."""
    every = estimated(released, sums) if every is None else every
    totals = sums.sum(axis=1)
    measures = {name: one.measures(one.figure.n(totals)) for name, one in every.items()}
    return [
        Scores(
            released.n_records,
            released.n_steps,
            released.n_tasks,
            int((~one.there).sum()),
            int(one.failed.sum()),
            int((one.steps == MISSING).sum()),
            {name: found[at] for name, found in measures.items()},
            None if np.isnan(effect) else float(effect),
            None if np.isnan(effect) else released.n_steps / float(effect),
        )
        for at, (one, effect) in enumerate(zip(said, _design_effects(every, totals), strict=True))
    ]


def estimated(
    released: ReleasedLabels, sums: FloatArray, names: Iterable[str] | None = None
) -> dict[str, Estimates]:
    """Figures of several models, all that releases of this kind have or those named, task by task, from
    counts (M, T, COLUMNS)."""
    figures = available(released.kind, FIGURES)
    chosen = figures if names is None else {name: figures[name] for name in names}
    return estimates(chosen, sums, joined(released.subset_of_task()))


def too_few_tasks(found: Iterable[Scores]) -> int | None:
    """The largest number of tasks that any of these is scored on, if none has enough of them for an interval;
    None if one has, or if there are none."""
    most = max((one.tasks for one in found), default=MIN_TASKS)
    return most if most < MIN_TASKS else None


def _design_effects(every: Mapping[str, Estimates], totals: FloatArray) -> FloatArray:
    """Of each model's StepAcc, (M,); NaN where it has no interval."""
    found, n = every[STEP_ACCURACY], totals[:, TABLE].sum(axis=-1)
    variance = (found.influence**2).sum(axis=-1)
    alone = divide(found.value * (1 - found.value), n)
    return np.where(found.usable & (alone > 0) & (variance > 0), divide(variance, alone), np.nan)
