"""The way in which models are scored on a release: by labels of steps, by pairs of options, or by questions.

A release that holds any question is scored by its questions; looked at by pairs (`as_pairs`), it is scored by
the pairs of all its decisions, as one without questions is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from annotation.core.figures.figure import Figure
from annotation.core.figures.measure import FloatArray
from annotation.core.kinds import Feature
from annotation.core.scoring import counts, figures, pairs
from annotation.core.scoring import question_figures as questions
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
BY_QUESTIONS: Final = Scheme(
    questions.question_sums,
    questions.FIGURES,
    questions.MAIN,
    questions.RANKED,
    ("accuracy", "accuracy_published", "exact_without_quotes", "rouge_l"),
    tuple(questions.FIGURES),
)


def scheme_of(released: ReleasedLabels) -> Scheme:
    """The way in which models are scored on a release."""
    if has_questions(released):
        return BY_QUESTIONS
    return BY_PAIRS if released.kind.has(Feature.PAIRS) else BY_STEPS


def has_questions(released: ReleasedLabels) -> bool:
    """Whether a release holds questions."""
    facts = None if released.decisions is None else released.decisions.questions
    return facts is not None and bool(facts.questions.any())


def has_pairs_beside(released: ReleasedLabels) -> bool:
    """Whether it also holds decisions that are none."""
    facts = None if released.decisions is None else released.decisions.questions
    return facts is not None and bool(facts.questions.any()) and not facts.questions.all()


def as_pairs(released: ReleasedLabels) -> ReleasedLabels:
    """A release of decisions, none of them taken for a question."""
    facts = released.decisions
    if facts is None or facts.questions is None:
        return released
    return replace(released, decisions=replace(facts, questions=facts.questions.as_pairs()))
