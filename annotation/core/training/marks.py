"""Marks: the agreement of somebody's labels with a key.

Labels and keys are mappings of a message index to −1, 0 or 1, with None for the outcome. The outcome counts
as one more label in the agreement, and never as an error to find.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Labels = Mapping[int | None, int]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One trajectory: `agreed` of `labels` are as in the key; `found` of its `errors` are labelled −1.
    `first_error`: whether the first error is the key's; None where the key has none."""

    labels: int
    agreed: int
    errors: int
    found: int
    first_error: bool | None


@dataclass(frozen=True, slots=True)
class Marks:
    """Shares from 0 to 1 over several trajectories; None where the key has nothing to find."""

    agreement: float | None
    error_recall: float | None
    first_error: float | None


def compare(labels: Labels, key: Labels) -> Comparison:
    """Hold somebody's labels against the key of a trajectory; what they have not labelled is not as in the
    key."""
    errors = [index for index, value in key.items() if index is not None and value == -1]
    first = min(errors, default=None)
    marked = [index for index, value in labels.items() if index is not None and value == -1]
    return Comparison(
        labels=len(key),
        agreed=sum(labels.get(index) == value for index, value in key.items()),
        errors=len(errors),
        found=sum(labels.get(index) == -1 for index in errors),
        first_error=None if first is None else min(marked, default=None) == first,
    )


def marks(comparisons: Iterable[Comparison]) -> Marks:
    """The shares over all of their labels, all errors, and all trajectories with an error."""
    rows = list(comparisons)
    labels, errors = sum(row.labels for row in rows), sum(row.errors for row in rows)
    firsts = [row.first_error for row in rows if row.first_error is not None]
    return Marks(
        agreement=sum(row.agreed for row in rows) / labels if labels else None,
        error_recall=sum(row.found for row in rows) / errors if errors else None,
        first_error=sum(firsts) / len(firsts) if firsts else None,
    )
