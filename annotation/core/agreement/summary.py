"""All figures of agreement of a set of labels at once: for every pair of annotators, and as headlines.

The headline of a figure is its mean over the pairs of annotators, weighted by each pair's n, so that it does
not depend on who sits in which slot (docs/design.md, "Statistics"). A pair for which it is undefined is left
out of the mean. Each figure is a function of sums over tasks ("features"), which is what makes the bootstrap
cheap.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np

from annotation.core.agreement import bootstrap
from annotation.core.agreement.alpha import alpha_sums, alpha_values, counts_by_unit
from annotation.core.agreement.confusion import SIZE, confusion_by, error_tables
from annotation.core.agreement.firsterror import compare_first_errors
from annotation.core.agreement.kappa import agreement_values, kappa_values
from annotation.core.agreement.measure import (
    NO_PAIR_DEFINED,
    NO_PAIRS,
    NO_SHARED_ERROR,
    NO_TRAJECTORIES,
    NOT_RESAMPLED,
    ONE_LABEL,
    ONE_VERDICT,
    FloatArray,
    IntArray,
    Interval,
    Measure,
    divide,
    measured,
    weighted_mean,
)
from annotation.core.agreement.pairs import LabelTable, Pairs, pair_up
from annotation.core.agreement.transition import NO_UNIT, STRATA, strata, transition_values


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one pair, or the headlines of all pairs."""

    agreement: Measure
    kappa: Measure
    kappa_linear: Measure
    kappa_quadratic: Measure
    kappa_error: Measure
    """κ of error (−1) against non-error."""
    error_presence: Measure
    """κ, over trajectories, of whether there is an error."""
    first_error: Measure
    """Where both found an error: the share that agree on the first one."""
    transition: Measure


@dataclass(frozen=True, slots=True)
class PairSummary:
    """One pair of annotators; `confusion` has annotator `first` in its rows, `second` in its columns."""

    first: int
    second: int
    n: int
    figures: Figures
    confusion: IntArray


@dataclass(frozen=True, slots=True)
class Summary:
    """Agreement of a set of labels. `n` counts pairs of labels; `confusion` is pooled over the pairs."""

    n: int
    n_trajectories: int
    n_tasks: int
    figures: Figures
    alpha: Measure
    confusion: IntArray
    pairs: tuple[PairSummary, ...]

    def without_people(self) -> "Summary":
        """The same figures with nothing of any one person: no pairs, and a symmetric table, in which each
        pair of labels is counted in both orders."""
        return replace(self, pairs=(), confusion=self.confusion + self.confusion.T)


_CELLS = SIZE * SIZE
_CONFUSION = slice(0, _CELLS)
_TRANSITION = slice(_CELLS, _CELLS * (1 + STRATA))
_PRESENCE = slice(_TRANSITION.stop, _TRANSITION.stop + 4)
_SAME = _PRESENCE.stop
_WIDTH = _SAME + 1


@dataclass(frozen=True, slots=True)
class _Recipe:
    """How a figure comes from features (…, _WIDTH): values and n, both (…), and why it can be undefined."""

    values: Callable[[FloatArray], FloatArray]
    n: Callable[[FloatArray], FloatArray]
    reason: str
    empty: str


def _tables(features: FloatArray) -> FloatArray:
    return features[..., _CONFUSION].reshape(*features.shape[:-1], SIZE, SIZE)


def _transitions(features: FloatArray) -> FloatArray:
    return features[..., _TRANSITION].reshape(*features.shape[:-1], STRATA, SIZE, SIZE)


def _presence(features: FloatArray) -> FloatArray:
    return features[..., _PRESENCE].reshape(*features.shape[:-1], 2, 2)


def _location(features: FloatArray) -> FloatArray:
    return divide(features[..., _SAME], features[..., _PRESENCE.start])


def _steps(features: FloatArray) -> FloatArray:
    total: FloatArray = features[..., _CONFUSION].sum(axis=-1)
    return total


