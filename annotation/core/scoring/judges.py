"""Score a judge against people's labels.

StepAcc counts every step that people labelled, and a step without a suggestion as wrong; agreement and κ are
over the steps that have one. FirstErrAcc compares the index of the first −1 of each trajectory, "none" equal
to "none", as published with AgentProcessBench (arXiv 2603.14465); in the strict variant a trajectory without
a single suggested label earns nothing.
"""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from annotation.core.figures.intervals import estimates, joined
from annotation.core.figures.measure import IntArray, Measure, figures_json
from annotation.core.kinds import STEPS, ProjectKind, available
from annotation.core.scoring.counts import tables, task_sums
from annotation.core.scoring.figures import JUDGE_FIGURES
from annotation.core.scoring.labels import BoolArray, Predictions, ReleasedLabels


@dataclass(frozen=True, slots=True)
class JudgedSteps:
    """Steps that people labelled, trajectory by trajectory and in order; parallel arrays, ids are any
    integers. `judge`: its label, MISSING without one.

    Where several people labelled a trajectory, each one's labelling of it counts as a trajectory.
    """

    subset: IntArray
    task: IntArray
    trajectory: IntArray
    people: IntArray
    judge: IntArray

    def where(self, rows: BoolArray) -> "JudgedSteps":
        """Some of the steps, of whole trajectories."""
        return JudgedSteps(*(getattr(self, column.name)[rows] for column in fields(self)))

    def plus(self) -> "JudgedSteps":
        """The same steps, judged +1 one and all."""
        return replace(self, judge=np.ones_like(self.people))


@dataclass(frozen=True, slots=True)
class JudgeScores:
    """`figures` by the names of JUDGE_FIGURES; `confusion`: people in the rows, the judge in the columns, in
    the order −1, 0, +1, missing left out."""

    steps: int
    trajectories: int
    tasks: int
    figures: dict[str, Measure]
    confusion: IntArray

    @property
    def answered(self) -> int:
        """Steps that both labelled."""
        return int(self.confusion.sum())

    @property
    def missing(self) -> int:
        """Steps that people labelled and the judge did not."""
        return self.steps - self.answered

    def as_json(self) -> dict[str, Any]:
        """Counts, figures by name, and the confusion."""
        counts = ("steps", "answered", "missing", "trajectories", "tasks")
        return {
            **{name: getattr(self, name) for name in counts},
            **figures_json(self.figures),
            "confusion": self.confusion.tolist(),
        }


def judge_scores(steps: JudgedSteps, *, intervals: bool = False, kind: ProjectKind = STEPS) -> JudgeScores:
    """The figures of one judge that projects of this kind have; with `intervals` over tasks within
    subsets."""
    shown = available(kind, JUDGE_FIGURES)
    released = ReleasedLabels.of_steps(steps.subset, steps.task, steps.trajectory, steps.people)
    sums = task_sums(released, Predictions.constant(steps.judge, released.outcome))
    totals = sums.sum(axis=0)
    figures = {
        name: figure.measure(float(figure.values(totals)), float(figure.n(totals)))
        for name, figure in shown.items()
    }
    if intervals:
        estimated = estimates(shown, sums, joined(released.subset_of_task()))
        figures = {name: one.measures(one.figure.n(totals))[0] for name, one in estimated.items()}
    confusion = tables(totals)[:, :3].astype(np.int64)
    return JudgeScores(released.n_steps, released.n_records, released.n_tasks, figures, confusion)
