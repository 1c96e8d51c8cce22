"""The topic `intervals`: how many intervals of agreement hold the truth, and what they cost.

Studies are simulated again and again; coverage is the share of 95 % intervals that hold the figure of a very
large study (docs/agreement.md, "Intervals", has the tables). Speed is CPU time beside one κ of each pair of
annotators by scikit-learn, without an interval.

The labels are built as those of HotpotQA (250 trajectories of 50 tasks) by people, and by two models that
labelled it apart. The true ones are a Markov chain with the transitions counted there; how likely errors are
differs from task to task. Annotators read a trajectory rightly, too leniently (missing its errors) or too
strictly (seeing one from some step on), more often wrongly in unclear tasks, and slip now and then.
"""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from sklearn.metrics import cohen_kappa_score

from annotation.core.agreement import LabelTable, count_steps, summarise
from annotation.core.agreement.figures import FIGURES
from annotation.core.agreement.pair_sums import PairSums, headline, intervals
from bench.installations import Stock
from bench.report import Limit, Report, Say, number, table, timed

IntArray = npt.NDArray[np.int64]

STUDIES, QUICK_STUDIES = 1_500, 5
LARGE, QUICK_LARGE = 40_000, 2_000
"""Tasks of the study that counts as the truth."""
SUBSETS, TASKS = 4, 12
COVERED: Final = (0.93, 0.97)
PAIRS, QUICK_PAIRS = 100_000, 2_000
PAIRS_OF_A_TASK = 167  # in each of the four subsets
HEADLINES: Final = [name for name, figure in FIGURES.items() if figure.headline]

