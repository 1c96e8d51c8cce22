"""`python -m bench.agreement [--quick] [--write] [--only TABLE]`: coverage and speed.

Studies are simulated again and again (`agreement_model`); coverage is the share of 95 % intervals that hold
the figure of a very large study. `--write` puts both tables into docs/agreement.md.
"""

from __future__ import annotations

import argparse
import os
import re
import time
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from scipy.special import stdtrit
from sklearn.metrics import cohen_kappa_score

from annotation.core.agreement import LabelTable, count_steps, summarise
from annotation.core.agreement.figures import FIGURES
from annotation.core.agreement.intervals import Sample, headline, intervals
from bench.agreement_model import CLOSE, FITTED, SIX, People, simulate

DOCUMENT: Final = Path(__file__).parents[1] / "docs" / "agreement.md"
SIZES: Final = ((4, 5), (4, 12), (1, 20), (4, 50))
"""Subsets and tasks in each."""
STUDIES: Final = 1500
LARGE: Final = 40_000
"""Tasks of the study that counts as the truth."""
HEADLINES: Final = tuple(name for name, figure in FIGURES.items() if figure.headline)
SPEEDS: Final = (10_000, 100_000, 1_000_000)
"""Pairs of labels."""

Shares = dict[str, float]


@dataclass(frozen=True, slots=True)
class Covered:
    """For each figure the share of intervals that hold the truth: the product's, and those of the rescaled
    bootstrap (of headline figures, and of `FITTED` people)."""

    jackknife: Shares
    bootstrap: Shares


