"""Statistics of a release: labels by subset and policy model, lengths, positions of first errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from ..figures.measure import IntArray
from ..scoring.labels import ReleasedLabels
from ..vocabulary import VALUES
from .details import ReleasedDetails
from .record_format import distribution

# the last bin takes all that is longer or later
LENGTHS: Final = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50)
PLACES: Final = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20)


@dataclass(frozen=True, slots=True)
class ModelStatistics:
    """The records of one policy model ("": not named) in one subset; their steps and outcomes by value, and
    how many of them have an error."""

    subset: str
    policy_model: str
    records: int
    steps: Counter[int]
    outcomes: Counter[int]
    with_error: int


@dataclass(frozen=True, slots=True)
class OutcomeStatistics:
    """The records of one outcome in one subset ("": in all), their steps by value, and the mean of how many
    they have."""

    subset: str
    outcome: int
    records: int
    steps: Counter[int]

    @property
    def mean_length(self) -> float:
        """Steps a record; there is at least one record."""
        return self.steps.total() / self.records


@dataclass(frozen=True, slots=True)
class ModelSuccess:
    """One policy model ("": not named) over all subsets: its records by outcome, its steps by value."""

    policy_model: str
    records: int
    outcomes: Counter[int]
    steps: Counter[int]

    @property
    def success_rate(self) -> float:
        """The share of records with an outcome of +1."""
        return self.outcomes[1] / self.records

    @property
    def plus_share(self) -> float | None:
        """The share of steps labelled +1; None without steps."""
        total = self.steps.total()
        return self.steps[1] / total if total else None


@dataclass(frozen=True, slots=True)
class RootReasons:
    """The errors of one policy model in one subset by the reason code of their root ("": none was given)."""

    subset: str
    policy_model: str
    reasons: Counter[str]


class LengthBin(NamedTuple):
    """The number (`n`) of values from `first` to `last` (None: and above)."""

    first: int
    last: int | None
    n: int


@dataclass(frozen=True, slots=True)
class ReleaseStatistics:
    """`parts` by subset and policy model; `models` by policy model; `by_outcome`: all subsets together, then
    each of several, the best outcome first; `root_reasons` of the parts with an error whose root is agreed,
    the most frequent reason of all first; `lengths`: records by the number of their steps; `first_errors`:
    records by the place of their first −1, from 1, and `without_error` those that have none."""

    records: int
    steps: int
    tasks: int
    parts: tuple[ModelStatistics, ...]
    models: tuple[ModelSuccess, ...]
    by_outcome: tuple[OutcomeStatistics, ...]
    root_reasons: tuple[RootReasons, ...]
    lengths: tuple[LengthBin, ...]
    first_errors: tuple[LengthBin, ...]
    without_error: int
    mean_length: float | None
    median_length: float | None


def release_statistics(released: ReleasedLabels, details: ReleasedDetails) -> ReleaseStatistics:
    """Count it all once; linear in the steps."""
    lengths = released.lengths()
    first = _first_errors(released)
    places = first[first >= 0] + 1
    parts = _parts(released, first >= 0)
    return ReleaseStatistics(
        records=released.n_records,
        steps=released.n_steps,
        tasks=released.n_tasks,
        parts=parts,
        models=_successes(parts),
        by_outcome=_by_outcome(released),
        root_reasons=_root_reasons(released, details),
        lengths=_binned(lengths, LENGTHS),
        first_errors=_binned(places, PLACES),
        without_error=int((first < 0).sum()),
        mean_length=float(lengths.mean()) if len(lengths) else None,
        median_length=float(np.median(lengths)) if len(lengths) else None,
    )


def _first_errors(released: ReleasedLabels) -> IntArray:
    """The place of each record's first −1, from 0; −1: it has none."""
    positions = np.full(released.n_records, -1, dtype=np.int64)
    wrong = np.flatnonzero(released.value == -1)
    records, at = np.unique(released.record[wrong], return_index=True)
    positions[records] = released.positions()[wrong[at]]
    return positions


def _parts(released: ReleasedLabels, wrong: np.ndarray) -> tuple[ModelStatistics, ...]:
    keys = [
        (released.subsets[at], model)
        for at, model in zip(released.subset, released.policy_model, strict=True)
    ]
    names = sorted(set(keys))
    place = {key: at for at, key in enumerate(names)}
    group = np.array([place[key] for key in keys], dtype=np.int64)
    records = np.bincount(group, minlength=len(names))
    errors = np.bincount(group[wrong], minlength=len(names))
    steps = _by_value(group[released.record], released.value, len(names))
    outcomes = _by_value(group, released.outcome, len(names))
    return tuple(
        ModelStatistics(*name, int(records[at]), steps[at], outcomes[at], int(errors[at]))
        for at, name in enumerate(names)
    )


