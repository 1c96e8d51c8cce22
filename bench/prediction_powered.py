"""The topic `prediction_powered`: how many prediction-powered intervals hold the truth, and what they gain.

Tasks are drawn with replacement from the published HotpotQA subset, whose figures are then the truth: so many
that people have labelled, and ten times as many that three published judges alone have. Each judge is scored
as a model, by a stack of the other two; and once more with judges that say anything, which must change
nothing. Its regressions are solved by bench/regressions.py, and some draws once more as the product solves
them. Without the published files, labels and judges are those of bench/intervals.py (docs/scoring.md,
"Prediction-powered figures", has the tables).
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, combinations
from multiprocessing import get_context
from pathlib import Path
from typing import Final
from unittest.mock import patch

import numpy as np

from annotation.core.figures.measure import IntArray
from annotation.core.scoring import Predictions, ReleasedLabels
from annotation.core.scoring.figures import FIGURES
from annotation.core.scoring.prediction_powered import (
    COLUMNS,
    FEWEST_OF_DIFFERENCES,
    FEWEST_TASKS,
    Components,
    Powered,
    SoftSums,
    components,
    powered,
    true_sums,
)
from annotation.core.scoring.stack import JudgeLabels, stack
from bench import records, regressions
from bench.installations import Stock
from bench.intervals import Study
from bench.report import Limit, Report, Say, table
from tests.fixtures.published_labels import MODELS, predictions, released_labels

DRAWS: Final = {20: 500, 50: 2_000, 100: 2_000, 200: 2_000}
"""By the number of labelled tasks: 2,000 tell a coverage of 93 % to a standard error of .6 points."""
TASKS = tuple(DRAWS)
QUICK_DRAWS, NOISY_DRAWS = 2, 200
SOLVED_TWICE: Final = 5
"""So many draws are compared with the product's own regressions."""
WORTH_PROCESSES: Final = 50
"""Draws for which others are started."""
NEAR: Final = 0.001
"""Of the ends of intervals by these: as near as no figure shown tells apart."""
TIMES: Final = 10
"""Tasks that judges alone have labelled, for each that people have."""
SIMULATED: Final = 400
COVERED: Final = 0.93
"""By the intervals of each model and each pair that are shown."""
NOISY: Final = 50
"""Labelled tasks, where judges say anything."""
LESS: Final = " − "
ALIKE: Final = 1.01
"""As how many times the labelled tasks these may count with judges that say anything, in the middle of the
draws."""


@dataclass(slots=True)
class Tally:
    """What came of one figure: of prediction-powered and of classical intervals, whether they hold the truth,
    and as how many times the labelled tasks these count."""

    held: list[bool] = field(default_factory=list)
    classical: list[bool] = field(default_factory=list)
    worth: list[float] = field(default_factory=list)
    values: list[tuple[float, float]] = field(default_factory=list)

    def add(self, one: Powered, plain: Powered, truth: float) -> None:
        """Count one draw."""
        self.values.append((one.value, one.classical))
        if (ends := one.interval).low is not None and ends.high is not None and one.worth is not None:
            self.held.append(ends.low <= truth <= ends.high)
            self.worth.append(one.worth / one.tasks)
        if (ends := plain.interval).low is not None and ends.high is not None:
            self.classical.append(ends.low <= truth <= ends.high)

    @property
    def gain(self) -> float:
        """The variance of the classical figure over the draws, in that of the prediction-powered one."""
        one, classical = np.var(np.array(self.values), axis=0)
        return float(classical / one) if one else 1.0


