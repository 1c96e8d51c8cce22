"""A model's figures with their intervals, on a release or a subset of it.

The design effect of StepAcc (of decisions, of pair accuracy) is its variance over tasks
(`core.figures.intervals`) over that of as many independent steps (pairs), p (1 − p) / n (L. Kish, Survey
Sampling, 1965); n over it is how many independent ones these are worth.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.core.figures.intervals import Estimates, estimates, joined
from annotation.core.figures.measure import MIN_TASKS, FloatArray, Measure, divide
from annotation.core.kinds import available
from annotation.core.scoring.labels import Predictions, ReleasedLabels
from annotation.core.scoring.pairs import PairCounts
from annotation.core.scoring.question_figures import QuestionCounts
from annotation.core.scoring.scheme import BY_PAIRS, BY_QUESTIONS, scheme_of


@dataclass(frozen=True, slots=True)
class Scores:
    """One model on one part of a release. `records`, `steps`, `tasks`: how many there are; `absent`: records
    that it was not asked about; `failed`: judgements that failed; `missing`: steps without a prediction.

    `effective_steps`: as how many independent steps these count for StepAcc, None without an interval.

    On decisions `pairs` are counted, or `questions`, and `effective_steps` are these.
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
    pairs: PairCounts | None = None
    questions: QuestionCounts | None = None

    def as_json(self) -> dict[str, Any]:
        """Each figure as a fraction under its name; beside them their n, intervals and reasons."""
        figures = self.figures.items()
        reasons = {name: one.reason or (one.interval.reason if one.interval else "") for name, one in figures}
        counts = ("records", "steps", "tasks", "absent", "failed")
        own: dict[str, Any] = {"missing": self.missing, "effective_steps": self.effective_steps}
        if self.pairs is not None:
            own = {**self.pairs.as_json(), "effective_pairs": self.effective_steps}
        elif self.questions is not None:
            # shares under their own names, so that what is counted stands apart
            own = {"counts": self.questions.as_json(), "effective_questions": self.effective_steps}
        return {
            **{name: one.value for name, one in figures},
            "n": {name: one.n for name, one in figures},
            "intervals": {name: one.ends for name, one in figures},
            "reasons": {name: reason for name, reason in reasons.items() if reason},
            **{name: getattr(self, name) for name in (*counts, "design_effect")},
            **own,
        }


def scores(released: ReleasedLabels, predicted: Sequence[Predictions]) -> list[Scores]:
    """The scores of each model, all figures with intervals."""
    if not predicted:
        return []
    return of_sums(released, predicted, np.stack([sums_of(released, one) for one in predicted]))


def sums_of(released: ReleasedLabels, predicted: Predictions) -> FloatArray:
    """The counts of every task of which the figures of this kind are made, (T, columns)."""
    return scheme_of(released).sums(released, predicted)


def of_sums(
    released: ReleasedLabels,
    predicted: Sequence[Predictions],
    sums: FloatArray,
    every: Mapping[str, Estimates] | None = None,
) -> list[Scores]:
    """The same from counts that are there already, (M, T, columns), and what `estimated` made of them."""
    every = estimated(released, sums) if every is None else every
    totals = sums.sum(axis=1)
    scheme = scheme_of(released)
    size, effects = _design_effects(every[scheme.main], totals)
    measures = {name: one.measures(one.figure.n(totals)) for name, one in every.items()}
    return [
        Scores(
            released.n_records,
            released.n_steps,
            released.n_tasks,
            int((~one.there).sum()),
            int(one.failed.sum()),
            int(one.unsaid.sum()),
            {name: values[at] for name, values in measures.items()},
            None if np.isnan(effects[at]) else float(effects[at]),
            None if np.isnan(effects[at]) else float(size[at] / effects[at]),
            PairCounts.of(totals[at]) if scheme is BY_PAIRS else None,
            QuestionCounts.of(totals[at]) if scheme is BY_QUESTIONS else None,
        )
        for at, one in enumerate(predicted)
    ]


def estimated(
    released: ReleasedLabels, sums: FloatArray, names: Iterable[str] | None = None
) -> dict[str, Estimates]:
    """Figures of several models, all that releases of this kind have or those named, task by task, from
    counts (M, T, columns)."""
    figures = available(released.kind, scheme_of(released).figures)
    chosen = figures if names is None else {name: figures[name] for name in names}
    return estimates(chosen, sums, joined(released.subset_of_task()))


def too_few_tasks(scores: Iterable[Scores]) -> int | None:
    """The largest number of tasks that any of these is scored on, if none has enough of them for an interval;
    None if one has, or if there are none."""
    most = max((one.tasks for one in scores), default=MIN_TASKS)
    return most if most < MIN_TASKS else None


def _design_effects(estimated: Estimates, totals: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of each model's main figure, its n and the design effect, (M,); NaN where it has no interval."""
    n = estimated.figure.n(totals)
    variance = (estimated.influence**2).sum(axis=-1)
    alone = divide(estimated.value * (1 - estimated.value), n)
    there = estimated.usable & (alone > 0) & (variance > 0)
    return n, np.where(there, divide(variance, alone), np.nan)
