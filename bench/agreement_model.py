"""Labels of made-up annotators, for measuring statistics: how the real ones of AgentProcessBench are built.

Fitted to HotpotQA (250 trajectories of 50 tasks) as people labelled it, and to two models that labelled it
apart. Lengths follow a geometric distribution with each subset's mean. The true labels are a Markov chain
with the transitions counted there: −1 goes on in 74 % of the cases. How likely errors are differs from task
to task, with the intraclass correlation of .40 that was found. Annotators read a trajectory rightly, too
leniently (missing its errors) or too strictly (seeing one from some step on), more often wrongly in unclear
tasks, and then take single steps for something else now and then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from annotation.core.agreement import LabelTable

IntArray = npt.NDArray[np.int64]

MEAN_STEPS: Final = (3, 7, 10, 14)
"""Of a trajectory, by subset: HotpotQA's mean, and three longer ones as the other subsets have."""
LONGEST: Final = 60
TRAJECTORIES: Final = 5
"""Of a task: one for each policy model."""
START: Final = (0.12, 0.0, 0.88)
NEXT: Final = ((0.74, 0.03, 0.23), (0.52, 0.27, 0.21), (0.16, 0.11, 0.73))
"""The share of −1, 0, +1 among first steps, and after −1, 0, +1."""
PRONENESS: Final = (0.63, 0.87)
"""The beta distribution of a task's proneness to error: mean .42, intraclass correlation .40."""
SLIPS: Final = (0.1, 0.4, 0.5)
"""What a step is labelled when an annotator takes it for something else: shares of −1, 0, +1."""


@dataclass(frozen=True, slots=True)
class People:
    """The annotators of a study: how many there are, of whom two, drawn anew, label each trajectory."""

    name: str
    misread: float
    """The share of trajectories that an annotator reads too leniently or too strictly, over all tasks."""
    slip: float
    """The share of single steps that an annotator takes for something else."""
    count: int = 2


FITTED: Final = People("two annotators", misread=0.22, slip=0.07)
CLOSE: Final = People("two annotators who agree more", misread=0.1, slip=0.03)
SIX: Final = People("six annotators, two for each trajectory", misread=0.22, slip=0.07, count=6)


def simulate(rng: np.random.Generator, people: People, subsets: int, tasks: int) -> LabelTable:
    """The labels of a study of so many subsets with so many tasks each, five trajectories a task."""
    n_tasks = subsets * tasks
    subset_of_task = np.repeat(np.arange(subsets), tasks)
    task_of = np.repeat(np.arange(n_tasks), TRAJECTORIES)
    steps = np.minimum(rng.geometric(1 / np.array(MEAN_STEPS)[subset_of_task[task_of]]), LONGEST)
    truth = _chain(rng, steps, (rng.beta(*PRONENESS, n_tasks) * sum(PRONENESS) / PRONENESS[0])[task_of])
    unclear = rng.beta(1, 2, n_tasks)[task_of] * 3 * people.misread
    labels = np.stack([_read(rng, people, truth, steps, unclear) for _ in range(people.count)], axis=-1)
    chosen = np.argsort(rng.random((len(steps), people.count)), axis=1)[:, :2]
    trajectory, position = np.nonzero(np.arange(truth.shape[1]) < steps[:, None])
    return LabelTable.of(
        np.concatenate(
            [
                np.column_stack(
                    [
                        trajectory,
                        position,
                        chosen[trajectory, one],
                        labels[trajectory, position, chosen[trajectory, one]],
                        task_of[trajectory],
                        subset_of_task[task_of[trajectory]],
                        steps[trajectory],
                    ]
                )
                for one in range(2)
            ]
        )
    )


def _chain(rng: np.random.Generator, steps: IntArray, proneness: npt.NDArray[np.float64]) -> IntArray:
    """True labels (trajectories, longest): the chain, with errors more or less likely by task."""
    longest = int(steps.max())
    labels = np.zeros((len(steps), longest), dtype=np.int64)
    shares = np.array([*NEXT, START])
    state = np.full(len(steps), 3)
    for place in range(longest):
        share = shares[state]
        # a run goes on as it does everywhere; that one begins depends on the task
        error = np.where(state == 0, share[:, 0], np.minimum(share[:, 0] * proneness, 0.95))
        neutral = share[:, 1] * (1 - error) / np.maximum(1 - share[:, 0], 1e-9)
        draw = rng.random(len(steps))
        state = np.where(draw < error, 0, np.where(draw < error + neutral, 1, 2))
        labels[:, place] = state - 1
    return labels


def _read(
    rng: np.random.Generator,
    people: People,
    truth: IntArray,
    steps: IntArray,
    unclear: npt.NDArray[np.float64],
) -> IntArray:
    """One annotator's labels of all trajectories."""
    n, longest = truth.shape
    misread = rng.random(n) < unclear
    lenient = misread & (rng.random(n) < 0.6)
    since = (rng.random(n) * steps).astype(np.int64)
    seen = truth.copy()
    seen[lenient[:, None] & (truth == -1)] = 1
    seen[(misread & ~lenient)[:, None] & (np.arange(longest) >= since[:, None])] = -1
    slipped = rng.random((n, longest)) < people.slip
    return np.where(slipped, rng.choice([-1, 0, 1], p=SLIPS, size=(n, longest)), seen)