Tallies = Mapping[tuple[str, str], Tally]
"""By what is compared (a model's name, or two) and figure."""
Compared = list[tuple[tuple[str, str], tuple[Powered, Powered]]]
"""Of one draw, by the same: the prediction-powered figure, and the classical one."""


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Simulate, print, compare with what is promised. No database takes part."""
    known, judges = population()
    for tasks in TASKS:
        draws = QUICK_DRAWS if quick else DRAWS[tasks]
        found = drawn(known, judges, tasks, draws)
        say(f"prediction_powered: {tasks} labelled tasks simulated")
        for kind, kept in (("figures", single), ("differences", paired)):
            for name in COLUMNS:
                own = [tally for (of, figure), tally in found.items() if figure == name and kept(of)]
                held = [float(np.mean(tally.held)) for tally in own if tally.held]
                classical = [float(np.mean(tally.classical)) for tally in own if tally.classical]
                report.line("prediction_powered", tasks=tasks, kind=kind, figure=name, held=held)
                mean = float(np.mean(held or [0]))
                if tasks >= (FEWEST_TASKS if kept is single else FEWEST_OF_DIFFERENCES):
                    what = f"{kind} of {FIGURES[name].title}, {tasks} tasks, worst coverage"
                    report.limit(Limit(what, min(held, default=0), COVERED, at_least=True))
                print(
                    f"{tasks:4} {kind:12} {name:28} coverage {mean:.3f} (worst {min(held, default=0):.3f}), "
                    f"classical {np.mean(classical or [0]):.3f} (worst {min(classical, default=0):.3f})"
                )
        table(
            f"As how many times the {tasks} labelled tasks these count: by their interval (by the draws)",
            ("", *(FIGURES[name].title for name in COLUMNS)),
            [
                (
                    of,
                    *(
                        f"{np.median(found[of, name].worth):.2f} ({found[of, name].gain:.2f})"
                        for name in COLUMNS
                    ),
                )
                for of in dict.fromkeys(of for of, _figure in found)
            ],
        )
    noise = drawn(known, judges, NOISY, QUICK_DRAWS if quick else NOISY_DRAWS, noise=True)
    worst = max(float(np.median(tally.worth)) for tally in noise.values() if tally.worth)
    say(f"prediction_powered: judges that say anything count as {worst:.3f} times the tasks at most")
    report.limit(Limit("judges that say anything, gain", worst, ALIKE))
    report.limit(
        Limit("ends of intervals, apart from those by the product’s regressions", _apart(known, judges), NEAR)
    )


def single(of: str) -> bool:
    """A model's own figure."""
    return LESS not in of


def paired(of: str) -> bool:
    """A difference of two."""
    return not single(of)


def population() -> tuple[ReleasedLabels, dict[str, Predictions]]:
    """The labels to draw from, and three judges of them."""
    if records.PUBLISHED.is_file():
        folder = records.PUBLISHED.parents[1]
        return released_labels(folder), {name: predictions(folder, name) for name in MODELS}
    rng = np.random.default_rng(1)
    study = Study.drawn(rng, 1, SIMULATED)
    record, _position = np.nonzero(study.inside)
    known = ReleasedLabels.of_steps(
        study.subset[record], study.task[record], record, study.truth[study.inside]
    )
    # the outcome is what the last step is
    ends = known.starts()[1:] - 1
    read = {f"reader {number}": study.read(rng)[study.inside] for number in range(3)}
    judges = {name: Predictions.constant(steps, steps[ends]) for name, steps in read.items()}
    return replace(known, outcome=known.value[ends]), judges


def drawn(
    known: ReleasedLabels, judges: Mapping[str, Predictions], tasks: int, draws: int, *, noise: bool = False
) -> Tallies:
    """Every model's figures, and the differences of two, of so many draws, each with a seed of its own."""
    truth = {name: _value(known, said) for name, said in judges.items()}
    one = partial(_compared, known, judges, tasks, noise)
    found: dict[tuple[str, str], Tally] = defaultdict(Tally)
    for (of, figure), both in chain.from_iterable(_spread(one, draws)):
        model, *less = of.split(LESS)
        found[of, figure].add(*both, truth[model][figure] - sum(truth[other][figure] for other in less))
    return found


