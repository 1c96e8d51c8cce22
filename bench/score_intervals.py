"""How good the intervals of scores are, and how far they are from the bootstrap's:
`python -m bench.score_intervals TRAJECTORIES.jsonl PREDICTIONS.jsonl… [--tasks 50] [--studies 400]`.

The tasks of the file are the world: studies draw tasks from it with replacement, and every method is asked
for its interval of each model; coverage is the share that hold the figure of all tasks. The second table sets
the ends on the file itself against those of bootstraps with many resamples. The tables of docs/scoring.md are
of the published HotpotQA subset with the published predictions of twenty models.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.special import expit, logit, stdtrit
from scipy.stats import norm

from annotation.core.agreement.figures import Figure
from annotation.core.agreement.intervals import LEAST_VARIANCE, UPPER, ends, freedom, influences
from annotation.core.agreement.measure import FloatArray
from annotation.core.label_files import read_label_lines
from annotation.core.scoring import MISSING, Predictions, ReleasedLabels
from annotation.core.scoring.counts import ERRONEOUS, ERROR_FREE, EXACT, RIGHT, TABLE, task_sums
from annotation.core.scoring.figures import FIGURES
from annotation.core.scoring.labels import aligned

SHOWN: Final = (
    *("step_accuracy", "first_error_accuracy", "exact_match", "outcome_accuracy"),
    *("macro_f1", "kappa", "onset_kappa"),
)
RESAMPLES: Final = 1_000
MANY: Final = 20_000
Ends = tuple[FloatArray, FloatArray]

_TRAJECTORIES: Final = [ERRONEOUS, ERROR_FREE]
RATIOS: Final = {
    "step_accuracy": ([TABLE.start, TABLE.start + 5, TABLE.start + 10], list(range(12))),
    "first_error_accuracy": ([RIGHT.start, RIGHT.start + 1], _TRAJECTORIES),
    "exact_match": ([EXACT], _TRAJECTORIES),
}
"""Numerator and denominator of figures that are ratios of sums, for the studentised bootstrap."""


def read(trajectories: Path, predictions: list[Path]) -> FloatArray:
    """Counts by model and task, (M, T, COLUMNS)."""
    records = [json.loads(line) for line in trajectories.read_bytes().splitlines()]
    named = [{**one, "subset": one["data_source"], "record_id": _record_id(one)} for one in records]
    released = ReleasedLabels.of(named)
    place = {record_id: at for at, record_id in enumerate(released.record_id)}
    starts, sums = released.starts(), []
    for path in predictions:
        said = Predictions.none(released)
        with path.open("rb") as stream:
            lines = read_label_lines(stream, path.name).lines
        for line in lines.values():
            at = place[line.record_id]
            steps = slice(starts[at], starts[at + 1])
            said.steps[steps] = aligned(line.step_labels, released.message_index[steps].tolist())[0]
            said.outcome[at] = MISSING if line.final_label is None else line.final_label
            said.there[at], said.failed[at] = True, line.failed
        sums.append(task_sums(released, said))
    return np.stack(sums)


def _record_id(record: dict[str, Any]) -> str:
    return ":".join(str(record[key]) for key in ("data_source", "query_index", "sample_index"))


def jackknifes(figure: Figure, sums: FloatArray) -> tuple[dict[str, Ends], Any, FloatArray]:
    """The product's intervals and two kin of models (M,); which have one, and the influences (M, T)."""
    totals, tasks = sums.sum(axis=1), sums.shape[1]
    value, left = figure.values(totals), figure.values(totals[:, None] - sums)
    stratum = np.zeros(tasks, dtype=np.int64)
    usable = ~np.isnan(value) & ~np.isnan(left).any(axis=1)
    influence = influences(np.where(usable[:, None], left, 0.0), stratum)
    usable &= (influence**2).sum(axis=1) >= LEAST_VARIANCE
    # what has no interval gets one of something else, and is left out
    value = np.where(usable, value, 0.5)
    influence = np.where(usable[:, None], influence, np.arange(tasks) - (tasks - 1) / 2)
    error, t = np.sqrt((influence**2).sum(axis=1)), stdtrit(tasks - 1, UPPER)
    forth, back, slope = _scale(figure)
    half = t * error * slope(value)
    return (
        {
            "jackknife as in the product": ends(value, influence, stratum, share=figure.percent),
            "… with T − S degrees of freedom": (back(forth(value) - half), back(forth(value) + half)),
            "… on the figure's own scale": (value - t * error, value + t * error),
        },
        usable,
        influence,
    )


