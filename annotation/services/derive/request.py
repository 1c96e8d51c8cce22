"""The options of a derivation, as they are asked for and kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from annotation.core.bounds import MAX_INT
from annotation.core.decisions.questions import LANGUAGES, QUESTIONS
from annotation.core.decisions.recipes import Recipe
from annotation.core.decisions.record import MAX_OPTIONS
from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.models import ImportFile

_OF_QUESTIONS: Final = ("fewer", "successful", "language")


@dataclass(frozen=True, slots=True)
class DerivationRequest:
    """The options of a derivation.

    `most`: at most so many options an item, of a `next-step` exactly so many; None: as many as a decision may
    have, of a `next-step` four. `anyway`: also where fewer people are left for an item than have to label it.
    Of questions: `fewer`, `successful` and `language` as in `QuestionOptions`.
    """

    recipe: Recipe
    seed: int = 0
    most: int | None = None
    anyway: bool = False
    fewer: bool = False
    successful: bool = False
    language: str = LANGUAGES[0]

    @classmethod
    def of(
        cls,
        *,
        recipe: str,
        seed: int = 0,
        options: int | None = None,
        anyway: bool = False,
        fewer: bool = False,
        successful: bool = False,
        language: str = LANGUAGES[0],
    ) -> DerivationRequest:
        """The request with these values. Raises Invalid with the fields that are wrong."""
        problems = {}
        if recipe not in set(Recipe):
            names = ", ".join(Recipe)
            problems["recipe"] = translatable("Unknown recipe; choose one of {known}.", known=names)
        if not 0 <= seed <= MAX_INT:
            problems["seed"] = translatable("A whole number from 0 to {most}.", most=MAX_INT)
        if options is not None and not 2 <= options <= MAX_OPTIONS:
            problems["options"] = translatable("A whole number from 2 to {most}.", most=MAX_OPTIONS)
        if language not in LANGUAGES:
            names = ", ".join(LANGUAGES)
            problems["language"] = translatable("Unknown language; choose one of {known}.", known=names)
        if problems:
            raise Invalid(next(iter(problems.values())), fields=problems)
        return cls(Recipe(recipe), seed, options, anyway, fewer, successful, language)

    @classmethod
    def of_source(cls, source: ImportFile) -> DerivationRequest:
        """The request that an import keeps."""
        kept = source.derived_from
        return cls(
            Recipe(kept["recipe"]),
            kept["seed"],
            kept["options"],
            kept["anyway"],
            *(kept[name] for name in _OF_QUESTIONS if name in kept),
        )

    @property
    def of_questions(self) -> bool:
        """Whether questions are derived."""
        return self.recipe in QUESTIONS

    def as_json(self) -> dict[str, Any]:
        """The request as an import keeps it."""
        kept = {
            "recipe": str(self.recipe),
            "seed": self.seed,
            "options": self.most,
            "anyway": self.anyway,
        }
        return kept | {name: getattr(self, name) for name in _OF_QUESTIONS if self.of_questions}