def _spread(one: Callable[[int], Compared], draws: int) -> Iterator[Compared]:
    """The draws in order, made on all processors when they are many."""
    if draws < WORTH_PROCESSES:
        yield from map(one, range(draws))
        return
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        yield from pool.map(one, range(draws), chunksize=draws // 100 + 1)


def _compared(
    known: ReleasedLabels, judges: Mapping[str, Predictions], tasks: int, noise: bool, number: int
) -> Compared:
    """What one draw makes of every figure and difference."""
    with patch("annotation.core.scoring.stack.probabilities", regressions.probabilities):
        return _of_draw(known, judges, tasks, noise, number)


def _apart(known: ReleasedLabels, judges: Mapping[str, Predictions]) -> float:
    """How far an end of an interval is from the same by the product's regressions, at most."""
    ends = []
    for number in range(SOLVED_TWICE):
        twice = (work(known, judges, NOISY, False, number) for work in (_compared, _of_draw))
        ends.append([[(one.interval.low, one.interval.high) for _, (one, _plain) in made] for made in twice])
    own, product = np.moveaxis(np.array(ends, dtype=float), 1, 0)
    return float(np.nanmax(np.abs(own - product)))


def _of_draw(
    known: ReleasedLabels, judges: Mapping[str, Predictions], tasks: int, noise: bool, number: int
) -> Compared:
    made = one_draw(np.random.default_rng([tasks, noise, number]), known, judges, tasks, noise=noise)

    pairs = {
        (a + LESS + b, figure): made[a, figure].less(made[b, figure])
        for a, b in combinations(judges, 2)
        for figure in COLUMNS
    }
    return [(of, _both(one, share=kind is made)) for kind in (made, pairs) for of, one in kind.items()]


def _value(known: ReleasedLabels, said: Predictions) -> dict[str, float]:
    sums = true_sums(known, said, known.n_tasks)
    return {name: float(np.divide(*(column.sum() for column in sums.of(name)))) for name in COLUMNS}


def _both(one: Components, *, share: bool) -> tuple[Powered, Powered]:
    """The figure with judges and without."""
    return powered(one, share=share, fewest=2), powered(_classical(one), share=share, fewest=2)


def _classical(one: Components) -> Components:
    return replace(one, b=0.0, of_b=np.zeros_like(one.of_b))


def one_draw(
    rng: np.random.Generator,
    known: ReleasedLabels,
    judges: Mapping[str, Predictions],
    tasks: int,
    *,
    noise: bool,
) -> dict[tuple[str, str], Components]:
    """So many tasks with people's labels, and TIMES as many without."""
    chosen = rng.integers(0, known.n_tasks, tasks * (1 + TIMES))
    here, said = repeated(known, list(judges.values()), chosen)
    labelled = here.task < tasks
    voices = [_anything(rng, here) for _ in judges] if noise else said
    found = {}
    for place, (name, model) in enumerate(zip(judges, said, strict=True)):
        others = [JudgeLabels(voice) for at, voice in enumerate(voices) if at != place]
        together = stack(here, others, labelled)
        assert together is not None
        soft = SoftSums.of(_part(here, labelled), _part(here, ~labelled), model, together)
        true = true_sums(_part(here, labelled), model.only(here, labelled), len(chosen))
        for figure in COLUMNS:
            one = components(figure, true, soft, np.zeros(len(chosen), dtype=np.int64))
            assert one is not None
            # judges that tell nothing are not heard: the figure is the classical one
            found[name, figure] = one if together.tells else _classical(one)
    return found


def repeated(
    known: ReleasedLabels, said: Sequence[Predictions], chosen: IntArray
) -> tuple[ReleasedLabels, list[Predictions]]:
    """The labels of these tasks, each as a task of its own, and what judges say of them."""
    rows = [np.flatnonzero(known.task == task) for task in range(known.n_tasks)]
    record = np.concatenate([rows[task] for task in chosen])
    task = np.repeat(np.arange(len(chosen)), [len(rows[task]) for task in chosen])
    starts, lengths = known.starts(), known.lengths()[record]
    step = np.concatenate([np.arange(starts[at], starts[at + 1]) for at in record])
    here = ReleasedLabels(
        known.subsets,
        ("",) * len(record),
        ("",) * len(record),
        known.subset[record],
        task,
        known.sample[record],
        known.outcome[record],
        np.repeat(np.arange(len(record)), lengths),
        known.message_index[step],
        known.value[step],
    )
    return here, [
        Predictions(one.steps[step], one.outcome[record], one.there[record], one.failed[record])
        for one in said
    ]


def _part(here: ReleasedLabels, records: np.ndarray) -> ReleasedLabels:
    return replace(here.only(records), task=here.task[records])


def _anything(rng: np.random.Generator, here: ReleasedLabels) -> Predictions:
    return Predictions.constant(rng.integers(-1, 2, here.n_steps), rng.integers(-1, 2, here.n_records))
