"""Best-of-N: how many tasks are solved when a model's labels choose among the runs of each task.

- final: a run whose predicted outcome is +1;
- #pos: one with the most steps predicted +1;
- %pos: one with the largest share of steps predicted +1 (of all its steps; none predicted is not +1);
- two-stage: among the runs with a predicted outcome of +1 one with the largest share.

Where no run of a task is predicted successful, all its runs stand. Runs that are equally good are averaged,
and beside that the one with the lowest sample index is taken. A run solves its task if its outcome in the
release is +1. Random takes any run; the oracle one that solves the task, if there is one. The majority vote
asks no model: it takes a run whose answer most runs of the task give; runs without an answer do not vote, and
where none has one, all stand.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from annotation.core.figures.measure import FloatArray, IntArray
from annotation.core.scoring.labels import Predictions, ReleasedLabels

RULES: Final = ("final", "pos_count", "pos_share", "two_stage")


@dataclass(frozen=True, slots=True)
class RuleResult:
    """The result of one rule: tasks solved with ties averaged, and with ties to the lowest sample index."""

    averaged: float
    lowest: int

    def as_json(self) -> dict[str, Any]:
        """Both ways to break ties."""
        return {"averaged": self.averaged, "lowest_index": self.lowest}


@dataclass(frozen=True, slots=True)
class BestOfN:
    """One model's selections by rule over `tasks` tasks of `runs` trajectories together; `random` (expected)
    and `oracle` tasks solved, and those by `majority` vote of the answers, None where no run has one."""

    tasks: int
    runs: int
    random: float
    oracle: int
    majority: RuleResult | None
    rules: dict[str, RuleResult]

    def as_json(self) -> dict[str, Any]:
        """Counts, and both ways to break ties under the name of each rule."""
        numbers = {name: getattr(self, name) for name in ("tasks", "runs", "random", "oracle")}
        vote = None if self.majority is None else self.majority.as_json()
        rules = {name: one.as_json() for name, one in self.rules.items()}
        return {**numbers, "majority_vote": vote, **rules}


def best_of_n(released: ReleasedLabels, predicted: Predictions, answers: Sequence[str]) -> BestOfN:
    """Selection among the runs of each task, of one model on one part of a release; `answers` (R,), equal
    where two runs give the same ("": none)."""
    n = released.n_tasks
    solved = (released.outcome == 1).astype(np.float64)
    plus = np.bincount(released.record[predicted.steps == 1], minlength=released.n_records)
    share = plus / np.maximum(released.lengths(), 1)
    success = predicted.outcome == 1
    any_success = np.zeros(n, dtype=bool)
    any_success[released.task[success]] = True
    stands = success | ~any_success[released.task]
    scores = {
        "final": np.where(stands, 0.0, -1.0),
        "pos_count": plus.astype(np.float64),
        "pos_share": share,
        "two_stage": np.where(stands, share, -1.0),
    }
    solvable = np.zeros(n, dtype=bool)
    solvable[released.task[solved > 0]] = True
    return BestOfN(
        tasks=n,
        runs=released.n_records,
        random=float(_means(released.task, solved, n).sum()),
        oracle=int(solvable.sum()),
        majority=_selected(released, _votes(released, answers), solved) if any(answers) else None,
        rules={rule: _selected(released, score, solved) for rule, score in scores.items()},
    )


def _votes(released: ReleasedLabels, answers: Sequence[str]) -> FloatArray:
    """For each run, the number of runs of its task that give its answer, (R,); 0 for a run without an
    answer."""
    keys = list(zip(released.task.tolist(), answers, strict=True))
    votes = Counter(key for key in keys if key[1])
    return np.array([votes[key] for key in keys], dtype=np.float64)


def _selected(released: ReleasedLabels, score: FloatArray, solved: FloatArray) -> RuleResult:
    task, n = released.task, released.n_tasks
    best = np.full(n, -np.inf)
    np.maximum.at(best, task, score)
    chosen = np.flatnonzero(score == best[task])
    averaged = _means(task[chosen], solved[chosen], n).sum()
    # the first of each task, by sample index, then in the order of the release
    by_sample = chosen[np.lexsort((chosen, released.sample[chosen], task[chosen]))]
    first = by_sample[np.unique(task[by_sample], return_index=True)[1]]
    return RuleResult(float(averaged), int(solved[first].sum()))


def _means(task: IntArray, values: FloatArray, n: int) -> FloatArray:
    sums = np.bincount(task, weights=values, minlength=n)
    means: FloatArray = sums / np.maximum(np.bincount(task, minlength=n), 1)
    return means
