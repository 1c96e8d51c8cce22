"""The choices of a set of prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.releases.exports.options import MAX_SEED

from .templates import VERSION, Template, own_template

MAX_SHOTS: Final = 5
SHOTS: Final = 3
SPLIT: Final = 0.8
TOKENS: Final = 16_000
FEWEST_TOKENS: Final = 500
MOST_TOKENS: Final = 2_000_000


@dataclass(frozen=True, slots=True)
class PromptSettings:
    """The choices of a set of prompts: they and the release make its bytes.

    `shots` examples are drawn with `seed` outside the share `split` of each subset's tasks that is for
    testing, which exports with the same share and seed have too. A prompt has at most `tokens` tokens, as
    they are estimated. `templates` are texts of people's own by subset; others have those built in, of
    `version`.
    """

    shots: int = SHOTS
    seed: int = 0
    split: float = SPLIT
    tokens: int = TOKENS
    templates: Mapping[str, str] = field(default_factory=dict)
    version: str = VERSION

    @classmethod
    def of(
        cls,
        *,
        shots: int = SHOTS,
        seed: int = 0,
        split: float = SPLIT,
        tokens: int = TOKENS,
        templates: Mapping[str, str] | None = None,
    ) -> PromptSettings:
        """The choices with these values. Raises Invalid with the fields that are wrong; that of a text is
        `templates.<subset>`."""
        problems: dict[str, str] = {}
        for name, value, low, high in (
            ("shots", shots, 0, MAX_SHOTS),
            ("seed", seed, 0, MAX_SEED),
            ("tokens", tokens, FEWEST_TOKENS, MOST_TOKENS),
        ):
            if not low <= value <= high:
                problems[name] = translatable(
                    "A whole number from {minimum} to {maximum}.", minimum=f"{low:,}", maximum=f"{high:,}"
                )
        if not 0 < split < 1 or round(split, 6) != split:
            problems["split"] = translatable(
                "The share of tasks for the test split must be a number between 0 and 1 with at most six "
                "decimals, such as 0.2."
            )
        kept = {}
        for subset, text in sorted((templates or {}).items()):
            own = text.replace("\r\n", "\n").strip()
            if not own:
                continue
            try:
                own_template(own, f"templates.{subset}")
            except Invalid as error:
                problems |= error.fields
            kept[subset] = own
        if problems:
            raise Invalid(next(iter(problems.values())), fields=problems)
        return cls(shots, seed, split, tokens, kept)

    @classmethod
    def of_json(cls, kept: Mapping[str, Any]) -> PromptSettings:
        """The choices that `as_json` kept."""
        return cls(**kept)

    def as_json(self) -> dict[str, Any]:
        """The choices as they are kept."""
        return {
            "shots": self.shots,
            "seed": self.seed,
            "split": self.split,
            "tokens": self.tokens,
            "templates": dict(self.templates),
            "version": self.version,
        }

    def own(self, subset: str) -> Template | None:
        """The text that people gave a subset of their own."""
        text = self.templates.get(subset)
        return None if text is None else own_template(text, f"templates.{subset}")