def truth(people: People, subsets: int, tasks: int) -> Shares:
    """Each figure of a study so large that chance plays no part."""
    rng = np.random.default_rng(subsets)
    blocks = 10
    parts = [
        Sample.of(count_steps(simulate(rng, people, subsets, tasks // subsets // blocks))).totals()
        for _ in range(blocks)
    ]
    sums = np.sum(parts, axis=0)
    return {name: float(headline(figure, sums)) for name, figure in FIGURES.items()}


def coverage(people: People, subsets: int, tasks: int, studies: int, large: int) -> Covered:
    """How many of the studies' intervals hold the truth."""
    true = truth(people, subsets, large)
    rng = np.random.default_rng([subsets, tasks])
    held: tuple[dict[str, list[bool]], dict[str, list[bool]]] = (defaultdict(list), defaultdict(list))
    for _ in range(studies):
        sample = Sample.of(count_steps(simulate(rng, people, subsets, tasks)))
        for name, found in intervals(sample, FIGURES).items():
            if found.low is not None and found.high is not None:
                held[0][name].append(found.low <= true[name] <= found.high)
        if people == FITTED:
            for name, (low, high) in rescaled_bootstrap(sample, rng).items():
                held[1][name].append(low <= true[name] <= high)
    return Covered(*({name: float(np.mean(each)) for name, each in one.items()} for one in held))


def rescaled_bootstrap(sample: Sample, rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    """For comparison: J. N. K. Rao and C. F. J. Wu (1988). m − 1 of a subset's m tasks are drawn, each
    counting m / (m − 1) times; distances to the central 95 % of 1,000 are widened by t(T − S) / 1.96."""
    weights = np.zeros((1000, sample.n_tasks))
    for stratum in range(int(sample.stratum.max()) + 1):
        members = np.flatnonzero(sample.stratum == stratum)
        size = len(members)
        drawn = rng.integers(0, size, (1000, size - 1)) + np.arange(1000)[:, None] * size
        counts = np.bincount(drawn.ravel(), minlength=1000 * size).reshape(1000, size)
        weights[:, members] = counts * size / (size - 1)
    pairs = range(int(sample.pair.max()) + 1)
    rows = [np.flatnonzero(sample.pair == pair) for pair in pairs]
    sums = np.stack([weights[:, sample.task[each]] @ sample.sums[each] for each in rows], axis=1)
    wider = float(stdtrit(sample.n_tasks - int(sample.stratum.max()) - 1, 0.975)) / 1.959963984540054
    found = {}
    for name in HEADLINES:
        value = float(headline(FIGURES[name], sample.totals()))
        low, high = np.nanquantile(headline(FIGURES[name], sums), [0.025, 0.975])
        found[name] = (value - (value - low) * wider, value + (high - value) * wider)
    return found


def coverage_table(studies: int, large: int) -> str:
    """Every size and every kind of people, as a table of the document."""
    kinds = (FITTED, CLOSE, SIX)
    cells = [(people, *size) for people in kinds for size in SIZES]
    with ProcessPoolExecutor(min(os.cpu_count() or 1, len(cells))) as pool:
        done = pool.map(
            coverage, *zip(*cells, strict=True), [studies] * len(cells), [large] * len(cells), chunksize=1
        )
        found = dict(zip(cells, done, strict=True))

    def row(title: str, shares: list[float | None]) -> str:
        return f"| {title} | {' | '.join('–' if x is None else f'{100 * x:.1f}' for x in shares)} |"

    lines = [f"| % of {studies:,} | {' | '.join(f'{s} × {t}' for s, t in SIZES)} |", "|---" * 5 + "|"]
    for people in kinds:
        lines.append(f"| **{people.name}** | | | | |")
        for name in FIGURES if people is FITTED else HEADLINES:
            title = f"{FIGURES[name].title}{'' if name in HEADLINES else ' (secondary)'}"
            lines.append(row(title, [found[people, *size].jackknife.get(name) for size in SIZES]))
    lines.append("| **the first, by the rescaled bootstrap** | | | | |")
    for name in HEADLINES:
        lines.append(row(FIGURES[name].title, [found[FITTED, *size].bootstrap.get(name) for size in SIZES]))
    return "\n".join(lines)


def labels_of(pairs: int) -> LabelTable:
    """About so many pairs of labels of ten annotators, two for each trajectory."""
    rng = np.random.default_rng(pairs)
    people = People("ten", 0.22, 0.07, count=10)
    return simulate(rng, people, 4, max(5, pairs // 167))


def speed_table(sizes: tuple[int, ...]) -> str:
    """CPU time for counts, for all figures with intervals, and for one κ of each pair by scikit-learn."""
    lines = [
        "| pairs of labels | counts | 12 figures, intervals | both / scikit-learn | scikit-learn: one κ |",
        "|---" * 5 + "|",
    ]
    for size in sizes:
        labels = labels_of(size)
        counting, counts = _timed(lambda labels=labels: count_steps(labels))
        figures, summary = _timed(lambda counts=counts: summarise(counts))
        reference, _ = _timed(lambda labels=labels: scikit_learns(labels))
        lines.append(
            f"| {summary.n:,} | {counting * 1000:,.0f} ms | {figures * 1000:,.0f} ms "
            f"| {(counting + figures) / reference:.2f} | {reference * 1000:,.0f} ms |"
        )
    return "\n".join(lines)


def _timed(work):  # type: ignore[no-untyped-def]
    """The best of three times, in seconds of CPU, and what the work gives."""
    best, result = float("inf"), None
    for _ in range(3):
        begun = time.process_time()
        result = work()
        best = min(best, time.process_time() - begun)
    return best, result


def scikit_learns(labels: LabelTable) -> float:
    """The mean of the pairs' κ, weighted by n, each by `cohen_kappa_score`: the labels are paired already, as
    it asks for two lists."""
    half = len(labels) // 2
    a, b = labels.value[:half], labels.value[half:]
    pair = np.minimum(labels.annotator[:half], labels.annotator[half:]) * 100 + np.maximum(
        labels.annotator[:half], labels.annotator[half:]
    )
    values, sizes = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in np.unique(pair):
            of_pair = pair == each
            values.append(cohen_kappa_score(a[of_pair], b[of_pair], labels=[-1, 0, 1]))
            sizes.append(int(of_pair.sum()))
    return float(np.average(values, weights=sizes))


def show(name: str, table: str, write: bool) -> None:
    """Print a table, and put it between its marks in the document."""
    print(table, flush=True)
    if not write:
        return
    text = DOCUMENT.read_text(encoding="utf-8")
    marks = re.compile(rf"(<!-- {name}: python -m bench.agreement --write -->\n).*?(<!-- end -->)", re.DOTALL)
    renewed, times = marks.subn(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", text)
    if times != 1:
        raise SystemExit(f"{DOCUMENT} has no place for the table of {name}.")
    DOCUMENT.write_text(renewed, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.agreement", description="Coverage and speed.")
    parser.add_argument("--quick", action="store_true", help="few studies; shows that it works")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/agreement.md")
    parser.add_argument("--only", choices=("speed", "coverage"), help="one of the tables")
    options = parser.parse_args()
    if options.only != "coverage":
        show("speed", speed_table(SPEEDS[:1] if options.quick else SPEEDS), options.write)
    if options.only != "speed":
        studies, large = (20, LARGE // 20) if options.quick else (STUDIES, LARGE)
        show("coverage", coverage_table(studies, large), options.write)


if __name__ == "__main__":
    main()
