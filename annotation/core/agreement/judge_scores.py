"""Score a judge against people's labels: shares of labels that are right, and agreement beyond chance.

StepAcc counts every step that people labelled, and a step without a suggestion as wrong; agreement and κ are
over the steps that have one. FirstErrAcc compares the index of the first −1 of each trajectory, "none" equal
to "none", as published with AgentProcessBench (arXiv 2603.14465); in the strict variant a trajectory without
a single suggested label earns nothing.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.core.agreement.bootstrap import interval, resampled_sums, task_weights
from annotation.core.agreement.confusion import SIZE, confusion, confusion_by
from annotation.core.agreement.firsterror import first_positions
from annotation.core.agreement.kappa import agreement_values, kappa_values
from annotation.core.agreement.measure import NO_PAIRS, ONE_LABEL, FloatArray, IntArray, Measure, measured
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


def judged(rows: npt.ArrayLike, *, rng: np.random.Generator | None = None) -> JudgeScores:
    """Figures of one judge from rows (n, 6): subset, task, trajectory, position, people's label, the judge's.

    `position` orders the steps of a trajectory; MISSING stands for a label the judge did not give. Where
    several people labelled a trajectory, each one's labelling of it counts as a trajectory. With `rng`,
    intervals resample tasks within subsets.
    """
    table = np.asarray(rows, dtype=np.int64).reshape(-1, 6)
    _, task, trajectory, position, people, judge = table.T
    given = judge != MISSING
    hits = people == judge
    counts = confusion(people[given], judge[given])
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
    if rng is not None and len(table):
        figures = _with_intervals(figures, table, trajectory_code, (same, same_strict), rng)
    return JudgeScores(
        steps=len(table),
        answered=int(given.sum()),
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
    rng: np.random.Generator,
) -> dict[str, Measure]:
    """The same figures with 95 % intervals over tasks (docs/design.md, "Statistics")."""
    tasks, first_row, of_row = np.unique(table[:, 1], return_index=True, return_inverse=True)
    n = len(tasks)
    given = table[:, 5] != MISSING
    by_task = confusion_by(table[given, 4], table[given, 5], of_row[given], n).reshape(n, SIZE * SIZE)
    row_of_trajectory = np.unique(trajectory_code, return_index=True)[1]
    task_of_trajectory = of_row[row_of_trajectory]

    def per_task(values: npt.NDArray[np.bool_] | IntArray, groups: IntArray) -> FloatArray:
        sums: FloatArray = np.bincount(groups, weights=values.astype(np.float64), minlength=n).astype(
            np.float64
        )
        return sums

    ones = np.ones(len(table), dtype=np.int64)
    features = np.column_stack(
        [
            by_task,
            per_task(table[:, 4] == table[:, 5], of_row),
            per_task(ones, of_row),
            per_task(same[0], task_of_trajectory),
            per_task(same[1], task_of_trajectory),
            per_task(np.ones(len(row_of_trajectory), dtype=np.int64), task_of_trajectory),
        ]
    )
    samples: dict[str, list[FloatArray]] = {name: [] for name in figures}
    for weights in task_weights(table[first_row, 0], rng):
        sums = resampled_sums(weights, features)
        counts = sums[:, : SIZE * SIZE].reshape(-1, SIZE, SIZE)
        hits, steps, one, strict, trajectories = sums[:, SIZE * SIZE :].T
        samples["agreement"].append(agreement_values(counts))
        samples["kappa"].append(kappa_values(counts))
        samples["kappa_quadratic"].append(kappa_values(counts, "quadratic"))
        samples["step_accuracy"].append(hits / steps)
        samples["first_error"].append(one / trajectories)
        samples["first_error_strict"].append(strict / trajectories)
    return {
        name: Measure(figure.value, figure.n, figure.reason, interval(np.concatenate(samples[name]), n))
        if figure.value is not None
        else figure
        for name, figure in figures.items()
    }