_RECIPES: dict[str, _Recipe] = {
    "agreement": _Recipe(lambda f: agreement_values(_tables(f)), _steps, "", NO_PAIRS),
    "kappa": _Recipe(lambda f: kappa_values(_tables(f)), _steps, ONE_LABEL, NO_PAIRS),
    "kappa_linear": _Recipe(lambda f: kappa_values(_tables(f), "linear"), _steps, ONE_LABEL, NO_PAIRS),
    "kappa_quadratic": _Recipe(lambda f: kappa_values(_tables(f), "quadratic"), _steps, ONE_LABEL, NO_PAIRS),
    "kappa_error": _Recipe(
        lambda f: kappa_values(error_tables(_tables(f))),
        _steps,
        "both annotators always, or never, called a step an error",
        NO_PAIRS,
    ),
    "error_presence": _Recipe(
        lambda f: kappa_values(_presence(f)),
        lambda f: f[..., _PRESENCE].sum(axis=-1),
        ONE_VERDICT,
        NO_TRAJECTORIES,
    ),
    "first_error": _Recipe(_location, lambda f: f[..., _PRESENCE.start], "", NO_SHARED_ERROR),
    "transition": _Recipe(
        lambda f: transition_values(_transitions(f)),
        lambda f: f[..., _TRANSITION].sum(axis=-1),
        ONE_LABEL,
        NO_PAIRS,
    ),
}
assert tuple(_RECIPES) == tuple(field.name for field in fields(Figures))


def summarise(
    labels: LabelTable, *, rng: np.random.Generator | None = None, resamples: int = bootstrap.RESAMPLES
) -> Summary:
    """Every figure of agreement of `labels`.

    With `rng`, 95 % intervals by resampling tasks within subsets; without it the intervals are None and say
    so.
    """
    pairs = pair_up(labels)
    features, pair_of_row, task_of_row = _features(pairs)
    edges = np.searchsorted(pair_of_row, np.arange(pairs.n_pairs + 1))
    blocks = [(features[start:stop], task_of_row[start:stop]) for start, stop in pairwise(edges)]
    totals = np.array([block.sum(axis=0) for block, _ in blocks]).reshape(pairs.n_pairs, _WIDTH)
    alpha_by_task, alpha_units, alpha_subsets = _alpha_by_task(labels)
    resampled: FloatArray | None = None
    alpha_interval = Interval(None, None, NOT_RESAMPLED)
    if rng is not None:
        resampled = _resample(blocks, pairs, rng, resamples)
        alpha_interval = _alpha_interval(alpha_by_task, alpha_subsets, rng, resamples)
    alpha = measured(float(alpha_values(alpha_by_task.sum(axis=0))), alpha_units, ONE_LABEL)
    return Summary(
        n=len(pairs),
        n_trajectories=pairs.n_trajectories,
        n_tasks=pairs.n_tasks,
        figures=_headlines(totals, resampled, pairs.n_tasks),
        alpha=replace(alpha, interval=alpha_interval),
        confusion=_tables(totals.sum(axis=0)).astype(np.int64),
        pairs=tuple(
            PairSummary(
                first=int(ids[0]),
                second=int(ids[1]),
                n=int(_steps(total)),
                figures=_headlines(
                    total[None], None if resampled is None else resampled[:, [i]], len(blocks[i][1])
                ),
                confusion=_tables(total).astype(np.int64),
            )
            for i, (ids, total) in enumerate(zip(pairs.pair_ids, totals, strict=True))
        ),
    )


