"""Score a judge against people's labels: shares of labels that are right, and agreement beyond chance.

StepAcc counts every step that people labelled, and a step without a suggestion as wrong; agreement and κ are
over the steps that have one. FirstErrAcc compares the index of the first −1 of each trajectory, "none" equal
to "none", as published with AgentProcessBench (arXiv 2603.14465); in the strict variant a trajectory without
a single suggested label earns nothing.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from annotation.core.agreement.intervals import jackknife, joined
from annotation.core.figures.confusion import SIZE, confusion, confusion_by
from annotation.core.figures.first_errors import first_positions
from annotation.core.figures.kappa import agreement_values, kappa_values
from annotation.core.figures.measure import (
    NO_PAIRS,
    ONE_LABEL,
    FloatArray,
    IntArray,
    Measure,
    divide,
    measured,
)
from annotation.core.i18n import translatable

MISSING = 2
"""Stands for a missing suggestion: no label has this value."""
NO_LABELS = translatable("there are no steps that people have labelled")
ONE_LABEL_JUDGE = translatable("people and judge used one label only")


@dataclass(frozen=True, slots=True)
class JudgeScores:
    """`confusion`: people in the rows, the judge in the columns, in the order −1, 0, +1, missing left out."""

    steps: int
    answered: int
    trajectories: int
    tasks: int
    step_accuracy: Measure
    agreement: Measure
    kappa: Measure
    kappa_quadratic: Measure
    first_error: Measure
    first_error_strict: Measure
    confusion: IntArray

    @property
    def missing(self) -> int:
        """Steps that people labelled and the judge did not."""
        return self.steps - self.answered


def judged(rows: npt.ArrayLike, *, intervals: bool = False) -> JudgeScores:
    """Figures of one judge from rows (n, 6): subset, task, trajectory, position, people's label, the judge's.

    `position` orders the steps of a trajectory; MISSING stands for a label the judge did not give. Where
    several people labelled a trajectory, each one's labelling of it counts as a trajectory.
    `intervals`: with intervals over tasks within subsets.
    """
    table = np.asarray(rows, dtype=np.int64).reshape(-1, 6)
    _, task, trajectory, position, people, judge = table.T
    labelled = judge != MISSING
    hits = people == judge
    counts = confusion(people[labelled], judge[labelled])
    _, trajectory_code = np.unique(trajectory, return_inverse=True)
    n_trajectories = int(trajectory_code.max()) + 1 if len(table) else 0
    same, same_strict = _first_errors(trajectory_code, position, people, judge, n_trajectories)
    figures = {
        "step_accuracy": _share(hits),
        "agreement": measured(float(agreement_values(counts)), int(counts.sum()), "", empty=NO_PAIRS),
        "kappa": _kappa(counts, "plain"),
        "kappa_quadratic": _kappa(counts, "quadratic"),
        "first_error": _share(same),
        "first_error_strict": _share(same_strict),
    }
    if intervals and len(table):
        figures = _with_intervals(figures, table, trajectory_code, (same, same_strict))
    return JudgeScores(
        steps=len(table),
        answered=int(labelled.sum()),
        trajectories=n_trajectories,
        tasks=len(np.unique(task)),
        confusion=counts,
        **figures,
    )


def _share(right: npt.NDArray[np.bool_]) -> Measure:
    return measured(float(right.mean()) if len(right) else float("nan"), len(right), "", empty=NO_LABELS)


def _kappa(counts: IntArray, weights: str) -> Measure:
    value = float(kappa_values(counts, weights))  # type: ignore[arg-type]
    return measured(value, int(counts.sum()), ONE_LABEL_JUDGE if counts.any() else ONE_LABEL)


def _first_errors(
    trajectory: IntArray, position: IntArray, people: IntArray, judge: IntArray, n: int
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """For each trajectory: whether both see the first error in the same place, and strictly so."""
    theirs = first_positions(people, trajectory, position, n)
    its = first_positions(judge, trajectory, position, n)
    answered = np.bincount(trajectory[judge != MISSING], minlength=n) > 0
    same = theirs == its
    return same, same & answered


def _with_intervals(
    figures: dict[str, Measure],
    table: IntArray,
    trajectory_code: IntArray,
    same: tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]],
) -> dict[str, Measure]:
    """The same figures with 95 % intervals over tasks, by the jackknife (`intervals`)."""
    tasks, first_row, of_row = np.unique(table[:, 1], return_index=True, return_inverse=True)
    n = len(tasks)
    labelled = table[:, 5] != MISSING
    by_task = confusion_by(table[labelled, 4], table[labelled, 5], of_row[labelled], n).reshape(
        n, SIZE * SIZE
    )
    row_of_trajectory = np.unique(trajectory_code, return_index=True)[1]
    task_of_trajectory = of_row[row_of_trajectory]

    def per_task(groups: IntArray, values: npt.NDArray[np.bool_] | None = None) -> FloatArray:
        weights = None if values is None else values.astype(np.float64)
        sums: FloatArray = np.bincount(groups, weights=weights, minlength=n).astype(np.float64)
        return sums

    sums = np.column_stack(
        [
            by_task,
            per_task(of_row, table[:, 4] == table[:, 5]),
            per_task(of_row),
            per_task(task_of_trajectory, same[0]),
            per_task(task_of_trajectory, same[1]),
            per_task(task_of_trajectory),
        ]
    )
    # the first row is of all tasks, each other one without one of them
    sums = np.vstack([sums.sum(axis=0), sums.sum(axis=0) - sums])
    counts = sums[:, : SIZE * SIZE].reshape(-1, SIZE, SIZE)
    hits, steps, one, strict, trajectories = sums[:, SIZE * SIZE :].T
    values = {
        "agreement": agreement_values(counts),
        "kappa": kappa_values(counts),
        "kappa_quadratic": kappa_values(counts, "quadratic"),
        "step_accuracy": divide(hits, steps),
        "first_error": divide(one, trajectories),
        "first_error_strict": divide(strict, trajectories),
    }
    stratum = joined(table[first_row, 0])

    def with_interval(name: str, figure: Measure) -> Measure:
        if figure.value is None:
            return figure
        share = not name.startswith("kappa")
        return replace(figure, interval=jackknife(figure.value, values[name][1:], stratum, share=share))

    return {name: with_interval(name, figure) for name, figure in figures.items()}
