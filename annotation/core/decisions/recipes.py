"""The ways to derive decisions from a release, and what each of them counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ..i18n import translatable


class Recipe(StrEnum):
    """A way to derive decisions."""

    SHARED = "shared"
    FIRST_ERROR = "first-error"
    NEXT_STEP = "next-step"
    FIRST_ERROR_STEP = "first-error-step"
    NEXT_CALL = "next-call"
    FINAL_ANSWER = "final-answer"


COUNTS: Final = {
    "histories": translatable("different histories"),
    "shared": translatable("histories that several runs have"),
    "items": translatable("decisions"),
    "tasks": translatable("tasks"),
    "pairs": translatable("pairs of a better and a worse option"),
    "left_out": translatable("actions without one label of their own, left out"),
    "first_errors": translatable("first errors"),
    "with_sibling": translatable("first errors with a right action beside them"),
    "uncorrected": translatable("histories with a first error and no right action"),
    "corrected": translatable("first errors for which somebody wrote a right action"),
    "nothing_wrong": translatable("first errors in which a correction finds nothing wrong, left out"),
    "no_right_action": translatable("first errors in whose place no action is right, left out"),
    "runs": translatable("runs"),
    "successful": translatable("successful runs"),
    "clean": translatable("successful runs without an error"),
    "steps": translatable("steps that may be asked for"),
    "with_later": translatable("steps of these with enough later ones to choose among"),
    "too_few_options": translatable("questions without enough options, left out"),
    "unfit": translatable("steps or runs that make no question, left out"),
    "repeats": translatable("questions that repeat another, left out"),
}
"""The counts of a derivation: their names in JSON, and their words in the import's report."""

_OF_RECIPE: Final = {
    Recipe.SHARED: ("histories", "items", "tasks", "pairs", "left_out", "shared"),
    Recipe.FIRST_ERROR: (
        *("histories", "items", "tasks", "pairs", "left_out", "first_errors", "with_sibling"),
        *("uncorrected", "corrected", "nothing_wrong", "no_right_action"),
    ),
    Recipe.NEXT_STEP: (
        *("runs", "successful", "clean", "steps", "with_later", "too_few_options", "unfit", "repeats"),
        *("items", "tasks"),
    ),
    Recipe.FIRST_ERROR_STEP: ("runs", "unfit", "items", "tasks"),
    Recipe.NEXT_CALL: ("runs", "successful", "clean", "steps", "unfit", "repeats", "items", "tasks"),
    Recipe.FINAL_ANSWER: ("runs", "successful", "unfit", "repeats", "items", "tasks"),
}
TOO_FEW_LEFT: Final = translatable("decisions with fewer people left than have to label them")
"""One more of its notes."""


@dataclass(slots=True)
class DerivedCounts:
    """The counts of a derivation, under the names of its JSON.

    `histories`: of all steps, or with a first error; `shared`: those that several runs have; `tasks` those of
    the items; `pairs`: (better, worse) by the key; `left_out`: actions. Of first errors also how many there
    are, and how many have a +1 beside them; `uncorrected` are the histories with an error and nothing right,
    about which no correction says why. `corrected`, `nothing_wrong` and `no_right_action` are first errors,
    by what their correction says. Of questions: `runs` of the release, `successful` by their outcome, and
    `clean` without a −1 besides; `steps` that may be asked for, and those of them `with_later` steps enough
    for the options; `too_few_options`, `unfit` and `repeats` are what no question was made of.
    """

    histories: int = 0
    shared: int = 0
    items: int = 0
    tasks: int = 0
    pairs: int = 0
    left_out: int = 0
    first_errors: int = 0
    with_sibling: int = 0
    uncorrected: int = 0
    corrected: int = 0
    nothing_wrong: int = 0
    no_right_action: int = 0
    runs: int = 0
    successful: int = 0
    clean: int = 0
    steps: int = 0
    with_later: int = 0
    too_few_options: int = 0
    unfit: int = 0
    repeats: int = 0

    def as_json(self, recipe: Recipe) -> dict[str, int]:
        """The counts that a recipe has."""
        return {name: getattr(self, name) for name in _OF_RECIPE[recipe]}

    @classmethod
    def of_notes(cls, notes: Mapping[str, int]) -> DerivedCounts:
        """The counts in the notes of an import, which have their words."""
        return cls(**{name: notes.get(words, 0) for name, words in COUNTS.items()})