def _features(pairs: Pairs) -> tuple[FloatArray, IntArray, IntArray]:
    """Sums for every (pair, task) that occurs: features (rows, _WIDTH), and each row's pair and task."""
    key = pairs.pair * max(pairs.n_tasks, 1) + pairs.task
    keys, row = np.unique(key, return_inverse=True)
    row = row.reshape(-1)
    n_rows = len(keys)
    features = np.zeros((n_rows, _WIDTH))
    features[:, _CONFUSION] = confusion_by(pairs.a, pairs.b, row, n_rows).reshape(n_rows, _CELLS)

    # a trajectory of one pair is a group of its own
    group = pairs.pair * max(pairs.n_trajectories, 1) + pairs.trajectory
    stratum = strata(pairs.a, pairs.b, group, pairs.position)
    unit = stratum != NO_UNIT
    cell = row[unit] * STRATA + stratum[unit]
    moved = confusion_by(pairs.a[unit], pairs.b[unit], cell, n_rows * STRATA)
    features[:, _TRANSITION] = moved.reshape(n_rows, _CELLS * STRATA)

    _, one, number = np.unique(group, return_index=True, return_inverse=True)
    cell, same = compare_first_errors(pairs.a, pairs.b, number.reshape(-1), pairs.position, len(one))
    presence = np.bincount(row[one] * 4 + cell, minlength=n_rows * 4)
    features[:, _PRESENCE] = presence.reshape(n_rows, 4)
    features[:, _SAME] = np.bincount(row[one], weights=same, minlength=n_rows)
    return features, keys // max(pairs.n_tasks, 1), keys % max(pairs.n_tasks, 1)


def _resample(
    blocks: list[tuple[FloatArray, IntArray]], pairs: Pairs, rng: np.random.Generator, resamples: int
) -> FloatArray:
    """Features of every resample and pair: (resamples, pairs, _WIDTH)."""
    parts = []
    for weights in bootstrap.task_weights(pairs.task_subset, rng, resamples):
        sums = [bootstrap.resampled_sums(weights[:, tasks], block) for block, tasks in blocks]
        parts.append(np.stack(sums, axis=1) if sums else np.zeros((len(weights), 0, _WIDTH)))
    return np.concatenate(parts)


def _headlines(totals: FloatArray, resampled: FloatArray | None, n_tasks: int) -> Figures:
    """Weighted means over the pairs; `totals` (pairs, _WIDTH), `resampled` (resamples, pairs, _WIDTH)."""
    figures = {}
    for name, recipe in _RECIPES.items():
        n = int(recipe.n(totals).sum())
        reason = recipe.reason if len(totals) == 1 else NO_PAIR_DEFINED
        figure = measured(float(_weighted(recipe, totals)), n, reason, empty=recipe.empty)
        if resampled is None:
            bounds = Interval(None, None, NOT_RESAMPLED)
        elif figure.value is None:
            bounds = Interval(None, None, figure.reason)
        else:
            bounds = bootstrap.interval(_weighted(recipe, resampled), n_tasks)
        figures[name] = replace(figure, interval=bounds)
    return Figures(**figures)


def _weighted(recipe: _Recipe, features: FloatArray) -> FloatArray:
    """Mean over the pairs (the last axis but one), weighted by n; NaN where no pair has the figure."""
    return weighted_mean(recipe.values(features), recipe.n(features))


def _alpha_by_task(labels: LabelTable) -> tuple[FloatArray, int, IntArray]:
    """What each task adds to α (tasks, 4), the number of units that count, and the tasks' subsets."""
    step = np.column_stack([labels.trajectory, labels.position])
    _, one, unit = np.unique(step, axis=0, return_index=True, return_inverse=True)
    sums, pairable = alpha_sums(counts_by_unit(labels.value, unit.reshape(-1), len(one)))
    units = one[pairable]
    _, first, task = np.unique(labels.task[units], return_index=True, return_inverse=True)
    by_task = np.zeros((len(first), SIZE + 1))
    np.add.at(by_task, task.reshape(-1), sums[pairable])
    return by_task, int(pairable.sum()), labels.subset[units][first]


def _alpha_interval(
    by_task: FloatArray, subsets: IntArray, rng: np.random.Generator, resamples: int
) -> Interval:
    if len(by_task) < bootstrap.MIN_TASKS:
        return bootstrap.interval([], len(by_task))
    drawn = [
        alpha_values(bootstrap.resampled_sums(weights, by_task))
        for weights in bootstrap.task_weights(subsets, rng, resamples)
    ]
    return bootstrap.interval(np.concatenate(drawn), len(by_task))
