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


class LengthBin(NamedTuple):
    """The number (`n`) of values from `first` to `last` (None: and above)."""

    first: int
    last: int | None
    n: int


@dataclass(frozen=True, slots=True)
class ReleaseStatistics:
    """`parts` by subset and policy model; `lengths`: records by the number of their steps; `first_errors`:
    records by the place of their first −1, from 1, and `without_error` those that have none."""

    records: int
    steps: int
    tasks: int
    parts: tuple[ModelStatistics, ...]
    lengths: tuple[LengthBin, ...]
    first_errors: tuple[LengthBin, ...]
    without_error: int
    mean_length: float | None
    median_length: float | None


def release_statistics(released: ReleasedLabels) -> ReleaseStatistics:
    """Count it all once; linear in the steps."""
    lengths = released.lengths()
    first = _first_errors(released)
    found = first[first >= 0] + 1
    return ReleaseStatistics(
        records=released.n_records,
        steps=released.n_steps,
        tasks=released.n_tasks,
        parts=_parts(released, first >= 0),
        lengths=_binned(lengths, LENGTHS),
        first_errors=_binned(found, PLACES),
        without_error=int((first < 0).sum()),
        mean_length=float(lengths.mean()) if len(lengths) else None,
        median_length=float(np.median(lengths)) if len(lengths) else None,
    )


def _first_errors(released: ReleasedLabels) -> IntArray:
    """The place of each record's first −1, from 0; −1: it has none."""
    found = np.full(released.n_records, -1, dtype=np.int64)
    wrong = np.flatnonzero(released.value == -1)
    records, at = np.unique(released.record[wrong], return_index=True)
    found[records] = released.positions()[wrong[at]]
    return found


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
        "lengths": [length._asdict() for length in figures.lengths],
        "mean_length": figures.mean_length,
        "median_length": figures.median_length,
        "first_errors": [error._asdict() for error in figures.first_errors],
        "without_error": figures.without_error,
    }
