"""The way in which models are scored on releases of a kind: by labels of steps, or by pairs of options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from annotation.core.figures.figure import Figure
from annotation.core.figures.measure import FloatArray
from annotation.core.kinds import Feature, ProjectKind
from annotation.core.scoring import counts, figures, pairs
from annotation.core.scoring.labels import Predictions, ReleasedLabels


@dataclass(frozen=True, slots=True)
class Scheme:
    """Counts by task (`sums`, (T, columns)), the `figures` that are made of them, `main`, by which boards are
    ordered, those by which models are `ranked`, those that a board shows until its reader chooses, and those
    that a command and a public page list."""

    sums: Callable[[ReleasedLabels, Predictions], FloatArray]
    figures: Mapping[str, Figure]
    main: str
    ranked: tuple[str, ...]
    shown: tuple[str, ...]
    listed: tuple[str, ...]


BY_STEPS: Final = Scheme(
    counts.task_sums,
    figures.FIGURES,
    "step_accuracy",
    figures.RANKED,
    ("step_accuracy", "first_error_accuracy", "kappa", "outcome_accuracy"),
    ("step_accuracy", "first_error_accuracy", "strict_first_error_accuracy", "exact_match", "kappa"),
)
BY_PAIRS: Final = Scheme(
    pairs.pair_sums,
    pairs.FIGURES,
    pairs.MAIN,
    pairs.RANKED,
    ("pair_accuracy", "pair_accuracy_strict", "right_in_both", "first_chosen", "unreadable"),
    tuple(pairs.FIGURES),
)


def scheme_of(kind: ProjectKind) -> Scheme:
    """The way in which models are scored on releases of a kind."""
    return BY_PAIRS if kind.has(Feature.PAIRS) else BY_STEPS
