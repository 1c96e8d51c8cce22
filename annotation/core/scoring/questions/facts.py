"""Facts of a release about its questions besides labels, as arrays: the reading of an output, the letters of
the options, and the parts that figures are cut by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from annotation.core.figures.measure import IntArray
from annotation.core.scoring.questions.outputs import READINGS
from annotation.core.scoring.questions.verdicts import TEXTS

BoolArray = npt.NDArray[np.bool_]

PAIR: Final = -1
"""Of a decision that is no question."""
NOT_ASKED: Final = 0
"""Of a question that no model is asked: without a key, or not fit for use; higher ones are readings."""
KINDS: Final = tuple(READINGS)
NO_LETTER: Final = -1
_TEXTS: Final = np.array([False, *(kind in TEXTS for kind in KINDS), False])
LENGTHS: Final = (2_000, 4_000, 8_000, 16_000, 32_000)
"""The longest histories of each bin, in characters; the last bin takes all that are longer."""


@dataclass(frozen=True, slots=True)
class QuestionFacts:
    """Of R decisions with S options together. By record, (R,): `reading` (PAIR, NOT_ASKED, or 1 + the place
    in KINDS), `uuid` as text, `ability` and `language` (places in `abilities` and `languages`), `length` of
    the history in characters. By option, (S,): the place of its `letter`, NO_LETTER where it is not shown."""

    abilities: tuple[str, ...]
    languages: tuple[str, ...]
    uuid: tuple[str, ...]
    reading: IntArray
    ability: IntArray
    language: IntArray
    length: IntArray
    letter: IntArray

    @classmethod
    def of(cls, records: Iterable[Mapping[str, Any]]) -> QuestionFacts:
        """From what was kept of the records of a release (`question_facts`), in their order."""
        abilities: dict[str, int] = {}
        languages: dict[str, int] = {}
        uuid: list[str] = []
        rows: list[tuple[int, int, int, int]] = []
        letters: list[int] = []
        for one in records:
            uuid.append(one["uuid"])
            letters += one["letters"]
            rows.append(
                (
                    one["reading"],
                    abilities.setdefault(one["ability"], len(abilities)),
                    languages.setdefault(one["language"], len(languages)),
                    one["length"],
                )
            )
        reading, ability, language, length = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        letter = np.array(letters, dtype=np.int64)
        names = tuple(abilities), tuple(languages), tuple(uuid)
        return cls(*names, reading, ability, language, length, letter)

    @property
    def questions(self) -> BoolArray:
        """The decisions that are questions, asked or not: (R,)."""
        mask: BoolArray = self.reading != PAIR
        return mask

    @property
    def asked(self) -> BoolArray:
        """The questions that models are asked, (R,)."""
        mask: BoolArray = self.reading > NOT_ASKED
        return mask

    @property
    def texts(self) -> BoolArray:
        """Those of them that ask for a text, (R,)."""
        mask: BoolArray = _TEXTS[self.reading]
        return mask

    @property
    def choices(self) -> BoolArray:
        """Those of them that ask for a letter or several, (R,)."""
        return self.asked & ~self.texts

    def cuts(self) -> dict[str, dict[str, BoolArray]]:
        """The questions (R,) of each part, by what figures are cut by: ability, language, and length of the
        history in characters ("0-2000", the last one "32001-")."""
        low = (0, *(most + 1 for most in LENGTHS))
        bins = {
            f"{first}-{last}": (first, last)
            for first, last in zip(low, (*map(str, LENGTHS), ""), strict=True)
        }
        most = np.searchsorted(LENGTHS, self.length)
        cuts = {
            "ability": {name: self.ability == place for place, name in enumerate(self.abilities) if name},
            "language": {name: self.language == place for place, name in enumerate(self.languages) if name},
            "length": {name: most == place for place, name in enumerate(bins)},
        }
        parts = {
            cut: {name: records & self.asked for name, records in named.items()}
            for cut, named in cuts.items()
        }
        return {
            cut: {name: records for name, records in named.items() if records.any()}
            for cut, named in parts.items()
        }

    def as_pairs(self) -> QuestionFacts:
        """The same decisions, none of them taken for a question."""
        return replace(self, reading=np.full_like(self.reading, PAIR))

    def only(self, records: BoolArray, steps: BoolArray) -> QuestionFacts:
        """The facts of some records (R,), which have these steps (S,)."""
        kept = {name: getattr(self, name)[records] for name in _BY_RECORD}
        uuid = tuple(one for one, there in zip(self.uuid, records.tolist(), strict=True) if there)
        return replace(self, **kept, uuid=uuid, letter=self.letter[steps])

    def as_json(self) -> dict[str, Any]:
        """All of it, for `of_json`."""
        arrays = {name: getattr(self, name).tolist() for name in (*_BY_RECORD, "letter")}
        return arrays | {name: list(getattr(self, name)) for name in _NAMES}

    @classmethod
    def of_json(cls, kept: Mapping[str, Any]) -> QuestionFacts:
        """The facts that `as_json` wrote."""
        arrays = {name: np.array(kept[name], dtype=np.int64) for name in (*_BY_RECORD, "letter")}
        abilities, languages, uuid = (tuple(kept[name]) for name in _NAMES)
        return cls(abilities, languages, uuid, **arrays)


_NAMES: Final = ("abilities", "languages", "uuid")
_BY_RECORD: Final = ("reading", "ability", "language", "length")
