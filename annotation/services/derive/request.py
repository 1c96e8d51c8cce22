"""The options of a derivation, as they are asked for and kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotation.core.bounds import MAX_INT
from annotation.core.decisions.derive import Recipe
from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.importers.decisions.tristep_decision import MAX_OPTIONS
from annotation.models import ImportFile


@dataclass(frozen=True, slots=True)
class DerivationRequest:
    """The options of a derivation.

    `most`: at most so many options an item; None: as many as a decision may have. `anyway`: also where fewer
    people are left for an item than have to label it.
    """

    recipe: Recipe
    seed: int = 0
    most: int | None = None
    anyway: bool = False

    @classmethod
    def of(
        cls, *, recipe: str, seed: int = 0, options: int | None = None, anyway: bool = False
    ) -> DerivationRequest:
        """The request with these values. Raises Invalid with the fields that are wrong."""
        problems = {}
        if recipe not in set(Recipe):
            known = ", ".join(Recipe)
            problems["recipe"] = translatable("Unknown recipe; choose one of {known}.", known=known)
        if not 0 <= seed <= MAX_INT:
            problems["seed"] = translatable("A whole number from 0 to {most}.", most=MAX_INT)
        if options is not None and not 2 <= options <= MAX_OPTIONS:
            problems["options"] = translatable("A whole number from 2 to {most}.", most=MAX_OPTIONS)
        if problems:
            raise Invalid(next(iter(problems.values())), fields=problems)
        return cls(Recipe(recipe), seed, options, anyway)

    @classmethod
    def of_source(cls, source: ImportFile) -> DerivationRequest:
        """The request that an import keeps."""
        kept = source.derived_from
        return cls(Recipe(kept["recipe"]), kept["seed"], kept["options"], kept["anyway"])

    def as_json(self) -> dict[str, Any]:
        """The request as an import keeps it."""
        return {
            "recipe": str(self.recipe),
            "seed": self.seed,
            "options": self.most,
            "anyway": self.anyway,
        }