def bootstraps(
    name: str, sums: FloatArray, influence: FloatArray, rng: np.random.Generator
) -> dict[str, Ends]:
    """Percentile, BCa and, of ratios, studentised bootstrap over tasks."""
    figure, tasks = FIGURES[name], sums.shape[1]
    value = figure.values(sums.sum(axis=1))
    weights = rng.multinomial(tasks, np.full(tasks, 1 / tasks), size=RESAMPLES).astype(float)
    drawn = figure.values(np.matmul(weights[None], sums))
    low, high = np.nanquantile(drawn, [1 - UPPER, UPPER], axis=1)
    found = {"bootstrap, percentile": (low, high)}
    bias = (drawn < value[:, None]).mean(axis=1) + 0.5 * (drawn == value[:, None]).mean(axis=1)
    z0 = norm.ppf(np.clip(bias, 1e-4, 1 - 1e-4))[:, None]
    skew = ((influence**3).sum(axis=1) / (6 * (influence**2).sum(axis=1) ** 1.5))[:, None]
    z = z0 + norm.ppf([1 - UPPER, UPPER])
    at = norm.cdf(z0 + z / (1 - skew * z))
    corrected = np.array([np.nanquantile(row, ends_at) for row, ends_at in zip(drawn, at, strict=True)])
    found["bootstrap, BCa"] = (corrected[:, 0], corrected[:, 1])
    if name in RATIOS:
        right, n = (sums[:, :, columns].sum(axis=-1) for columns in RATIOS[name])
        share = np.clip(right @ weights.T / (n @ weights.T), 1e-9, 1 - 1e-9)
        squares = (
            (right**2) @ weights.T - 2 * share * ((right * n) @ weights.T) + share**2 * ((n**2) @ weights.T)
        )
        error = np.sqrt(squares) / (n @ weights.T) / (share * (1 - share))
        pivot = (logit(share) - logit(value)[:, None]) / error
        pivot[~np.isfinite(pivot)] = np.nan
        quantile = np.nanquantile(pivot, [UPPER, 1 - UPPER], axis=1)
        rest = right - value[:, None] * n
        error = np.sqrt((rest**2).sum(axis=1)) / n.sum(axis=1) / (value * (1 - value))
        found["bootstrap, studentised on the logit"] = (
            expit(logit(value) - quantile[0] * error),
            expit(logit(value) - quantile[1] * error),
        )
    return found


def coverage(world: FloatArray, tasks: int, studies: int, seed: int = 7) -> dict[tuple[str, str], FloatArray]:
    """By (method, figure): of each model how many intervals there were, how many held, and the sum of their
    widths, (M, 3)."""
    rng = np.random.default_rng(seed)
    truth = {name: FIGURES[name].values(world.sum(axis=1)) for name in SHOWN}
    found: dict[tuple[str, str], FloatArray] = defaultdict(lambda: np.zeros((len(world), 3)))
    for _ in range(studies):
        sums = world[:, rng.integers(0, world.shape[1], tasks)]
        for name in SHOWN:
            made, usable, influence = jackknifes(FIGURES[name], sums)
            for method, (low, high) in (made | bootstraps(name, sums, influence, rng)).items():
                there = usable & ~np.isnan(low) & ~np.isnan(high)
                held = there & (low - 1e-12 <= truth[name]) & (truth[name] <= high + 1e-12)
                found[method, name] += np.column_stack([there, held, np.where(there, high - low, 0.0)])
    return found


def distances(world: FloatArray, seed: int = 3) -> Iterator[tuple[str, float, float]]:
    """By figure the largest distance of an end of the product's intervals, over all models: from the rescaled
    bootstrap (m − 1 of m tasks) on the same scale with the same quantile, and from percentile ends."""
    rng, tasks = np.random.default_rng(seed), world.shape[1]
    even = np.full(tasks, 1 / tasks)
    plain = rng.multinomial(tasks, even, size=MANY).astype(float)
    fewer = rng.multinomial(tasks - 1, even, size=MANY) * tasks / (tasks - 1)
    for name in SHOWN:
        figure, apart = FIGURES[name], []
        made, usable, influence = jackknifes(figure, world)
        low, high = made["jackknife as in the product"]
        forth, back, _slope = _scale(figure)
        quantile = stdtrit(freedom(influence, np.zeros(tasks, dtype=np.int64)), UPPER)
        for at in np.flatnonzero(usable):
            value = forth(figure.values(world[at].sum(axis=0)))
            half = quantile[at] * np.nanstd(forth(figure.values(fewer @ world[at])))
            percentile = np.nanquantile(figure.values(plain @ world[at]), [1 - UPPER, UPPER])
            mine = np.array([low[at], high[at]])
            rescaled = back(value + np.array([-half, half]))
            apart.append((np.abs(rescaled - mine).max(), np.abs(percentile - mine).max()))
        scaled, percentile = 100 * np.max(apart, axis=0)
        yield name, float(scaled), float(percentile)


def _scale(figure: Figure) -> tuple[Any, Any, Any]:
    """The scale on which an interval is symmetric, its inverse and its slope."""
    if figure.percent:
        return logit, expit, lambda value: 1 / (value * (1 - value))
    return np.arctanh, np.tanh, lambda value: 1 / (1 - value**2)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.score_intervals", description=__doc__.splitlines()[0]
    )
    parser.add_argument("trajectories", type=Path)
    parser.add_argument("predictions", type=Path, nargs="+")
    parser.add_argument("--tasks", type=int, default=50)
    parser.add_argument("--studies", type=int, default=400)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # resamples in which a figure is undefined
    world = read(options.trajectories, options.predictions)
    print(f"| T = {options.tasks}: coverage (worst model), width | {' | '.join(SHOWN)} |")
    found = coverage(world, options.tasks, options.studies)
    for method in dict.fromkeys(method for method, _ in found):
        cells = []
        for name in SHOWN:
            if (method, name) not in found:
                cells.append("–")
                continue
            there, held, width = found[method, name].T
            worst = 100 * (held[there > 0] / there[there > 0]).min()
            cells.append(
                f"{100 * held.sum() / there.sum():.1f} ({worst:.1f}), {100 * width.sum() / there.sum():.1f}"
            )
        print(f"| {method} | {' | '.join(cells)} |")
    print("| ends apart, points | rescaled bootstrap | percentile |")
    for name, scaled, percentile in distances(world):
        print(f"| {name} | {scaled:.2f} | {percentile:.2f} |")


if __name__ == "__main__":
    main()