MEAN_STEPS: Final = (3, 7, 10, 14)
"""Of a trajectory, by subset: HotpotQA's mean, and three longer ones as the other subsets have."""
LONGEST: Final = 60
TRAJECTORIES: Final = 5
"""Of a task: one for each policy model."""
SHARES: Final = ((0.74, 0.03, 0.23), (0.52, 0.27, 0.21), (0.16, 0.11, 0.73), (0.12, 0.0, 0.88))
"""The share of −1, 0, +1 after −1, 0, +1, and among first steps."""
PRONENESS: Final = (0.63, 0.87)
"""The beta distribution of a task's proneness to error: mean .42, intraclass correlation .40."""
MISREAD: Final = 0.22
"""The share of trajectories that an annotator reads too leniently or too strictly, over all tasks."""
SLIP: Final = 0.07
"""The share of single steps that an annotator takes for something else, and for what: −1, 0, +1."""
SLIPS: Final = (0.1, 0.4, 0.5)


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Simulate, print, compare with what is promised. No database takes part."""
    found = coverage(*((QUICK_STUDIES, QUICK_LARGE) if quick else (STUDIES, LARGE)))
    say("intervals: coverage simulated")
    table(
        f"Coverage of 95 % intervals, two annotators, {SUBSETS} × {TASKS} tasks",
        ("", "share"),
        [(FIGURES[name].title, f"{share:.1%}") for name, share in found.items()],
    )
    report.line("coverage", shares=found)
    for name in HEADLINES:
        what = f"coverage of the interval of {FIGURES[name].title}"
        report.limit(Limit(what, found[name], COVERED[0], at_least=True))
        report.limit(Limit(what, found[name], COVERED[1]))
    tasks = (QUICK_PAIRS if quick else PAIRS) // PAIRS_OF_A_TASK
    labels = simulate(np.random.default_rng(1), SUBSETS, tasks, people=10)
    ours = min(timed(lambda: summarise(count_steps(labels)), time.process_time) for _ in range(3))
    theirs = min(timed(lambda: scikit_learns(labels), time.process_time) for _ in range(3))
    print(f"  {len(labels) // 2:,} pairs: twelve figures with intervals {number(ours)} ms of CPU, ", end="")
    print(f"one κ a pair of annotators by scikit-learn {number(theirs)} ms")
    report.line("speed", pairs=len(labels) // 2, ours=ours, scikit_learn=theirs)
    report.limit(Limit("twelve figures with intervals, against one κ by scikit-learn", ours / theirs, 1))


def coverage(studies: int, large: int) -> dict[str, float]:
    """By figure the share of the studies' intervals that hold that of a study of `large` tasks."""
    rng = np.random.default_rng(SUBSETS)
    parts = [_sample(rng, large // SUBSETS // 10).totals() for _ in range(10)]
    true = {name: float(headline(figure, np.sum(parts, axis=0))) for name, figure in FIGURES.items()}
    rng = np.random.default_rng([SUBSETS, TASKS])
    held: dict[str, list[bool]] = defaultdict(list)
    for _ in range(studies):
        for name, one in intervals(_sample(rng, TASKS), FIGURES).items():
            if one.low is not None and one.high is not None:
                held[name].append(one.low <= true[name] <= one.high)
    return {name: float(np.mean(each)) for name, each in held.items()}


def _sample(rng: np.random.Generator, tasks: int) -> PairSums:
    return PairSums.of(count_steps(simulate(rng, SUBSETS, tasks)))


def scikit_learns(labels: LabelTable) -> float:
    """The mean of the pairs' κ, weighted by n: the labels are paired already, as two lists."""
    half = len(labels) // 2
    a, b = labels.value[:half], labels.value[half:]
    people = np.sort([labels.annotator[:half], labels.annotator[half:]], axis=0)
    pair = people[0] * 100 + people[1]
    values, sizes = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in np.unique(pair):
            of_pair = pair == each
            values.append(cohen_kappa_score(a[of_pair], b[of_pair], labels=[-1, 0, 1]))
            sizes.append(int(of_pair.sum()))
    return float(np.average(values, weights=sizes))


# ── The labels ────────────────────────────
def simulate(rng: np.random.Generator, subsets: int, tasks: int, people: int = 2) -> LabelTable:
    """The labels of a study of so many subsets with so many tasks each, five trajectories a task, each of
    which two of the people, drawn anew, label."""
    study = Study.drawn(rng, subsets, tasks)
    labels = np.stack([study.read(rng) for _ in range(people)], axis=-1)
    chosen = np.argsort(rng.random((len(study.steps), people)), axis=1)[:, :2]
    trajectory, position = np.nonzero(study.inside)
    rows = []
    for one in range(2):
        who = chosen[trajectory, one]
        value = labels[trajectory, position, who]
        task, subset, steps = study.task[trajectory], study.subset[trajectory], study.steps[trajectory]
        rows.append(np.column_stack((trajectory, position, who, value, task, subset, steps)))
    return LabelTable.of(np.concatenate(rows))


@dataclass(frozen=True, slots=True)
class Study:
    """The material of a study, by trajectory: its number of `steps`, `task` and `subset`, how `unclear` it is
    (the chance that a reader misreads it), and the true labels of its steps, (trajectories, longest)."""

    steps: IntArray
    task: IntArray
    subset: IntArray
    unclear: npt.NDArray[np.float64]
    truth: IntArray

    @classmethod
    def drawn(cls, rng: np.random.Generator, subsets: int, tasks: int) -> Study:
        """So many subsets with so many tasks each, five trajectories a task."""
        n_tasks = subsets * tasks
        task = np.repeat(np.arange(n_tasks), TRAJECTORIES)
        subset = task // tasks
        steps = np.minimum(rng.geometric(1 / np.array(MEAN_STEPS)[subset]), LONGEST)
        proneness = rng.beta(*PRONENESS, n_tasks) * sum(PRONENESS) / PRONENESS[0]
        truth = _chain(rng, steps, proneness[task])
        return cls(steps, task, subset, rng.beta(1, 2, n_tasks)[task] * 3 * MISREAD, truth)

    @property
    def inside(self) -> npt.NDArray[np.bool_]:
        """A mask of the places of `truth` that are steps."""
        mask: npt.NDArray[np.bool_] = np.arange(self.truth.shape[1]) < self.steps[:, None]
        return mask

    def read(self, rng: np.random.Generator) -> IntArray:
        """One reader's labels of all trajectories, in the shape of `truth`."""
        n, longest = self.truth.shape
        misread = rng.random(n) < self.unclear
        lenient = misread & (rng.random(n) < 0.6)
        since = (rng.random(n) * self.steps).astype(np.int64)
        seen = self.truth.copy()
        seen[lenient[:, None] & (self.truth == -1)] = 1
        seen[(misread & ~lenient)[:, None] & (np.arange(longest) >= since[:, None])] = -1
        slipped = rng.random((n, longest)) < SLIP
        return np.where(slipped, rng.choice([-1, 0, 1], p=SLIPS, size=(n, longest)), seen)


def _chain(rng: np.random.Generator, steps: IntArray, proneness: npt.NDArray[np.float64]) -> IntArray:
    """True labels (trajectories, longest): the chain, with errors more or less likely by task."""
    labels = np.zeros((len(steps), int(steps.max())), dtype=np.int64)
    state = np.full(len(steps), 3)
    for place in range(labels.shape[1]):
        share = np.array(SHARES)[state]
        # a run goes on as it does everywhere; that one begins depends on the task
        error = np.where(state == 0, share[:, 0], np.minimum(share[:, 0] * proneness, 0.95))
        neutral = share[:, 1] * (1 - error) / np.maximum(1 - share[:, 0], 1e-9)
        draw = rng.random(len(steps))
        state = np.where(draw < error, 0, np.where(draw < error + neutral, 1, 2))
        labels[:, place] = state - 1
    return labels