def model_successes(released: ReleasedLabels) -> tuple[ModelSuccess, ...]:
    """The success of each policy model over all subsets, by name."""
    return _successes(_parts(released, np.zeros(released.n_records, dtype=bool)))


def _successes(parts: Sequence[ModelStatistics]) -> tuple[ModelSuccess, ...]:
    successes: dict[str, ModelSuccess] = {}
    for part in parts:
        success = successes.get(part.policy_model, ModelSuccess(part.policy_model, 0, Counter(), Counter()))
        successes[part.policy_model] = ModelSuccess(
            part.policy_model,
            success.records + part.records,
            success.outcomes + part.outcomes,
            success.steps + part.steps,
        )
    return tuple(successes[name] for name in sorted(successes))


def _by_outcome(released: ReleasedLabels) -> tuple[OutcomeStatistics, ...]:
    several = len(released.subsets) > 1
    places = [("", np.ones(released.n_records, dtype=bool))]
    places += [(name, released.subset == at) for at, name in enumerate(released.subsets) if several]
    statistics = []
    for name, inside in places:
        for outcome in reversed(VALUES):
            chosen = inside & (released.outcome == outcome)
            if records := int(chosen.sum()):
                values = released.value[chosen[released.record]]
                steps = _by_value(np.zeros_like(values), values, 1)[0]
                statistics.append(OutcomeStatistics(name, outcome, records, steps))
    return tuple(statistics)


def _root_reasons(released: ReleasedLabels, details: ReleasedDetails) -> tuple[RootReasons, ...]:
    root = np.asarray(details.root, dtype=np.int64)
    roots = np.flatnonzero((released.value == -1) & (root == released.message_index))
    counted: dict[tuple[str, str], Counter[str]] = {}
    for step in roots.tolist():
        record = int(released.record[step])
        key = released.subsets[released.subset[record]], released.policy_model[record]
        counted.setdefault(key, Counter())[details.words[details.reason[step]]] += 1
    every = Counter[str]()
    for counts in counted.values():
        every.update(counts)
    order = sorted(every, key=lambda code: (code == "", -every[code], code))
    return tuple(
        RootReasons(*key, Counter({code: counts[code] for code in order}))
        for key, counts in sorted(counted.items())
    )


def _by_value(group: IntArray, value: IntArray, n_groups: int) -> list[Counter[int]]:
    size = len(VALUES)
    counts = np.bincount(group * size + (value + 1), minlength=n_groups * size).reshape(n_groups, size)
    return [Counter({one: int(row[one + 1]) for one in VALUES}) for row in counts]


def _binned(numbers: IntArray, starts: Sequence[int]) -> tuple[LengthBin, ...]:
    """Numbers from 1 on by ranges that begin at `starts`; ranges after the last number are left out."""
    if not len(numbers):
        return ()
    counts = np.bincount(np.searchsorted(starts, numbers, side="right") - 1, minlength=len(starts))
    ends = [*(start - 1 for start in starts[1:]), None]
    bins = [LengthBin(start, end, int(count)) for start, end, count in zip(starts, ends, counts, strict=True)]
    last = max(at for at, one in enumerate(bins) if one.n)
    return tuple(bins[: last + 1])


def statistics_json(figures: ReleaseStatistics) -> dict[str, Any]:
    """The statistics as JSON, values by their names."""
    return {
        "records": figures.records,
        "steps": figures.steps,
        "tasks": figures.tasks,
        "parts": [
            {
                "subset": part.subset,
                "policy_model": part.policy_model,
                "records": part.records,
                "with_error": part.with_error,
                "steps": distribution(part.steps),
                "outcomes": distribution(part.outcomes),
            }
            for part in figures.parts
        ],
        "policy_models": [
            {
                "policy_model": model.policy_model,
                "records": model.records,
                "success_rate": model.success_rate,
                "plus_share": model.plus_share,
            }
            for model in figures.models
        ],
        "by_outcome": [
            {
                "subset": row.subset,
                "outcome": row.outcome,
                "records": row.records,
                "mean_length": row.mean_length,
                "steps": distribution(row.steps),
            }
            for row in figures.by_outcome
        ],
        "root_reasons": [
            {
                "subset": row.subset,
                "policy_model": row.policy_model,
                "errors": row.reasons.total(),
                "reasons": {code: n for code, n in row.reasons.items() if n},
            }
            for row in figures.root_reasons
        ],
        "lengths": [length._asdict() for length in figures.lengths],
        "mean_length": figures.mean_length,
        "median_length": figures.median_length,
        "first_errors": [error._asdict() for error in figures.first_errors],
        "without_error": figures.without_error,
    }
